import numpy as np
import pytest

from dashboard.compute import recording_map
from dashboard.compute.counting import Curve
from dashboard.figures import fitted as figures
from dashboard.model.marks import STATE_COLOURS
from rhmm import SPD, RiemannianHMM
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_recordings import (
    disk_fit,
    fitted,
    matrix_fit,
    matrix_model,
    of_matrices,
)


def test_every_observation_is_on_the_map_in_the_colour_of_its_state():
    result = disk_fit()

    figure = checked(figures.map_figure(result))

    states = result.states[result.picture.shown]
    for state in range(3):
        dots = figure.data[state]
        assert dots.marker.color == STATE_COLOURS[state]
        expected = result.recording.points[result.picture.shown][states == state]
        np.testing.assert_allclose(np.column_stack([dots.x, dots.y]), expected, atol=1e-6)
    assert figure.layout.shapes[0].type == "circle"


def test_all_observations_and_means_lie_within_the_frame_of_a_map_of_matrices():
    result = matrix_fit()

    frame = checked(figures.map_figure(result)).layout.shapes[0]

    picture = result.picture
    places = np.concatenate([picture.places, picture.means, *picture.outlines])
    assert frame.type == "rect"
    assert (places > [frame.x0, frame.y0]).all()
    assert (places < [frame.x1, frame.y1]).all()


def test_a_figure_is_made_once_for_each_result():
    assert figures.map_figure(disk_fit()) is figures.map_figure(disk_fit())


def test_the_mean_of_a_state_shows_its_correlations_and_deviations():
    heat, bars = checked(figures.mean_figures(matrix_fit())[1]).data

    # 4 on the diagonal and 1 everywhere: variances are 5, correlations 1/5
    np.testing.assert_allclose(heat.z, 0.2 + 0.8 * np.eye(3))
    assert heat.text[0] == ["1", ".20", ".20"]
    np.testing.assert_allclose(bars.x, np.sqrt(5.0))
    assert "variance 5" in bars.text[0]
    assert "Variances: 1 5, 2 5, 3 5" in figures.mean_in_words(matrix_fit(), 1)


def test_a_correlation_that_is_nearly_nothing_has_no_sign():
    means = np.stack([np.eye(3), np.eye(3)])
    means[1, 0, 1] = means[1, 1, 0] = -0.001
    model = RiemannianHMM.from_parameters(
        SPD(3), [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], means, [0.3, 0.3]
    )

    heat, _ = checked(figures.mean_figures(fitted(of_matrices(60), model))[1]).data

    assert heat.text[0] == ["1", "0", "0"]


def test_bars_of_all_states_have_the_same_scale():
    drawings = map(checked, figures.mean_figures(matrix_fit()))

    assert len({figure.layout.xaxis2.range for figure in drawings}) == 1


def test_a_matrix_of_two_rows_is_drawn_as_its_ellipse():
    result = fitted(of_matrices(60, size=2), matrix_model(2))

    *band, ellipse = checked(figures.mean_figures(result)[1]).data

    mean = result.model.means_[1]
    points = np.array([ellipse.x, ellipse.y])
    form = np.einsum("ik,ij,jk->k", points, np.linalg.inv(mean), points)
    np.testing.assert_allclose(form, 1.0)
    for line in band:  # matrices at distance σ from the mean
        grown = (line.x[5] / ellipse.x[5]) ** 2
        away = result.recording.manifold.dist(mean[None], grown * mean[None])
        np.testing.assert_allclose(away, result.model.sigmas_[1])


def test_matrices_of_two_rows_are_small_ellipses_on_the_map():
    result = fitted(of_matrices(60, size=2), matrix_model(2))

    figure = checked(figures.map_figure(result))

    first = figure.data[0]
    mine = np.flatnonzero(result.states[result.picture.shown] == 0)[0]
    line = np.column_stack([first.x, first.y])[:73] - result.picture.places[mine]
    form = np.linalg.inv(result.picture.matrices[mine])
    away = np.einsum("ki,ij,kj->k", line, form, line)
    np.testing.assert_allclose(away / away[0], 1.0, rtol=1e-4)
    assert np.isnan(first.x[73])


def test_large_matrices_have_cells_without_numbers():
    result = fitted(of_matrices(60, size=8), matrix_model(8))

    heat, _ = checked(figures.mean_figures(result)[0]).data

    assert heat.text is None


def test_stays_have_a_box_for_each_state_that_was_visited():
    result = disk_fit()

    figure = checked(figures.stays_figure(result))

    boxes = [trace for trace in figure.data if trace.type == "box"]
    assert [box.x[0] for box in boxes] == [0, 1, 2]
    for box in boxes:
        assert 1 <= box.lowerfence[0] <= box.q1[0] <= box.median[0] <= box.upperfence[0]


def test_the_number_in_use_has_a_ring_on_the_curve():
    values = {"bic": np.array([30.0, 10.0, 12.0, 20.0]), "predictive": np.array([9.0, 4, 3, 5])}
    curve = Curve(np.arange(1, 5), values, ("", ""), 2)

    line, ring, other, other_ring, online = checked(figures.curve_figure(curve, 3)).data

    assert list(line.y) == [20.0, 0.0, 2.0, 10.0]
    assert (list(ring.x), list(ring.y)) == ([3], [2.0])
    assert list(other.y) == [6.0, 1.0, 0.0, 2.0]
    assert list(other_ring.y) == [0.0]
    assert list(online.x) == [2]


def test_transitions_that_hardly_ever_happen_have_no_arrow():
    model = matrix_model()
    rare = RiemannianHMM.from_parameters(
        model.manifold, [0.5, 0.5], [[1.0, 1e-9], [0.1, 0.9]], model.means_, model.sigmas_
    )

    assert figures.chain(fitted(of_matrices(60), rare)) == [[1.0, 0.0], [0.1, 0.9]]


@pytest.mark.parametrize("most", [60, 4_000])
def test_words_say_how_many_observations_are_drawn(monkeypatch, most):
    monkeypatch.setattr(recording_map, "MOST_DRAWN", most)
    result = fitted(of_matrices(), matrix_model())

    shown = "50 of 200" if most == 60 else "200"
    assert figures.map_in_words(result) == (
        f"Map of {shown} observations in the colours of 2 states."
    )
