"""One run of a sweep against the same computed by hand."""

from itertools import permutations

import numpy as np
import pytest

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping import Configuration, run_once
from rhmm.sweeping.run import Task, run_for
from tests.brute_force import squared_distance
from tests.sweeping.tasks import TRUTH

LENGTH = 600
SEED = 5


def learned_by_hand(configuration, X):
    """The model and, if it has its own, the labels; without the code under test."""
    manifold = TRUTH.manifold
    if configuration.learner == "ceiling":
        return TRUTH, None
    if configuration.learner == "em":
        return RiemannianHMM(manifold, 3, random_state=SEED).fit(X), None
    if configuration.learner == "kmeans":
        clusters = RiemannianKMeans(manifold, 3, random_state=SEED).fit(X)
        parameters = clusters.to_parameters()
        return RiemannianHMM.from_parameters(manifold, *parameters), clusters.labels_
    kind = {
        "windowed": WindowedRiemannianHMM,
        "streaming": StreamingRiemannianHMM,
        "auto": AutoMemoryRiemannianHMM,
    }[configuration.learner]
    learner = kind(manifold, 3, random_state=SEED, **dict(configuration.options))
    return learner.partial_fit(X).to_hmm(), None


@pytest.mark.parametrize(
    "configuration",
    [
        Configuration("windowed", LENGTH, window=60, transition_update="paper"),
        Configuration("windowed", LENGTH, window=60),
        Configuration("streaming", LENGTH, window=60),
        Configuration("streaming", LENGTH, window=60, memory="fixed"),
        Configuration("streaming", LENGTH, window=60, init="cold"),
        Configuration("auto", LENGTH),
        Configuration("em", LENGTH),
        Configuration("kmeans", LENGTH),
        Configuration("ceiling", LENGTH),
    ],
    ids=lambda configuration: configuration.name,
)
def test_a_run_measures_what_trying_every_order_of_the_states_gives(configuration):
    X, states = TRUTH.sample(LENGTH, random_state=SEED)
    model, labels = learned_by_hand(configuration, X)
    decoded = model.predict(X)
    orders = [np.array(order) for order in permutations(range(3))]
    order = max(orders, key=lambda order: np.mean(order[states] == decoded))
    run = run_once(TRUTH, configuration, SEED)
    if labels is None:
        expected = np.mean(order[states] == decoded)
    else:
        expected = max(np.mean(order[states] == labels) for order in orders)
    assert run.accuracy == expected
    assert run.ceiling == np.mean(TRUTH.predict(X) == states)
    np.testing.assert_array_equal(run.transmat, model.transmat_[np.ix_(order, order)])
    np.testing.assert_array_equal(run.means, model.means_[order])
    np.testing.assert_array_equal(run.sigmas, model.sigmas_[order])
    assert run.diagonal == tuple(np.diag(run.transmat))
    squares = (np.array(run.transmat) - TRUTH.transmat_) ** 2
    assert run.transition_error == pytest.approx(np.sqrt(squares.sum()))
    distances = [
        np.sqrt(float(squared_distance(TRUTH.manifold, np.array(c), d)))
        for c, d in zip(run.means, TRUTH.means_, strict=True)
    ]
    assert run.mean_error == pytest.approx(np.mean(distances))
    errors = np.abs(np.array(run.sigmas) - TRUTH.sigmas_) / TRUTH.sigmas_
    assert run.sigma_error == pytest.approx(errors.mean())
    assert run.log_likelihood == pytest.approx(model.score(X) / LENGTH)
    assert (run.configuration, run.seed) == run.task == (configuration, SEED)


def test_memory_grows_with_the_window_online_and_with_the_data_otherwise():
    def nbytes(learner, length, window=None):
        return run_once(TRUTH, Configuration(learner, length, window=window), 0).nbytes

    assert nbytes("windowed", 600, 60) < nbytes("windowed", 600, 200)
    assert nbytes("windowed", 600, 60) == nbytes("windowed", 1200, 60)
    assert nbytes("streaming", 600, 200) == nbytes("streaming", 1200, 200)
    assert nbytes("em", 1200) == 2 * nbytes("em", 600)
    assert nbytes("kmeans", 1200) == 2 * nbytes("kmeans", 600)


def test_matrices_are_learned_too():
    truth = RiemannianHMM.from_parameters(
        SPD(2), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [np.eye(2), 5 * np.eye(2)], [0.3, 0.4]
    )
    run = run_once(truth, Configuration("streaming", 500, window=60), 0)
    assert np.shape(run.means) == (2, 2, 2)
    assert run.accuracy > run.ceiling - 0.05
    assert run.mean_error < 0.3


def test_a_worker_of_another_version_refuses():
    with pytest.raises(RuntimeError, match=r"rhmm 0\.0\.0"):
        run_for("0.0.0", TRUTH, Task(Configuration("ceiling", 50), 0), LEARNERS["ceiling"])
