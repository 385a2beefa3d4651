"""What a visitor has set, in one place: the session keeps it, the link mirrors it.

Pages read `experiment()` and `view()` and change them by `propose`. What cannot be accepted stays
in the controls as it was typed, with a sentence beside them, and the last valid experiment stays
on screen.
"""

from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dashboard.model.experiment import Experiment, window_for
from dashboard.model.kinds import Invalid
from dashboard.model.plan import Plan
from dashboard.model.view import View

_QUERY = (*Experiment.link_keys(), *View.link_keys(), *Plan.link_keys())


def open_session() -> None:
    """Read the link if it is one that this session has not written itself. Call first."""
    asked = {key: st.query_params[key] for key in _QUERY if key in st.query_params}
    first = "experiment" not in st.session_state
    if first or not _is_own(asked):
        read, problems = Experiment.from_query(asked)
        read_plan, plan_problems = Plan.from_query(asked)
        read_view, view_problems = View.from_query(asked)
        if first or (read, read_plan) != (experiment(), plan()):
            # else the link differs in its view alone: what is typed and not valid is not lost
            st.session_state.draft = {}
            st.session_state.plan_draft = {}
            st.session_state.problems = {}
            st.session_state.plan_problems = {}
        st.session_state.experiment, st.session_state.plan = read, read_plan
        st.session_state.link_problems = problems + plan_problems + view_problems
        st.session_state.view = read_view
        st.session_state.written = []
        st.session_state.links = links() + 1
    write_link()


def write_link() -> None:
    """Make the address bar say what is on screen."""
    query, written = link_query(), st.session_state.written
    if not written or written[-1] != query:
        written.append(query)
    # who has just gone back may meanwhile have been sent the address of what they did before
    if st.query_params.to_dict() != query or get_script_run_ctx().is_history_navigation:
        st.query_params.from_dict(query)


def link_query(other: Experiment | None = None) -> dict[str, str]:
    """The query of a link to what is on screen, or to another experiment seen in the same way."""
    if other is None:
        return experiment().to_query() | view().to_query() | plan().to_query()
    return other.to_query() | replace(view(), k=None).to_query() | plan().to_query()


def _is_own(asked: dict[str, str]) -> bool:
    """Whether the browser has this query from us: it may be behind what was written since.

    Of what was written before, it has let go: to ask for that again is to open a link, be it by the
    way back or by a click.
    """
    if not asked:
        return True  # another page of the menu
    written = st.session_state.written
    if asked not in written or get_script_run_ctx().is_history_navigation:
        return False
    latest = max(i for i, query in enumerate(written) if query == asked)
    del written[:latest]
    return True


def experiment() -> Experiment:
    return st.session_state.experiment


def view() -> View:
    return st.session_state.view


def plan() -> Plan:
    return st.session_state.plan


def look(sent: dict) -> None:
    """Keep what the canvas says it shows."""
    st.session_state.view = replace(View.from_browser(sent), timeline=view().timeline)
    write_link()


def show(**changes) -> None:
    """Change what of the pictures is shown."""
    st.session_state.view = replace(view(), **changes)
    write_link()


def propose(**changes) -> bool:
    """Change the experiment, together with earlier changes that were not valid by themselves."""
    draft = st.session_state.draft | changes
    try:
        accepted = replace(experiment(), **draft)
    except Invalid:
        st.session_state.draft = draft
        st.session_state.problems = _problems(experiment(), draft)
        return False
    if accepted != experiment():
        # another run has other moments; where and how one looks at it stays
        st.session_state.view = replace(view(), k=None)
    st.session_state.experiment = accepted
    st.session_state.link_problems = []
    discard_draft()
    return True


def propose_truth(truth: dict) -> bool:
    """Another true model, with a Δ that is enough for its states."""
    return propose(**truth, window=window_for(len(truth["means"]), drafted("window")))


def replan(**changes) -> bool:
    """Change what is swept, as `propose` changes the experiment."""
    draft = st.session_state.plan_draft | changes
    try:
        st.session_state.plan = replace(plan(), **draft)
    except Invalid:
        st.session_state.plan_draft = draft
        st.session_state.plan_problems = _problems(plan(), draft)
        return False
    st.session_state.plan_draft = {}
    st.session_state.plan_problems = {}
    st.session_state.link_problems = []
    return True


def drafted_plan(field: str):
    """The value of a field of the plan as it stands in its control."""
    return st.session_state.plan_draft.get(field, getattr(plan(), field))


def discard_draft() -> None:
    st.session_state.draft = {}
    st.session_state.problems = {}


def drafted(field: str):
    """The value of a field as it stands in its control: as typed, even if it is not valid."""
    return st.session_state.draft.get(field, getattr(experiment(), field))


def drafted_truth() -> dict:
    return {field: drafted(field) for field in Experiment.TOGETHER}


def problem_with(*fields: str) -> str | None:
    """The sentence to show beside the control of one of these fields, if there is one."""
    problems = st.session_state.problems | st.session_state.plan_problems
    return next((problems[field] for field in fields if field in problems), None)


def refused() -> Invalid | None:
    """Why the experiment on screen is not the one that is set, if it is not."""
    problems = st.session_state.problems
    return next((Invalid(sentence, field) for field, sentence in problems.items()), None)


def _problems(valid: Experiment | Plan, draft: dict) -> dict[str, str]:
    """A sentence for each field of the draft that is to blame, also behind others that are."""
    return {problem.field: str(problem) for problem in valid.accepting(draft)[1]}


def links() -> int:
    """How many links were opened: the canvas begins anew when this changes."""
    return st.session_state.get("links", 0)


def link_problems() -> list[Invalid]:
    return st.session_state.link_problems
