"""A thinned record of a stream, beside a list that forgets nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhmm import Euclidean
from rhmm.streams.history import History, history_size, room_for
from tests.brute_force import steps_of

LINE = Euclidean(1)
SIZE = history_size(1)


def recorded(chunks, length: int = 2**40) -> History:
    """A record of 1, 2, 3, … in sequences of this length, taken in by chunks of these sizes."""
    history, seen = History.empty(LINE, SIZE), 0
    for size in chunks:
        times = np.arange(seen + 1, seen + size + 1)
        history.add(times[:, None].astype(float), (times - 1) // length)
        seen += size
    return history


def kept(history: History) -> list[int]:
    return history.sample(LINE, 1e-6).points[:, 0].astype(int).tolist()


@given(st.lists(st.integers(0, 700), max_size=12))
def test_any_chunking_gives_the_same_record(chunks):
    whole = recorded([sum(chunks)])
    assert kept(recorded(chunks)) == kept(whole)
    assert recorded(chunks).seen == sum(chunks)


@pytest.mark.parametrize("seen", [1, 17, SIZE - 1, SIZE])
def test_it_keeps_everything_while_there_is_room(seen):
    history = recorded([seen])
    assert history.is_whole
    assert kept(history) == list(range(1, seen + 1))
    assert history.sample(LINE, 1e-6).ends.tolist() == [seen]


@given(st.integers(SIZE + 1, 40 * SIZE))
def test_later_it_keeps_whole_blocks_from_everywhere(seen):
    history = recorded([seen])
    times = np.array(kept(history))
    assert SIZE // 2 <= len(times) <= SIZE
    every = 1
    while SIZE * every < seen:
        every *= 2
    expected = [t for t in range(1, seen + 1) if (t - 1) // 16 % every == 0]
    assert times.tolist() == expected
    sample = history.sample(LINE, 1e-6)
    assert (np.diff(times)[steps_of(sample)] == 1).all()


@given(st.integers(1, 10 * SIZE), st.integers(5, 200), st.integers(1, 3))
def test_sequences_end_in_a_sample_where_they_ended_in_the_stream(seen, length, step):
    sample = recorded([seen // 3, seen - seen // 3], length).sample(LINE, 1e-6, step)
    times = sample.points[:, 0].astype(int) - 1
    steps = np.zeros(len(times), bool)
    steps[steps_of(sample)] = True
    follows = (np.diff(times) == 1) & (np.diff(times // length) == 0)
    np.testing.assert_array_equal(steps, np.append(follows & steps[:-1], False))
    missed = follows & ~steps[:-1]  # only where blocks meet that need not follow each other
    assert (times[:-1][missed] % 16 == 15).all()


def test_many_states_have_room_for_each_pair_of_them_up_to_a_limit():
    assert [room_for(n) == history_size(n) for n in (1, 2, 3)] == [True] * 3
    assert room_for(8) == 6_400
    assert room_for(12) == room_for(20) >= 10_000
    assert all(room_for(n) % 32 == 0 and room_for(n) >= 100 * n for n in range(1, 200))
