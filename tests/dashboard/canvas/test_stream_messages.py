import numpy as np
import pytest

from dashboard.canvas.stream_messages import news_message, opening_message, read_order
from dashboard.compute.endless import EndlessStream
from dashboard.compute.happenings import HAPPENINGS, HAPPENINGS_OF_RECORDINGS
from dashboard.compute.stream_workers import Report
from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from rhmm.worlds import Turn
from tests.dashboard.canvas.unpacking import unpack

SETUP = Setup.of(
    Experiment(window=60),
    Endless(learners=("fixed", "auto"), events=(Turn(at=100, angle=30.0),)),
)


@pytest.fixture(scope="module")
def news():
    stream = EndlessStream(SETUP)
    while stream.taken < 200:
        stream.advance(60)
    return stream.news()


def test_the_opening_says_where_the_stream_is_and_who_learns():
    about, arrays = unpack(opening_message(SETUP, "./flow/abc", 700))

    assert about["address"] == "./flow/abc"
    assert about["pace"] == 700
    assert [learner["key"] for learner in about["learners"]] == ["fixed", "auto", "em"]
    assert len({learner["colour"] for learner in about["learners"]}) == 3
    assert about["truth"] is True
    assert len({learner["mark"] for learner in about["learners"]}) == 3
    assert [one["name"] for one in about["happenings"]] == list(HAPPENINGS)
    assert arrays == {}


def test_the_opening_of_a_recording_says_what_is_not_known():
    settings = Endless(learners=("streaming", "counting"))
    setup = Setup.of(Experiment.of_recording("weather"), settings)

    about, _ = unpack(opening_message(setup, "./flow/abc", 700))

    assert about["truth"] is False
    assert about["labels"] == ["winter", "spring", "summer", "autumn"]
    assert (about["length"], about["window"], about["counts"]) == (365, 100, True)
    assert [one["name"] for one in about["happenings"]] == list(HAPPENINGS_OF_RECORDINGS)


def test_news_bring_points_rows_and_the_truth_of_the_moment(news):
    about, arrays = unpack(news_message(Report(news, True, 500.0, 480.04, 2)))

    assert (about["taken"], about["pace"], about["reached"]) == (200, 500.0, 480.0)
    assert about["sharing"] == 2
    assert about["events"] == [{"at": 100, "ends": 0, "label": "all means jump"}]
    count = len(arrays["states"])
    assert about["first"] + about["stride"] * (count - 1) == 199
    assert len(arrays["xy"]) == 2 * count
    assert len(arrays["decoded"]) == 3 * count
    assert len(arrays["measures"]) == 3 * 5 * len(arrays["steps"])
    np.testing.assert_array_equal(arrays["steps"] + about["taken"], news.rows.steps)
    assert len(arrays["learned"]) == 3 * 3 * 2
    assert [judged["event"] for judged in about["judged"]] == [100, 100, None]


def test_a_script_that_is_known_is_not_sent_again(news):
    about, _ = unpack(news_message(Report(news, True, 500.0, 500.0, 1), SETUP.events))

    assert "events" not in about
    assert "chart" not in about  # it came with the first message
    assert unpack(news_message(Report(news, True, 500.0, 500.0, 1)))[0]["chart"]["name"] == "disk"


def test_messages_stay_small_enough(news):
    every_tick = news_message(Report(news, True, 500.0, 500.0, 1), SETUP.events)

    assert 10 * len(every_tick) < 60_000  # bytes a second


@pytest.mark.parametrize(
    ("sent", "order"),
    [
        ({"pace": 250}, ("pace", 250)),
        ({"play": False}, ("play", False)),
        ({"step": 50}, ("step", 50)),
        ({"happen": "turn"}, ("happen", "turn")),
        ({"refit": True}, ("refit", None)),
        (
            {"moved": {"number": 4, "pending": [{"state": 1, "x": 0.5, "y": 0.25}]}},
            ("drop", (4, [(1, 0.5, 0.25)])),
        ),
    ],
)
def test_orders_are_read(sent, order):
    assert read_order(sent) == order


@pytest.mark.parametrize(
    "sent",
    [
        None, [], "pace", {}, {"pace": 5}, {"pace": 1e9}, {"pace": float("nan")}, {"pace": "9"},
        {"pace": True}, {"play": 1}, {"step": 0}, {"step": 10**9}, {"step": 1.5}, {"happen": "x"},
        {"happen": ["turn"]}, {"moved": {}}, {"moved": {"number": -1, "pending": []}},
        {"close": True}, {"open": []},
    ],
)  # fmt: skip
def test_nonsense_is_no_order(sent):
    assert read_order(sent) is None
