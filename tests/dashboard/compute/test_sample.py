import numpy as np
import pytest

from dashboard.compute.sample import MOST_POINTS, sample_to_draw
from dashboard.model.experiment import Experiment


@pytest.mark.parametrize(("length", "stride"), [(2_000, 1), (10_000, 4)])
def test_the_sample_is_of_the_data_that_all_pages_show(length, stride):
    experiment = Experiment(length=length, seed=3)
    points, states = experiment.source.true_model().sample(length, random_state=3)

    drawn, labels = sample_to_draw(experiment)

    assert len(drawn) <= MOST_POINTS
    np.testing.assert_array_equal(drawn, points[::stride].astype(np.float32))
    np.testing.assert_array_equal(labels, states[::stride])
