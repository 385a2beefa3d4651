"""Runners side by side: which of them leads, and what is told of the leader."""

from typing import NamedTuple

import numpy as np
import pytest

from rhmm.streams.chunk import Chunk
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.trace import Trace

SIZE = 50


class Settings(NamedTuple):
    trace_every: int
    log_densities: np.ndarray
    """What this runner predicts for each observation, shape (SIZE,)."""


class State(NamedTuple):
    means: np.ndarray
    delta: np.ndarray
    counters: np.ndarray
    log_likelihood: np.ndarray


def learn(geometry, table, settings, X, observed, begins, state, filtered, predictive, trace):
    """Predicts what its settings say; its mark is in the filter and in the trace."""
    first = int(state.counters[0])
    for u in range(len(X)):
        value = settings.log_densities[first + u] if observed[u] else 0.0
        state.log_likelihood[0] += value
        if len(predictive):
            predictive[u] = value
        if len(filtered):
            filtered[u] = state.delta[0]
    state.counters[0] += len(X)
    steps = np.arange(first + 1, first + len(X) + 1)
    kept = steps[steps % settings.trace_every == 0] if settings.trace_every else steps[:0]
    for array in trace:
        array[...] = state.delta[0]
    trace.step[:] = kept


def runners(log_densities, trace_every=0):
    """One for each row; its mark is its number."""
    return [
        Runner(
            Settings(trace_every, row),
            State(np.zeros((1, 1)), np.array([float(mark)]), np.array([0, 0]), np.zeros(1)),
        )
        for mark, row in enumerate(log_densities)
    ]


def leaders_by_hand(log_densities, observed, forget, handicaps=0.0):
    """The best score after each observation, no observation counting for more than 10 nats."""
    scores, leader, leaders = np.zeros(len(log_densities)), 0, []
    for t in range(SIZE):
        if observed[t]:
            values = log_densities[:, t]
            scores = scores * (1.0 - forget) + np.maximum(values, values.max() - 10.0)
            leader = int(np.argmax(scores - handicaps))
        leaders.append(leader)
    return leaders


@pytest.fixture
def case():
    rng = np.random.default_rng(0)
    log_densities = rng.normal(scale=2.0, size=(3, SIZE))
    log_densities[2, 20] = -1e6
    observed = rng.random(SIZE) > 0.2
    observed[20] = True
    return log_densities, observed


def fed(ensemble, observed, pieces):
    """Filtered probabilities (SIZE,) and traces of all pieces."""
    filtered, traces = [], []
    for part in np.array_split(observed, pieces):
        size = len(part)
        chunk = Chunk(np.zeros((size, 1)), part, np.zeros(size, bool), np.zeros(size, int))
        probabilities, trace = ensemble.learn(None, None, chunk, True)
        filtered.append(probabilities[:, 0])
        traces.append(trace)
    whole = Trace(*map(np.concatenate, zip(*traces, strict=True)))
    return np.concatenate(filtered), whole


class Forgetful(Ensemble):
    forget = 0.1


class Handicapped(Forgetful):
    handicaps = np.array([4.0, 0.0, 1.0])


@pytest.mark.parametrize("kind", [Ensemble, Forgetful, Handicapped])
@pytest.mark.parametrize("pieces", [1, 7, SIZE])
def test_the_runner_that_predicts_best_leads(kind, pieces, case):
    log_densities, observed = case
    ensemble = kind(learn, runners(log_densities))
    filtered, _ = fed(ensemble, observed, pieces)
    expected = leaders_by_hand(log_densities, observed, kind.forget, ensemble.handicaps)
    assert len(set(expected)) == 3
    assert filtered.tolist() == expected
    assert ensemble.leader == expected[-1]
    assert ensemble.state.delta[0] == expected[-1]


@pytest.mark.parametrize("pieces", [1, 7, SIZE])
def test_the_likelihood_is_that_of_the_leader_before_each_observation(pieces, case):
    log_densities, observed = case
    ensemble = Ensemble(learn, runners(log_densities, trace_every=4))
    _, trace = fed(ensemble, observed, pieces)
    leaders = leaders_by_hand(log_densities, observed, 0.0)
    led = [0, *leaders[:-1]]
    gained = np.where(observed, log_densities[led, np.arange(SIZE)], 0.0).cumsum()
    assert trace.step.tolist() == list(range(4, SIZE + 1, 4))
    np.testing.assert_allclose(trace.log_likelihood, gained[3::4])
    np.testing.assert_allclose(ensemble.log_likelihood, gained[-1:])
    assert trace.sigmas[:, 0].tolist() == leaders[3::4]


def test_one_runner_needs_no_scores(case):
    log_densities, observed = case
    ensemble = Ensemble(learn, runners(log_densities[:1], trace_every=10))
    filtered, trace = fed(ensemble, observed, 3)
    assert not filtered.any()
    assert trace.step.tolist() == [10, 20, 30, 40, 50]
    assert ensemble.leader == 0


def test_scores_of_the_start_choose_the_first_leader(case):
    ensemble = Ensemble(learn, runners(case[0]), np.array([-3.0, -1.0, -2.0]))
    assert ensemble.leader == 1


def test_a_copy_of_a_runner_shares_no_array(case):
    (runner, *_) = runners(case[0])
    copy = runner.copy()
    for ours, theirs in zip(copy.state, runner.state, strict=True):
        assert np.array_equal(ours, theirs)
        assert not np.shares_memory(ours, theirs)


def test_a_restored_ensemble_is_the_same(case):
    log_densities, observed = case
    ensemble = Ensemble(learn, runners(log_densities))
    fed(ensemble, observed, 1)
    numbers, arrays = ensemble.content()
    restored = Ensemble.restored(learn, ensemble.runners, numbers | arrays)
    assert vars(restored) == vars(ensemble)
