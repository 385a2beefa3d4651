"""The streaming algorithm on hard streams: bursts, outliers, lost states, many states or one."""

import numpy as np
import pytest

from benchmarks import hard
from rhmm import Euclidean, Hyperbolic, RiemannianHMM, evaluate
from rhmm.paper import TRANSMAT, paper_model
from tests.learners.chains import (
    LEARNERS,
    MANIFOLDS,
    STREAMING,
    is_sound,
    learner,
    sticky_chain,
    stream,
)

every_learner = pytest.mark.parametrize("name", LEARNERS)
streaming_learners = pytest.mark.parametrize("name", STREAMING)


@streaming_learners
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_rows_of_a_stay_positive_and_sum_to_one(manifold, name):
    trace = learner(manifold, name, trace_every=1).partial_fit(stream(manifold)).trace_
    assert (trace.transmat > 0).all()
    np.testing.assert_allclose(trace.transmat.sum(axis=2), 1.0, rtol=0, atol=1e-12)
    assert np.isfinite(trace.means).all()
    assert (trace.sigmas > 0).all()


@pytest.mark.parametrize("lag", [1, 2, 5, 30])
def test_every_lag_learns(lag):
    truth = paper_model()
    X, states = truth.sample(5_000, random_state=1)
    online = learner(Hyperbolic(2), "growing", lag=lag, random_state=0).partial_fit(X)
    found = evaluate(online.to_hmm(), truth, X, states)
    assert found.ceiling - found.accuracy < 0.005


@pytest.mark.parametrize("seed", range(6))
def test_a_longer_start_shows_every_state_of_a_sticky_chain(seed):
    truth = sticky_chain(0.99)
    X, states = truth.sample(10_000, random_state=seed)
    online = learner(Hyperbolic(2), "growing", window=2_000, random_state=seed)
    assert online.start_size == 2_000
    found = evaluate(online.partial_fit(X).to_hmm(), truth, X, states)
    assert found.ceiling - found.accuracy < 0.01


@every_learner
def test_a_burst_of_identical_points_is_survived(name):
    truth = paper_model()
    X, states = truth.sample(5_000, random_state=0)
    burst = np.concatenate([X[:700], np.repeat(X[700:701], 300, axis=0), X[700:]])
    online = learner(Hyperbolic(2), name, random_state=0)
    assert np.isfinite(online.partial_fit_predict_proba(burst)).all()
    assert is_sound(online)
    if name in ("growing", "growing, short start", "fixed", "cold", "auto"):
        found = evaluate(online.to_hmm(), truth, X, states)
        assert found.ceiling - found.accuracy < 0.01


@streaming_learners
def test_a_stream_that_begins_with_identical_points_is_survived(name):
    X, _ = paper_model().sample(3_000, random_state=0)
    X[:300] = X[0]
    online = learner(Hyperbolic(2), name)
    assert np.isfinite(online.partial_fit_predict_proba(X)).all()
    assert is_sound(online)


@every_learner
@pytest.mark.parametrize("at", [5, 1_000])
def test_an_outlier_near_the_boundary_is_survived(name, at):
    truth = paper_model()
    X, states = truth.sample(5_000, random_state=0)
    X[at] = (1 - 1e-9) * np.array([0.6, -0.8])
    online = learner(Hyperbolic(2), name, random_state=0)
    assert np.isfinite(online.partial_fit_predict_proba(X)).all()
    assert is_sound(online)
    if at == 1_000 and name in STREAMING:
        found = evaluate(online.to_hmm(), truth, X, states)
        assert found.ceiling - found.accuracy < 0.01


@streaming_learners
def test_a_percent_of_outliers_at_the_rim_leaves_the_spread_as_it_is(name):
    """One of them would give a state σ > 2 if it was learned from."""
    X, _ = hard.at_papers_means(0.6, np.full(3, 0.3)).sample(2_000, random_state=0)
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 15)
    X[500::100] = (1 - 1e-9) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    online = learner(Hyperbolic(2), name, random_state=0).partial_fit(X[:500])
    for piece in np.split(X[500:], 30):
        online.partial_fit(piece)
        np.testing.assert_allclose(online.sigmas_, 0.3, rtol=0.5)


