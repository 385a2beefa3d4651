"""Stream: an endless chain whose truth changes while it runs, and the learners that follow it."""

import streamlit as st

from dashboard.text import stream as words
from dashboard.ui import controls, streams
from dashboard.ui.session import visitor, write_link

controls.stream_sidebar()

st.title("Stream", help=words.HELP)
controls.choose_scenario()
controls.link_warnings()
stream, problem = streams.current_stream()
write_link()
if problem:
    st.warning(str(problem))
streams.mount(stream, visitor().endless.valid)
st.caption(streams.caption(stream))
