"""The paper's algorithm: the kernel against plain NumPy, and what its updates keep."""

import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianKMeans, WindowedRiemannianHMM
from rhmm.paper import paper_model
from tests import brute_force
from tests.learners.chains import MANIFOLDS, is_sound, learner, stream

both_updates = pytest.mark.parametrize("update", ["convex", "paper"])


def slide(manifold, x, y, tau):
    """The point at the share τ of the way from x to y, by textbook formulas."""
    if isinstance(manifold, Euclidean):
        return x + tau * (y - x)
    x, y = complex(*x), complex(*y)
    w = (y - x) / (1 - x.conjugate() * y)
    if w:
        w *= np.tanh(tau * np.arctanh(abs(w))) / abs(w)
    z = (w + x) / (1 + x.conjugate() * w)
    return np.array([z.real, z.imag])


class PlainWindowed:
    """The paper's algorithm as its formulas read."""

    def __init__(self, manifold, points, n, update, seed):
        clusters = RiemannianKMeans(manifold, n, random_state=seed).fit(points)
        start, self.A, self.c, sigma = clusters.to_parameters()
        self.manifold, self.update = manifold, update
        self.delta, self.sigma = manifold.delta(sigma), sigma
        self.points, self.k = list(points), len(points)
        self.alpha = []
        for y in points:
            law = start if not self.alpha else self.alpha[-1] @ self.A
            joint = law * self.density(y)
            self.alpha.append(joint / joint.sum())

    def d2(self, y):
        return np.array([brute_force.squared_distance(self.manifold, y, c) for c in self.c])

    def density(self, y):
        return np.exp(-self.d2(y) / (2 * self.sigma**2) - self.manifold.log_z(self.sigma))

    def learn(self, y):
        self.k += 1
        self.points = [*self.points[1:], y]
        d2 = self.d2(y)
        joint = self.alpha[-1] @ self.A * self.density(y)
        self.alpha = [*self.alpha[1:], joint / joint.sum()]
        p = [self.density(point) for point in self.points]
        beta, gamma, zeta = np.ones_like(d2), [self.alpha[-1]], []
        for t in range(len(p) - 2, -1, -1):
            pair = self.alpha[t][:, None] * self.A * (p[t + 1] * beta)
            beta = self.A @ (p[t + 1] * beta)
            beta /= beta.sum()
            share = self.alpha[t] * beta
            gamma.append(share / share.sum())
            zeta.append(pair / pair.sum())
        newest, visits = zeta[0], np.sum(gamma, axis=0)
        if self.update == "convex":
            leaving = newest.sum(axis=1, keepdims=True)
            self.A = self.A + (newest - self.A * leaving) / visits[:, None]
        else:
            mu, g = np.sum(zeta, axis=0) / self.A**2, newest / self.A
            pull = (g / mu).sum(axis=1, keepdims=True) / (1 / mu).sum(axis=1, keepdims=True)
            self.A = np.maximum(self.A + (g - pull) / mu, 1e-6)
            self.A /= self.A.sum(axis=1, keepdims=True)
        now = self.alpha[-1]
        self.c = np.array(
            [slide(self.manifold, c, y, tau) for c, tau in zip(self.c, now / visits, strict=True)]
        )
        self.delta = self.delta + now * (d2 - self.delta) / np.sqrt(self.k)
        self.sigma = self.manifold.sigma(np.maximum(self.delta, self.manifold.delta(1e-3)))


@both_updates
@pytest.mark.parametrize("manifold", [Euclidean(2), Hyperbolic(2)], ids=repr)
def test_the_kernel_does_what_the_formulas_say(manifold, update):
    X = stream(manifold, 230)
    plain = PlainWindowed(manifold, X[:20], 3, update, seed=4)
    online = WindowedRiemannianHMM(
        manifold, 3, window=20, transition_update=update, random_state=4, trace_every=1
    )
    filtered = online.partial_fit_predict_proba(X)
    trace = online.trace_
    assert np.array_equal(trace.step, np.arange(21, 231))
    for row, y in enumerate(X[20:]):
        plain.learn(y)
        np.testing.assert_allclose(filtered[20 + row], plain.alpha[-1], atol=1e-6)
        np.testing.assert_allclose(trace.transmat[row], plain.A, atol=1e-6)
        np.testing.assert_allclose(trace.means[row], plain.c, atol=1e-6)
        np.testing.assert_allclose(trace.delta[row], plain.delta, rtol=1e-6)
        np.testing.assert_allclose(trace.sigmas[row], plain.sigma, rtol=1e-6)


@both_updates
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("window", [3, 10, 40])
def test_rows_of_a_stay_positive_and_sum_to_one(manifold, update, window):
    options = {"window": window, "transition_update": update, "trace_every": 1}
    online = learner(manifold, "windowed convex", **options)
    trace = online.partial_fit(stream(manifold, 600)).trace_
    assert (trace.transmat > 0).all()
    np.testing.assert_allclose(trace.transmat.sum(axis=2), 1.0, rtol=0, atol=1e-12)
    assert np.isfinite(trace.means).all()
    assert (trace.sigmas > 0).all()


def test_the_convex_update_keeps_rows_at_one_over_ten_thousand_steps():
    X, _ = paper_model().sample(10_000, random_state=0)
    online = learner(Hyperbolic(2), "windowed convex", trace_every=100).partial_fit(X)
    sums = online.trace_.transmat.sum(axis=2)
    np.testing.assert_allclose(sums, 1.0, rtol=0, atol=1e-12)
    assert (online.trace_.transmat > 0).all()


@both_updates
def test_a_window_as_small_as_the_number_of_states_is_survived(update):
    options = {"window": 3, "transition_update": update}
    online = learner(Hyperbolic(2), "windowed convex", **options)
    assert is_sound(online.partial_fit(stream(Hyperbolic(2), 1_000)))


@both_updates
@pytest.mark.parametrize("gone", [200, 5_000])
def test_a_distant_state_that_leaves_the_window_does_no_harm(update, gone):
    """Its γ underflow to zero over the whole window, and so does what the steps are divided by."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]])
    labels = np.concatenate(
        [rng.integers(0, size, t) for size, t in ((3, 200), (2, gone), (3, 200))]
    )
    X = centres[labels] + 0.1 * rng.normal(size=(len(labels), 2))
    online = WindowedRiemannianHMM(
        Euclidean(2), 3, window=60, transition_update=update, random_state=0
    )
    online.partial_fit(X[: 200 + gone])
    assert is_sound(online)
    filtered = online.partial_fit_predict_proba(X[200 + gone :])
    assert is_sound(online)
    assert np.isfinite(filtered).all()


@both_updates
@pytest.mark.parametrize("manifold", [Hyperbolic(2), SPD(2)], ids=repr)
def test_an_observation_far_from_all_others_does_no_harm(manifold, update):
    X = stream(manifold, 300)
    X[150] = brute_force.in_a_row(manifold, [20.0])[0]
    online = learner(manifold, "windowed convex", transition_update=update)
    assert np.isfinite(online.partial_fit_predict_proba(X)).all()
    assert is_sound(online)
