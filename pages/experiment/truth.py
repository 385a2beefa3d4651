"""Set the truth: the chain, the means and the spreads that the data are drawn from."""

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import controls, desk, state, takeaway, truth
from dashboard.chain_diagram import chain_diagram
from dashboard.experiment import MOST_STATES, Experiment, normalised
from dashboard.ui import canvases

ROW_HEIGHT = 38
COLUMN_WIDTH = 62
MOST_BESIDE_PICTURES = 5  # states: a larger matrix A takes the whole width


def editor(name: str, rows: truth.Rows, row_names, columns, on_typed, alt: str) -> None:
    """A table to type in that shows `rows`, whoever changed them last.

    The browser keeps what is typed as changes to the table that it was given. While these changes
    explain `rows`, it is given the same table again and nobody is disturbed in typing. When the
    rows were changed elsewhere, it is given a new table, under a key without such changes.
    """
    given, version = st.session_state.get(f"given-{name}", (rows, 0))
    resized = len(given) != len(rows)  # its changes may be to columns that are no more
    if resized or truth.edited(given, _edits(f"{name}-{version}"), columns) != rows:
        given, version = rows, version + 1
    st.session_state[f"given-{name}"] = given, version
    key = f"{name}-{version}"

    def typed():
        on_typed(truth.edited(given, _edits(key), columns))

    st.data_editor(
        pd.DataFrame(np.array(given, dtype=float), index=row_names, columns=list(columns)),
        key=key,
        on_change=typed,
        disabled=["_index"],
        row_height=ROW_HEIGHT,
        column_config={
            column: st.column_config.NumberColumn(width=COLUMN_WIDTH) for column in columns
        },
        alt=alt,
    )


def _edits(key: str) -> dict:
    return st.session_state.get(key, {}).get("edited_rows", {})


def mend_transmat() -> None:
    state.propose(transmat=truth.mended_transmat(state.drafted("transmat")))


def mend_startprob() -> None:
    state.propose(startprob=normalised(state.drafted("startprob")))


def explain(problems: dict, remedies: dict) -> None:
    """What is wrong with these fields, below their table so that it does not move, and ways out."""
    wrong = [field for field in remedies if field in problems]
    if not wrong:
        return
    for field in wrong:
        st.error(problems[field])
    with st.container(horizontal=True, vertical_alignment="center"):
        for field in wrong:
            if remedies[field]:
                st.button(
                    "Normalise",
                    key=f"normalise-{field}",
                    help="Keeps the proportions; blanks and negatives become 0.",
                    on_click=remedies[field],
                )
        st.button(
            "Back to the last valid model",
            key=f"back-{wrong[0]}",
            help="It stays in force as long as something is marked in red.",
            on_click=state.discard_draft,
        )


def edit_chain(draft: dict, problems: dict) -> None:
    n = len(draft["transmat"])
    st.subheader("The chain: transition matrix A")
    with st.container(horizontal=True, wrap=False):
        editor(
            "transmat",
            draft["transmat"],
            truth.transmat_row_names(n),
            truth.transmat_columns(n),
            lambda rows: state.propose(transmat=rows),
            "Transition matrix A: row “from i”, column “to j” is the probability of the next "
            "state j after state i.",
        )
        st.html(truth.sums_table(draft["transmat"], ROW_HEIGHT), width="content")
    explain(problems, {"transmat": mend_transmat})


def edit_states(draft: dict, problems: dict) -> None:
    n = len(draft["means"])
    st.subheader("The states: c, σ and π")
    editor(
        "states",
        truth.state_rows(draft),
        truth.state_row_names(n),
        truth.STATE_COLUMNS,
        lambda rows: state.propose(**truth.from_state_rows(rows)),
        "For each state its mean (x, y) in the disk, its spread σ and its probability π of being "
        "the first.",
    )
    explain(problems, {"means": None, "sigmas": None, "startprob": mend_startprob})
    st.caption(
        "(x, y) is the mean in the disk, x² + y² < 1; σ is the spread around it, the radius of its "
        "dashed circle; π is the probability of being the first state."
    )
    choose_number_of_states(n)


def choose_number_of_states(n: int) -> None:
    def change(other) -> None:
        """A second click may come before the page has answered the first: it was for `n` states."""
        drafted = state.drafted_truth()
        if len(drafted["means"]) == n:
            state.propose_truth(other(drafted))

    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(
            "Add a state",
            disabled=n == MOST_STATES,
            on_click=change,
            args=(truth.with_new_state,),
        )
        leaving = st.selectbox(
            "State to remove",
            range(n),
            index=n - 1,
            format_func=lambda i: f"state {i + 1}",
            key=f"leaving-{n}",
            width=130,
        )
        st.button(
            "Remove",
            disabled=n == 1,
            on_click=change,
            args=(lambda drafted: truth.without_state(drafted, leaving),),
        )


def show_disk(draft: dict, now: Experiment) -> None:
    def moved(drops) -> None:
        state.propose(means=truth.with_dropped(state.drafted("means"), drops))

    means, sigmas = truth.drawable(draft, now.truth)
    canvases.sketch(now, means, sigmas, key="truth-disk", on_moved=moved)


def show_what_it_implies(now: Experiment) -> None:
    st.subheader("What it implies")
    if st.session_state.draft:
        st.caption("For the last valid model, until what is marked in red is mended.")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**How the chain spends its time**")
        st.table(truth.chain_table(now), hide_index=True)
        st.caption(
            "Share of time is the stationary law of A. The expected stay, 1 / (1 − A₁₁) for "
            "state 1, is counted in observations."
        )
    with right:
        if now.n_states > 1:
            st.markdown("**How far apart the means are, in σ**")
            st.table(truth.separations_table(now), hide_index=True)
            st.caption(
                "Distance between two means, divided by the average of their two σ: at 2 the "
                f"σ-circles touch. {truth.separations_in_words(now)}"
            )
    st.markdown("**The best accuracy that anyone could reach**")
    with st.spinner(
        f"Simulating {truth.SIMULATED:,} observations. The very first time the engine is compiled "
        "for it, which takes about a minute."
    ):
        best = truth.ceiling(**now.truth)
    st.markdown(truth.ceiling_in_words(best))
    st.caption(
        f"From {truth.SIMULATED:,} simulated observations; ± is one standard error, in percentage "
        f"points. {truth.floor_in_words(now)}"
    )


controls.sidebar()
desk.leave()  # this page waits for no run

st.title("Set the truth")
for problem in state.link_problems():
    st.warning(str(problem))

now = state.experiment()
draft = state.drafted_truth()
if not truth.fits_together(draft):  # parts of two models: neither is what anybody meant
    state.discard_draft()
    draft = now.truth
problems = truth.problems(draft)

st.markdown(
    "The data of all pages are drawn from this model. Type in the tables or drag the crosses: "
    "everything follows at once."
)
is_wide = len(draft["transmat"]) > MOST_BESIDE_PICTURES
if is_wide:
    edit_chain(draft, problems)
with st.container(key="truth-halves"):
    tables, pictures = st.columns([3, 2], gap="large")
with tables:
    if not is_wide:
        edit_chain(draft, problems)
    edit_states(draft, problems)
with pictures:
    chain_diagram(now.transmat, key="chain")
    show_disk(draft, now)

show_what_it_implies(now)
takeaway.truth_files(now)
