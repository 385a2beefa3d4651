import numpy as np
import pytest

from dashboard.figures import fitted_solid
from dashboard.model.analysis import HeldRecording
from dashboard.model.marks import STATE_COLOURS
from rhmm import RiemannianHMM
from rhmm.datasets import make_chain
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_recordings import fitted, matrix_fit


@pytest.fixture(scope="module")
def ball():
    chain = make_chain("ball", 200)
    centres = [chain.manifold.mean(chain.points[chain.labels == i]) for i in range(3)]
    model = RiemannianHMM.from_parameters(
        chain.manifold, np.full(3, 1 / 3), np.full((3, 3), 1 / 3), centres, [0.3, 0.4, 0.5]
    )
    return fitted(HeldRecording(("ball",), chain), model)


def test_every_observation_is_in_the_ball_in_the_colour_of_its_state(ball):
    figure = checked(fitted_solid.ball_figure(ball))

    for state in range(3):
        (dots,) = [
            trace
            for trace in figure.data
            if trace.marker.color == STATE_COLOURS[state] and trace.marker.opacity
        ]
        expected = ball.recording.points[ball.states == state]
        np.testing.assert_allclose(np.column_stack([dots.x, dots.y, dots.z]), expected, atol=1e-6)


def test_circles_around_a_mean_are_sigma_away_from_it(ball):
    circles = ball.picture.outlines

    for mean, sigma, rings in zip(ball.model.means_, ball.model.sigmas_, circles, strict=True):
        distances = ball.recording.manifold.squared_distances(rings.reshape(-1, 3), mean[None])
        np.testing.assert_allclose(np.sqrt(distances), sigma, rtol=1e-9)


def test_a_matrix_of_three_rows_is_an_ellipsoid_whose_longest_half_axis_is_one():
    result = matrix_fit()

    surfaces = [
        t for t in checked(fitted_solid.ellipsoids_figure(result)).data if t.type == "surface"
    ]

    assert len(surfaces) == 2
    for state, (surface, mean) in enumerate(zip(surfaces, result.model.means_, strict=True)):
        centre = [fitted_solid._GAP * state, 0.0, 0.0]
        points = np.stack([surface.x, surface.y, surface.z], axis=-1).reshape(-1, 3) - centre
        shape = mean / np.linalg.eigvalsh(mean)[-1]
        form = np.einsum("ki,ij,kj->k", points, np.linalg.inv(shape), points)
        np.testing.assert_allclose(form, 1.0, rtol=1e-9)
        assert np.linalg.norm(points, axis=1).max() <= 1.0 + 1e-9
