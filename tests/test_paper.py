"""The paper's experiment: three states on the disk, 10,000 observations, twenty seeds."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from rhmm import Evaluation, Hyperbolic, RiemannianHMM, RiemannianKMeans, evaluate
from rhmm.paper import paper_model
from rhmm.scoring import accuracy
from tests.brute_force import squared_distance

SEEDS = range(20)
SIZE = 10_000
REFERENCE_SEEDS = 10
REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text(encoding="utf-8"))[
    "paper_experiment"
]


class Run(NamedTuple):
    em: Evaluation
    kmeans: float
    decoders: dict[str, float]
    """Accuracy under the true parameters, by the names of reference.json."""
    counting_error: float


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    return [run(seed) for seed in SEEDS]


def run(seed) -> Run:
    truth = paper_model()
    X, states = truth.sample(SIZE, random_state=seed)
    em = RiemannianHMM(Hyperbolic(2), 3, random_state=seed).fit(X)
    kmeans = RiemannianKMeans(Hyperbolic(2), 3, random_state=seed).fit(X)
    decoders = {
        "filter": truth.filter_proba(X).argmax(axis=1),
        "smoother": truth.predict(X),
        "static_mixture_bayes": (truth.log_density(X) + np.log(stationary(truth))).argmax(axis=1),
        "nearest_true_centre": truth.manifold.dist(X[:, None], truth.means_).argmin(axis=1),
    }
    counts = np.zeros((3, 3))
    np.add.at(counts, (states[:-1], states[1:]), 1.0)
    counted = counts / counts.sum(axis=1, keepdims=True)
    return Run(
        evaluate(em, truth, X, states),
        accuracy(states, kmeans.labels_, 3),
        {name: np.mean(decoded == states) for name, decoded in decoders.items()},
        np.linalg.norm(counted - truth.transmat_),
    )


def stationary(model):
    return np.linalg.matrix_power(model.transmat_, 1000)[0]


def test_the_model_is_the_papers():
    model = paper_model()
    assert model.manifold == Hyperbolic(2)
    assert model.startprob_.tolist() == [1, 0, 0]
    assert model.transmat_.tolist() == [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]
    assert model.means_.tolist() == [[0, 0], [0.29, 0.82], [-0.29, 0.82]]
    assert model.sigmas_.tolist() == [0.2, 1.0, 1.0]


def test_em_reaches_the_ceiling_on_every_seed(runs):
    for seed, result in zip(SEEDS, runs, strict=True):
        assert result.em.accuracy > result.em.ceiling - 0.002, seed


def test_em_learns_the_transitions_on_every_seed(runs):
    for seed, result in zip(SEEDS, runs, strict=True):
        assert result.em.transition_error <= 0.06, seed


def test_em_is_as_exact_as_was_measured_before(runs):
    """Over 40 seeds ‖A − Â‖_F was .026 and the mean error .014; these are means of 20."""
    assert np.mean([result.em.accuracy for result in runs]) == pytest.approx(0.9798, abs=0.001)
    assert np.mean([result.em.transition_error for result in runs]) < 0.03
    assert np.mean([result.em.mean_errors for result in runs]) < 0.016
    assert np.mean([np.abs(result.em.sigma_errors) for result in runs]) < 0.01


def test_em_explains_the_data_better_than_kmeans_and_the_truth():
    truth = paper_model()
    X, _ = truth.sample(SIZE, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X)
    gain = model.score(X) - truth.score(X)
    assert 0 < gain < 22  # half a χ² of 15 parameters (A, c and σ): 7.5 ± 2.7 on average
    clusters = RiemannianKMeans(Hyperbolic(2), 3, random_state=0).fit(X).to_parameters()
    by_kmeans = RiemannianHMM.from_parameters(Hyperbolic(2), *clusters)
    assert model.score(X) > by_kmeans.score(X) + 100


def test_kmeans_alone_is_far_below_the_ceiling(runs):
    assert 0.88 < np.mean([result.kmeans for result in runs]) < 0.94
    assert max(result.kmeans for result in runs) < min(result.em.ceiling for result in runs)


@pytest.mark.parametrize("decoder", REFERENCE["accuracy_ceiling"])
def test_the_ceiling_is_the_reference_within_monte_carlo_error(runs, decoder):
    accuracies = [result.decoders[decoder] for result in runs]
    error = np.std(accuracies, ddof=1) * np.sqrt(1 / len(SEEDS) + 1 / REFERENCE_SEEDS)
    expected = REFERENCE["accuracy_ceiling"][decoder]
    assert abs(np.mean(accuracies) - expected) < 4 * error


def test_counting_the_true_states_errs_as_much_as_the_reference_says(runs):
    errors = [result.counting_error for result in runs]
    error = np.std(errors, ddof=1) * np.sqrt(1 / len(SEEDS) + 1 / REFERENCE_SEEDS)
    expected = REFERENCE["frobenius_A_error"]["counting_true_states_T10000"]
    assert abs(np.mean(errors) - expected) < 4 * error


def test_the_earlier_experiment_with_small_sigma_is_nearly_free_of_error():
    """Said 2021: σ = .1, .4, .4."""
    paper = paper_model()
    truth = RiemannianHMM.from_parameters(
        paper.manifold, paper.startprob_, paper.transmat_, paper.means_, [0.1, 0.4, 0.4]
    )
    X, states = truth.sample(SIZE, random_state=0)
    assert np.mean(truth.predict(X) == states) > 0.9995
    d2 = [[squared_distance(truth.manifold, x, c) for c in truth.means_] for x in X]
    expected = REFERENCE["said2021_sigma_0p1_0p4_0p4"]["nearest_true_centre"]
    assert np.mean(np.argmin(d2, axis=1) == states) == pytest.approx(expected, abs=0.0008)
