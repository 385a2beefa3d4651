"""Dask clusters of this machine for tests."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client, LocalCluster


@contextmanager
def two_workers() -> Iterator[LocalCluster]:
    """A scheduler and two worker processes."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


def one_worker(cluster: LocalCluster) -> int:
    """The process of one of its workers."""
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        return next(iter(client.run(os.getpid).values()))
