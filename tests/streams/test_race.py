"""Candidates of a start race on the observations that follow it."""

import numpy as np
import pytest

from rhmm import Hyperbolic
from rhmm.streams.race import Race
from tests.learners.chains import chain_on, learner, stream


@pytest.mark.parametrize("name", ["cold", "growing, short start"])
def test_a_race_is_not_decided_while_nothing_is_observed(name):
    """The candidates of a start are told apart by observations, so holes must not end the race."""
    truth = chain_on(Hyperbolic(2))
    X, _ = truth.sample(2_000, random_state=0)
    for seed in range(8):
        online = learner(Hyperbolic(2), name, random_state=seed).partial_fit(X[:40])
        online.partial_fit(np.full((1_000, 2), np.nan)).partial_fit(X[40:])
        assert truth.score(X) - online.to_hmm().score(X) < 60.0


def test_the_largest_size_counts_the_candidates_of_a_race():
    online = learner(Hyperbolic(2), "cold").partial_fit(stream(Hyperbolic(2), 31))
    assert online.peak_nbytes_ == online.state_nbytes_ > 16 * 31
    during = online.state_nbytes_
    online.partial_fit(stream(Hyperbolic(2), 1_000))
    assert online.peak_nbytes_ == during > online.state_nbytes_


@pytest.mark.parametrize("name", ["cold", "growing, short start", "auto"])
def test_fewer_and_fewer_candidates_go_on_until_one_is_left(name):
    """With three states the field is cut after 120, 240 and 720 observations."""
    X = stream(Hyperbolic(2), 1_000)
    online, left = learner(Hyperbolic(2), name), {}
    for k, y in enumerate(X, start=1):
        online.learn_one(y)
        ensemble = online._stream.ensemble
        left[k] = len(ensemble.runners) if isinstance(ensemble, Race) else 1
    begun = online.start_size
    assert (left[begun], left[119]) == ((16, 16) if name == "cold" else (8, 8))
    assert [left[k] for k in (120, 239, 240, 719, 720, 1_000)] == [8, 8, 4, 4, 1, 1]


@pytest.mark.parametrize("name", ["growing", "fixed"])
def test_enough_observations_at_the_start_need_no_race(name):
    online = learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2), 200))
    assert not isinstance(online._stream.ensemble, Race)
