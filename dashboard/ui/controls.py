"""The sidebar: the experiment's knobs, the same on every page."""

import random
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.model.experiment import (
    ALGORITHMS,
    LEAST_LENGTH,
    MOST_LENGTH,
    MOST_SEED,
    MOST_WINDOW,
    UPDATES,
)
from dashboard.model.presets import PRESETS, preset_of
from dashboard.ui import session

WINDOWS = (20, 30, 40, 50, 60, 80, 100, 150, 200, 300, 400, 600, 800, 1000, 1500, 2000, 3000, 5000)
"""Where the Δ slider stops: evenly spaced to the eye, on a scale of ratios."""

ALGORITHM_NAMES = {"streaming": "Streaming", "windowed": "Windowed"}
UPDATE_NAMES = {"paper": "As printed", "convex": "Convex"}
_OWN = "Your own"


def sidebar() -> None:
    with st.sidebar:
        _choose_preset()
        _choose_algorithm()
        _choose_window()
        _choose_data()
        _share()


def control(widget, name: str, label: str, value, keep, /, **options) -> None:
    """A widget that shows `value`, whoever changed it last; `keep` gets what a person makes of it.

    While a job runs, the page looks at it again and again, and each look brings the values of all
    widgets from the browser. One may be older than the value shown here, and would pass for a
    change by a person. So the key has a version, which rises when the value was changed elsewhere:
    what comes under an older one is not kept.

    A widget is told its value until somebody is at it: it would go back to what it was when they
    did the first of several things. Until then it is told again and again, since Streamlit may take
    back what it has not sent yet, and a widget that was never told would begin at its first choice.
    One that was not on the page for a while is told anew: Streamlit has forgotten it. Another page
    has widgets of its own, and new ones.
    """
    here = get_script_run_ctx().page_script_hash
    shown, version, page = st.session_state.get(f"shown-{name}", (value, 0, here))
    if page != here or not _alike(st.session_state.get(_key(name, version), shown), value):
        version += 1
    key = _key(name, version)
    st.session_state[f"shown-{name}"] = value, version, here
    if st.session_state.get(f"touched-{name}") != version or key not in st.session_state:
        st.session_state[key] = value

    def changed():
        st.session_state[f"touched-{name}"] = version
        if st.session_state[f"shown-{name}"][1] == version:
            keep(st.session_state[key])

    widget(label, key=key, on_change=changed, **options)


def _key(name: str, version: int) -> str:
    return f"control-{name}-{version}"


def _alike(a, b) -> bool:
    """Of several choices the order does not matter."""
    return sorted(a) == sorted(b) if isinstance(a, list) and isinstance(b, list) else a == b


def _control(widget, field: str, label: str, **options) -> None:
    """A widget for a field of the experiment, as it is set or typed."""

    def keep(value):
        session.propose(**{field: value})

    control(widget, field, label, session.drafted(field), keep, **options)
    _explain(field)


def _explain(*fields: str) -> None:
    problem = session.problem_with(*fields)
    if problem:
        st.error(problem)


def _choose_preset() -> None:
    def choose(name):
        if name in PRESETS:
            session.propose_truth(PRESETS[name])

    names = list(PRESETS)
    current = preset_of(session.drafted_truth())
    if current is None:
        names.append(_OWN)
    control(
        st.selectbox, "preset", "True model", current or _OWN, choose, options=names,
        help="What generates the data. Drag the crosses on the disk, or edit it under "
        "“Set the truth”.",
    )  # fmt: skip


def _choose_algorithm() -> None:
    _control(
        st.radio,
        "algorithm",
        "Online algorithm",
        options=ALGORITHMS,
        format_func=ALGORITHM_NAMES.get,
        horizontal=True,
        help="Windowed is the paper’s: at every step it looks back over the last Δ observations. "
        "Streaming is ours: it starts from Δ observations, and then looks at a few at a time.",
    )
    if session.experiment().algorithm == "windowed":
        _control(
            st.radio,
            "transition_update",
            "Update of A",
            options=UPDATES,
            format_func=UPDATE_NAMES.get,
            horizontal=True,
            help="As printed in the paper, entries of A can leave [0, 1] and are clipped; the "
            "convex update moves each row towards what the window shows.",
        )


def _choose_window() -> None:
    options = sorted({*WINDOWS, session.drafted("window")})
    _control(
        st.select_slider,
        "window",
        "Δ: observations to start from"
        if session.experiment().algorithm == "streaming"
        else "Δ: observations in the window",
        options=options,
        format_func=lambda value: f"{value:,}",
        help=f"From {WINDOWS[0]} to {MOST_WINDOW:,}, on a logarithmic scale.",
    )


def _choose_data() -> None:
    _control(
        st.number_input,
        "length",
        "T: length of the chain",
        value=None,  # a field that is emptied is blank, and not 0
        step=1_000,
        help=f"From {LEAST_LENGTH} to {MOST_LENGTH:,} observations.",
    )
    _control(
        st.number_input,
        "seed",
        "Seed",
        value=None,
        step=1,
        help="The same seed gives the same data and the same results, to the last digit.",
    )

    def draw_anew():
        session.propose(seed=random.randrange(min(MOST_SEED, 100_000)))

    st.button("New data", on_click=draw_anew, help="The same model, another random chain.")


def _share() -> None:
    # moving the canvas or the timeline does not run the sidebar: opening this does
    with st.popover("Share", help="A link that opens exactly this.", on_change="rerun"):
        address = st.context.url or ""
        query = urlencode(session.link_query())
        st.caption("This link opens what you see, to the last digit.")
        st.code(f"{address.split('?')[0]}?{query}", language=None, wrap_lines=True)