def test_all_but_the_first_few_are_learned_from_after_a_jump():
    X, _ = paper_model().sample(2_000, random_state=0)
    online = learner(Hyperbolic(2), "growing", random_state=0).partial_fit(X)
    before = online._state.visits.sum()
    online.partial_fit(np.tile([0.9999999, 0.0], (80, 1)) * np.linspace(0.999, 1.0, 80)[:, None])
    assert 80 - 16 - 8 <= online._state.visits.sum() - before <= 80 - 5


def without_the_last_state(size, seed):
    """The paper's chain when its third state is not visited."""
    full, A = paper_model(), np.array(TRANSMAT)[:2, :2]
    A = A / A.sum(axis=1, keepdims=True)
    part = RiemannianHMM.from_parameters(
        full.manifold, [0.5, 0.5], A, full.means_[:2], full.sigmas_[:2]
    )
    return part.sample(size, random_state=seed)[0]


@every_learner
def test_a_state_may_disappear_for_a_hundred_thousand_steps(name):
    truth = paper_model()
    before, _ = truth.sample(3_000, random_state=0)
    after, states = truth.sample(5_000, random_state=1)
    online = learner(Hyperbolic(2), name, random_state=0, trace_every=None).partial_fit(before)
    online.partial_fit(without_the_last_state(100_000, seed=2))
    assert is_sound(online)
    online.partial_fit(after)
    assert is_sound(online)
    if name in ("fixed", "auto"):
        found = evaluate(online.to_hmm(), truth, after, states)
        assert found.ceiling - found.accuracy < 0.01
        assert found.mean_errors.max() < 0.5


def test_a_fixed_memory_follows_means_that_moved():
    truth = paper_model()
    before, _ = truth.sample(3_000, random_state=0)
    turned = RiemannianHMM.from_parameters(
        truth.manifold, truth.startprob_, truth.transmat_, truth.means_ * [1, 0.9], truth.sigmas_
    )
    after, states = turned.sample(3_000, random_state=1)
    online = learner(Hyperbolic(2), "fixed", random_state=0).partial_fit(before).partial_fit(after)
    found = evaluate(online.to_hmm(), turned, after, states)
    assert found.ceiling - found.accuracy < 0.01
    assert found.mean_errors.max() < 0.5


@every_learner
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_one_state_is_a_mean_and_a_dispersion(name, manifold):
    X = manifold.sample(stream(manifold, 1)[0], 0.4, 3_000, rng=0)
    online = learner(manifold, name, n_components=1, random_state=0).partial_fit(X)
    assert np.array_equal(online.transmat_, [[1.0]])
    assert online.predict_one(X[0]) == 0
    assert manifold.dist(online.means_[0], manifold.mean(X)) < 0.15
    assert online.sigmas_[0] == pytest.approx(0.4, rel=0.1)


def eight_states(manifold, radius, sigma) -> RiemannianHMM:
    """Means on a circle; the chain stays in its state two times in three."""
    angles = 2 * np.pi * np.arange(8) / 8
    means = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    A = np.full((8, 8), 0.05) + 0.6 * np.eye(8)
    return RiemannianHMM.from_parameters(manifold, np.full(8, 1 / 8), A, means, np.full(8, sigma))


@pytest.mark.parametrize("name", ["growing", "growing, short start", "fixed", "cold"])
@pytest.mark.parametrize(
    ("manifold", "radius"), [(Euclidean(2), 8.0), (Hyperbolic(2), np.tanh(1.5))], ids=str
)
def test_eight_well_separated_states_are_all_found(name, manifold, radius):
    truth = eight_states(manifold, radius, sigma=0.25)
    options = {"window": 480, **LEARNERS[name][1]}
    for seed in range(3):
        X, states = truth.sample(8_000, random_state=seed)
        online = learner(manifold, name, n_components=8, **options | {"random_state": seed})
        found = evaluate(online.partial_fit(X).to_hmm(), truth, X, states)
        assert found.ceiling - found.accuracy < 0.005
        assert found.mean_errors.max() < 0.3


@pytest.mark.parametrize("name", ["windowed convex", "windowed paper"])
def test_eight_well_separated_states_do_no_harm_to_the_windowed_algorithm(name):
    X, _ = eight_states(Euclidean(2), 8.0, sigma=0.05).sample(3_000, random_state=0)
    online = learner(Euclidean(2), name, n_components=8, window=60, random_state=0)
    assert np.isfinite(online.partial_fit_predict_proba(X)).all()
    assert is_sound(online)
