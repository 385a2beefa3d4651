"""Opens the house: navigation, looks, nothing else. Start with `streamlit run app.py`."""

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent

st.set_page_config(page_title="rhmm", page_icon=HERE / "dashboard" / "icon.svg", layout="wide")
st.html(HERE / "dashboard" / "style.css")

# Page files live one folder below pages/: directly in pages/ Streamlit would also list them by
# itself, and a link to a page would break after the server starts.
page = st.navigation({"Start": [st.Page("pages/start/welcome.py", title="Welcome", default=True)]})
page.run()
