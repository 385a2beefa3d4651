"""What `explain` shows is what the kernel did, and what the formulas say."""

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM
from tests import brute_force
from tests.learners.chains import (
    ALONE,
    LEARNERS,
    MANIFOLDS,
    content,
    learner,
    stream,
    with_holes,
)

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


def same(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-14)


def assert_is_row(estimate, trace, step):
    (row,) = np.flatnonzero(trace.step == step)
    for name in ("transmat", "means", "delta", "sigmas"):
        same(getattr(estimate, name), getattr(trace, name)[row])


def assert_ends_at_row(explained, trace):
    assert_is_row(explained.after, trace, explained.step)
    (row,) = np.flatnonzero(trace.step == explained.step)
    same(explained.visits, trace.visits[row])


@every_manifold
@pytest.mark.parametrize("name", LEARNERS)
def test_the_latest_step_ends_where_the_kernel_ended(manifold, name):
    online = learner(manifold, name, trace_every=1).partial_fit(stream(manifold))
    explained = online.explain()
    assert explained.step == online.n_samples_seen_ == 700
    assert_ends_at_row(explained, online.trace_)
    same(explained.after.transmat, online.transmat_)
    same(explained.after.means, online.means_)
    same(online.explain(700).after.means, online.means_)
    same(explained.gamma[-1], online.trace_.gamma[-1])


@every_manifold
@pytest.mark.parametrize("name", ALONE)
def test_every_step_leads_from_the_state_before_to_the_state_after(manifold, name):
    X = stream(manifold, 420)
    online = learner(manifold, name, trace_every=1).partial_fit(X)
    first = int(online.trace_.step[0])
    for k in (first + 1, first + 2, first + 7, first + 8, first + 9, first + 100, 419, 420):
        explained = online.explain(k, X)
        assert explained.step == k
        assert np.array_equal(explained.observation, X[k - 1])
        assert_is_row(explained.before, online.trace_, k - 1)
        assert_ends_at_row(explained, online.trace_)


@pytest.mark.parametrize("name", ALONE)
def test_the_very_first_step_can_be_explained(name):
    X = stream(Hyperbolic(2), 300)
    online = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X)
    first = int(online.trace_.step[0])
    assert_ends_at_row(online.explain(first, X), online.trace_)
    with pytest.raises(ValueError, match=rf"^k must be at least {first}, not {first - 1}"):
        online.explain(first - 1, X)


@pytest.mark.parametrize("name", ["growing, short start", "fixed, short start", "cold", "auto"])
@pytest.mark.parametrize("k", [239, 240, 241, 300, 719, 720, 721, 722, 800])
def test_the_leader_of_a_race_or_a_bank_is_explained(name, k):
    X = stream(Hyperbolic(2), 800)
    online = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X)
    assert_ends_at_row(online.explain(k, X), online.trace_)


@pytest.mark.parametrize("name", LEARNERS)
def test_steps_at_holes_are_explained(name):
    X = with_holes(stream(Hyperbolic(2)))
    online = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X)
    first = int(online.trace_.step[0])
    for k in (first + 4, first + 5, first + 6, 299, 300, 301, 310, 379, 381, 385, 389, 600):
        assert_is_row(online.explain(max(k, first), X).after, online.trace_, max(k, first))


def test_explaining_changes_nothing(tmp_path):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), "cold").partial_fit(X)
    before = content(online, tmp_path)
    online.explain()
    online.explain(300, X)
    assert content(online, tmp_path) == before


