"""The trace of an online learner: its parameters at every so many observations."""

import numpy as np
import pytest

from rhmm import Hyperbolic
from tests import brute_force
from tests.learners.chains import LEARNERS, MANIFOLDS, learner, stream

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
every_learner = pytest.mark.parametrize("name", LEARNERS)


@every_manifold
@every_learner
def test_the_trace_holds_the_parameters_at_its_stride(manifold, name):
    X = stream(manifold)
    online = learner(manifold, name, trace_every=50)
    online.partial_fit(X[:600])
    at_600 = online.transmat_, online.means_, online.sigmas_
    trace = online.partial_fit(X[600:]).trace_
    assert (trace.step % 50 == 0).all()
    assert (np.diff(trace.step) == 50).all()
    assert trace.step[-1] == 700
    row = int(np.flatnonzero(trace.step == 600).item())
    assert np.array_equal(trace.transmat[row], at_600[0])
    assert np.array_equal(trace.means[row], at_600[1])
    np.testing.assert_allclose(trace.sigmas[row], at_600[2], rtol=1e-8)
    np.testing.assert_allclose(trace.gamma.sum(axis=1), 1.0, atol=1e-12)
    assert np.isfinite(trace.log_likelihood).all()
    assert (trace.visits > 0).all()


@every_learner
def test_the_trace_adds_up_the_predictive_log_densities(name):
    """Each is that of the leader before the observation, also during a race or in a bank."""
    X = stream(Hyperbolic(2), 1_200)
    online = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X)
    trace, expected = online.trace_, []
    some = np.arange(1, len(trace.step), 11)
    for k in some:
        y = X[trace.step[k] - 1]
        before = online.to_hmm()
        before.parameters_ = before.parameters_._replace(
            transmat=trace.transmat[k - 1], means=trace.means[k - 1], sigmas=trace.sigmas[k - 1]
        )
        predicted = trace.gamma[k - 1] @ trace.transmat[k - 1]
        expected.append(np.log(predicted @ np.exp(brute_force.log_density(before, y[None])[0])))
    gained = trace.log_likelihood[some] - trace.log_likelihood[some - 1]
    np.testing.assert_allclose(gained, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pieces", [1, 3])
def test_the_trace_is_read_only(pieces):
    online = learner(Hyperbolic(2), "growing")
    for piece in np.array_split(stream(Hyperbolic(2)), pieces):
        online.partial_fit(piece)
    for array in online.trace_:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    online.partial_fit(stream(Hyperbolic(2)))
    assert online.trace_.step[-1] == 1_400


def test_without_a_stride_there_is_no_trace():
    online = learner(Hyperbolic(2), "growing", trace_every=None)
    with pytest.raises(AttributeError, match="trace_every"):
        _ = online.trace_


def test_the_trace_is_empty_before_the_start():
    trace = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2), 25)).trace_
    assert trace.step.shape == (0,)
    assert trace.means.shape == (0, 3, 2)


def test_a_permuted_trace_renames_the_states_of_every_row():
    order = [2, 0, 1]
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2)))
    trace, permuted = online.trace_, online.trace_.permuted(order)
    for name in ("step", "log_likelihood"):
        assert np.array_equal(getattr(permuted, name), getattr(trace, name))
    for i, old_i in enumerate(order):
        for name in ("means", "delta", "sigmas", "gamma", "visits"):
            assert np.array_equal(getattr(permuted, name)[:, i], getattr(trace, name)[:, old_i])
        for j, old_j in enumerate(order):
            assert np.array_equal(permuted.transmat[:, i, j], trace.transmat[:, old_i, old_j])
