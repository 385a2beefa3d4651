"""The members of a bank, run together by one kernel."""

import numpy as np
import pytest

from rhmm import AutoMemoryRiemannianHMM, Hyperbolic
from rhmm.gaussian.table import radial_table
from rhmm.streams.bank import BANK
from rhmm.streams.bank_kernel import has_fallen
from rhmm.streams.chunk import Chunk
from rhmm.streams.ensemble import follow
from rhmm.streams.streaming_kernel import learn
from rhmm.streams.trace import empty_trace
from tests.learners.chains import stream, with_holes


def in_one_sequence(X) -> Chunk:
    """What goes on with the open sequence; rows of NaN are missing."""
    none = np.zeros(len(X), np.int64)
    return Chunk(X, ~np.isnan(X).any(axis=1), none > 0, none)


@pytest.fixture
def bank():
    """After 900 observations: no review is near."""
    online = AutoMemoryRiemannianHMM(Hyperbolic(2), 3, random_state=0)
    return online.partial_fit(stream(Hyperbolic(2), 900))._bank


def test_members_in_one_kernel_are_what_they_are_alone(bank):
    X = with_holes(stream(Hyperbolic(2), 400, seed=1))
    chunk = in_one_sequence(X)
    manifold = Hyperbolic(2)
    geometry, table = manifold.geometry, radial_table(manifold.gaussian)
    alone = [runner.copy() for runner in bank.runners]
    scores, leader, leaders = bank.scores.copy(), bank.leader, np.empty(400, np.int64)
    filtered, predictive = np.empty((len(BANK), 400, 3)), np.empty((len(BANK), 400))
    for r, (settings, state) in enumerate(alone):
        learn(
            geometry, table, settings, X, chunk.observed, chunk.begins, state, filtered[r],
            predictive[r], empty_trace(0, state.means),
        )  # fmt: skip
    follow(predictive, chunk.observed, bank.forget, bank.handicaps, scores, leader, leaders)
    told, _ = bank.learn(geometry, table, chunk, want_filtered=True)
    assert np.array_equal(told, filtered[leaders, np.arange(400)])
    assert np.array_equal(bank.scores, scores)
    assert bank.leader == leaders[-1]
    for runner, other in zip(bank.runners, alone, strict=True):
        assert all(map(np.array_equal, runner.state, other.state))


def test_a_member_far_behind_goes_on_from_the_leader(bank):
    X = stream(Hyperbolic(2), 80, seed=1)
    bank.leader = 1
    bank.scores[:] = (bank.scores.max() - 200.0, bank.scores.max(), bank.scores.max())
    left = bank.runners[0].state.means.copy()
    table = radial_table(Hyperbolic(2).gaussian)
    bank.learn(Hyperbolic(2).geometry, table, in_one_sequence(X), want_filtered=False)
    assert bank.scores[0] > bank.scores.max() - 20.0
    assert not np.array_equal(left, bank.runners[0].state.means)


def test_a_memory_that_takes_over_a_state_does_not_lead_by_that(bank):
    """The growing one has no handicap: it is given what a shorter leader has to make up for."""
    bank.leader, bank.scores[:] = 0, (100.0, 0.0, 70.0)
    bank._settle(0)
    assert bank._best() == 0
    assert bank.scores[1] == pytest.approx(100.0)
    assert bank.scores[2] == pytest.approx(97.0)


def test_an_alarm_ends_what_is_learned_at_a_time_and_makes_a_newcomer_due(bank):
    bank.level[1] += 100.0
    X = stream(Hyperbolic(2), 400, seed=1)
    table = radial_table(Hyperbolic(2).gaussian)
    seen, before = bank.seen, int(bank.state.counters[0])
    told, _ = bank.learn(Hyperbolic(2).geometry, table, in_one_sequence(X), want_filtered=True)
    assert len(told) == int(bank.state.counters[0]) - before == bank.seen - seen
    assert len(told) <= 40
    assert bank.due == bank.seen + 200 == bank.seen + bank.until_decision()


def test_a_level_has_fallen_by_deviations_of_a_recent_mean():
    """The mean over e^{−age/100} of values with variance 2 has the variance 2/200."""
    level = np.array([1e4, 5.0, 2.0, 5.0 - 4.1 * np.sqrt(2.0 / 200.0)])
    assert has_fallen(level, 4.0)
    assert not has_fallen(level, 4.2)
