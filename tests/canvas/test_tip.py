import numpy as np
import pytest

NEAREST = "return m.nearestPoint(a[0], a[1], (x, y) => [x, y], a[2], a[3], a[4])"


@pytest.mark.parametrize("count", [0, 40, 200])
def test_the_nearest_point_is_found_among_those_that_are_seen(js, count):
    points = np.random.default_rng(3).uniform(0, 100, (200, 2))
    distances = np.linalg.norm(points - [50, 50], axis=1)

    found = js.run("tip.js", NEAREST, points.ravel().tolist(), count, 50, 50, 1e9)

    assert found == (int(np.argmin(distances[:count])) if count else None)


def test_a_point_out_of_reach_is_none(js):
    assert js.run("tip.js", NEAREST, [0, 0, 30, 0], 2, 15, 1, 10) is None
    assert js.run("tip.js", NEAREST, [0, 0, 30, 0], 2, 25, 1, 10) == 1
