"""Imports what programs need, once, and becomes each of them in a copy of itself.

``python copies.py <path of the stand-in> <its socket>``, until the input closes.
"""

import atexit
import builtins
import fcntl
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import ModuleType
from typing import NoReturn

LIBRARIES = (
    "distributed", "plotly.graph_objects", "pyarrow.parquet", "rhmm.__main__", "streamlit.web.cli"
)  # fmt: skip
_HIGH = 1000
"""Above the number of any open file."""


class Copies:
    """All copies that live, and those who asked for them."""

    def __init__(self, line: socket.socket):
        self._line = line
        self._poll = select.poll()
        self._asked: dict[int, tuple[socket.socket, int, int]] = {}
        for file in (0, line.fileno()):
            self._poll.register(file, select.POLLIN)

    def serve(self) -> dict | None:
        """Returns in each copy with what it is to do; None at the end."""
        while True:
            for file, _ in self._poll.poll():
                if file == 0:
                    for _, process, _ in set(self._asked.values()):
                        os.kill(process, signal.SIGKILL)
                    return None
                if file == self._line.fileno():
                    request = self._copy()
                    if request is not None:
                        return request
                elif file in self._asked:
                    self._finish(*self._asked[file])

    def _copy(self) -> dict | None:
        who, _ = self._line.accept()
        length, files, _, _ = socket.recv_fds(who, 4, 250)
        with who.makefile("rb") as lines:
            size = int.from_bytes(length, "big")
            content = lines.read(size)
        if not length or len(content) < size:  # it was killed while it asked
            for file in files:
                os.close(file)
            who.close()
            return None
        request = json.loads(content)
        _import_libraries()
        process = os.fork()
        if process == 0:
            for one in (who, self._line, *(one for one, _, _ in self._asked.values())):
                one.detach()  # the numbers of their files are those of other files from here on
            _take_files(files, request["files"])
            return request
        for file in files:
            os.close(file)
        entry = (who, process, os.pidfd_open(process))
        with suppress(OSError):  # one that is gone again: `_finish` hears of that
            who.sendall(b"%d\n" % process)
        for file in (who.fileno(), entry[2]):
            self._asked[file] = entry
            self._poll.register(file, select.POLLIN)
        return None

    def _finish(self, who: socket.socket, process: int, handle: int) -> None:
        """The copy has ended, or the one who asked for it."""
        with suppress(ProcessLookupError):
            if not select.select([handle], [], [], 0)[0]:
                os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        for file in (who.fileno(), handle):
            self._poll.unregister(file)
            del self._asked[file]
        with suppress(OSError):
            who.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
        who.close()
        os.close(handle)


@cache
def _import_libraries() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    del sys.modules["rhmm.__main__"]  # else Python says that it is begun twice
    _load_kernels()
    gc.collect()
    gc.freeze()


def _load_kernels() -> None:
    """Load those of the paper's model, which most programs learn, if `tests.kernels` was there."""
    from rhmm._jit import cache_folder, cache_stamp
    from rhmm.learners.registry import LEARNERS
    from rhmm.paper import paper_model

    if not (cache_folder() / f"compiled-{cache_stamp()}-tests").exists():
        return
    learners = [learner for learner in LEARNERS.values() if not learner.needs_truth]
    truth = paper_model()
    points, _ = truth.sample(300, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for learner in learners:
            learner.learn(learner.make(truth.manifold, 3, 0, {}, trace_every=1), points)


def _take_files(received: list[int], wanted: list[int]) -> None:
    """Leave open what was handed over, under the same numbers, and nothing else."""
    high = [fcntl.fcntl(file, fcntl.F_DUPFD, _HIGH) for file in received]
    os.closerange(0, _HIGH)
    for file, number in zip(high, wanted, strict=True):
        os.dup2(file, number)
        os.close(file)


def _open_streams() -> None:
    size = 0 if os.environ.get("PYTHONUNBUFFERED") else -1
    inward = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdin = sys.__stdin__ = inward
    for name, file, errors in (("stdout", 1, "strict"), ("stderr", 2, "backslashreplace")):
        raw = os.fdopen(file, "wb", size, closefd=False)
        lines = file == 2 or raw.isatty()
        stream = io.TextIOWrapper(raw, "utf-8", errors, None, lines, write_through=size == 0)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def become(request: dict, executable: str, path: list[str]) -> None:
    """Be the program that was asked for, as if this process had just begun."""
    if request["leads"]:
        os.setsid()
    os.chdir(request["folder"])
    os.sched_setaffinity(0, request["processors"])
    os.nice(request["nice"] - os.nice(0))
    os.environ.clear()
    os.environ.update(request["environment"])
    _open_streams()
    sys.executable = executable
    kind, *arguments = request["arguments"]
    below = [folder for folder in os.environ.get("PYTHONPATH", "").split(":") if folder]
    match kind:
        case "-c":
            program, *rest = arguments
            sys.argv, sys.path[:] = ["-c", *rest], ["", *below, *path]
            main = sys.modules["__main__"] = ModuleType("__main__")
            main.__builtins__ = builtins
            exec(compile(program, "<string>", "exec"), vars(main))
        case "-m":
            module, *rest = arguments
            sys.argv, sys.path[:] = ["-m", *rest], [os.getcwd(), *below, *path]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case file:
            folder = os.path.dirname(os.path.abspath(file))
            sys.argv, sys.path[:] = [file, *arguments], [folder, *below, *path]
            runpy.run_path(file, run_name="__main__")


def _code_of(program: Callable[[], None]) -> int:
    """The exit code of a program."""
    try:
        program()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _end(code: int) -> NoReturn:
    """End without taking the interpreter apart: the libraries are so many that this takes long."""
    threading._shutdown()
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120  # as Python says it
    os._exit(code)


def main() -> None:
    executable, line = sys.argv[1:]
    path = sys.path[1:]  # without the folder of this file
    sys.path[0] = os.getcwd()
    request = Copies(socket.socket(fileno=int(line))).serve()
    if request is not None:
        _end(_code_of(lambda: become(request, executable, path)))


main()
