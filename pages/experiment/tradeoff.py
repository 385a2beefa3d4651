"""Δ trade-off: accuracy, errors, time and memory against Δ, over many seeds."""

from functools import partial

import streamlit as st

from dashboard import billing, controls, figures, paper_beside_ours, state, takeaway, tradeoff
from dashboard.desk import (
    POLL_BESIDE_CHARTS,
    existing,
    explain_truth,
    follow,
    has_ended,
    leave,
    request,
)
from dashboard.sweeps import LEARNERS, MOST_RUNS, Outcome, Sweep, scheduler
from dashboard.takeaway import File
from rhmm import Run
from rhmm.sweeping import summarise

AT_ONCE = 30.0
"""Seconds of work that a page may begin without being asked."""

controls.sidebar()

st.title("What does Δ cost?")
st.caption(
    "Δ is how many observations the online learner starts from and, if it is windowed, looks back "
    "over at every step. More of them cost time and memory; here is what they buy."
)
for problem in state.link_problems():
    st.warning(str(problem))


def plan_controls() -> None:
    def control(column, widget, field, label, **options):
        def keep(value):
            state.replan(**{field: tuple(value) if isinstance(value, list) else value})

        value = state.drafted_plan(field)
        value = list(value) if isinstance(value, tuple) else value
        with column:
            controls.control(widget, field, label, value, keep, **options)
            problem = state.problem_with(field)
            if problem:
                st.error(problem)

    windows, learners, runs = st.columns([3, 3, 1])
    choices = sorted({*controls.WINDOWS, *state.drafted_plan("windows")})
    control(windows, st.multiselect, "windows", "Values of Δ", options=choices)
    control(
        learners, st.multiselect, "learners", "Online algorithms", options=list(LEARNERS),
        format_func=lambda name: tradeoff.LOOKS[name].name,
    )  # fmt: skip
    control(
        runs, st.number_input, "runs", "Seeds", value=None, step=1,
        help=f"Each point is the mean over so many chains, 1 to {MOST_RUNS}; "
        "bands hold eight runs in ten.",
    )  # fmt: skip


def current() -> Sweep:
    return Sweep.of(state.experiment(), state.plan())


def start() -> None:
    st.session_state.started = current()


def show(progress) -> None:
    outcome: Outcome = progress.result or Outcome()
    sweep = current()
    if outcome.note:
        st.warning(outcome.note)
    if sweep.left_out():
        names = ", ".join(f"{window:,}" for window in sweep.left_out())
        n = sweep.experiment.n_states
        st.info(
            f"Left out, because a chain of {sweep.experiment.length:,} observations and "
            f"{n} state{'' if n == 1 else 's'} cannot use them: Δ = {names}."
        )
    if sweep.runs == 1:
        st.info("One seed shows no spread: take more for bands.")
    show_bill(outcome)
    show_panels(sweep, outcome)
    if tradeoff.is_the_papers(sweep.experiment):
        show_paper(sweep, outcome)
    take_away(sweep, outcome)


def show_bill(outcome: Outcome) -> None:
    experiment = state.experiment()
    st.subheader(f"Your Δ = {experiment.window:,}")
    bill = billing.bill(experiment, outcome.runs)
    labels = ("Accuracy", "‖A − Â‖", "Time for each observation", "Memory")
    for column, label, value in zip(
        st.columns(4), labels, bill[:4] if bill else ("…",) * 4, strict=True
    ):
        column.metric(label, value)
    none = "None of its runs was done." if has_ended(job) else "Its first run is not done yet."
    st.markdown(bill.words if bill else none)


@st.cache_resource(max_entries=16, show_spinner=False)
def curves(sweep: Sweep, runs_hash: int, _summaries) -> list:
    """Drawn once for the same runs: the page looks again and again."""
    return [tradeoff.panel(sweep, _summaries, measure) for measure in tradeoff.MEASURES]


