import numpy as np
import pytest

from dashboard.compute.outlines import balls, outlines
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.spaces.principal import principal_plane
from rhmm import Euclidean, Hyperbolic, RiemannianHMM
from tests.dashboard.made_recordings import matrix_model, of_matrices

COVARIANCES = np.array([[[0.4, 0.1], [0.1, 0.2]], [[0.1, 0.0], [0.0, 0.3]]])


def shaped(manifold, means) -> RiemannianHMM:
    return RiemannianHMM.from_parameters(
        manifold, [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], means, emission="full",
        covariances=COVARIANCES,
    )  # fmt: skip


def test_the_outline_of_a_round_state_of_the_disk_is_its_geodesic_circle():
    model = RiemannianHMM.from_parameters(
        Hyperbolic(2), [1.0], [[1.0]], [[0.6, -0.3]], sigmas=[0.7]
    )

    (line,) = outlines(DISK_CHART, model)

    centre = np.broadcast_to(model.means_[0], line.shape)
    np.testing.assert_allclose(Hyperbolic(2).dist(centre, line), 0.7, rtol=1e-9)


def test_ellipses_of_the_disk_are_those_of_the_tangent_space():
    model = shaped(Hyperbolic(2), [[0.3, 0.2], [-0.5, 0.1]])

    found = balls(DISK_CHART, model)

    np.testing.assert_array_equal(found[:, :2], model.means_)
    for (*_, rx, ry, angle), covariance in zip(found, COVARIANCES, strict=True):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        np.testing.assert_allclose(turn @ np.diag([rx**2, ry**2]) @ turn.T, covariance, atol=1e-12)


@pytest.mark.parametrize("which", ["plane", "matrices"])
def test_on_a_flat_map_an_outline_is_its_ellipse(which):
    if which == "plane":
        model = shaped(Euclidean(2), [[0.0, 0.0], [3.0, 1.0]])
        points, _ = model.sample(100, random_state=0)
    else:
        model, points = matrix_model(), of_matrices().recording.points
    plane = principal_plane(model.manifold, points)

    lines, found = outlines(plane, model), balls(plane, model)

    for line, (x, y, rx, ry, angle) in zip(lines, found, strict=True):
        u, v = (line - (x, y)).T
        along = u * np.cos(angle) + v * np.sin(angle)
        across = v * np.cos(angle) - u * np.sin(angle)
        np.testing.assert_allclose((along / rx) ** 2 + (across / ry) ** 2, 1.0, rtol=1e-6)
