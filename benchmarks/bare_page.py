"""A page with next to nothing on it: what Streamlit itself needs for an answer."""

import random

import streamlit as st

st.title("A bare page")
st.slider("A number", 0, 100, 50)
st.button("New data")
st.markdown(f"{random.random():.3f}")
