import numpy as np
import pytest

from dashboard.model.kinds import Invalid
from dashboard.model.spaces.spd2 import SPD2
from dashboard.model.truth import Placed, with_dropped
from rhmm import SPD

MANIFOLD = SPD(2)
MEANS, SIGMAS = SPD2.truth["means"], SPD2.truth["sigmas"]
CHART = SPD2.chart_for(MEANS, SIGMAS)
FOUR = ((1.0, 0.0, 1.0), (4.0, 0.0, 0.5), (1.5, 1.0, 1.5), (0.3, -0.1, 0.2))


@pytest.fixture(scope="module")
def points():
    return MANIFOLD.sample(SPD2.points(MEANS)[1], 0.7, 200, rng=3)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ((1.0, 2.0), "c₁ needs three numbers, a₁₁, a₁₂ and a₂₂."),
        (
            (1.0, 2.0, 1.0),
            "c₁ = (1, 2, 1) is not positive definite: a₁₁ and a₂₂ must be above 0, and a₁₁ · a₂₂ "
            "above a₁₂².",
        ),
        (
            (-1.0, 0.0, -1.0),
            "c₁ = (-1, 0, -1) is not positive definite: a₁₁ and a₂₂ must be above 0, and a₁₁ · a₂₂ "
            "above a₁₂².",
        ),
        (
            (2000.0, 0.0, 1.0),
            "c₁ = (2000, 0, 1) is too thin or too large to draw: its eigenvalues, 1 and 2e+03, "
            "must be between 0.001 and 1,000.",
        ),
    ],
)
def test_a_matrix_that_cannot_be_a_mean_is_refused_with_a_sentence(typed, sentence):
    with pytest.raises(Invalid) as raised:
        SPD2.check(typed, "c₁")

    assert str(raised.value) == sentence


def test_matrices_are_typed_by_their_three_entries():
    np.testing.assert_array_equal(SPD2.points([(1.0, 2.0, 5.0)]), [[[1.0, 2.0], [2.0, 5.0]]])


def test_distances_from_the_middle_of_the_map_are_those_of_the_engine(points):
    base = MANIFOLD.mean(SPD2.points(MEANS))

    vectors = CHART.normal.vectors(points)

    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), MANIFOLD.dist(points, base))
    np.testing.assert_allclose(CHART.normal.points(vectors), points, rtol=1e-9)


def test_distances_that_shape_the_balls_are_those_of_the_engine(points):
    others = points[::-1].copy()

    np.testing.assert_allclose(
        CHART.distances(points, others), MANIFOLD.dist(points, others), rtol=1e-6, atol=1e-7
    )


def test_the_map_is_the_same_whatever_the_units_of_the_data(points):
    scaled = tuple(tuple(9.0 * a for a in mean) for mean in MEANS)

    places = SPD2.chart_for(scaled, SIGMAS).places(9.0 * points)

    np.testing.assert_allclose(places, CHART.places(points), atol=1e-9)


def test_the_ellipse_of_a_matrix_has_its_axes_and_its_angle(points):
    values, vectors = np.linalg.eigh(points)
    rx, ry, angle = CHART.glyphs(points).T

    np.testing.assert_allclose((rx / ry) ** 2, values[:, 1] / values[:, 0], rtol=1e-9)
    along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    np.testing.assert_allclose(np.abs(np.sum(along * vectors[:, :, 1], axis=1)), 1.0)


def test_a_larger_matrix_has_a_larger_ellipse():
    small, large = CHART.glyphs(SPD2.points([(1.0, 0.2, 1.0), (4.0, 0.8, 4.0)]))

    np.testing.assert_allclose(large[:2], 2.0 * small[:2])


def test_the_browsers_ellipses_are_the_outlines_of_the_balls():
    model = SPD2.presets["Five directions"]
    chart, means = SPD2.chart_for(model["means"], model["sigmas"]), SPD2.points(model["means"])
    sigmas = np.array(model["sigmas"])

    for (cx, cy, rx, ry, angle), line in zip(
        chart.balls(means, sigmas), chart.outlines(means, sigmas), strict=True
    ):
        x, y = (line - (cx, cy)).T
        along = np.cos(angle) * x + np.sin(angle) * y
        across = np.cos(angle) * y - np.sin(angle) * x
        np.testing.assert_allclose(np.hypot(along / rx, across / ry), 1.0, atol=0.01)


def test_a_drag_keeps_what_the_map_does_not_show():
    chart = SPD2.chart_for(FOUR, (0.3,) * 4)
    before = chart.normal.vectors(SPD2.points(FOUR))[1]

    moved = chart.from_map(0.5, -0.5, FOUR[1])

    after = chart.normal.vectors(SPD2.points([moved]))[0]
    across = np.cross(*chart._plane)
    assert abs(before @ across) > 0.1
    assert after @ across == pytest.approx(before @ across, abs=1e-4)


def test_the_share_of_the_spread_is_that_of_the_two_principal_axes():
    points = SPD2.points(FOUR)
    base = MANIFOLD.mean(points)
    root = np.linalg.inv(np.linalg.cholesky(base))
    white = (root @ MANIFOLD.log(base, points) @ root.T).reshape(4, 4)
    squares = np.linalg.svd(white, compute_uv=False) ** 2
    share = 100 * squares[:2].sum() / squares.sum()

    assert f"show {share:.0f} % of the spread" in SPD2.chart_for(FOUR, (0.3,) * 4).note
    assert share < 99


def test_three_means_lie_in_the_map():
    assert "show all of the spread" in CHART.note


@pytest.mark.parametrize("means", [MEANS[:1], MEANS[:2], ((1.0, 0.0, 1.0), (2.0, 0.0, 2.0))])
def test_few_means_have_a_map_too(means):
    chart = SPD2.chart_for(means, (0.5,) * len(means))

    np.testing.assert_allclose(chart._plane @ chart._plane.T, np.eye(2), atol=1e-12)
    assert "show all of the spread" in chart.note
    assert all(chart.axes)


def test_the_map_hardly_turns_when_a_mean_is_dragged():
    for u, v in [(0.2, 0.1), (-0.3, 0.2), (0.1, -0.4)]:
        x, y = CHART.places(SPD2.points(MEANS))[2]
        moved = with_dropped(MEANS, MEANS, [Placed(2, CHART, x + u, y + v)])
        turned = SPD2.chart_for(moved, SIGMAS)._plane @ CHART._plane.T
        np.testing.assert_allclose(turned, np.eye(2), atol=0.2)


def test_maps_of_other_means_have_other_ids():
    assert CHART.id == SPD2.chart_for(MEANS, SIGMAS).id
    assert CHART.id != SPD2.chart_for(MEANS[::-1], SIGMAS).id


def test_a_drop_far_beyond_the_map_ends_at_its_edge():
    moved = CHART.from_map(1e9, -1e9, MEANS[0])

    _, bottom, right, _ = CHART.extent
    np.testing.assert_allclose(CHART.places(SPD2.points([moved]))[0], (right, bottom), atol=1e-2)
