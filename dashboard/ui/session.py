"""What the dashboard keeps of one visitor. The session holds it, the link mirrors it.

Everything is in one `Visitor`, under one key of ``st.session_state``; only the widgets' own values
lie beside it. Pages read `visitor()`, and change the experiment or the plan by `Visitor.propose`.
What cannot be accepted stays in the controls as it was typed, with a sentence beside them, and the
last valid experiment stays on screen.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from dashboard.canvas.protocol import Channel
from dashboard.compute.jobs import Job, Progress
from dashboard.compute.stream_workers import LiveStream
from dashboard.model.analysis import FILE, Analysis
from dashboard.model.draft import Draft
from dashboard.model.endless import Endless
from dashboard.model.experiment import Experiment, window_for
from dashboard.model.kinds import Invalid
from dashboard.model.lesson import Lesson
from dashboard.model.plan import Plan, Sweep
from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import View
from dashboard.server.offers import Offer
from dashboard.ui.own_data import OwnData
from rhmm.worlds import Event

DATA_PAGE = "data"
"""The address of the page that takes files."""
STREAM_PAGE = "stream"
"""The address of the page with an endless stream."""
_KEY = "visitor"
_MOST_WRITTEN = 100
"""Queries that a session remembers: a browser that never answers must not fill the memory."""
_LINK_KEYS = (
    *Experiment.link_keys(),
    *View.link_keys(),
    *Plan.link_keys(),
    *Lesson.link_keys(),
    *Analysis.link_keys(),
    *Endless.link_keys(),
)


class Stopped(NamedTuple):
    """A job that the visitor has stopped, as it was then: it may go on for others."""

    job: Job
    progress: Progress


@dataclass
class Synced:
    """What one widget was given last, see `dashboard.ui.sync`."""

    given: Any
    version: int
    page: str
    """The page that the widget is on: another page has widgets of its own."""
    answered: bool = False
    """Whether the browser has sent a change under this version."""


@dataclass
class Visitor:
    """One visitor's settings, jobs and widgets."""

    experiment: Draft[Experiment]
    plan: Draft[Plan]
    view: View
    lesson: Lesson = field(default_factory=Lesson)
    analysis: Draft[Analysis] = field(default_factory=lambda: Draft(Analysis()))
    data: OwnData = field(default_factory=OwnData)
    """The visitor's own file and what was made of it."""
    endless: Draft[Endless] = field(default_factory=lambda: Draft(Endless()))
    stream: LiveStream | None = None
    """The endless stream that the visitor looks at: it ends when this lets it go."""
    stream_script: tuple[Event, ...] = ()
    """Its events, as far as the settings have them."""
    guesses: dict[str, str] = field(default_factory=dict)
    """What the visitor has guessed on each screen of the lesson."""
    link_problems: list[Invalid] = field(default_factory=list)
    """Sentences about the link that was opened last, until a change is accepted."""
    written: list[dict[str, str]] = field(default_factory=list)
    """Queries written into the address bar, oldest first: the browser may not have the last yet."""
    links: int = 1
    """How many links and spaces were opened: the canvas begins anew when this changes."""

    asked_for: Job | None = None
    """The job that was asked for last."""
    stopped: Stopped | None = None
    """The job that the visitor has stopped and not begun again."""
    started: Sweep | None = None
    """The long sweep that the visitor has begun by a click."""
    picked: tuple[str, int | None] | None = None
    """The learner and the Δ, if it has one, whose runs the trade-off page lists."""

    synced: dict[str, Synced] = field(default_factory=dict)
    """The widgets and tables that the browser shows, by their names."""
    channels: dict[str, Channel] = field(default_factory=dict)
    """What was sent to each canvas and acknowledged, by its key."""
    offers: dict[str, deque[Offer]] = field(default_factory=dict)
    """The files that pages link to, by their names."""

    def propose(self, draft: Draft, **changes) -> bool:
        """Change the experiment or the plan, together with what was typed in it before."""
        before = draft.valid
        accepted = draft.propose(**changes)
        if accepted:
            self.link_problems = []
            if draft is self.experiment and draft.valid != before:
                # another run has other moments; where and how one looks at it stays
                self.view = replace(self.view, k=None)
                self._look_into(self.experiment.valid.space)
        return accepted

    def propose_truth(self, truth: dict) -> bool:
        """Another true model, with a Δ that is enough for its states."""
        window = window_for(len(truth["means"]), self.experiment["window"])
        return self.propose(self.experiment, **truth, window=window)

    def open(self, experiment: Experiment, view: View) -> None:
        """Show another experiment from its beginning, as if by a link; the plan stays."""
        self.experiment.reset(experiment)
        self.view = replace(view, timeline=self.view.timeline)
        self.link_problems = []
        self.links += 1

    def follow_file(self) -> None:
        """Show the file that is there now, if another one was shown before; without a file, the
        default. What was made of the file before is forgotten."""
        shown, there = self.experiment.valid.own, self.data.online
        if shown is None or shown == there:
            return
        self.asked_for = self.stopped = self.started = None
        self.offers.clear()
        self.open(Experiment() if there is None else Experiment.of_recording(there), View())

    def look_at_all(self) -> None:
        """Show the map whole; centred on a mean where the whole of it would show mere specks."""
        now = self.experiment.valid
        space, (x, y) = SPACES[now.space], View.place[:2]
        if space.is_cramped(now.means):
            x, y = now.chart.places(space.points(now.means[:1]))[0].tolist()
        place = (x, y, *View.place[2:])
        if place != self.view.place:
            self.view = replace(self.view, place=place)
            self.links += 1

    def _look_into(self, space: str) -> None:
        """Another space has another map: the canvas begins anew with the whole of it."""
        if space != self.view.space:
            self.view = replace(self.view, space=space, place=View.place)
            self.links += 1

    def look(self, sent: Mapping) -> None:
        """Keep what the canvas says it shows; the timeline is none of its business."""
        view = View.from_browser(sent, self.view.space)
        self.view = replace(view, timeline=self.view.timeline)
        write_link()

    def show(self, **changes) -> None:
        """Change what the pictures show, and the link with it."""
        self.view = replace(self.view, **changes)
        write_link()

    def learn(self, **changes) -> None:
        """Go to another screen of the lesson, or look at another learner there."""
        self.lesson = replace(self.lesson, **changes)
        write_link()

    def query(self, other: Experiment | None = None) -> dict[str, str]:
        """The query of a link to what is on screen, or to another experiment seen the same way."""
        if other is None:
            experiment, view = self.experiment.valid, self.view
        else:
            experiment, view = other, replace(self.view, k=None)
        settings = (
            experiment, view, self.plan.valid, self.lesson, self.analysis.valid, self.endless.valid,
        )  # fmt: skip
        return {key: text for one in settings for key, text in one.to_query().items()}


