import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.model.view import COLOURS, SHOWN, View, clamped_timeline, turned_timeline

anything = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text())


@given(
    st.builds(
        View.from_browser,
        st.fixed_dictionaries(
            {
                "show": st.lists(st.sampled_from(SHOWN)),
                "colour": st.sampled_from(COLOURS),
                "k": st.none() | st.integers(0, 100_000),
                "x": st.floats(-0.7, 0.7),
                "y": st.floats(-0.7, 0.7),
                "zoom": st.floats(1, 60),
                "panX": st.floats(-0.9, 0.9),
                "panY": st.floats(-0.9, 0.9),
            }
        ),
    )
)
def test_a_link_brings_back_what_was_on_screen(view):
    assert View.from_query(view.to_query()) == view


def test_the_default_view_takes_no_room_in_the_link():
    assert View().to_query() == {}
    assert View.from_query({}) == View()


@given(st.dictionaries(st.sampled_from(["show", "colour", "k", "look", "t"]), st.text()))
def test_nonsense_in_a_link_is_a_view_all_the_same(query):
    view = View.from_query(query)

    assert set(view.show) <= set(SHOWN)
    assert view.colour in COLOURS
    assert 1 <= view.zoom <= 60


def test_the_range_of_the_timeline_goes_into_the_link():
    view = View(timeline=(300, 420))

    assert view.to_query() == {"t": "300,420"}
    assert View.from_query({"t": "300,420"}) == view


def test_a_range_that_is_none_is_mended():
    assert View.from_query({"t": "500,3"}).timeline == (500, 500)
    assert View.from_query({"t": "0,0"}).timeline == (1, 1)
    assert View.from_query({"t": "a,b"}).timeline == View().timeline


def test_all_switches_off_survives_the_link():
    view = View(show=())

    assert View.from_query(view.to_query()) == view


@pytest.mark.parametrize(
    ("asked", "before", "shown"),
    [
        ((1, 200), (1, 200), (1, 200)),
        ((1, 500), (1, 200), (1, 500)),
        ((1, 501), (1, 200), (2, 501)),  # the right end was moved: the left follows
        ((300, 2_000), (1_600, 2_000), (300, 799)),  # the left end was moved: the right follows
        ((5_900, 6_000), (5_900, 6_000), (4_900, 5_000)),  # the chain is shorter now
    ],
)
def test_a_timeline_shows_at_most_500_observations(asked, before, shown):
    assert clamped_timeline(asked, before, 5_000) == shown


def test_turning_pages_stops_at_both_ends():
    assert turned_timeline((101, 200), 1, 1_000) == (201, 300)
    assert turned_timeline((51, 150), -1, 1_000) == (1, 100)
    assert turned_timeline((851, 950), 1, 1_000) == (901, 1_000)
