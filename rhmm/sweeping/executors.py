"""Where the runs of a sweep are computed: on this machine, or on a Dask cluster."""

import asyncio
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from threading import Thread

from rhmm.sweeping.workers import WorkerPool

_PATIENCE = 2.0
"""Seconds in which a scheduler must answer: with all imports a message comes within five."""


@contextmanager
def open_executor(scheduler: str | None = None, workers: int | None = None) -> Iterator[Executor]:
    """An executor for `rhmm.sweep`; what still runs at the end of the ``with`` is given up.

    Parameters
    ----------
    scheduler
        Address of a Dask scheduler, ``"tcp://host:8786"``; None for processes of this machine.
        Dask runs what it is sent: never take an address from a source you do not trust.
    workers
        Processes of this machine, as many as cores if None. A cluster has its own.

    Raises ConnectionError if no scheduler answers within a few seconds.
    """
    if scheduler is None:
        pool = WorkerPool(workers)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)
        return
    with _connect(scheduler) as client:
        if not client.scheduler_info()["workers"]:
            warnings.warn(f"{scheduler} has no workers yet; the sweep waits", stacklevel=3)
        executor = client.get_executor(pure=False)  # no hashing of tasks that are all different
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)


def _connect(scheduler: str):
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a scheduler needs the package distributed, which comes with the extra [cluster]"
        ) from None
    try:
        _meet(scheduler)
        return Client(scheduler, timeout=_PATIENCE, set_as_default=False)
    except ValueError as error:
        raise ValueError(
            f"scheduler must be an address such as tcp://host:8786, not {scheduler!r} ({error})"
        ) from None
    except OSError:  # TimeoutError is one
        raise ConnectionError(
            f"no Dask scheduler answers at {scheduler} within {_PATIENCE:g} s"
        ) from None
    except Exception as error:  # another protocol makes Dask stumble in many ways
        raise ConnectionError(f"what answers at {scheduler} is not a Dask scheduler") from error


def _meet(scheduler: str) -> None:
    """Greet in a thread that is never waited for: a resolver may hang, and nothing can end it.

    A thread also because this one may be running a loop already.
    """
    from distributed.comm import resolve_address

    answer: Future[None] = Future()

    def meet():
        try:
            # First, and not by the loop: the loop's own resolver keeps the program from ending.
            resolve_address(scheduler)
            answer.set_result(asyncio.run(_greet(scheduler)))
        except Exception as error:
            answer.set_exception(error)

    Thread(target=meet, daemon=True).start()
    answer.result(_PATIENCE)


async def _greet(scheduler: str) -> None:
    """Shake hands and leave: a `Client` would wait forever for a port that accepts but is mute."""
    from distributed.comm import connect

    async with asyncio.timeout(_PATIENCE):
        comm = await connect(scheduler, timeout=_PATIENCE)
    comm.abort()
