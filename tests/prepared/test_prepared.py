"""What stands in for Python does what Python does."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.prepared import LINE, REAL_PYTHON

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such copies")

BOTH = pytest.mark.parametrize("python", ["prepared", "real"])


def run(python: str, *arguments: str, **options) -> subprocess.CompletedProcess:
    path = sys.executable if python == "prepared" else REAL_PYTHON
    return subprocess.run([path, *arguments], capture_output=True, text=True, **options)


@BOTH
def test_a_program_has_its_arguments_folder_environment_and_input(python, tmp_path):
    program = "import os, sys; print(sys.argv, os.getcwd(), os.environ['A'], sys.stdin.read())"
    done = run(python, "-c", program, "b", cwd=tmp_path, env={"A": "ä"}, input="c")
    assert done.stdout == f"['-c', 'b'] {tmp_path} ä c\n"


@BOTH
def test_a_script_finds_its_neighbours_and_what_the_path_names(python, tmp_path):
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}_module.py").write_text(f"name = {folder!r}")
    script = tmp_path / "here" / "script.py"
    script.write_text("from here_module import name\nimport there_module\nprint(name, __name__)")
    done = run(python, str(script), env={"PYTHONPATH": str(tmp_path / "there")})
    assert (done.stdout, done.stderr) == ("here __main__\n", "")


@BOTH
@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        ("pass", 0, ""),
        ("raise SystemExit(7)", 7, ""),
        ("raise SystemExit('why')", 1, "why"),
        ("1 / 0", 1, "ZeroDivisionError"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL, ""),
        ("import os; os.abort()", -signal.SIGABRT, ""),
    ],
)
def test_a_program_ends_with_its_code(python, end, code, words):
    done = run(python, "-c", f"print('printed', end='', flush=True); {end}")
    assert (done.returncode, done.stdout) == (code, "printed")
    assert words in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_program_ends_when_what_stands_in_for_it_is_ended(number):
    program = "import time; print('begun', flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(number)
        assert process.stdout.read() == b""  # its end of the pipe is closed
        assert process.wait() == -number


def test_one_that_is_killed_while_it_asks_leaves_the_others_their_python():
    for _ in range(20):
        with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
            process.kill()
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(str(Path(sys.executable).with_name(LINE)))
    assert run("prepared", "-c", "print(1)").stdout == "1\n"


def test_a_program_that_asks_for_a_bare_python_gets_one():
    done = run("prepared", "-I", "-c", "import sys; print(sys.executable, 'rhmm' in sys.modules)")
    assert done.stdout == f"{REAL_PYTHON} False\n"
    assert Path(sys.executable) != Path(REAL_PYTHON)
