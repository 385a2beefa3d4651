from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute.runs import empty_run
from dashboard.model.experiment import Experiment
from dashboard.text.moments import moments
from rhmm import Trace
from tests.dashboard.made_runs import finished, with_method


@pytest.fixture(scope="module")
def collapse():
    return finished(Experiment(window=40))


def texts(run, key):
    return [moment.text.split(":")[0] for moment in moments(run, key)]


def test_a_learner_collects_learns_and_settles():
    run = finished(Experiment(length=5_000))

    phases = texts(run, "streaming")

    assert phases[:2] == [
        "is collecting the first Δ = 200 observations, which give it its start.",
        "is learning",
    ]
    assert phases[-1] == "has settled"
    steps = [moment.k for moment in moments(run, "streaming")]
    assert steps[0] == 0
    assert steps[1] == run.path("streaming").step[0]
    assert steps == sorted(set(steps))


def test_a_collapse_is_named_when_it_happens_with_the_row_and_the_reason(collapse):
    moment = next(m for m in moments(collapse, "windowed") if "collapsed" in m.text)

    path = collapse.path("windowed")
    row = np.flatnonzero(path.step == moment.k)[0]
    assert path.transmat[row].max() > 0.99  # no row of the true A has such an entry
    state, target = np.unravel_index(np.argmax(path.transmat[row]), (3, 3))
    assert moment.text == (
        f"has collapsed at k = {moment.k:,}: row {state + 1} of Â is all on state {target + 1}. "
        "With Δ = 40 it sees 13 steps out of each state, and the printed update leaves [0, 1]."
    )


def test_the_learner_beside_it_does_not_collapse(collapse):
    assert not any("collapsed" in text for text in texts(collapse, "streaming"))


def test_a_true_row_that_is_certain_is_no_collapse():
    truth = ((0.0, 1.0), (0.5, 0.5))
    two = Experiment(
        transmat=truth, means=((0.0, 0.0), (0.8, 0.0)), sigmas=(0.3, 0.3), startprob=(1.0, 0.0),
        length=3_000,
    )  # fmt: skip

    assert not any("collapsed" in text for text in texts(finished(two), "streaming"))


def standing(run, transmat):
    """The run with a path of the windowed learner that stands at the truth, but for A."""
    steps = np.arange(200, 10_001, 25)
    truth = run.experiment.source.true_model()
    rows = len(steps)
    known = {
        "step": steps,
        "transmat": np.array([transmat(step) for step in steps]),
        "means": np.broadcast_to(truth.means_, (rows, *truth.means_.shape)),
        "sigmas": np.broadcast_to(truth.sigmas_, (rows, 3)),
    }
    others = {name: np.zeros(rows) for name in Trace._fields if name not in known}
    return with_method(run, "windowed", path=Trace(**known, **others))


def test_what_swings_is_restless_and_says_by_how_much(collapse):
    truth = np.array(collapse.experiment.transmat)
    swing = np.array([[0.1, -0.1, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])

    run = standing(collapse, lambda step: truth + np.sin(step / 50) * swing)

    last = moments(run, "windowed")[-1]
    assert last.text.startswith("is restless: within 1,000 observations an entry of Â still")
    assert "swings by 0.20, because it learns A from Δ = 40" in last.text


def test_what_stands_has_settled_after_a_tenth_of_the_chain(collapse):
    run = standing(collapse, lambda step: np.array(collapse.experiment.transmat))

    first, second, third = moments(run, "windowed")

    assert (first.k, second.k, third.k) == (0, 200, 1_200)
    assert third.text == "has settled: means and Â have hardly moved for 1,000 observations."


def test_a_window_as_long_as_the_chain_leaves_nothing_to_learn_from():
    run = finished(Experiment(length=500, window=500, algorithms=("windowed",)))

    assert [moment.text for moment in moments(run, "windowed")] == [
        "has nothing to learn from: Δ is the whole chain, or nearly."
    ]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (
            "windowed",
            "is collecting the first Δ = 200 observations, which give it its start.",
        ),
        ("auto", "is collecting its first observations to start from."),
    ],
)
def test_before_the_first_step_it_collects(key, text):
    run = empty_run(replace(Experiment(), algorithms=(key,)))

    assert [moment.text for moment in moments(run, key)] == [text]
