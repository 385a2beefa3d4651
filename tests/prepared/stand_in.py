"""Stands in for Python, see the package: asks for a prepared copy, and ends as that one ends."""

import json
import os
import signal
import socket
import sys

FOLLOWED = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONHASHSEED")
"""Of the variables that Python and numba read when they start, those that a copy is true to: all
copies have the same seed of hashes, for which Dask sets the last of them."""


def main():
    arguments = sys.argv[1:]
    while arguments and arguments[0] == "-B":
        del arguments[0]
    is_plain = bool(arguments) and (arguments[0] in ("-c", "-m") or arguments[0][0] != "-")
    for name in os.environ:
        is_plain &= name in FOLLOWED or not name.startswith(("PYTHON", "NUMBA"))
    if not is_plain:
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    line = socket.socket(socket.AF_UNIX)
    line.connect(os.path.join(os.path.dirname(__file__), "line"))
    hand_over(arguments, line)
    answers = line.makefile("rb")
    copy = int(answers.readline())
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: os.kill(copy, number))
    end(int(answers.readline() or -signal.SIGKILL))


def hand_over(arguments, line):
    files = [int(name) for name in os.listdir("/proc/self/fd")]
    files = [file for file in files if file != line.fileno() and is_open(file)]
    request = {
        "arguments": arguments,
        "files": files,
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "processors": sorted(os.sched_getaffinity(0)),
        "nice": os.nice(0),
        "leads": os.getsid(0) == os.getpid(),
    }
    content = json.dumps(request).encode()
    socket.send_fds(line, [len(content).to_bytes(4, "big")], files)
    line.sendall(content)
    for file in files:  # else pipes would stay open after the copy has closed them
        os.close(file)


def is_open(file):
    """Not so of the list of open files itself."""
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


def end(code):
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main()
