"""One learner on one data set: timed without its watcher, and measured."""

import numpy as np
import pytest

from rhmm import (
    DegenerateWarning,
    Evaluation,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRiemannianHMM,
    evaluate,
)
from rhmm.learners.registry import LEARNERS
from rhmm.paper import paper_model
from rhmm.scoring import MEASURES
from rhmm.trial import run_trial

TRUTH = paper_model()
SEED = 3


@pytest.fixture(scope="module")
def data():
    return TRUTH.sample(1_000, random_state=SEED)


class FakeClock:
    """Time that passes only when it is told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def trial(key, data, **more):
    learner = LEARNERS[key]
    return run_trial(learner, TRUTH, *data, seed=SEED, options=learner.settings({}), **more)


def assert_same(ours: Evaluation, theirs: Evaluation):
    for name in MEASURES:
        if name not in ("seconds", "nbytes"):
            assert getattr(ours, name) == getattr(theirs, name)
    for name in ("mean_errors", "sigma_errors", "order", "labels"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(ours.model.means_, theirs.model.means_)


def learned_by_hand(key, X):
    """The model, and labels of its own if it has any."""
    if key == "ceiling":
        return TRUTH, None
    if key == "kmeans":
        clusters = RiemannianKMeans(TRUTH.manifold, 3, random_state=SEED).fit(X)
        return clusters.to_hmm(), clusters.labels_
    if key == "em":
        return RiemannianHMM(TRUTH.manifold, 3, random_state=SEED).fit(X), None
    return StreamingRiemannianHMM(TRUTH.manifold, 3, random_state=SEED).fit(X).to_hmm(), None


@pytest.mark.parametrize("key", ["ceiling", "kmeans", "em", "streaming"])
def test_the_evaluation_is_that_of_learning_by_hand(key, data):
    model, labels = learned_by_hand(key, data[0])
    result = trial(key, data)
    assert_same(result.evaluation, evaluate(model, TRUTH, *data, labels=labels))
    assert result.evaluation.nbytes == result.estimator.peak_nbytes_


def test_a_known_ceiling_is_passed_on(data):
    assert trial("kmeans", data, ceiling=0.5).evaluation.ceiling == 0.5


def test_the_time_is_that_of_learning_without_the_watcher(data, monkeypatch):
    clock, learn = FakeClock(), RiemannianHMM.fit

    def fit_for_five_seconds(self, X, **_):
        clock.now += 5.0
        return learn(self, X)

    def watch_for_a_hundred_seconds(progress):
        watched.append(progress)
        clock.now += 100.0

    watched = []
    monkeypatch.setattr(RiemannianHMM, "fit", fit_for_five_seconds)
    for watch in (None, watch_for_a_hundred_seconds):
        assert trial("em", data, watch=watch, clock=clock).evaluation.seconds == 5.0
    assert len(watched) > 2


@pytest.mark.parametrize("key", ["em", "streaming", "windowed", "auto"])
def test_watching_does_not_change_what_is_learned(key, data):
    watched = []
    assert_same(trial(key, data).evaluation, trial(key, data, watch=watched.append).evaluation)
    assert watched


@pytest.mark.parametrize("key", ["em", "streaming", "windowed", "auto"])
def test_a_watcher_that_raises_ends_the_learning(key, data):
    class Cancelled(Exception):
        pass

    def cancel(progress):
        watched.append(progress)
        raise Cancelled

    watched = []
    with pytest.raises(Cancelled):
        trial(key, data, watch=cancel)
    assert len(watched) == 1


@pytest.mark.parametrize(("key", "rows"), [("streaming", 8), ("windowed", 8), ("auto", 10)])
def test_a_trace_is_kept_of_online_learners(key, rows, data):
    estimator = trial(key, data, trace_every=100).estimator
    assert estimator.trace_.step.tolist() == list(range(1_100 - 100 * rows, 1_001, 100))
    assert not hasattr(trial(key, data).estimator, "trace_")


@pytest.mark.parametrize("key", ["ceiling", "kmeans", "em"])
def test_a_stride_of_the_trace_means_nothing_to_other_learners(key, data):
    assert_same(trial(key, data, trace_every=100).evaluation, trial(key, data).evaluation)


def test_a_learner_that_has_not_started_is_not_measured():
    short = TRUTH.sample(100, random_state=0)
    with pytest.raises(ValueError, match="starts from 200 observations, and has seen 100"):
        trial("streaming", short)


def test_warnings_of_the_learner_are_not_swallowed():
    with pytest.warns(DegenerateWarning):
        trial("em", (np.zeros((20, 2)), np.zeros(20, int)))
