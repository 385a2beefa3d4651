import pytest

from dashboard.compute.pacing import BUSY, TICK, Paced, serve


class Machine:
    """A clock that only work moves."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Counter:
    """A stream whose observations cost so many seconds each."""

    def __init__(self, machine, cost):
        self.machine, self.cost, self.taken = machine, cost, 0

    def advance(self, most):
        self.taken += most
        self.machine.now += most * self.cost
        return most


@pytest.fixture
def machine():
    return Machine()


def run(machine, streams, ticks):
    """So many ticks; the machine sleeps to the end of each."""
    for _ in range(ticks):
        begin = machine.now
        serve(streams, TICK, machine, machine)
        machine.now = max(machine.now, begin + TICK)


def paced(machine, pace, cost=1e-5):
    return Paced(Counter(machine, cost), pace)


@pytest.mark.parametrize("pace", [10, 37, 500, 10_000])
def test_a_stream_alone_keeps_its_pace(machine, pace):
    one = paced(machine, pace)

    run(machine, [one], 100)

    assert one.stream.taken == pytest.approx(10 * pace, abs=1.0)
    assert one.reached == pytest.approx(pace, rel=0.2)


def test_a_stream_that_cannot_keep_its_pace_says_what_it_reaches(machine):
    one = paced(machine, 100_000, cost=1e-4)

    run(machine, [one], 100)

    assert one.stream.taken < 100_000
    assert one.reached == pytest.approx(one.stream.taken / 10.0, rel=0.1)


def test_a_stream_alone_does_not_work_beyond_its_part_of_a_tick(machine):
    one = paced(machine, 100_000, cost=2e-5)
    run(machine, [one], 20)  # it learns what an observation costs
    before = machine.now

    serve([one], TICK, machine, machine)

    assert machine.now - before == pytest.approx(BUSY * TICK, rel=0.02)


def test_thirty_streams_share_the_time_alike(machine):
    streams = [paced(machine, 10_000, cost=4e-5) for _ in range(30)]

    run(machine, streams, 300)

    counts = [one.stream.taken for one in streams]
    assert min(counts) > 0.9 * max(counts)
    assert sum(counts) * 4e-5 == pytest.approx(BUSY * 30.0, rel=0.05)


def test_time_is_shared_and_not_observations(machine):
    cheap, dear = paced(machine, 100_000, 1e-5), paced(machine, 100_000, 1e-4)

    run(machine, [cheap, dear], 300)

    assert cheap.stream.taken * 1e-5 == pytest.approx(dear.stream.taken * 1e-4, rel=0.1)


def test_a_modest_stream_keeps_its_pace_beside_greedy_ones(machine):
    modest = paced(machine, 50, cost=4e-5)
    greedy = [paced(machine, 100_000, cost=4e-5) for _ in range(10)]

    run(machine, [modest, *greedy], 200)

    assert modest.stream.taken == pytest.approx(50 * 20, rel=0.02)


def test_a_stream_that_joins_has_no_claim_to_the_time_before(machine):
    old = paced(machine, 100_000, cost=1e-4)
    run(machine, [old], 100)
    before = old.stream.taken
    young = paced(machine, 100_000, cost=1e-4)

    run(machine, [old, young], 100)

    assert old.stream.taken - before == pytest.approx(young.stream.taken, rel=0.1)


def test_a_stream_that_stands_takes_single_steps_alone(machine):
    one = paced(machine, 10_000)
    one.playing = False
    run(machine, [one], 10)
    assert one.stream.taken == 0

    one.steps = 3
    run(machine, [one], 10)

    assert one.stream.taken == 3
    assert not one.flows


def test_a_process_that_was_held_up_does_not_catch_up(machine):
    one = paced(machine, 1_000)

    serve([one], 60.0, machine, machine)

    assert one.stream.taken <= 250


def test_a_stream_for_which_nothing_comes_stands_and_holds_up_no_other(machine):
    waiting, other = paced(machine, 1_000), paced(machine, 1_000)
    run(machine, [waiting, other], 20)
    reached = waiting.reached
    waiting.stream.advance = lambda most: 0

    run(machine, [waiting, other], 100)

    assert waiting.reached == reached  # it is not slower: it waits
    assert other.stream.taken == pytest.approx(12_000, rel=0.01)
    waiting.stream.advance = type(waiting.stream).advance.__get__(waiting.stream)
    run(machine, [waiting, other], 10)
    assert waiting.stream.taken == pytest.approx(3_000, rel=0.02)
