"""Recovery after events, on labels made by hand and on a learner."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhmm import StreamingRiemannianHMM
from rhmm.worlds import Recovered, Recovery, Turn
from tests.worlds.scenes import paper_world


def labelled(size=4_000, wrong=(), names=(0, 1, 2), seed=0):
    """True states, and labels that are right but for the slices `wrong`."""
    states = np.random.default_rng(seed).integers(0, 3, size)
    labels = np.array(names)[states]
    for part in wrong:
        labels[part] = np.array(names)[(states[part] + 1) % 3]
    return states, labels, states.copy()


def test_a_learner_that_is_always_right_has_recovered_at_once():
    recovery = Recovery()
    recovery.mark(1_000)
    recovery.add(*labelled(names=(2, 0, 1)))
    assert recovery.events == (Recovered(1_000, 0, 0),)
    assert recovery.accuracy == recovery.ceiling == 1.0
    assert recovery.matching.tolist() == [2, 0, 1]


def test_steps_and_losses_are_those_of_the_time_in_which_it_was_wrong():
    """Wrong for 100 of every 200 observations, then right: 5 of the next 500 may be wrong."""
    wrong = [slice(1_000, 1_100), slice(1_200, 1_300)]
    recovery = Recovery()
    recovery.mark(1_000)
    recovery.add(*labelled(wrong=wrong))
    assert recovery.events == (Recovered(1_000, 295, 195),)


def test_an_event_before_recovery_ends_the_measuring_of_the_one_before():
    recovery = Recovery()
    for at in (1_000, 1_200):
        recovery.mark(at)
    recovery.add(*labelled(wrong=[slice(1_000, 1_300)]))
    assert recovery.events == (Recovered(1_000, None, 200), Recovered(1_200, 95, 95))


def test_before_it_has_recovered_the_loss_so_far_is_told():
    recovery = Recovery()
    recovery.mark(1_000)
    recovery.add(*labelled(size=1_150, wrong=[slice(1_000, None)]))
    assert recovery.events == (Recovered(1_000, None, 150),)


def test_swapped_names_are_matched_anew():
    states, labels, ceiling = labelled()
    labels[2_000:] = np.array([1, 0, 2])[states[2_000:]]
    recovery = Recovery()
    recovery.add(states, labels, ceiling)
    assert recovery.matching.tolist() == [1, 0, 2]
    assert recovery.accuracy == 1.0


def test_labels_of_nothing_are_wrong_and_teach_no_names():
    recovery = Recovery(window=50)
    states, labels, ceiling = labelled(size=100)
    recovery.add(states[:50], np.full(50, -1), ceiling[:50])
    assert (recovery.accuracy, recovery.ceiling) == (0.0, 1.0)
    recovery.add(states[50:], labels[50:], ceiling[50:])
    assert recovery.accuracy == 1.0


def test_more_states_and_more_names_are_taken_as_they_come():
    states, labels, ceiling = labelled(size=1_000)
    states[500:], labels[500:], ceiling[500:] = 3, 5, 3
    recovery = Recovery(window=100)
    recovery.add(states, labels, ceiling)
    assert recovery.accuracy == 1.0
    assert recovery.matching[3] == 5


@given(st.lists(st.integers(1, 700), min_size=1, max_size=10))
def test_any_chunking_gives_the_same(sizes):
    columns = labelled(size=sum(sizes), wrong=[slice(300, 400), slice(600, 1_200)])
    whole, pieces = Recovery(window=200), Recovery(window=200)
    for recovery in (whole, pieces):
        recovery.mark(300)
        recovery.mark(600)
    whole.add(*columns)
    ends = np.cumsum(sizes)
    for part in zip(*(np.split(column, ends[:-1]) for column in columns), strict=True):
        pieces.add(*part)
    assert pieces.events == whole.events
    assert (pieces.n_seen, pieces.n_seen) == (whole.n_seen, sum(sizes))
    assert pieces.accuracy == pytest.approx(whole.accuracy, nan_ok=True)


def test_a_learner_recovers_from_a_small_jump():
    world, recovery = paper_world(Turn(at=2_000, angle=10)), Recovery()
    online = StreamingRiemannianHMM(world.manifold, 3, memory="fixed", random_state=0)
    recovery.mark(2_000)
    for _ in range(20):
        part = world.take(250)
        labels = online.partial_fit_predict_proba(part.X).argmax(axis=1)
        recovery.add(part.states, labels, part.ceiling)
    (event,) = recovery.events
    assert event.steps is not None
    assert event.steps < 1_500
    assert -10 < event.lost < 100
    assert recovery.accuracy > recovery.ceiling - 0.02


def test_memory_does_not_grow():
    recovery = Recovery()
    columns = labelled(size=1_000)
    recovery.add(*columns)
    tracemalloc.start()
    recovery.add(*columns)
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(30):
        recovery.add(*columns)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 4_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window": 120}, "window must be a multiple of 50"),
        ({"within": -0.1}, "within must be a finite number"),
        ({"horizon": 0}, "horizon must be a finite number"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        Recovery(**options)


def test_what_is_over_cannot_be_marked_and_labels_must_fit():
    recovery = Recovery()
    recovery.add(*labelled(size=500))
    with pytest.raises(ValueError, match="at must be 500 or later, not 450"):
        recovery.mark(450)
    with pytest.raises(ValueError, match="labels must be whole numbers"):
        recovery.add(np.zeros(3, int), np.zeros(3), np.zeros(3, int))
    with pytest.raises(ValueError, match="states must be known, from 0 on"):
        recovery.add([0, -1], [0, 0], [0, 0])
    with pytest.raises(ValueError, match="ceiling must be whole numbers"):
        recovery.add(np.zeros(3, int), np.zeros(3, int), np.zeros(4, int))
