"""The controls of settings, and the sidebar, which is the same on every page."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from dashboard.compute.runs import ExperimentRun
from dashboard.model.analysis import FILE, OFFERED, HeldRecording
from dashboard.model.draft import Draft
from dashboard.model.endless import Endless
from dashboard.model.experiment import MOST_SEED, Experiment
from dashboard.model.fields import Control
from dashboard.model.plan import Plan
from dashboard.model.presets import preset_of
from dashboard.model.scenarios import scenario_of, scenarios
from dashboard.model.source import SIMULATED, source_title
from dashboard.model.spaces.registry import SPACES
from dashboard.model.stories import stories, story_of
from dashboard.model.view import View
from dashboard.text.fitted import ASK_FOR_REFERENCE, reference
from dashboard.ui import session, sync

_OWN = "Your own"
_LEARNED = (
    "A chain that is drawn from a true model, one of the recordings of the Data page, which come "
    "without one, or your own file, if you have given one there."
)
_STREAMED = (
    "What flows: a chain that is drawn from a true model without end, a recording of the Data "
    "page, or your own file, if you have given one there."
)

_WIDGETS: dict[str, Callable[..., Any]] = {
    "number": st.number_input,
    "radio": st.radio,
    "select": st.selectbox,
    "slider": st.select_slider,
    "multiselect": st.multiselect,
    "pills": partial(st.pills, selection_mode="multi"),
}


def sidebar() -> None:
    """All controls of the experiment but those of the truth, and the link to share."""
    me = session.visitor()
    with st.sidebar:
        before, after = me.experiment.valid.controls()
        for name in before:
            setting(me.experiment, name)
        _choose_source(_LEARNED)
        _tell_part(me.experiment.valid.own, me.data.held)
        if not me.experiment.valid.is_recorded:
            _choose_space()
            _choose_preset()
        for name in after:
            setting(me.experiment, name)
        _actions()


def data_sidebar() -> None:
    """The controls of the Data page, and the link to share."""
    me = session.visitor()
    with st.sidebar:
        for name in ("states", "method", "shape", "tails", "centring"):
            setting(me.analysis, name)
        _share()


def stream_sidebar() -> None:
    """The controls of the Stream page, and the link to share."""
    me = session.visitor()
    with st.sidebar:
        _choose_source(_STREAMED)
        if me.experiment.valid.is_recorded:
            for name in ("space", "preset"):
                sync.hide(name)
            setting(me.experiment, "states")
            setting(me.endless, "at_end")
        else:
            _choose_space()
            _choose_preset()
            for name in ("states", "at_end"):
                sync.hide(name)
        setting(me.endless, "learners")
        setting(me.experiment, "window")
        setting(me.experiment, "seed")
        _actions()


def choose_scenario() -> None:
    """Scripts of events that each show one thing; a recording has none."""
    me = session.visitor()
    if me.experiment.valid.is_recorded:
        sync.hide("scenario")
        return
    n_states = me.experiment.valid.n_states
    ready = scenarios(n_states)

    def choose(name: str | None) -> None:
        if name is not None:
            me.propose(me.endless, events=ready[name].events)

    current = scenario_of(me.endless.valid.events, n_states)
    about = " ".join(f"**{one.name}:** {one.about}" for one in ready.values())
    sync.widget(
        st.pills, "scenario", "Scenario", current, choose, options=list(ready), help=about,
        label_visibility="collapsed",
    )  # fmt: skip


def setting(draft: Draft, name: str) -> None:
    """The control of one setting, as it was declared, and below it what is wrong with its value."""
    control = draft.valid.table()[name].control
    if not control.shown(draft.valid):
        sync.hide(name)
        return

    def keep(value):
        changed = tuple(value) if isinstance(value, list) else value
        session.visitor().propose(draft, **{name: changed})

    label = control.label if isinstance(control.label, str) else control.label(draft.valid)
    value = list(draft[name]) if isinstance(draft[name], tuple) else draft[name]
    options = _options(control, value)
    sync.widget(_WIDGETS[control.widget], name, label, value, keep, help=control.help, **options)
    problem = draft.problem_with(name)
    if problem:
        st.error(str(problem))


def _options(control: Control, value) -> dict:
    """What the widget needs besides its label and help."""
    if control.widget == "number":
        return {"value": None, "step": control.step}  # an emptied field is blank, and not 0
    options = list(control.options)
    if control.accepts_others:
        own = value if isinstance(value, list) else [value]
        options = sorted({*options, *own})
    plain = "{:,}".format if control.widget == "slider" else str
    names = control.names.get if control.names else plain
    in_a_row = {"horizontal": True} if control.widget == "radio" else {}
    return {"options": options, "format_func": names, **in_a_row}


def asks_for_reference(draft: Draft, *, has_labels: bool) -> bool:
    """Whether the visitor wants a model beside that was taught the labels; they are asked only if
    there are labels."""
    if not has_labels:
        sync.hide("reference")
        return False

    def ask(is_asked: bool) -> None:
        session.visitor().propose(draft, reference="yes" if is_asked else "no")

    is_asked = draft.valid.reference == "yes"
    sync.widget(st.toggle, "reference", ASK_FOR_REFERENCE, is_asked, ask)
    return is_asked


def reference_of(run: ExperimentRun) -> None:
    """What labels would have been worth in a run on a recording, if the visitor asks for it."""
    labelled = bool(run.experiment.label_names)
    is_asked = asks_for_reference(session.visitor().experiment, has_labels=labelled)
    if is_asked and run.reference is not None:
        st.markdown(reference(run.reference))


def link_warnings() -> None:
    """One warning that names each part of the link that could not be read or used."""
    problems = session.visitor().link_problems
    if len(problems) == 1:
        st.warning(str(problems[0]))
    elif problems:
        parts = "\n".join(f"- {problem}" for problem in problems)
        st.warning(f"Parts of this link are not used; defaults stand in for them:\n{parts}")


def choose_story() -> None:
    """The experiments that each show one thing."""
    me = session.visitor()

    def choose(name: str | None) -> None:
        if name is not None:
            me.open(*stories()[name].opened())

    current = story_of(me.experiment.valid)
    about = " ".join(f"**{story.name}:** {story.about}" for story in stories().values())
    sync.widget(
        st.pills, "story", "Try", current, choose, options=list(stories()), help=about,
        label_visibility="collapsed",
    )  # fmt: skip


def only_simulated(why: str) -> None:
    """End a page that needs a true model with a sentence, if the visitor looks at a recording."""
    now = session.visitor().experiment.valid
    if now.is_recorded:
        st.info(f"{why} You are looking at the recording “{source_title(now.recording)}”.")
        st.button("Go back to simulated chains", on_click=_open_source, args=(SIMULATED,))
        st.stop()


def _open_source(source: str) -> None:
    """Simulated chains as they were at first, a recording, or the visitor's own file."""
    me = session.visitor()
    recording = me.data.online if source == FILE else source
    opened = Experiment() if recording in (None, SIMULATED) else Experiment.of_recording(recording)
    me.propose(me.endless, events=())
    me.open(opened, View())


