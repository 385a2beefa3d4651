import math
import time
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute import jobs, queues, sweeps
from dashboard.compute.sweeps import Outcome
from dashboard.figures import tradeoff
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Plan, Sweep
from dashboard.text import sweep_notes
from dashboard.text.delta_cost import delta_cost
from rhmm import RunFailedError
from rhmm.sweeping import Configuration, run_once
from rhmm.sweeping.record import CannotWriteError, Record
from tests.pages.finding import charts, labelled, said, to_take

APP = Path(__file__).parents[2] / "pages" / "navigation.py"
PAGE = "experiment/tradeoff.py"

PATIENCE = 600.0
"""Seconds: the first run may have to compile the kernels."""

SMALL = {
    "T": "500", "delta": "60", "algorithm": "streaming", "deltas": "40,100",
    "learners": "streaming", "runs": "2",
}  # fmt: skip
LONG = {"T": "100000", "delta": "5000", "deltas": "5000", "learners": "paper", "runs": "50"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def fresh(folder, monkeypatch):
    """Runs are kept in a folder of these tests, and each test has a server that knows nothing.

    It has two processors, on any machine: with many, nothing takes long enough to wait for Run.
    """
    monkeypatch.setenv("RHMM_CACHE", str(folder))
    monkeypatch.delenv("RHMM_SCHEDULER", raising=False)
    monkeypatch.setattr(sweeps, "processors", lambda: 2)
    queues.sweep_queue.cache_clear()
    yield
    queues.sweep_queue.cache_clear()


def opened(**query) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params.update(query)
    app.run()
    app.switch_page(PAGE).run()
    assert not app.exception
    return app


def settled(app: AppTest) -> AppTest:
    """Look at the page until its sweep is over."""
    deadline = time.monotonic() + PATIENCE
    while "Cancel" in labels(app):
        assert time.monotonic() < deadline, "the sweep does not finish"
        time.sleep(0.1)
        app.run()
        assert not app.exception
    return app


def labels(app):
    return [button.label for button in app.button]


@pytest.fixture
def small():
    return settled(opened(**SMALL))


def test_a_small_sweep_runs_by_itself_and_fills_the_page(small):
    assert said(small.title) == ["What does Δ cost?"]
    assert charts(small) == len(tradeoff.MEASURES)
    assert "12 runs: 6 settings, 2 seeds each." in said(small.markdown)
    assert not small.error
    assert not small.warning
    assert not small.info


def test_the_cost_is_that_of_the_engine(small):
    experiment = Experiment(length=500, window=60, algorithms=("streaming",))
    sweep = Sweep.of(experiment, Plan((40, 100), ("streaming",), 2))
    truth = experiment.source.true_model()
    runs = [run_once(truth, c, seed) for c in sweep.configurations() for seed in range(2)]
    cost = delta_cost(experiment, experiment.variants[0], runs)

    accuracy, error, _, memory = (metric.value for metric in small.metric)
    assert (accuracy, error, memory) == (cost.accuracy, cost.error, cost.memory)
    assert cost.words in said(small.markdown)
    assert said(small.subheader)[0] == "Streaming at your Δ = 60"


def test_every_online_learner_of_the_experiment_has_its_cost():
    app = settled(opened(**SMALL | {"algorithm": "windowed,streaming"}))
    assert said(app.subheader)[:2] == [
        "Windowed, paper's update at your Δ = 60",
        "Streaming at your Δ = 60",
    ]
    assert len(app.metric) == 2 * 4
    assert "…" not in said(app.metric)


def test_the_ceiling_says_which_sample_it_is_from(small):
    assert any("the mean over the chains of 2 seeds" in text for text in said(small.caption))


def test_a_long_sweep_waits_to_be_asked():
    app = opened(**LONG)

    assert "Run" in labels(app)
    assert charts(app) == 0
    words = next(text for text in said(app.markdown) if "250 runs" in text)
    assert "That takes about" in words
    assert words.endswith(f"s on this machine. {sweep_notes.budget()}")


def test_a_cluster_is_not_said_to_be_as_fast_as_this_machine(monkeypatch):
    monkeypatch.setenv("RHMM_SCHEDULER", "tcp://127.0.0.1:9")
    app = opened(**LONG)

    words = next(text for text in said(app.markdown) if "250 runs" in text)
    assert "That takes" not in words
    assert "On this machine that would take about" in words
    assert "it is computed by the cluster that this server uses." in words


@pytest.mark.parametrize(
    ("address", "where"),
    [("", "on this machine;"), ("tcp://127.0.0.1:9", "on the cluster that this server uses;")],
)
def test_times_are_said_to_be_of_where_the_runs_were_computed(monkeypatch, address, where):
    papers = run_once(Experiment().source.true_model(), Configuration("ceiling", 500), 0)
    papers = replace(papers, configuration=Configuration("em"))
    monkeypatch.setenv("RHMM_SCHEDULER", address)
    monkeypatch.setattr(sweeps, "compute", lambda sweep, report: Outcome((papers,)))
    app = settled(opened(deltas="40", learners="streaming", runs="1"))

    assert any(f"Time is that of learning, {where}" in text for text in said(app.caption))


def test_a_truth_that_cannot_be_is_told_before_a_sweep_runs_too():
    app = opened(**LONG)
    app.session_state.visitor.experiment.typed = {"startprob": (0.5, 0.5, 1.0)}
    length = labelled(app.number_input, "T: length of the chain")
    length.set_value(90_000).run()

    assert "Run" in labels(app)
    assert said(app.error) == [
        "π sums to 2, not to 1. The last valid model is shown; your changes apply once this is "
        "fixed."
    ]


def test_every_refusal_stands_beside_its_control(small):
    labelled(small.multiselect, "Values of Δ").set_value([]).run()
    labelled(small.number_input, "Seeds").set_value(0).run()

    assert said(small.error) == [
        "Choose at least one Δ.",
        "The number of seeds must be between 1 and 50.",
    ]


def test_no_delta_is_refused_in_a_sentence_and_the_last_sweep_stays(small):
    app = small
    metrics = said(app.metric)
    labelled(app.multiselect, "Values of Δ").set_value([]).run()

    assert not app.exception
    assert said(app.error) == ["Choose at least one Δ."]
    assert labelled(app.multiselect, "Values of Δ").value == []  # as chosen
    assert app.query_params["deltas"] == "40,100"  # as shown
    assert said(app.metric) == metrics

    labelled(app.multiselect, "Values of Δ").set_value([40]).run()
    assert not app.error
    assert app.query_params["deltas"] == "40"
    settled(app)


def test_no_algorithm_is_refused_in_a_sentence_and_the_last_sweep_stays(small):
    labelled(small.multiselect, "Online algorithms").set_value([]).run()

    assert not small.exception
    assert said(small.error) == ["Choose at least one algorithm."]
    assert charts(small) == len(tradeoff.MEASURES)


@pytest.mark.parametrize(
    ("runs", "rule"),
    [(0, "between 1 and 50"), (-3, "between 1 and 50"), (51, "between 1 and 50"),
     (None, "a whole number")],
)  # fmt: skip
def test_a_number_of_seeds_that_cannot_be_is_refused_in_a_sentence(runs, rule, small):
    labelled(small.number_input, "Seeds").set_value(runs).run()

    assert not small.exception
    assert said(small.error) == [f"The number of seeds must be {rule}."]
    assert labelled(small.number_input, "Seeds").value == runs  # as typed
    assert small.query_params["runs"] == "2"
    assert charts(small) == len(tradeoff.MEASURES)


def test_a_refusal_stays_beside_its_control_when_another_is_moved(small):
    labelled(small.multiselect, "Values of Δ").set_value([]).run()
    labelled(small.number_input, "Seed").set_value(5).run()

    assert labelled(small.multiselect, "Values of Δ").value == []
    assert said(small.error) == ["Choose at least one Δ."]


def test_one_seed_is_told_and_has_no_bands():
    app = settled(opened(**SMALL | {"runs": "1"}))

    assert said(app.info) == ["One seed shows no spread: take more for bands."]
    assert charts(app) == len(tradeoff.MEASURES)
    assert any("over one run" in text for text in said(app.markdown))


def test_a_delta_beyond_the_chain_is_left_out_in_a_sentence():
    app = settled(opened(**SMALL | {"deltas": "40,1000,5000"}))

    assert said(app.info) == [
        "Left out, because a chain of 500 observations and 3 states cannot use them: "
        "Δ = 1,000, 5,000."
    ]
    assert labelled(app.multiselect, "Values of Δ").value == [40, 1000, 5000]
    assert charts(app) == len(tradeoff.MEASURES)
    assert not app.error


def test_one_state_alone_has_all_panels():
    app = settled(opened(A="1", c="0.3,0.2", sigma="0.5", pi="1", **SMALL))

    assert charts(app) == len(tradeoff.MEASURES)
    assert app.metric[0].value == "100.00 %"


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"deltas": "oops"}, "Cannot read deltas = 'oops'; the default is used."),
        ({"deltas": "40,7000"}, "Cannot use deltas: Every Δ must be between 2 and 5,000."),
        (
            {"deltas": ",".join(map(str, range(40, 61)))},
            "Cannot use deltas: Choose at most 20 values of Δ.",
        ),
        ({"learners": "magic"}, "Cannot use learners: “magic” is not one of: "),
        ({"runs": "0"}, "Cannot use runs: The number of seeds must be between 1 and 50."),
        ({"runs": "many"}, "Cannot read runs = 'many'; the default is used."),
    ],
)
def test_a_broken_link_is_one_sentence_and_the_rest_of_it_is_kept(query, sentence):
    app = opened(**SMALL | {"T": "100000", "delta": "5000", "algorithm": "windowed"} | query)

    assert len(app.warning) == 1
    assert app.warning[0].value.startswith(sentence)
    plan = Plan.from_query(SMALL | query)[0]
    assert labelled(app.multiselect, "Values of Δ").value == list(plan.windows)
    assert labelled(app.multiselect, "Online algorithms").value == list(plan.learners)
    assert labelled(app.number_input, "Seeds").value == plan.runs


