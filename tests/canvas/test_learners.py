import pytest

PATH = {"steps": [100, 110, 130]}


@pytest.mark.parametrize(
    ("k", "expected"),
    [
        (99, None),
        (100, {"row": 0, "next": 1, "share": 0}),
        (105, {"row": 0, "next": 1, "share": 0.5}),
        (115, {"row": 1, "next": 2, "share": 0.25}),
        (130, {"row": 2, "next": 2, "share": 0}),
        (999, {"row": 2, "next": 2, "share": 0}),
    ],
)
def test_a_path_is_between_the_rows_around_a_moment(js, k, expected):
    assert js.run("learners.js", "return m.between(a[0], a[1])", PATH, k) == expected


def test_numbers_of_a_state_are_blended(js):
    means = [0, 0, 1, 1, 2, 4, 3, 5]  # two rows of two states, x and y each
    at = {"row": 0, "next": 1, "share": 0.25}

    blended = js.run("learners.js", "return m.blended(a[0], a[1], 2, 1, 2)", means, at)

    assert blended == [1.5, 2.0]


def test_an_ellipse_turns_the_shorter_way(js):
    pi = 3.141592653589793
    glyphs = [1, 1, 0.1, 1, 1, pi - 0.1]  # rx, ry, angle: nearly the same ellipse
    at = {"row": 0, "next": 1, "share": 0.5}

    *_, angle = js.run("learners.js", "return m.blended(a[0], a[1], 1, 0, 3)", glyphs, at)

    assert angle == pytest.approx(0.0, abs=1e-12)
