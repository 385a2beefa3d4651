"""The frame around every page: navigation, looks, and the visitor's state. Runs on each rerun."""

from pathlib import Path

import streamlit as st

from dashboard.ui import session

LOOKS = Path(__file__).parents[1] / "dashboard" / "ui"

st.set_page_config(page_title="rhmm", page_icon=LOOKS / "icon.svg", layout="wide")
st.html(LOOKS / "style.css")

# The link comes before the page: otherwise a browser on a slow line would show the page without the
# link for a while, and keep that as an entry of its history.
session.open_session()
page = st.navigation(
    [
        st.Page("experiment/live.py", title="Live lab", default=True),
        st.Page("experiment/stream.py", title="Stream"),
        st.Page("learn/how_it_works.py", title="How it works"),
        st.Page("experiment/truth.py", title="Set the truth"),
        st.Page("experiment/compare.py", title="Compare"),
        st.Page("experiment/tradeoff.py", title="Δ trade-off"),
        st.Page("recordings/data.py", title="Data"),
    ]
)
session.enter(page.url_path)
page.run()
