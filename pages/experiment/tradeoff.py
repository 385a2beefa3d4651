"""Δ trade-off: accuracy, errors, time and memory against Δ, over many seeds."""

from functools import partial

import streamlit as st

from dashboard.compute.measures import clouds
from dashboard.compute.sweeps import Outcome, runs_of, seconds
from dashboard.figures import paper, tradeoff
from dashboard.model.methods import capitalised
from dashboard.model.plan import Sweep, experiment_of, opens_in_the_lab
from dashboard.model.presets import is_the_papers
from dashboard.model.spaces.registry import SPACES
from dashboard.text import ceiling, columns, sweep_notes, tables
from dashboard.text.delta_cost import delta_cost
from dashboard.ui import controls, downloads
from dashboard.ui.charts import chart
from dashboard.ui.job_view import (
    SELDOM,
    existing,
    explain_truth,
    follow,
    has_ended,
    leave,
    request,
)
from dashboard.ui.session import visitor
from rhmm import Run

AT_ONCE = 30.0
"""Seconds of work that a page may begin without being asked."""

controls.sidebar()

st.title("What does Δ cost?")
st.caption(
    "Δ is how many observations an online learner starts from; the windowed one also looks back "
    "over Δ of them at every step. More of them cost time and memory; here is what they buy."
)
controls.link_warnings()

me = visitor()


def plan_controls() -> None:
    for column, name in zip(st.columns([3, 3, 1]), ("windows", "learners", "runs"), strict=True):
        with column:
            controls.setting(me.plan, name)


def current() -> Sweep:
    return Sweep.of(me.experiment.valid, me.plan.valid)


def start() -> None:
    me.started = current()


def show(progress) -> None:
    outcome: Outcome = progress.result or Outcome()
    sweep = current()
    if outcome.note:
        st.warning(outcome.note)
    for note in (sweep_notes.left_out(sweep), sweep_notes.law(me.experiment.valid)):
        if note:
            st.info(note)
    if sweep.runs == 1:
        st.info("One seed shows no spread: take more for bands.")
    show_cost(outcome)
    show_panels(sweep, outcome)
    if is_the_papers(sweep.experiment):
        show_paper(sweep, outcome)
    downloads.sweep_files(job.request, outcome, ended=has_ended(job))


def show_cost(outcome: Outcome) -> None:
    experiment = me.experiment.valid
    scores = {"Accuracy": columns.ACCURACY, "‖A − Â‖": columns.TRANSITION_ERROR}
    if experiment.is_recorded:
        scores = {
            columns.AGREEMENT.name: columns.AGREEMENT,
            columns.PREDICTIVE.name: columns.PREDICTIVE,
        }
    labels = {
        **scores,
        "Time for each observation": columns.TIME,
        "Memory": columns.MEMORY,
    }
    none = "None of its runs was done." if has_ended(job) else "Its first run is not done yet."
    for variant in experiment.variants:
        at = f" at your Δ = {experiment.window:,}" if variant.has_window else ""
        st.subheader(f"{capitalised(variant.name)}{at}")
        cost = delta_cost(experiment, variant, outcome.runs)
        values = cost[:4] if cost else ("…",) * 4
        for place, (label, column), value in zip(
            st.columns(4), labels.items(), values, strict=True
        ):
            place.metric(label, value, help=column.definition)
        st.markdown(cost.words if cost else none)


def show_panels(sweep: Sweep, outcome: Outcome) -> None:
    def pick(key):  # the last click counts: each panel keeps its own selection
        points = st.session_state[key].selection.points
        chosen = [point["customdata"] for point in points if point.get("customdata")]
        me.picked = tuple(chosen[0]) if chosen else None

    st.subheader("Effect of Δ")
    st.html(tradeoff.legend(sweep))
    about = ceiling.over_starts if sweep.experiment.is_recorded else ceiling.over_seeds
    st.caption(about(tables.seeds(sweep.runs)))
    with st.container(key="panels-tradeoff"):
        for panel in tradeoff.panels(sweep, outcome.runs):
            key = f"curves-{panel.measure.field}"
            chart(
                panel.figure,
                key=key,
                on_select=partial(pick, key),
                selection_mode="points",
                alt=panel.in_words,
            )
    runs = runs_of(outcome.runs, *me.picked) if me.picked else []
    if runs:
        show_point(sweep, runs)
    else:
        st.caption("Click a point to see its runs and to open one of them in the Live lab.")


def show_point(sweep: Sweep, runs: list[Run]) -> None:
    st.subheader(f"The runs of {runs[0].configuration.name}")
    experiment = sweep.experiment
    if experiment.is_recorded:
        table = tables.recorded_runs_table(runs, bool(experiment.label_names))
    else:
        table = tables.runs_table(runs)
    st.html(columns.table_html(table, "The runs behind one point"))
    if opens_in_the_lab(runs[0].configuration):
        with st.container(horizontal=True, key="open-in-lab"):
            st.markdown("Open in the Live lab:")
            for run in runs:
                st.page_link(
                    "experiment/live.py",
                    label=f"seed {run.seed}",
                    query_params=me.query(experiment_of(sweep.experiment, run)),
                )


def show_paper(sweep: Sweep, outcome: Outcome) -> None:
    st.subheader("The paper’s Table 2 beside ours")
    table = tables.paper_rows(outcome.runs)
    if table:
        st.html(columns.table_html(tables.paper_table(table), "The paper’s Table 2 beside ours"))
        st.caption(sweep_notes.origin_of_times(tables.seeds_in_words(table)))
        with st.expander("Row by row: why ours and the paper’s differ"):
            for row in table:
                if row.remarks:
                    name = row.summary.configuration.name
                    st.markdown(f"**{name}.** {' '.join(row.remarks)}")
    st.subheader("The paper’s figure: estimated means over many runs")
    words = SPACES[sweep.experiment.space].words
    shown = clouds(sweep.experiment, outcome.runs)
    if not shown:
        st.markdown("It needs runs of EM, or of the windowed algorithm with Δ = 100 or 200.")
        return
    with st.container(key="panels-clouds"):
        for cloud in shown:
            with st.container(key=f"panel-cloud-{cloud.title}"):
                chart(
                    paper.cloud_map(sweep.experiment, cloud),
                    key=f"cloud-{cloud.title}",
                    height="stretch",
                    alt=f"Estimated means of {len(cloud.means)} runs on the {words.noun}: "
                    f"{cloud.title}.",
                )
    st.markdown(words.beware)
    chart(
        paper.cloud_distances(sweep.experiment, shown),
        key="cloud-distances",
        alt=f"{capitalised(words.distance)}s of the estimated means to the true ones, for each "
        "method.",
    )


plan_controls()
sweep = current()
if seconds(sweep) <= AT_ONCE or existing(sweep) or me.started == sweep:
    job = request(sweep)
    follow(job, current, show, every=SELDOM)
else:
    leave()  # what ran before is not on this page any more
    explain_truth()
    st.markdown(f"{sweep.in_words()} {sweep_notes.duration(sweep)}")
    st.button("Run", on_click=start)
