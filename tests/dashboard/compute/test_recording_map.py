import numpy as np
import pytest

from dashboard.compute import recording_map
from rhmm import Euclidean, Hyperbolic, RiemannianHMM
from rhmm.recording import Recording
from tests.dashboard.made_recordings import disk_fit, matrix_fit, of_matrices, of_the_disk


def test_a_shape_is_drawn_as_its_ellipse():
    held = of_the_disk()
    model = RiemannianHMM.from_parameters(
        Hyperbolic(2), [1.0], [[1.0]], [[0.3, 0.2]],
        emission="full", covariances=[[[0.4, 0.1], [0.1, 0.2]]],
    )  # fmt: skip

    (outline,) = recording_map.drawn(held.recording, model).outlines

    coordinates, _ = Hyperbolic(2).normal_coordinates(model.means_[0], outline)
    away = np.einsum("ti,ij,tj->t", coordinates, np.linalg.inv(model.covariances_[0]), coordinates)
    np.testing.assert_allclose(away, 1.0, rtol=1e-9)
    np.testing.assert_allclose(outline[0], outline[-1], atol=1e-12)


def test_the_disk_is_its_own_map_and_missing_observations_are_not_on_it():
    result = disk_fit()
    observed = result.recording.observed

    assert result.picture.share == 1.0
    np.testing.assert_array_equal(result.picture.places, result.recording.points[observed])
    np.testing.assert_array_equal(result.picture.means, result.model.means_)
    assert len(result.picture.outlines) == 3


def test_matrices_are_on_a_map_that_says_how_much_it_shows():
    picture = matrix_fit().picture

    assert 0.2 < picture.share < 1.0
    assert picture.outlines.shape == (2, 73, 2)
    assert picture.places.shape == (200, 2)


@pytest.mark.parametrize("emission", ["full", "student-full"])
def test_on_the_plane_an_outline_is_one_deviation_away(emission):
    covariances = np.array([[[0.4, 0.1], [0.1, 0.2]], [[0.1, 0.0], [0.0, 0.3]]])
    degrees = 4.0 if emission == "student-full" else None
    model = RiemannianHMM.from_parameters(
        Euclidean(2), [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[0.0, 0.0], [3.0, 1.0]],
        emission=emission, covariances=covariances, degrees=degrees,
    )  # fmt: skip
    points, _ = model.sample(100, random_state=0)
    recording = Recording(Euclidean(2), points, np.array([100]), ("1",))

    picture = recording_map.drawn(recording, model)

    # the map is turned, so the outline is compared by its own axes: distances are true on it
    for outline, mean, covariance in zip(picture.outlines, picture.means, covariances, strict=True):
        away = np.linalg.norm(outline - mean, axis=1)
        ends = np.sqrt(np.linalg.eigvalsh(covariance))
        np.testing.assert_allclose([away.min(), away.max()], ends, rtol=1e-3)


def test_the_outline_of_a_round_state_is_never_larger_than_sigma_on_a_map_of_matrices():
    picture, model = matrix_fit().picture, matrix_fit().model

    away = np.linalg.norm(picture.outlines - picture.means[:, None], axis=2)

    assert (away <= model.sigmas_[:, None] * (1.0 + 1e-6)).all()
    assert (away.max(axis=1) > 0.5 * model.sigmas_).all()


def test_a_long_recording_is_thinned_for_its_map(monkeypatch):
    monkeypatch.setattr(recording_map, "MOST_DRAWN", 60)
    held = of_matrices()

    picture = recording_map.drawn(held.recording, matrix_fit().model)

    assert picture.shown.tolist() == list(range(0, 200, 4))
