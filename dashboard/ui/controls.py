"""The sidebar: the experiment's knobs, the same on every page."""

import random
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.model.experiment import MOST_SEED
from dashboard.model.fields import Control, Settings
from dashboard.model.presets import PRESETS, preset_of
from dashboard.ui import session

_OWN = "Your own"


def sidebar() -> None:
    with st.sidebar:
        _choose_preset()
        for name in ("algorithm", "transition_update", "window"):
            _experiment_control(name)
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


_WIDGETS = {
    "number": st.number_input,
    "radio": st.radio,
    "slider": st.select_slider,
    "multiselect": st.multiselect,
}


def mount(name: str, settings: Settings, value, keep) -> None:
    """The control of one setting as its table describes it, and what is wrong with it below.

    `settings` is what is on screen, `value` what stands in the control, valid or not.
    """
    described = settings.table()[name].control
    if not described.shown(settings):
        return
    label = described.label if isinstance(described.label, str) else described.label(settings)
    control(
        _WIDGETS[described.widget], name, label, value, keep,
        help=described.help, **_options(described, value),
    )  # fmt: skip
    problem = session.problem_with(name)
    if problem:
        st.error(problem)


def _options(described: Control, value) -> dict:
    """What the widget needs besides its label and help."""
    if described.widget == "number":
        return {"value": None, "step": described.step}  # an emptied field is blank, and not 0
    options = described.options
    if described.accepts_others:
        own = value if isinstance(value, list) else [value]
        options = sorted({*options, *own})
    in_a_row = {"horizontal": True} if described.widget == "radio" else {}
    plain = "{:,}".format if described.widget == "slider" else str
    names = described.names.get if described.names else plain
    return {"options": options, "format_func": names, **in_a_row}


def _experiment_control(name: str) -> None:
    def keep(value):
        session.propose(**{name: value})

    mount(name, session.experiment(), session.drafted(name), keep)


def plan_control(name: str) -> None:
    """The control of a setting of the plan."""

    def keep(value):
        session.replan(**{name: tuple(value) if isinstance(value, list) else value})

    value = session.drafted_plan(name)
    mount(name, session.plan(), list(value) if isinstance(value, tuple) else value, keep)


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


def _choose_data() -> None:
    _experiment_control("length")
    _experiment_control("seed")

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
