"""A world: reproducible, endless, and true to its parameters."""

import gc
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rhmm import Hyperbolic, RiemannianHMM
from rhmm.paper import MEANS, SIGMAS, TRANSMAT
from rhmm.worlds import (
    BLOCK,
    Missing,
    MoveMean,
    NewState,
    NewTransitions,
    Outliers,
    Scale,
    SlowTurn,
    StateAway,
    StuckSensor,
    Turn,
    World,
)
from tests.worlds.scenes import MANIFOLDS, paper_world, world_on

SCRIPT = (
    Turn(at=200, angle=30),
    SlowTurn(at=100, angle=90, length=400),
    StateAway(at=300, state=1, length=150),
    Missing(at=150, share=0.3, length=200),
    NewState(at=500, mean=(0.1, -0.5), sigma=0.4),
    StuckSensor(at=600, length=50),
    Outliers(at=650, share=0.2, length=100),
    Scale(at=700, factor=-0.9),
)


def same(one, other) -> bool:
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other, strict=True))


def taken(world, sizes):
    parts = [world.take(n) for n in sizes]
    return tuple(np.concatenate(fields) for fields in zip(*parts, strict=True))


@given(st.lists(st.integers(1, 130), min_size=1, max_size=12))
def test_the_same_script_gives_the_same_in_pieces_of_any_size(sizes):
    assert same(taken(paper_world(*SCRIPT), sizes), paper_world(*SCRIPT).take(sum(sizes)))


@given(st.lists(st.integers(1, 200), min_size=1, max_size=5), st.integers(0, 10))
def test_a_world_with_live_events_is_repeated_by_its_script(sizes, seed):
    live = [Turn(angle=20), StateAway(state=0, length=100), MoveMean(state=2, mean=(0.0, 0.4))]
    world = paper_world(SlowTurn(at=50, angle=40, length=200), seed=seed)
    parts = []
    for n, event in zip(sizes, live, strict=False):
        parts.append(world.take(n))
        added = world.add(event)
        assert added.at == BLOCK * -(-world.n_taken // BLOCK)
        assert added in world.events
    parts.append(world.take(300))
    again = paper_world(*world.events, seed=seed).take(world.n_taken)
    assert same(tuple(np.concatenate(fields) for fields in zip(*parts, strict=True)), again)


def test_events_of_the_same_time_keep_their_order_after_one_is_over():
    long, short = SlowTurn(at=100, angle=40, length=500), Scale(at=100, factor=0.5)
    world = paper_world(long, short)
    world.take(400)
    assert world.events == (long, short)


def test_seeds_differ_and_change_observations():
    assert not np.array_equal(paper_world(seed=1).take(100).X, paper_world(seed=2).take(100).X)


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_states_and_distances_follow_the_parameters(manifold):
    """Frequencies and mean d², within four standard errors of what they must be."""
    world = world_on(manifold)
    part, truth = world.take(20_000), world.truth
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (part.states[:-1], part.states[1:]), 1)
    visits = pairs.sum(axis=1, keepdims=True)
    error = np.sqrt(truth.transmat * (1 - truth.transmat) / visits)
    assert (np.abs(pairs / visits - truth.transmat) < 4 * error).all()
    for i in range(3):
        d2 = manifold.dist(part.X[part.states == i], truth.means[i]) ** 2
        error = np.sqrt(manifold.var_d2(truth.sigmas[i]) / len(d2))
        assert abs(d2.mean() - manifold.delta(truth.sigmas[i])) < 4 * error


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_the_ceiling_is_the_filter_of_the_true_model(manifold):
    world = world_on(manifold, Missing(at=200, share=0.4, length=200), seed=3)
    part, truth = world.take(1_000), world.truth
    model = RiemannianHMM.from_parameters(
        manifold, truth.startprob, truth.transmat, truth.means, truth.sigmas
    )
    assert np.array_equal(part.ceiling, model.filter_proba(part.X).argmax(axis=1))
    assert part.log_density.sum() == pytest.approx(model.score(part.X), rel=1e-10)
    missing = np.isnan(part.X).reshape(1_000, -1).any(axis=1)
    assert 40 < missing.sum() < 120
    assert (part.log_density[missing] == 0).all()


