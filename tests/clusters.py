"""Dask clusters of this machine for tests."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from unittest.mock import patch

from distributed import Client, LocalCluster


@contextmanager
def two_workers() -> Iterator[LocalCluster]:
    """A scheduler and two worker processes."""
    # A new process runs the main module again, and tests of pages leave a page there.
    with (
        patch.dict(sys.modules, __main__=ModuleType("__main__")),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        yield cluster


def one_worker(cluster: LocalCluster) -> int:
    """The process of one of its workers."""
    with Client(cluster.scheduler_address, set_as_default=False) as client:
        return next(iter(client.run(os.getpid).values()))