def _choose_source(help: str) -> None:
    me = session.visitor()
    now, is_there = me.experiment["recording"], me.data.online is not None
    sync.widget(
        st.selectbox, "source", "Observations", FILE if isinstance(now, HeldRecording) else now,
        _open_source, options=[SIMULATED, *OFFERED, *([FILE] if is_there else [])],
        format_func=source_title, help=help,
    )  # fmt: skip


def _tell_part(own: HeldRecording | None, whole: HeldRecording | None) -> None:
    """Say what of a file pages leave out: all but its beginning, and labels that are too many."""
    if own is None or whole is None:
        return
    if own.whole > len(own.recording.points):
        part = f"{len(own.recording.points):,} of its {own.whole:,}"
        st.caption(f"The first {part} observations are learned here.")
    if whole.recording.label_names and not own.recording.label_names:
        count = len(whole.recording.label_names)
        st.caption(f"Its {count:,} labels are too many to compare with here.")


def _choose_space() -> None:
    if len(SPACES) == 1:
        return
    me = session.visitor()
    sync.widget(
        st.selectbox, "space", "Space", me.experiment["space"],
        lambda key: me.propose_truth(SPACES[key].truth),
        options=list(SPACES), format_func=lambda key: SPACES[key].label,
        help="Where the observations lie. Another space begins with a true model of its own.",
    )  # fmt: skip


def _choose_preset() -> None:
    me = session.visitor()
    space = SPACES[me.experiment["space"]]
    presets = space.presets

    def choose(name):
        if name in presets and me.propose_truth(presets[name]):
            me.look_at_all()

    names = list(presets)
    current = preset_of(me.experiment.together())
    if current is None:
        names.append(_OWN)
    sync.widget(
        st.selectbox, "preset", "True model", current or _OWN, choose, options=names,
        help=f"What generates the data. Drag the crosses on the {space.words.noun}, or edit it "
        "under “Set the truth”.",
    )  # fmt: skip


def _actions() -> None:
    """Buttons for other data, for the beginning, and for the link."""
    with st.container(horizontal=True):
        if not session.visitor().experiment.valid.is_recorded:
            st.button("New data", on_click=_draw_anew, help="The same model, another random chain.")
        st.button("Reset", on_click=_reset, help="Everything as it was at first.")
        _share()


def _reset() -> None:
    me = session.visitor()
    me.plan.reset(Plan())
    me.endless.reset(Endless())
    me.open(Experiment(), View())


def _draw_anew() -> None:
    me = session.visitor()
    me.propose(me.experiment, seed=random.randrange(min(MOST_SEED, 100_000)))


def _share() -> None:
    # moving the canvas or the timeline does not run the sidebar: opening this does
    with st.popover("Share", help="A link that opens exactly this.", on_change="rerun"):
        address = st.context.url or ""
        query = urlencode(session.visitor().query())
        st.caption("This link opens what you see, to the last digit.")
        st.code(f"{address.split('?')[0]}?{query}", language=None, wrap_lines=True)
