import gc
import threading
import time
import weakref

import pytest

from dashboard.compute.jobs import Cancelled
from dashboard.compute.shared_cache import SharedCache, kept_with_it

PATIENCE = 600.0


def test_a_result_is_made_once_and_shared():
    cache, made = SharedCache(2), []

    results = [cache.get("key", lambda: made.append(1) or object()) for _ in range(3)]

    assert len(made) == 1
    assert results[0] is results[1] is results[2]


def test_the_result_that_was_unused_for_longest_is_forgotten():
    cache, made = SharedCache(2), []

    for key in "abacb":
        cache.get(key, lambda key=key: made.append(key))

    assert made == ["a", "b", "c", "b"]


def test_a_caller_waits_for_the_one_who_makes_the_result():
    cache, begun, go_on = SharedCache(2), threading.Event(), threading.Event()
    results = []

    def make():
        begun.set()
        assert go_on.wait(PATIENCE)
        return "made"

    first = threading.Thread(target=lambda: results.append(cache.get("key", make)))
    first.start()
    assert begun.wait(PATIENCE)
    second = threading.Thread(target=lambda: results.append(cache.get("key", pytest.fail)))
    second.start()
    go_on.set()
    first.join(PATIENCE)
    second.join(PATIENCE)

    assert results == ["made", "made"]


def test_a_failure_is_raised_and_not_kept():
    cache = SharedCache(2)
    with pytest.raises(ZeroDivisionError):
        cache.get("key", lambda: 1 / 0)

    assert cache.get("key", lambda: 2) == 2


def test_a_caller_who_waited_for_one_that_failed_makes_the_result_itself():
    """A visitor has cancelled the job of the other one, and still waits for this one."""
    cache, results = SharedCache(2), []
    other = threading.Thread(target=lambda: results.append(cache.get("key", lambda: "made")))

    def cancelled():
        other.start()
        while not cache._results["key"]._condition._waiters:
            time.sleep(0.001)  # until the other caller waits
        raise Cancelled

    with pytest.raises(Cancelled):
        cache.get("key", cancelled)
    other.join(PATIENCE)

    assert results == ["made"]


class Thing:
    pass


def test_what_is_kept_with_a_thing_is_made_once_and_gone_with_it():
    made, results = [], []

    @kept_with_it(2)
    def make(thing, place):
        made.append(place)
        result = Thing()
        results.append(weakref.ref(result))
        return result

    thing, other = Thing(), Thing()
    assert make(thing, 1) is make(thing, 1)
    assert make(thing, 1) is not make(other, 1)
    assert made == [1, 1]

    del thing
    gc.collect()
    assert [result() is None for result in results] == [True, False]
