"""A process beside the server, and the messages to it and from it."""

import logging
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rhmm.sweeping.workers import ServingProcess

_PROTOCOL = 5
"""Of pickle: it sends an array without a copy of it."""
_GONE = (EOFError, OSError, ValueError, pickle.UnpicklingError)
"""What a pipe raises when the process at its other end has died."""


class Lost(Exception):
    """The process has died before its work was over, or a message could not be sent or read."""


class WorkerProcess:
    """Runs the function `serve` of a module in a process of its own.

    A process that is `Lost` has ended: another one must take its place.
    """

    def __init__(self, module: str) -> None:
        self._process = ServingProcess(module)

    @property
    def is_alive(self) -> bool:
        return self._process.popen.poll() is None

    def send(self, message: object) -> None:
        """Give the process a message."""
        with self._watched():
            pickle.dump(message, self._process.input, protocol=_PROTOCOL)
            self._process.input.flush()

    def receive(self) -> Any:
        """Wait for a message from the process."""
        with self._watched():
            return pickle.load(self._process.output)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            # Half of a message may be in the pipe, so that nothing after it could be read.
            self.close()
            if not isinstance(error, _GONE):
                logging.getLogger(__name__).exception("a message cannot be sent or read")
            raise Lost from error

    def close(self) -> None:
        """End the process, whatever it is doing."""
        self._process.close()


# In the process


def answers() -> Callable[[object], None]:
    """A function that sends a message to the server. What else is printed does not mix with it."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def send(message: object) -> None:
        pickle.dump(message, pipe, protocol=_PROTOCOL)
        pipe.flush()

    return send


def question() -> Any:
    """The next message from the server; EOFError when the server has gone."""
    return pickle.load(sys.stdin.buffer)
