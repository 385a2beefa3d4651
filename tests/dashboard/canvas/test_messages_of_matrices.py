"""What the lab and the sketch get in a space whose map Python computes."""

import numpy as np
import pytest

from dashboard.canvas import messages
from dashboard.canvas.protocol import Channel, read_moved
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.spaces.spd2 import SPD2
from dashboard.model.view import View
from rhmm import SPD
from tests.dashboard.canvas.unpacking import unpack
from tests.dashboard.made_runs import finished

EXPERIMENT = Experiment(**SPD2.truth, length=600, window=60)


@pytest.fixture(scope="module")
def run():
    return finished(EXPERIMENT)


def test_the_lab_gets_a_flat_map_with_ellipses_and_balls(run):
    chart, n, frames = EXPERIMENT.chart, EXPERIMENT.n_states, len(run.path("windowed").step)

    about, arrays = unpack(messages.run_message(run, True, View(space="spd2"), chart))

    assert about["chart"] == {
        "name": "plane",
        "id": chart.id,
        "title": "Map of the 2 × 2 matrices",
        "extent": list(chart.extent),
        "axes": list(chart.axes),
    }
    np.testing.assert_allclose(
        about["truth"]["means"], chart.places(SPD2.points(EXPERIMENT.means)), rtol=1e-12
    )
    assert np.shape(about["truth"]["balls"]) == (n, 5)
    assert np.shape(about["truth"]["glyphs"]) == (n, 3)
    assert arrays["windowed.balls"].size == frames * n * 5
    assert arrays["windowed.glyphs"].size == frames * n * 3
    assert np.isfinite(arrays["windowed.balls"]).all()


def test_the_errors_are_distances_between_matrices(run):
    _, arrays = unpack(messages.run_message(run, True, View(space="spd2"), EXPERIMENT.chart))

    distances = SPD(2).dist(SPD2.points(EXPERIMENT.means), run.path("windowed").means[-1])
    assert arrays["windowed.errors"].reshape(-1, 2)[-1, 1] == pytest.approx(
        np.mean(distances), rel=1e-6
    )


def test_every_observation_has_its_place_and_its_ellipse(run):
    _, arrays = unpack(messages.cloud_message(run, EXPERIMENT.chart))

    np.testing.assert_allclose(
        arrays["xy"].reshape(-1, 2), EXPERIMENT.chart.places(run.points), rtol=1e-5, atol=1e-6
    )
    assert arrays["glyphs"].size == 3 * len(run.points)


def test_a_sketch_of_another_space_than_the_experiments_has_no_observations():
    means, sigmas = SPD2.truth["means"], SPD2.truth["sigmas"]
    chart = SPD2.chart_for(means, sigmas)

    about, arrays = unpack(messages.sketch_message(Experiment(), means, sigmas, chart, 0))

    assert len(about["truth"]["means"]) == 3
    assert arrays["xy"].size == arrays["states"].size == 0


def test_a_drop_names_its_map():
    drop = {"state": 1, "x": 0.5, "y": -0.5, "chart": "spd2-1"}

    assert read_moved({"number": 3, "pending": [drop]}).pending == (drop,)
    assert read_moved({"number": 3, "pending": [drop | {"chart": 5}]}) is None


def test_a_channel_knows_the_last_maps_of_its_space():
    sigmas = SPD2.truth["sigmas"]
    maps = [SPD2.chart_for(((1.0 + i, 0.0, 1.0), *EXPERIMENT.means[1:]), sigmas) for i in range(20)]
    channel = Channel()
    channel.drew(DISK_CHART)
    for chart in maps:
        channel.drew(chart)
        channel.drew(chart)

    assert list(channel.charts.values()) == maps[-8:]