def test_after_a_change_the_ceiling_is_the_filter_of_the_new_model():
    """The filter forgets how it began: 100 observations later both agree."""
    world = paper_world(Turn(at=500, angle=70), NewTransitions(at=500, transmat=np.eye(3)[::-1]))
    world.take(500)
    part, truth = world.take(2_000), world.truth
    model = RiemannianHMM.from_parameters(
        world.manifold, np.full(3, 1 / 3), truth.transmat, truth.means, truth.sigmas
    )
    assert np.array_equal(part.ceiling[100:], model.filter_proba(part.X).argmax(axis=1)[100:])


def test_what_was_drawn_for_an_event_that_disturbs_leaves_the_chain_alone():
    calm, spoiled = paper_world().take(600), paper_world(*SCRIPT[3:4]).take(600)
    assert np.array_equal(calm.states, spoiled.states)
    there = ~np.isnan(spoiled.X).any(axis=1)
    assert np.array_equal(calm.X[there], spoiled.X[there])


def test_memory_does_not_grow():
    world = paper_world(SlowTurn(at=0, angle=360, length=10**9))
    tracemalloc.start()
    world.take(5_000)
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(40):
        world.take(1_000)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # Keeping 40,000 observations takes 1.6 MB; calls of kernels keep 100 KB for reuse, and no more.
    assert grown < 200_000


def test_what_is_taken_is_counted():
    world = paper_world()
    for n in (1, 49, 50, 130):
        world.take(n)
    assert world.n_taken == 230


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transmat": np.eye(2)}, "transmat must have shape"),
        ({"means": (0.1, 0.2)}, "means must be one point for each state"),
        ({"means": ((2.0, 0.0),) * 3}, r"means\[0\] is not a point"),
        ({"sigmas": (1.0, 1.0)}, "sigmas must have shape"),
        ({"sigmas": (1.0, 1.0, -1.0)}, "sigmas must be positive"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"manifold": "disk"}, "manifold must be a manifold"),
        ({"events": (Turn(angle=9),)}, "events must be events with a time"),
        ({"events": ("turn",)}, "events must be events with a time"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    given = {"manifold": Hyperbolic(2), "transmat": TRANSMAT, "means": MEANS, "sigmas": SIGMAS}
    with pytest.raises(ValueError, match=message):
        World(**(given | options))


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (MoveMean(state=3, mean=(0.1, 0.1)), "state must be below 3, not 3"),
        (MoveMean(state=0, mean=(0.1, 0.1, 0.1)), "mean must have 2 numbers"),
        (MoveMean(state=0, mean=(1.1, 0.1)), "mean is not a point"),
        (NewTransitions(transmat=np.eye(2)), "transmat must have 3 rows"),
        (StateAway(state=0, length=50), "state 0 is away already"),
        (StateAway(state=5, length=50), "state must be below 3"),
        (Scale(factor=1e5), "factor=100000 moves a mean too far"),
        (NewState(mean=(0.1,), sigma=1.0), "mean must have 2 numbers"),
        (NewState(mean=(0.1, 0.1), sigma=1e9), "sigma must be between"),
        (Turn(at=50, angle=1.0), "at must be 100 or later, not 50"),
        ("turn", "event must be an event such as"),
    ],
)
def test_an_event_that_cannot_happen_is_refused_and_changes_nothing(event, message):
    first = StateAway(at=50, state=0, length=500)
    world = paper_world(first)
    world.take(100)
    with pytest.raises(ValueError, match=message):
        world.add(event)
    assert world.events == (first,)
    assert same(world.take(200), tuple(f[100:] for f in paper_world(first).take(300)))


def test_a_script_is_checked_as_a_whole():
    away = StateAway(at=100, state=0, length=200), StateAway(at=200, state=1, length=200)
    with pytest.raises(ValueError, match="state 2 is the last one"):
        paper_world(*away, StateAway(at=250, state=2, length=50))
    paper_world(*away, StateAway(at=300, state=2, length=50))  # state 0 is back by then
    with pytest.raises(ValueError, match="transmat must have 4 rows"):
        paper_world(
            NewState(at=100, mean=(0.0, 0.3), sigma=0.2),
            NewTransitions(at=150, transmat=TRANSMAT),
        )


def test_a_turn_needs_two_coordinates():
    with pytest.raises(ValueError, match="angle needs two coordinates"):
        World(Hyperbolic(1), [[1.0]], [[0.2]], [0.5], events=[Turn(at=0, angle=3)])
