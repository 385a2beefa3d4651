import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import COLOURS, SHOWN, View, clamped_timeline, turned_timeline
from tests.dashboard.model.strategies import forged, nested


def test_the_default_view_takes_no_room_in_the_link():
    assert View().to_query() == {}
    assert View.from_query({}) == (View(), [])


def test_the_range_of_the_timeline_goes_into_the_link():
    view = View(timeline=(300, 420))

    assert view.to_query() == {"t": "300,420"}
    assert View.from_query({"t": "300,420"}) == (view, [])


@pytest.mark.parametrize(
    "query",
    [{"t": "500,3"}, {"t": "0,0"}, {"t": "a,b"}, {"t": "1"}, {"t": "1,2,3"}, {"k": "-1"},
     {"k": "1_0"}, {"k": "１"}, {"show": "circles,magic"}, {"colour": "blue"}, {"look": "0,0,1"},
     {"look": "0,0,99,0,0"}, {"look": "2,0,1,0,0"}, {"look": "0,0,1,nan,0"}],
)  # fmt: skip
def test_a_part_of_a_link_that_is_no_view_is_told_and_left_at_its_default(query):
    view, problems = View.from_query(query)

    assert view == View()
    assert len(problems) == 1


def test_all_switches_off_survives_the_link():
    view = View(show=())

    assert View.from_query(view.to_query()) == (view, [])


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


@given(
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(("show", "colour", "k", "x", "y", "zoom", "panX", "panY"), forged),
    ),
    st.sampled_from(list(SPACES)),
)
@settings(max_examples=400)
def test_whatever_the_browser_reports_is_a_view(sent, space):
    view = View.from_browser(sent, space)

    assert view.space == space
    assert set(view.show) <= set(SHOWN)
    assert view.colour in COLOURS
    assert View.from_query(view.to_query()) == (view, [])


FORGED = [
    {"show": 5}, {"show": [5]}, {"show": nested(5_000)}, {"k": 10**400}, {"k": 20.5},
    {"x": 10**400}, {"zoom": "9"}, {"colour": nested(5_000)},
]  # fmt: skip


@pytest.mark.parametrize("sent", FORGED, ids=lambda sent: f"forged {next(iter(sent))}")
def test_forged_reports_of_the_browser_leave_the_default(sent):
    assert View.from_browser(sent) == View()


def test_the_browser_gets_back_what_it_reported():
    sent = {"show": ["circles", "em"], "colour": "decoded", "k": 7, "x": 0.25, "y": -0.5,
            "zoom": 3.0, "panX": 0.125, "panY": -1.0}  # fmt: skip

    assert View.from_browser(sent).for_browser() == sent


def test_what_the_canvas_cannot_show_is_kept_within_its_limits():
    view = View.from_browser({"x": 3.0, "y": 0.0, "zoom": 1e9, "panX": -7.0, "panY": 0.5})

    assert view.place == (0.0, 0.0, 60.0, -1.0, 0.5)
