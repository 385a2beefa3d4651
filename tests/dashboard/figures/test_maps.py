import json

import numpy as np
import pytest

from dashboard.figures import compare, maps
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.spd2 import SPD2
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_runs import finished


@pytest.fixture(scope="module")
def matrices():
    return finished(Experiment(**SPD2.truth, length=600, window=60))


def test_a_round_map_has_a_round_frame_with_a_little_room(paper):
    figure = checked(compare.map_of(paper, paper.method("streaming")))

    (frame,) = figure.layout.shapes
    assert (frame.type, frame.x0, frame.y1) == ("circle", -1, 1)
    assert figure.layout.xaxis.range == figure.layout.yaxis.range == (-1.02, 1.02)


def test_matrices_are_ellipses_of_their_own_shape(matrices):
    chart = matrices.experiment.chart
    wide = SPD2.points([(4.0, 0.0, 1.0)])

    drawing = maps.map_figure(
        chart, "", wide, np.zeros(1, int), wide[:0], np.zeros(0), SPD2.points([(1.0, 0.0, 1.0)])
    )

    figure = checked(drawing)
    x, y = np.array(figure.data[0].x), np.array(figure.data[0].y)
    assert np.nanmax(x) - np.nanmin(x) == pytest.approx(2 * (np.nanmax(y) - np.nanmin(y)), rel=1e-3)
    assert np.nanmean(x[:-2]) == pytest.approx(chart.places(wide)[0, 0], abs=1e-3)
    assert np.isnan(x[-1])  # the gap before the next one


def test_every_method_has_a_map_of_matrices(matrices):
    for method in matrices.methods:
        figure = checked(compare.map_of(matrices, method))
        assert figure.layout.shapes[0].type == "rect"
        assert "nan" not in json.dumps([list(t.text or []) for t in figure.data]).lower()
        words = compare.map_in_words(matrices, method)
        assert words.startswith(f"The map of the 2 × 2 matrices with {maps.MOST_ELLIPSES} observ")


def test_a_mean_says_its_coordinates(matrices):
    figure = checked(compare.map_of(matrices, matrices.method("streaming")))

    assert figure.data[-1].text[0] == "true mean of state 1<br>(0.530, 0.000, 0.530)"