def show_panels(sweep: Sweep, outcome: Outcome) -> None:
    def pick(key):  # the last click counts: each panel keeps its own selection
        points = st.session_state[key].selection.points
        chosen = [point["customdata"] for point in points if point.get("customdata")]
        st.session_state.picked = chosen[0] if chosen else None

    st.subheader("Against Δ")
    st.html(tradeoff.legend(sweep))
    summaries = summarise(outcome.runs)
    drawn = curves(sweep, hash(outcome.runs), summaries)
    with st.container(key="panels-tradeoff"):
        for measure, figure in zip(tradeoff.MEASURES, drawn, strict=True):
            key = f"curves-{measure.field}"
            st.plotly_chart(
                figure,
                key=key,
                config=figures.CONFIG,
                on_select=partial(pick, key),
                selection_mode="points",
                alt=tradeoff.panel_in_words(sweep, summaries, measure),
            )
    picked = st.session_state.get("picked")
    runs = tradeoff.runs_of(outcome.runs, *picked) if picked else []
    if runs:
        show_point(sweep, runs, *picked)
    else:
        st.caption("Click a point to see its runs and to open one of them in the Live lab.")


def show_point(sweep: Sweep, runs: list[Run], learner: str, window: int) -> None:
    st.subheader(f"The runs of {tradeoff.LOOKS[learner].name} with Δ = {window:,}")
    st.table(tradeoff.runs_table(runs))
    if tradeoff.opens_in_the_lab(runs[0].configuration):
        with st.container(horizontal=True, key="open-in-lab"):
            st.markdown("Open in the Live lab:")
            for run in runs:
                st.page_link(
                    "experiment/live.py",
                    label=f"seed {run.seed}",
                    query_params=state.link_query(tradeoff.experiment_of(sweep.experiment, run)),
                )


def show_paper(sweep: Sweep, outcome: Outcome) -> None:
    st.subheader("The paper’s Table 2 beside ours")
    table = paper_beside_ours.paper_rows(outcome.runs)
    if table:
        st.table(paper_beside_ours.paper_table(table))
        where = "this machine" if scheduler() is None else "the cluster that this server uses"
        st.caption(
            f"Mean ± standard deviation over {paper_beside_ours.seeds_in_words(table)}. Time is "
            f"that of learning, on {where}; the paper’s is that of its authors’ machine."
        )
        with st.expander("Row by row: why ours and the paper’s differ"):
            for row in table:
                if row.remarks:
                    name = row.summary.configuration.name
                    st.markdown(f"**{name}.** {' '.join(row.remarks)}")
    st.subheader("The paper’s figure: estimated means over many runs")
    shown = paper_beside_ours.clouds(sweep.experiment, outcome.runs)
    if not shown:
        st.markdown("It needs runs of EM, or of the windowed algorithm with Δ = 100 or 200.")
        return
    with st.container(key="panels-clouds"):
        for cloud in shown:
            with st.container(key=f"panel-cloud-{cloud.title}"):
                st.plotly_chart(
                    paper_beside_ours.cloud_disk(sweep.experiment, cloud),
                    key=f"cloud-{cloud.title}",
                    height="stretch",
                    config=figures.CONFIG,
                    alt=f"Estimated means of {len(cloud.means)} runs on the disk: {cloud.title}.",
                )
    st.markdown(
        "Near the rim the eye is deceived: a small step on the picture is a long way. The "
        "distances tell what the disk does not:"
    )
    st.plotly_chart(
        paper_beside_ours.cloud_distances(sweep.experiment, shown),
        key="cloud-distances",
        config=figures.CONFIG,
        alt="Hyperbolic distances of the estimated means to the true ones, for each method.",
    )


def take_away(sweep: Sweep, outcome: Outcome) -> None:
    ready = bool(outcome.runs) and has_ended(job)
    files = [
        File(
            f"All runs ({kind})", f"runs{suffix}", mime,
            partial(tradeoff.file_of, sweep.experiment, suffix), outcome.runs, ready,
        )
        for kind, suffix, mime in (
            ("CSV", ".csv", "text/csv"),
            ("Parquet", ".parquet", "application/vnd.apache.parquet"),
        )
    ]  # fmt: skip
    # the job's wish is the same object at every look
    script = File("Script (Python)", "sweep.py", "text/x-python", tradeoff.script, job.wish)
    takeaway.row(*files, script)


plan_controls()
sweep = current()
if sweep.seconds <= AT_ONCE or existing(sweep) or st.session_state.get("started") == sweep:
    job = request(sweep)
    follow(job, current, show, every=POLL_BESIDE_CHARTS)
else:
    leave()  # what ran before is not on this page any more
    explain_truth()
    st.markdown(f"{sweep.in_words()} {sweep.seconds_in_words()}")
    st.button("Run", on_click=start)
