import math

import numpy as np
import pytest

from dashboard.model.kinds import Invalid
from dashboard.model.spaces.disk import DISK, DISK_CHART, FURTHEST_MEAN
from rhmm import Hyperbolic


def test_the_disk_is_its_own_map():
    points = np.array([[0.0, 0.0], [0.29, 0.82]])

    np.testing.assert_array_equal(DISK_CHART.places(points), points)
    assert DISK_CHART.balls(points, np.array([0.2, 1.0])) is None
    assert DISK_CHART.glyphs(points) is None


def test_a_drag_ends_where_a_mean_may_be():
    assert DISK_CHART.about() == {"name": "disk", "reach": DISK_CHART.reach}
    assert DISK_CHART.reach < FURTHEST_MEAN
    assert DISK_CHART.from_map(0.25, -0.5, near=(0.9, 0.0)) == (0.25, -0.5)


def test_outlines_of_balls_keep_their_distance_from_the_mean():
    centres = np.array([[0.0, 0.0], [0.29, 0.82], [-0.9, 0.3]])
    radii = np.array([0.2, 1.0, 2.5])

    outlines = DISK_CHART.outlines(centres, radii)

    for centre, radius, rim in zip(centres, radii, outlines, strict=True):
        distances = Hyperbolic(2).dist(np.broadcast_to(centre, rim.shape), rim)
        np.testing.assert_allclose(distances, radius, rtol=1e-9)
        steps = np.linalg.norm(np.diff(rim, axis=0), axis=1)
        assert steps.max() < 1.5 * steps.mean()
        np.testing.assert_allclose(rim[0], rim[-1], atol=1e-12)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ((0.1, None), "c₂ needs two numbers, x and y."),
        ((0.1, 0.2, 0.3), "c₂ needs two numbers, x and y."),
        ((0.8, 0.6), "c₂ = (0.8, 0.6) is outside the disk: x² + y² must be less than 1."),
        (
            (0.9999, 0.0),
            "c₂ = (0.9999, 0) is too near the boundary to draw: its length may be at most 0.999.",
        ),
    ],
)
def test_a_mean_that_is_not_in_the_disk_is_refused_with_a_sentence(typed, sentence):
    with pytest.raises(Invalid) as raised:
        DISK.check(typed, "c₂")

    assert str(raised.value) == sentence


def test_a_picture_is_centred_within_the_disk():
    assert DISK.why_not_centred(0.6, 0.7) is None
    assert "must lie in the disk" in DISK.why_not_centred(0.6, 0.8)
    assert DISK.clamped_centre(0.6, 0.7) == (0.6, 0.7)
    assert DISK.clamped_centre(0.6, 0.8) == (0.0, 0.0)


@pytest.mark.parametrize("centre", [(0.0, 0.97), (0.93, -0.25), (0.0, 0.0)])
def test_a_centred_map_changes_no_distance_and_has_its_centre_in_the_middle(centre):
    points = DISK.points([centre, (0.0, 0.97), (0.1, 0.96), (-0.4, 0.2)])
    chart = DISK.centred_chart(centre)

    places = chart.places(points)

    np.testing.assert_allclose(places[0], 0.0, atol=1e-12)
    distances = DISK.manifold.dist(points[:-1], points[1:])
    np.testing.assert_allclose(DISK.manifold.dist(places[:-1], places[1:]), distances, atol=1e-9)


def test_a_sigma_circle_in_the_middle_of_a_centred_map_is_a_circle_around_it():
    centre = (0.93, -0.25)
    (outline,) = DISK.centred_chart(centre).outlines(DISK.points([centre]), np.array([0.9]))

    np.testing.assert_allclose(np.hypot(*outline.T), math.tanh(0.45), rtol=1e-9)


def test_only_means_near_the_rim_are_cramped():
    cramped = [name for name, truth in DISK.presets.items() if DISK.is_cramped(truth["means"])]
    assert cramped == ["Near the boundary"]
