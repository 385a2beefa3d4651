import os
import signal
import time

import numpy as np
import pytest

from dashboard.compute import data_workers
from dashboard.compute.data_workers import DataWorkers
from dashboard.compute.jobs import Cancelled, Expected

PATIENCE = 120.0


@pytest.fixture(scope="module")
def workers():
    workers = DataWorkers()
    yield workers
    workers.close()


def ignore(result, doing, share):
    pass


# Called in the process


def process_id(watch):
    return os.getpid()


def counted(most, watch):
    for k in range(most):
        watch(f"step {k}", k / most)
        time.sleep(0.25)  # reports come at a pace
    return most


def failing(watch):
    raise ValueError("no such thing")


def endless(watch):
    time.sleep(PATIENCE)


def dying(watch):
    os.kill(os.getpid(), signal.SIGKILL)


def greedy(watch):
    return np.ones(2**29).sum()


def printing(watch):
    print("not an answer")
    return "an answer"


def test_a_call_is_answered_by_another_process_which_stays_for_the_next(workers):
    first = workers.call(process_id, (), ignore)

    assert first != os.getpid()
    assert workers.call(process_id, (), ignore) == first


def test_reports_come_from_the_process(workers):
    seen = []

    assert workers.call(counted, (3,), lambda *said: seen.append(said)) == 3

    assert (None, "step 1", 1 / 3) in seen


def test_an_error_is_raised_here_and_the_process_goes_on(workers):
    before = workers.call(process_id, (), ignore)

    with pytest.raises(ValueError, match="no such thing"):
        workers.call(failing, (), ignore)

    assert workers.call(process_id, (), ignore) == before


def test_a_call_that_is_not_wanted_any_more_ends_at_once_with_its_process(workers):
    before = workers.call(process_id, (), ignore)
    begin = time.monotonic()

    def report(result, doing, share):
        if time.monotonic() > begin + 0.5:
            raise Cancelled

    with pytest.raises(Cancelled):
        workers.call(endless, (), report)

    assert time.monotonic() - begin < PATIENCE
    assert workers.call(process_id, (), ignore) != before


def test_a_process_that_dies_is_a_sentence_and_not_a_fault(workers):
    with pytest.raises(Expected, match="fewer observations"):
        workers.call(dying, (), ignore)

    assert workers.call(process_id, (), ignore)


def test_more_memory_than_one_visitor_may_have_is_a_sentence_and_the_process_goes_on(workers):
    before = workers.call(process_id, (), ignore)

    with pytest.raises(Expected, match="needs more memory"):
        workers.call(greedy, (), ignore)
    assert workers.call(process_id, (), ignore) == before


def test_closing_ends_a_process_in_the_middle_of_a_call():
    workers = DataWorkers()

    def report(result, doing, share):
        workers.close()

    with pytest.raises(Expected):
        workers.call(endless, (), report)


def test_what_a_function_prints_does_not_mix_with_its_answer(workers):
    assert workers.call(printing, (), ignore) == "an answer"


def test_without_processes_a_call_is_made_here():
    seen = []

    assert data_workers.call(process_id, (), ignore) == os.getpid()
    assert data_workers.call(counted, (1,), lambda *said: seen.append(said)) == 1
    assert seen == [(None, "step 0", 0.0)]
