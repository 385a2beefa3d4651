"""The frame around every page: navigation, looks, and the visitor's state. Runs on each rerun."""

from pathlib import Path

import streamlit as st

from dashboard import state

LOOKS = Path(__file__).parents[1] / "dashboard"

st.set_page_config(page_title="rhmm", page_icon=LOOKS / "icon.svg", layout="wide")
st.html(LOOKS / "style.css")

# First the link, then the page: the other way round a browser on a slow line would be at the page
# without the link for a while, and keep that as a step of the way back.
state.open_session()
page = st.navigation(
    [
        st.Page("experiment/live.py", title="Live lab", default=True),
        st.Page("experiment/truth.py", title="Set the truth"),
        st.Page("experiment/compare.py", title="Compare"),
        st.Page("experiment/tradeoff.py", title="Δ trade-off"),
    ]
)
page.run()
