"""Twenty keys on two processes, one of which dies, against one process."""

import os
import signal

import pytest

from examples.keyed_streams import observations, run
from rhmm import open_executor, unpack
from rhmm.paper import paper_model
from tests.clusters import one_worker, two_workers

KEYS, ROUNDS, SIZE = 20, 4, 50


@pytest.fixture(scope="module")
def rounds():
    return [observations(KEYS, SIZE, number) for number in range(ROUNDS)]


@pytest.fixture(scope="module")
def expected(rounds):
    return run(None, rounds)


def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(rounds, expected):
    with two_workers() as cluster:
        victim = one_worker(cluster)

        def kill(round_):
            if round_ == 2:
                os.kill(victim, signal.SIGKILL)

        with open_executor(cluster.scheduler_address) as executor:
            assert run(executor, rounds, kill) == expected


def test_each_key_has_learned_from_its_own_stream(expected):
    """One learner for each key, fed directly, learns the same."""
    truth = paper_model()
    learner = unpack(expected["sensor 7"])
    alone = type(learner)(truth.manifold, 3, window=60, random_state=7)
    for r in range(ROUNDS):
        alone.partial_fit(truth.sample(SIZE, random_state=[7, r])[0])
    assert learner.n_samples_seen_ == ROUNDS * SIZE
    assert learner.means_.tobytes() == alone.means_.tobytes()
    assert learner.transmat_.tobytes() == alone.transmat_.tobytes()