def visitor() -> Visitor:
    """The visitor whose page is running."""
    return st.session_state[_KEY]


def script_context() -> ScriptRunContext:
    """Streamlit's context of the page that is running."""
    context = get_script_run_ctx()
    if context is None:
        raise RuntimeError("only a page that Streamlit runs has a visitor")
    return context


def visitor_id() -> str:
    """A name for this visitor that no other has."""
    return script_context().session_id


def open_session() -> None:
    """Read the link, unless this session has written it itself. Call first."""
    asked = {key: st.query_params[key] for key in _LINK_KEYS if key in st.query_params}
    if _KEY not in st.session_state:
        st.session_state[_KEY] = Visitor(Draft(Experiment()), Draft(Plan()), View(), links=0)
        _open_link(asked)
    elif not _is_own(asked):
        _open_link(asked)
    visitor().follow_file()
    write_link()


def _open_link(asked: dict[str, str]) -> None:
    me = visitor()
    is_own = asked.get("source") == FILE and me.data.online is not None
    meant = {"recording": me.data.online} if is_own else {}
    experiment, experiment_problems = Experiment.from_query(asked, **meant)
    plan, plan_problems = Plan.from_query(asked)
    me.view, view_problems = View.from_query(asked | {"space": experiment.space})
    me.lesson, lesson_problems = Lesson.from_query(asked)
    analysis, analysis_problems = Analysis.from_query(asked)
    endless, endless_problems = Endless.from_query(asked)
    if endless != me.endless.valid:
        me.endless.reset(endless)
    if analysis != me.analysis.valid:
        me.analysis.reset(analysis)
    if (experiment, plan) != (me.experiment.valid, me.plan.valid):
        # else the link differs in its view alone, and what is typed is not lost
        me.experiment.reset(experiment)
        me.plan.reset(plan)
    me.link_problems = (
        experiment_problems + plan_problems + view_problems + lesson_problems + analysis_problems
    ) + endless_problems
    me.written = []
    me.links += 1


def enter(page: str) -> None:
    """The visitor is on this page: only one takes files, and only one keeps a stream going."""
    me = visitor()
    if page != DATA_PAGE:
        me.data.grant = None
    if page != STREAM_PAGE and me.stream is not None:
        me.stream.close()
        me.stream = None


def write_link() -> None:
    """Make the address bar say what is on screen."""
    me = visitor()
    query = me.query()
    if not me.written or me.written[-1] != query:
        me.written.append(query)
        del me.written[:-_MOST_WRITTEN]
    # after a step back in the history, the browser may already have been sent a later address
    if st.query_params.to_dict() != query or script_context().is_history_navigation:
        st.query_params.from_dict(query)


def _is_own(asked: dict[str, str]) -> bool:
    """Whether the browser has this query from us; it may be behind what was written since.

    Once the browser has answered with a query, it has left all earlier ones: to ask for one of
    those again is to open a link, be it by the history or by a click.
    """
    if not asked:
        return True  # another page of the menu
    written = visitor().written
    if asked not in written or script_context().is_history_navigation:
        return False
    latest = max(i for i, query in enumerate(written) if query == asked)
    del written[:latest]
    return True
