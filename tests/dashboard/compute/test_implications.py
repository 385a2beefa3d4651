from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute import implications
from dashboard.compute.implications import ceiling, separations
from dashboard.model import truth
from dashboard.model.experiment import Experiment
from dashboard.model.model_checks import MOST_STATES
from dashboard.model.presets import PRESETS
from rhmm import Hyperbolic
from rhmm.scoring import accuracy


@pytest.mark.parametrize("name", PRESETS)
def test_the_chain_keeps_its_shares_of_time(name):
    transmat = np.array(PRESETS[name]["transmat"])
    shares = implications.time_shares(transmat)
    assert np.allclose(shares @ transmat, shares, atol=1e-14, rtol=0)


def test_a_chain_with_two_ends_has_no_share_of_time_of_its_own():
    assert implications.time_shares(((0.5, 0.25, 0.25), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))) is None


def test_a_chain_with_one_end_spends_all_its_time_there():
    shares = implications.time_shares(((0.5, 0.5), (0.0, 1.0)))
    assert np.allclose(shares, (0.0, 1.0), atol=1e-14, rtol=0)


def test_separations_are_distances_in_the_average_sigma():
    now = Experiment()
    first, second = np.array(now.means[:1]), np.array(now.means[1:2])
    distance = Hyperbolic(2).dist(first, second).item()
    assert separations(now)[0, 1] == pytest.approx(distance / 0.6, rel=1e-15)


def test_the_ceiling_is_the_accuracy_of_the_true_model():
    best = ceiling(Experiment())
    model = Experiment().source.true_model()
    points, states = model.sample(implications.SIMULATED, random_state=0)
    assert best.accuracy == pytest.approx(accuracy(states, model.predict(points), 3), abs=1e-12)


def test_the_standard_error_covers_another_simulation():
    best = ceiling(Experiment(**PRESETS["Overlapping"]))
    model = Experiment(**PRESETS["Overlapping"]).source.true_model()
    points, states = model.sample(200_000, random_state=1)
    assert abs(np.mean(model.predict(points) == states) - best.accuracy) < 4 * best.standard_error
    assert 0.001 < best.standard_error < 0.005


def test_the_ceiling_of_eight_states_can_be_computed():
    now = Experiment()
    while now.n_states < MOST_STATES:
        now = replace(now, **truth.with_new_state(now.truth))
    assert 0.5 < ceiling(now).accuracy < 1.0
