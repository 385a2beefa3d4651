import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.canvas.protocol import Channel, Moved, pack, read_moved, read_view
from tests.dashboard.canvas.unpacking import unpack
from tests.dashboard.model.strategies import forged, nested

VIEW = {
    "version": 2,
    "show": ["circles", "em"],
    "colour": "true",
    "k": None,
    "x": 0,
    "y": 0.5,
    "zoom": 1.5,
    "panX": 0,
    "panY": -0.25,
}
MOVED = {"number": 3, "pending": [{"state": 1, "x": 0.29, "y": -0.82}]}
HUGE = int("9" * 400)


def test_arrays_come_out_of_a_message_as_they_went_in():
    arrays = {
        "odd": np.array([1, 2, 3], np.int8),
        "reals": np.array([[0.5, -1.0], [2.0, 3.0]], np.float32),
        "none": np.zeros(0, np.float32),
        "counts": np.array([7], np.int32),
    }

    about, back = unpack(pack({"title": "Δ = 5"}, arrays))

    assert about == {"title": "Δ = 5"}
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array.ravel())


def test_what_a_canvas_sends_is_read():
    assert read_view(VIEW | {"at": 1_800_000_000_000}) == VIEW
    assert read_view(VIEW | {"k": 250})["k"] == 250
    assert read_moved(MOVED) == Moved(3, tuple(MOVED["pending"]))


@pytest.mark.parametrize(
    "change",
    [
        {"show": 5},
        {"show": "circles"},
        {"show": [5]},
        {"show": ["circles"] * 1000},
        {"colour": None},
        {"k": HUGE},
        {"k": True},
        {"k": -1},
        {"k": 2.5},
        {"x": HUGE},
        {"y": "0"},
        {"zoom": float("inf")},
        {"panX": float("nan")},
        {"panY": None},
        {"version": "2"},
        {"version": HUGE},
    ],
)
def test_a_forged_view_is_ignored(change):
    assert read_view(VIEW | change) is None


@pytest.mark.parametrize("name", VIEW)
def test_a_view_with_a_field_missing_is_ignored(name):
    assert read_view({field: value for field, value in VIEW.items() if field != name}) is None


@pytest.mark.parametrize(
    "sent",
    [
        None,
        5,
        "moved",
        [],
        {},
        [MOVED],
        MOVED | {"number": HUGE},
        MOVED | {"number": None},
        MOVED | {"pending": []},
        MOVED | {"pending": 5},
        MOVED | {"pending": [5]},
        MOVED | {"pending": [{"state": 1, "x": HUGE, "y": 0}]},
        MOVED | {"pending": [{"state": True, "x": 0, "y": 0}]},
        MOVED | {"pending": [{"state": -1, "x": 0, "y": 0}]},
        MOVED | {"pending": [{"state": 1, "x": 0}]},
        MOVED | {"pending": [MOVED["pending"][0], {"state": 1, "x": "0", "y": 0}]},
    ],
)
def test_forged_drops_are_ignored(sent):
    assert read_moved(sent) is None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(HUGE) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*VIEW, *MOVED, "state"]), inner, max_size=6)
    ),
)


@given(anything)
def test_nothing_that_is_sent_raises(sent):
    read_moved(sent)
    read_view(sent)


@given(st.sampled_from(list(VIEW)), forged)
@settings(max_examples=400)
def test_a_view_with_a_forged_field_is_read_as_it_is_or_ignored(name, value):
    report = read_view(VIEW | {name: value})

    assert report is None or report == VIEW | {name: value}


@given(st.sampled_from(["state", "x", "y", "chart"]), forged, forged)
@settings(max_examples=400)
def test_drops_with_a_forged_field_are_read_as_they_are_or_ignored(name, value, number):
    (drop,) = MOVED["pending"]
    moved = read_moved({"number": number, "pending": [drop | {name: value}]})

    if moved is not None:
        (read,) = moved.pending
        assert moved.number == number
        assert {k: v for k, v in (drop | {name: value}).items() if v is not None} == read


@pytest.mark.parametrize("field", [*VIEW, *MOVED])
def test_deep_nesting_is_ignored(field):
    sent = {**VIEW, **MOVED, field: nested(5_000)}

    assert read_view(sent) is None or field in MOVED
    assert read_moved(sent) is None or field in VIEW


def test_after_a_whole_message_was_asked_for_nothing_counts_as_known():
    channel = Channel()
    channel.sent("run")
    assert (channel.version, channel.known) == (1, "run")

    channel.send_all()
    assert (channel.version, channel.known) == (1, None)

    channel.sent("more")
    assert (channel.version, channel.known) == (2, "more")
