"""The arithmetic of the Stream page: paces on a slider, and how much the curves show."""

import pytest

FILE = "stream/paces.js"


def test_a_slider_gives_paces_from_ten_to_a_hundred_thousand(js):
    paces = js.run(FILE, "return a[0].map(m.paceOf)", list(range(0, 401, 5)))

    assert paces[0] == 10
    assert paces[-1] == 100_000
    assert paces == sorted(set(paces))
    assert all(float(f"{pace:.1e}") == pace for pace in paces)  # two digits each


@pytest.mark.parametrize("pace", [10, 100, 500, 1_000, 10_000, 100_000])
def test_a_pace_is_found_again_on_the_slider(js, pace):
    again = js.run(FILE, "return m.paceOf(m.placeOf(a[0]))", pace)

    assert again == pytest.approx(pace, rel=0.06)


@pytest.mark.parametrize(
    ("pace", "span"), [(10, 2_000), (100, 2_000), (500, 5_000), (1_000, 10_000), (10_000, 100_000)]
)
def test_curves_show_some_seconds_of_the_stream(js, pace, span):
    assert js.run(FILE, "return m.spanOf(a[0])", pace) == span
