"""Mounts the picture of the chain. Streamlit's `st.html` drops SVG, so it is a component."""

from collections.abc import Sequence

import streamlit as st

from dashboard.figures.chain_diagram import chain_svg

_component = st.components.v2.component(
    "rhmm_chain",
    html='<div class="chain"></div>',
    css="""
      :host { display: block; }
      svg {
        display: block;
        width: 100%;
        max-width: 30rem;
        margin: 0 auto;
        color: var(--st-text-color);
        font-family: var(--st-font);
      }
    """,
    js="""
      export default function ({ data, parentElement }) {
        parentElement.querySelector(".chain").innerHTML = data;
      }
    """,
)


def chain_diagram(transmat: Sequence[Sequence[float]], *, key: str) -> None:
    """Mount the picture of this chain."""
    _component(key=key, data=chain_svg(transmat))