def test_a_cluster_that_does_not_answer_is_told_until_the_next_try(monkeypatch):
    monkeypatch.setenv("RHMM_SCHEDULER", "tcp://127.0.0.1:9")  # no process listens there
    app = settled(opened(**SMALL | {"T": "501"}))  # of which nothing is kept

    sentence = "This could not be computed: the cluster that this server uses does not answer."
    assert said(app.error) == [sentence]
    app.run()
    assert said(app.error) == [sentence]
    assert "None of its runs was done." in said(app.markdown)

    monkeypatch.delenv("RHMM_SCHEDULER")
    next(button for button in app.button if button.label == "Try again").click().run()
    settled(app)
    assert not app.error
    assert "12 runs: 6 settings, 2 seeds each." in said(app.markdown)


def test_a_run_that_fails_is_told_and_the_log_says_why(monkeypatch, caplog):
    def fail(truth, tasks, executor):
        raise RunFailedError("the run of EM, T=502, seed 0 failed: MemoryError")

    monkeypatch.setattr(sweeps, "compute_runs", fail)
    app = settled(opened(**SMALL | {"T": "502"}))

    assert said(app.error) == ["This could not be computed: the server’s log says why."]
    assert "the run of EM, T=502, seed 0 failed: MemoryError" in caplog.text


