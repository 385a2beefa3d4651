"""A Python that starts at once, for the many processes that tests start.

Importing the engine and the libraries below it takes a process a second and a half. Here one
process imports them (`copies`) when the first Python is asked for, and a copy of it becomes each
Python that is. What stands in for ``sys.executable`` is a small program (`stand_in`): it hands over
its arguments, environment and open files, and ends as the copy ends; when it is killed, so is the
copy. With options that a copy cannot follow, it becomes the real Python.
"""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).parent
LINE = "line"
"""The socket, beside the program that stands in for Python."""

REAL_PYTHON = sys.executable
"""For tests that want a Python without the engine, or to start a program as people do."""


@contextmanager
def prepared_python() -> Iterator[str]:
    """The path of a Python that starts at once."""
    with tempfile.TemporaryDirectory() as folder:
        stand_in = Path(folder, "python")
        program = (FOLDER / "stand_in.py").read_text(encoding="utf-8")
        stand_in.write_text(f"#!{sys.executable} -IS\n{program}", encoding="utf-8")
        stand_in.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as line:
            line.bind(str(Path(folder, LINE)))
            line.listen(64)  # those that come before it is ready wait
            process = subprocess.Popen(
                [sys.executable, FOLDER / "copies.py", stand_in, str(line.fileno())],
                stdin=subprocess.PIPE,
                pass_fds=[line.fileno()],
                cwd=FOLDER.parents[1],
                env={name: v for name, v in os.environ.items() if name != "PYTHONPATH"},
            )
        try:
            yield str(stand_in)
        finally:
            process.communicate()  # it ends when its input does
