import numpy as np

from dashboard.model.experiment import Experiment
from dashboard.model.source import Simulated
from rhmm.paper import paper_model


def test_a_simulated_source_draws_from_its_true_model():
    source = Simulated(**Experiment().truth, length=700, seed=3)
    points, states = paper_model().sample(700, random_state=3)

    drawn = source.observe()

    np.testing.assert_array_equal(drawn.points, points)
    np.testing.assert_array_equal(drawn.states, states)


def test_experiments_that_differ_in_their_learner_alone_share_a_source():
    assert Experiment(window=60, algorithms=("windowed",)).source == Experiment().source
    assert Experiment(seed=1).source != Experiment().source
