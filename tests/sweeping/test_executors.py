"""A Dask cluster of this machine: a scheduler and two worker processes."""

import os
import signal
import socket
import threading

import pytest
from distributed import LocalCluster

from rhmm import open_executor, sweep
from tests.clusters import one_worker, two_workers
from tests.sweeping.tasks import GRID, TRUTH, without_times


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def expected():
    with open_executor(workers=1) as executor:
        return sweep(TRUTH, GRID, 5, executor)


def test_a_cluster_gives_the_same_numbers(cluster, expected):
    with open_executor(cluster.scheduler_address) as executor:
        runs = sweep(TRUTH, GRID, 5, executor)
    assert without_times(runs) == without_times(expected)


def test_a_worker_killed_in_mid_sweep_loses_nothing(cluster, expected):
    victim = one_worker(cluster)
    came = []

    def kill(run):
        came.append(run)
        if len(came) == 3:
            os.kill(victim, signal.SIGKILL)

    with open_executor(cluster.scheduler_address) as executor:
        runs = sweep(TRUTH, GRID, 5, executor, kill)
    assert without_times(runs) == without_times(expected)
    assert len(came) == len(runs)


def test_a_cancelled_sweep_leaves_the_cluster_to_others(cluster, expected):
    def stop(run):
        raise StopIteration

    with open_executor(cluster.scheduler_address) as executor:
        assert len(sweep(TRUTH, GRID, 1000, executor, stop)) == 1
        runs = sweep(TRUTH, GRID[:1], 1, executor)
    assert without_times(runs) == without_times(expected[:1])


def test_waiting_for_workers_of_a_cluster_is_warned_of():
    with LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as empty:
        waiting = pytest.warns(UserWarning, match="no workers yet")
        with waiting, open_executor(empty.scheduler_address):
            pass


@pytest.fixture
def port():
    """A socket that listens and never accepts."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_port_that_never_answers_is_given_up(port):
    address = f"tcp://127.0.0.1:{port.getsockname()[1]}"
    with pytest.raises(ConnectionError, match=f"no Dask scheduler answers at {address}"):
        open_executor(address).__enter__()


def test_a_port_of_another_protocol_is_not_a_scheduler(port):
    def answer():
        connection, _ = port.accept()
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()

    threading.Thread(target=answer).start()
    with pytest.raises(ConnectionError, match="scheduler"):
        open_executor(f"tcp://127.0.0.1:{port.getsockname()[1]}").__enter__()


def test_a_closed_port_is_not_a_scheduler(port):
    address = f"tcp://127.0.0.1:{port.getsockname()[1]}"
    port.close()
    with pytest.raises(ConnectionError, match="no Dask scheduler answers"):
        open_executor(address).__enter__()


def test_a_name_that_is_never_resolved_is_given_up(monkeypatch):
    asked, answered = [], threading.Event()

    def hang(*_, **__):
        asked.append(threading.current_thread())
        answered.wait(60.0)  # a program that waits for it fails instead of hanging
        raise socket.gaierror("at last")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    try:
        with pytest.raises(ConnectionError, match=r"no Dask .* at tcp://far\.away:1 within"):
            open_executor("tcp://far.away:1").__enter__()
        assert [thread.daemon for thread in asked] == [True]  # the program need not wait either
    finally:
        answered.set()


@pytest.mark.parametrize("address", ["nonsense", "carrier-pigeon://host:1", "tcp://"])
def test_a_wrong_address_is_named(address):
    with pytest.raises(ValueError, match="scheduler must be an address"):
        open_executor(address).__enter__()