@every_manifold
@pytest.mark.parametrize("name", ALONE)
def test_the_posteriors_fit_together(manifold, name):
    online = learner(manifold, name).partial_fit(stream(manifold))
    e = online.explain()
    np.testing.assert_allclose(e.alpha.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(e.gamma.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(e.zeta.sum(axis=(1, 2)), 1.0, atol=1e-12)
    np.testing.assert_allclose(e.zeta.sum(axis=2), e.gamma[:-1], atol=1e-12)
    assert np.array_equal(e.gamma[-1], e.alpha[-1])
    assert (e.beta.max(axis=1) == 1.0).all()
    assert (e.beta[-1] == 1.0).all()
    # streaming: 9 to 16 in turn, counted from the end of the start
    held = 9 + (700 - online.start_size - 1) % 8
    window = 40 if name.startswith("windowed") else held
    assert e.alpha.shape == e.beta.shape == e.gamma.shape == e.density.shape == (window, 3)
    assert e.zeta.shape == (window - 1, 3, 3)


@pytest.mark.parametrize("update", ["convex", "paper"])
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_a_small_window_agrees_with_listing_all_paths(manifold, update):
    options = {"window": 5, "transition_update": update, "random_state": 1}
    X = stream(manifold, 60, seed=3)
    online = learner(manifold, "windowed convex", **options)
    e = online.partial_fit(X).explain()
    check_against_all_paths(manifold, e, X[-5:])


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_a_small_lag_agrees_with_listing_all_paths(manifold):
    X, online = stream(manifold, 300), learner(manifold, "growing", lag=3)
    k = online.start_size + 21  # a multiple of the lag: the older half is learned
    e = online.partial_fit(X).explain(k, X)
    check_against_all_paths(manifold, e, None)
    assert np.array_equal(e.learned, X[k - 6 : k - 3])
    model = model_of(manifold, e.before)
    newest = brute_force.log_density(model, X[k - 1 : k])[0]
    np.testing.assert_allclose(e.density[-1], np.exp(newest - newest.max()), atol=1e-7)
    np.testing.assert_allclose(e.weight, e.zeta[:3].sum(axis=2), atol=1e-12)
    np.testing.assert_allclose(e.pair, e.zeta[:3].sum(axis=0), atol=1e-12)


def test_parameters_stand_still_between_two_steps_of_the_streaming_algorithm():
    X, online = stream(Hyperbolic(2), 300), learner(Hyperbolic(2), "growing", lag=3)
    first = online.start_size
    online.partial_fit(X)
    moved = [k for k in range(first + 1, 300) if len(online.explain(k, X).learned)]
    assert moved == list(range(first + 6, 300, 3))
    e = online.explain(first + 22, X)
    assert not e.tau.any()
    assert np.array_equal(e.after.means, e.before.means)


@pytest.mark.parametrize("name", ["growing", "fixed"])
def test_the_named_quantities_give_the_streaming_update(name):
    X, disk = stream(Hyperbolic(2)), Hyperbolic(2)
    online = learner(disk, name).partial_fit(X)
    k = online.start_size + 8 * ((700 - online.start_size) // 8)
    e = online.explain(k, X)
    gain = 1.5 if name == "growing" else 1.0
    visited = e.weight.sum(axis=0)
    np.testing.assert_allclose(e.tau, 1 - np.exp(-gain * visited / e.visits), rtol=1e-12)
    for i in range(3):
        row = (1 - e.tau[i]) * e.before.transmat[i] + e.tau[i] * e.pair[i] / visited[i]
        np.testing.assert_allclose(e.after.transmat[i], row, atol=3e-6)  # the floor of A
        share = e.weight[:, i] / visited[i]
        d2 = [brute_force.squared_distance(disk, y, e.before.means[i]) for y in e.learned]
        delta = (1 - e.tau[i]) * e.before.delta[i] + e.tau[i] * (share @ d2)
        assert e.after.delta[i] == pytest.approx(delta, rel=1e-10)
        step = e.tau[i] / e.kappa[i] * (share @ disk.log(e.before.means[i], e.learned))
        np.testing.assert_allclose(e.after.means[i], disk.exp(e.before.means[i], step), atol=1e-12)


def model_of(manifold, estimate):
    n = len(estimate.sigmas)
    return RiemannianHMM.from_parameters(
        manifold, np.full(n, 1 / n), estimate.transmat, estimate.means, estimate.sigmas
    )


def check_against_all_paths(manifold, e, points):
    """β, γ, ζ and the newest α; the densities are recomputed when the points are given."""
    if points is None:
        log_density = np.log(e.density)
    else:
        log_density = brute_force.log_density(model_of(manifold, e.before), points)
    A, size = e.before.transmat, len(e.alpha)
    beta = brute_force.log_beta(e.alpha[0], A, log_density)
    beta = np.exp(beta - beta.max(axis=1, keepdims=True))
    np.testing.assert_allclose(e.beta, beta, atol=1e-6)
    for t in range(size - 1):
        ahead = log_density[t:].copy()
        ahead[0] = 0.0  # α_t knows y_t already
        pairs = brute_force.pairs(e.alpha[t], A, ahead)[0]
        np.testing.assert_allclose(e.zeta[t], pairs, atol=1e-6)
        np.testing.assert_allclose(e.gamma[t], pairs.sum(axis=1), atol=1e-6)
    ahead = log_density[-2:].copy()
    ahead[0] = 0.0
    filtered = brute_force.smoother(e.alpha[-2], A, ahead)[-1]
    np.testing.assert_allclose(e.alpha[-1], filtered, atol=1e-6)


@pytest.mark.parametrize("update", ["convex", "paper"])
def test_the_named_quantities_give_the_update_of_the_paper(update):
    X = stream(Hyperbolic(2))
    e = learner(Hyperbolic(2), "windowed convex", transition_update=update).partial_fit(X).explain()
    old = e.before.transmat
    np.testing.assert_allclose(e.visits, e.gamma.sum(axis=0))
    np.testing.assert_allclose(e.tau, e.gamma[-1] / e.gamma.sum(axis=0))
    assert (e.kappa == 1.0).all()
    assert np.array_equal(e.pair, e.zeta[-1])
    if update == "convex":
        assert e.mu is None
        assert e.g is None
        new = old + (e.pair - old * e.pair.sum(axis=1)[:, None]) / e.visits[:, None]
    else:
        np.testing.assert_allclose(e.mu, e.zeta.sum(axis=0) / old**2)
        np.testing.assert_allclose(e.g, e.pair / old)
        inverse = 1 / e.mu
        shared = (e.g * inverse).sum(axis=1) / inverse.sum(axis=1)
        new = np.maximum(old + (e.g - shared[:, None]) * inverse, 1e-6)
        new /= new.sum(axis=1, keepdims=True)
    same(e.after.transmat, new)
    for i in range(3):
        moved = Hyperbolic(2).geodesic(e.before.means[i], X[-1], e.tau[i])
        np.testing.assert_allclose(e.after.means[i], moved, atol=1e-12)
        d2 = brute_force.squared_distance(Hyperbolic(2), X[-1], e.before.means[i])
        delta = e.before.delta[i] + e.gamma[-1, i] * (d2 - e.before.delta[i]) / np.sqrt(700)
        assert e.after.delta[i] == pytest.approx(delta, rel=1e-10)
    np.testing.assert_allclose(Hyperbolic(2).delta(e.after.sigmas), e.after.delta, rtol=1e-8)


def test_explain_before_the_start_is_refused():
    with pytest.raises(ValueError, match=r"k=10 cannot be explained: .*collecting"):
        learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2))[:10]).explain()


def test_only_the_latest_observation_is_explained_without_the_stream():
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2)))
    with pytest.raises(ValueError, match="k must be the latest observation, 700"):
        online.explain(650)


def test_a_step_that_cannot_be_explained_is_refused():
    X = stream(Hyperbolic(2), 300)
    online = learner(Hyperbolic(2), "growing").partial_fit(X)
    for k in (0, 299, 301):
        with pytest.raises(ValueError, match=r"^k must be the latest observation, 300"):
            online.explain(k)
    for k in (0, 200, 301, 250.5):
        with pytest.raises(ValueError, match=r"^k must be"):
            online.explain(k, X)
    with pytest.raises(ValueError, match=r"^X"):
        online.explain(250, X * 2)
