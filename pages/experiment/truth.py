"""Set the truth: the chain, the means and the spreads that the data are drawn from."""

import streamlit as st

from dashboard.compute.implications import SIMULATED, ceiling
from dashboard.model import truth
from dashboard.model.experiment import Experiment
from dashboard.model.model_checks import MOST_STATES, normalised
from dashboard.text import columns, implications
from dashboard.text.ceiling import of_simulated_chain
from dashboard.ui import canvases, controls, downloads, job_view, sync
from dashboard.ui.chain_component import chain_diagram
from dashboard.ui.session import visitor

MOST_BESIDE_PICTURES = 5
"""States: a larger matrix A takes the whole width."""


def mend_transmat() -> None:
    me.propose(me.experiment, transmat=truth.mended_transmat(me.experiment["transmat"]))


def mend_startprob() -> None:
    me.propose(me.experiment, startprob=normalised(me.experiment["startprob"]))


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
            on_click=me.experiment.discard,
        )


def edit_chain(draft: dict, problems: dict) -> None:
    n = len(draft["transmat"])
    st.subheader("The chain: transition matrix A", help=columns.TRANSMAT.definition)
    with st.container(horizontal=True, wrap=False):
        sync.table(
            "transmat",
            draft["transmat"],
            truth.transmat_row_names(n),
            columns.of_transmat(n),
            lambda rows: me.propose(me.experiment, transmat=rows),
            "Transition matrix A: row “from i”, column “to j” is the probability of the next "
            "state j after state i.",
        )
        st.html(implications.sums_table(draft["transmat"], sync.ROW_HEIGHT), width="content")
    explain(problems, {"transmat": mend_transmat})


def edit_states(draft: dict, problems: dict) -> None:
    space, n = truth.space_of(draft), len(draft["means"])
    st.subheader(
        "The states: c, σ and π",
        help=f"**c**: {columns.MEAN.definition}\n\n**σ**: {columns.SIGMA.definition}\n\n"
        f"**π**: {columns.PI.definition}",
    )
    sync.table(
        "states",
        truth.state_rows(draft),
        truth.state_row_names(n),
        columns.of_states(space),
        lambda rows: me.propose(me.experiment, **truth.from_state_rows(rows)),
        f"For each state its mean {space.words.mean}, its spread σ and its probability π of being "
        "the first.",
    )
    explain(problems, {"means": None, "sigmas": None, "startprob": mend_startprob})
    st.caption(space.words.states)
    choose_number_of_states(n)


def choose_number_of_states(n: int) -> None:
    def change(other) -> None:
        """A second click may come before the page has answered the first: it was for `n` states."""
        drafted = me.experiment.together()
        if len(drafted["means"]) == n:
            me.propose_truth(other(drafted))

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


def show_map(draft: dict, now: Experiment) -> None:
    means, sigmas = truth.drawable(draft, now.truth)
    chart = truth.space_of(draft).chart_for(means, sigmas)

    def moved(drops) -> None:
        moved = truth.with_dropped(me.experiment["means"], means, drops)
        me.propose(me.experiment, means=moved)

    canvases.sketch(now, means, sigmas, chart, key="truth-map", on_moved=moved)
    if chart.note:
        st.caption(chart.note)


def show_what_it_implies(now: Experiment) -> None:
    st.subheader("What it implies")
    if me.experiment.typed:
        st.caption("For the last valid model, until what is marked in red is mended.")
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown("**How the chain spends its time**")
        st.html(columns.table_html(implications.chain_table(now), "How the chain spends its time"))
        st.caption(
            "Share of time is the stationary law of A. The expected stay, or dwell time, is "
            "1 / (1 − A₁₁) observations for state 1."
        )
    with right:
        if now.n_states > 1:
            st.markdown("**How far apart the means are, in σ**")
            table = implications.separations_table(now)
            st.html(columns.table_html(table, "Distances between the means, in σ"))
            words = truth.space_of(now.truth).words
            st.caption(
                "Distance between two means, divided by the average of their two σ: at 2 the "
                f"{words.balls} touch. {implications.separations_in_words(now)}"
            )
    st.markdown("**The ceiling: the best accuracy that can be reached**")
    with st.spinner(
        f"Simulating {SIMULATED:,} observations. The very first time the engine is compiled "
        "for it, which takes about a minute."
    ):
        best = ceiling(now)
    st.markdown(implications.ceiling_in_words(best))
    st.caption(
        f"{of_simulated_chain(SIMULATED)} ± is one standard error, in percentage points. "
        f"{implications.floor_in_words(now)}"
    )


controls.sidebar()
job_view.leave()  # this page waits for no run

st.title("Set the truth")
controls.only_simulated("A recording has no truth to set: it comes without a model.")
controls.link_warnings()

me = visitor()
now = me.experiment.valid
draft = me.experiment.together()
if not truth.fits_together(draft):  # parts of two models make no model
    me.experiment.discard()
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
    tables, pictures = st.columns(2, gap="large")
with tables:
    if not is_wide:
        edit_chain(draft, problems)
    edit_states(draft, problems)
with pictures, st.container(key="truth-pictures"):
    chain_diagram(now.transmat, key="chain")
    with st.container():
        show_map(draft, now)

show_what_it_implies(now)
downloads.truth_files(now)
