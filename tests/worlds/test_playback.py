import numpy as np
import pytest

from rhmm import Hyperbolic
from rhmm.recording import Recording
from rhmm.worlds import Missing, Outliers, Playback, StuckSensor, Turn

DISK = Hyperbolic(2)
LENGTHS = np.array([70, 3, 50])
TOTAL = int(LENGTHS.sum())


@pytest.fixture(scope="module")
def recording():
    rng = np.random.default_rng(0)
    points = 0.5 * rng.standard_normal((TOTAL, 2)).clip(-1.0, 1.0)
    points[5] = np.nan
    labels = rng.integers(-1, 3, TOTAL)
    return Recording(DISK, points, LENGTHS, ("a", "b", "c"), labels, ("x", "y", "z"))


def taken(stream, sizes):
    parts = [stream.take(size) for size in sizes]
    return [np.concatenate(fields) for fields in zip(*parts, strict=True)]


def test_observations_and_labels_come_once_and_in_order(recording):
    stream = Playback(recording)

    X, states, ceiling, _, intact = taken(stream, [10, 60, 500])

    np.testing.assert_array_equal(X, recording.points)
    np.testing.assert_array_equal(states, recording.labels)
    assert (ceiling == -1).all()
    np.testing.assert_array_equal(intact, recording.observed)
    assert stream.is_over
    assert len(stream.take(5).states) == 0


def test_a_repeated_recording_begins_again_and_never_ends(recording):
    stream = Playback(recording, repeat=True)

    X = stream.take(3 * TOTAL).X

    np.testing.assert_array_equal(X, np.tile(recording.points, (3, 1)))
    assert not stream.is_over


def test_it_says_how_much_of_a_sequence_is_left(recording):
    stream = Playback(recording, repeat=True)
    left = []
    for _ in range(2 * TOTAL):
        left.append(stream.until_end)
        stream.take(1)

    expected = np.concatenate([np.arange(length, 0, -1) for length in LENGTHS])
    np.testing.assert_array_equal(left, np.tile(expected, 2))


def test_pieces_and_live_events_change_no_digit(recording):
    live = Playback(recording, seed=3, repeat=True)
    first = taken(live, [7, 13])
    missing = live.add(Missing(share=0.5, length=100))
    rest = taken(live, [1, 400, 79])
    script = (missing, StuckSensor(at=500, length=50))
    live.add(script[1])
    last = taken(live, [100])

    planned = taken(Playback(recording, seed=3, repeat=True, events=script), [600])

    assert missing.at == 50
    for fields in zip(first, rest, last, planned, strict=True):
        np.testing.assert_array_equal(np.concatenate(fields[:3]), fields[3])


def test_disturbed_observations_are_not_intact_even_at_the_very_end(recording):
    part = Playback(recording, events=[StuckSensor(at=100, length=50)]).take(TOTAL)

    assert not part.intact[100:].any()
    np.testing.assert_array_equal(part.X[100:], np.tile(recording.points[99], (TOTAL - 100, 1)))


@pytest.mark.parametrize("event", [Turn(at=50, angle=9.0), Outliers(at=50, share=0.1, length=50)])
def test_events_that_need_a_truth_are_refused_by_name(recording, event):
    with pytest.raises(ValueError, match=event.name):
        Playback(recording, events=[event])
    stream = Playback(recording)
    with pytest.raises(ValueError, match="a recording has none"):
        stream.add(event)
    assert stream.events == ()
