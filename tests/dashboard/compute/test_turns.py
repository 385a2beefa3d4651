import pytest

from dashboard.compute.turns import LONG, Ticket, Turns

SHORT, HEAVY = 0.5, 130.0
TURN = 2.0


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now

    def advance(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


def ticket(seconds, *visitors):
    return Ticket(seconds, lambda: visitors)


def work(clock, seconds, *tickets):
    """Time passes, and these jobs work all the while."""
    clock.advance(seconds)
    for one in tickets:
        one.worked += seconds


def entered(turns, *tickets):
    for one in tickets:
        turns.enter(one)
    return tickets


def test_as_many_jobs_work_as_there_are_slots(clock):
    turns = Turns(2, TURN, clock)
    first, second, third = entered(turns, *(ticket(SHORT, name) for name in "abc"))

    assert first.called.is_set()
    assert second.called.is_set()
    assert not third.called.is_set()
    turns.leave(first)
    assert third.called.is_set()


def test_the_least_served_visitor_comes_first(clock):
    turns = Turns(1, TURN, clock)
    (busy,) = entered(turns, ticket(SHORT, "greedy"))
    again, other = entered(turns, ticket(SHORT, "greedy"), ticket(SHORT, "modest"))
    work(clock, 1.0, busy)

    turns.leave(busy)

    assert other.called.is_set()
    assert not again.called.is_set()


def test_a_short_job_comes_before_a_long_one_that_waits_already(clock):
    turns = Turns(1, TURN, clock)
    (busy,) = entered(turns, ticket(SHORT, "a"))
    heavy, short = entered(turns, ticket(HEAVY, "b"), ticket(SHORT, "c"))

    assert (turns.place(short), turns.place(heavy), turns.place(busy)) == (1, 2, 0)
    turns.leave(busy)
    assert short.called.is_set()


def test_long_jobs_leave_one_slot_to_short_ones(clock):
    turns = Turns(2, TURN, clock)
    heavy = entered(turns, *(ticket(HEAVY, f"heavy {i}") for i in range(20)))
    assert [one.called.is_set() for one in heavy] == [True] + 19 * [False]

    (short,) = entered(turns, ticket(SHORT, "short"))

    assert short.called.is_set()


def test_the_only_slot_is_not_kept_from_long_jobs(clock):
    (heavy,) = entered(Turns(1, TURN, clock), ticket(HEAVY, "a"))

    assert heavy.called.is_set()


def test_a_long_job_gives_way_to_a_short_one_and_goes_on_after_it(clock):
    turns = Turns(1, TURN, clock)
    (heavy,) = entered(turns, ticket(HEAVY, "a"))
    (short,) = entered(turns, ticket(SHORT, "b"))
    work(clock, TURN, heavy)

    assert turns.give_way(heavy)
    assert short.called.is_set()
    assert not heavy.called.is_set()
    assert turns.place(heavy) == 1
    turns.leave(short)
    assert heavy.called.is_set()


def test_no_job_gives_way_before_its_least_turn_is_over(clock):
    turns = Turns(1, TURN, clock)
    (heavy,) = entered(turns, ticket(HEAVY, "a"))
    entered(turns, ticket(SHORT, "b"))
    work(clock, 0.9 * TURN, heavy)

    assert not turns.give_way(heavy)
    assert heavy.called.is_set()


def test_a_job_without_rivals_keeps_its_slot(clock):
    turns = Turns(1, TURN, clock)
    (heavy,) = entered(turns, ticket(HEAVY, "a"))
    work(clock, 100.0, heavy)

    assert not turns.give_way(heavy)


def test_long_jobs_of_different_visitors_get_equal_shares(clock):
    turns = Turns(2, TURN, clock)
    heavy = entered(turns, *(ticket(HEAVY, f"visitor {i}") for i in range(4)))
    for _ in range(80):
        working = [one for one in heavy if one.called.is_set()]
        assert len(working) == 1
        work(clock, 1.0, *working)
        turns.give_way(working[0])

    assert all(abs(one.worked - 20.0) <= 2 * TURN for one in heavy)


def test_a_long_job_is_served_though_short_ones_keep_coming(clock):
    turns = Turns(1, TURN, clock)
    (short,) = entered(turns, ticket(SHORT, "first"))
    (heavy,) = entered(turns, ticket(HEAVY, "heavy"))
    for number in range(200):
        (following,) = entered(turns, ticket(SHORT, f"visitor {number}"))
        work(clock, SHORT, short)
        turns.leave(short)
        if heavy.called.is_set():
            break
        short = following

    assert heavy.called.is_set()


def test_a_job_that_takes_longer_than_expected_counts_as_long(clock):
    turns = Turns(2, TURN, clock)
    mistaken, other = entered(turns, ticket(SHORT, "a"), ticket(SHORT, "b"))
    work(clock, LONG + 1.0, mistaken)
    turns.give_way(mistaken)
    turns.leave(other)

    (heavy,) = entered(turns, ticket(HEAVY, "c"))

    assert mistaken.is_long
    assert not heavy.called.is_set()


def test_visitors_who_share_a_job_share_its_cost(clock):
    turns = Turns(1, TURN, clock)
    (shared,) = entered(turns, ticket(HEAVY, "a", "b"))
    work(clock, 10.0, shared)
    turns.leave(shared)

    assert turns.used("a") == turns.used("b") == 5.0


def test_what_was_used_is_forgotten_by_halves(clock):
    turns = Turns(1, TURN, clock)
    (job,) = entered(turns, ticket(HEAVY, "a"))
    work(clock, 8.0, job)
    turns.leave(job)
    clock.advance(60.0)

    assert turns.used("a") == pytest.approx(4.0)


def test_a_job_that_left_while_it_waited_gets_no_slot(clock):
    turns = Turns(1, TURN, clock)
    busy, gone = entered(turns, ticket(SHORT, "a"), ticket(SHORT, "b"))
    turns.leave(gone)
    turns.leave(busy)

    assert not gone.called.is_set()
    assert turns.place(gone) == 0


def test_a_short_job_on_a_busy_machine_does_not_pass_for_a_long_one(clock):
    turns = Turns(1, TURN, clock)
    (slow,) = entered(turns, ticket(SHORT, "a"))
    entered(turns, ticket(SHORT, "b"))
    clock.advance(100.0)
    slow.worked = 0.4

    assert not turns.give_way(slow)
    assert not slow.is_long