def test_a_disk_that_fills_up_leaves_the_page_whole(monkeypatch):
    def be_full(self, run):
        raise CannotWriteError("no space left on device")

    monkeypatch.setattr(Record, "append", be_full)
    app = settled(opened(**SMALL | {"T": "503"}))

    assert "12 runs: 6 settings, 2 seeds each." in said(app.markdown)
    assert "…" not in said(app.metric)
    (note,) = said(app.warning)
    assert note.startswith("Not all runs could be kept")


@pytest.fixture
def endless(monkeypatch):
    """A sweep that has one run and goes on until its visitor leaves."""

    def compute(sweep, report):
        run = run_once(sweep.experiment.source.true_model(), sweep.configurations()[0], 0)
        while True:
            report(Outcome((run,)), "Working", 0.1)
            time.sleep(0.02)

    monkeypatch.setattr(sweeps, "compute", compute)


def job_of(runs: int):
    experiment = Experiment(length=500, window=60, algorithms=("streaming",))
    sweep = Sweep.of(experiment, Plan((40, 100), ("streaming",), runs))
    return queues.sweep_queue().find(sweep)


def test_runs_can_be_taken_away_when_no_more_come(endless):
    app = opened(**SMALL)
    files = ("All runs (CSV)", "All runs (Parquet)")
    deadline = time.monotonic() + PATIENCE
    while not job_of(runs=2).progress.result:
        assert time.monotonic() < deadline, "the first run does not come"
        time.sleep(0.02)
    app.run()

    assert "Cancel" in labels(app)
    assert [to_take(app)[name] for name in files] == [False, False]

    next(button for button in app.button if button.label == "Cancel").click().run()
    assert "Stopped." in " ".join(said(app.markdown))
    assert [to_take(app)[name] for name in files] == [True, True]


def test_a_sweep_that_left_the_screen_ends(endless, monkeypatch):
    monkeypatch.setattr(jobs, "PATIENCE", math.inf)  # a silent visitor does not count as gone
    app = opened(**SMALL | {"runs": "50"})
    job = job_of(runs=50)
    labelled(app.number_input, "T: length of the chain").set_value(100_000).run()

    assert "Run" in labels(app)
    assert job.wait(PATIENCE)
    assert job.cancelled


def test_other_runs_of_the_same_number_have_curves_of_their_own(monkeypatch):
    def drawn(window):
        def compute(sweep, report):
            runs = [c for c in sweep.configurations() if c.window == window]
            return Outcome((run_once(sweep.experiment.source.true_model(), runs[0], 0),))

        monkeypatch.setattr(sweeps, "compute", compute)
        queues.sweep_queue.cache_clear()
        app = settled(opened(**SMALL))
        return app.get("plotly_chart")[0].proto.spec

    assert drawn(40) != drawn(100)


def test_a_point_that_is_no_more_leaves_the_caption(small):
    small.session_state.visitor.picked = ("streaming", 60)
    small.run()
    assert "The runs of streaming, Δ=60" in said(small.subheader)

    small.session_state.visitor.picked = ("streaming", 777)
    small.run()
    assert any(text.startswith("Click a point") for text in said(small.caption))


def test_a_learner_without_delta_has_its_cost_and_its_runs():
    app = settled(opened(**SMALL | {"algorithm": "auto", "learners": "auto"}))

    assert charts(app) == len(tradeoff.MEASURES)
    assert said(app.subheader)[0] == "Automatic memory"
    assert any(text.startswith("Automatic memory, which has no Δ") for text in said(app.markdown))
    assert "…" not in said(app.metric)

    app.session_state.visitor.picked = ("auto", None)
    app.run()
    assert "The runs of automatic memory" in said(app.subheader)
    links = [link.proto for link in app.get("page_link")]
    assert [link.label for link in links if "seed" in link.label] == ["seed 0", "seed 1"]
    assert not app.exception
