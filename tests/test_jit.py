"""Kernels are compiled once: the next process finds them on disk, until the package changes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

RECORD = """
import json
from numba.core import event

recorder = event.RecordingListener()
event.register("numba:compile", recorder)
"""

REPORT = """
names = {entry.data["dispatcher"].py_func.__qualname__ for _, entry in recorder.buffer}
print(json.dumps(sorted(names)))
"""

MATRICES = """
import numpy as np
from rhmm import SPD
SPD(2).dist(np.diag([2.0, 3.0]), np.eye(2))
"""

VECTORS = """
from rhmm import Hyperbolic
disk = Hyperbolic(2)
for sigma in (0.05, 2.0):
    disk.mean(disk.sample([0.1, 0.2], sigma, 5, rng=0))
"""

ONE_DISTANCE = """
from rhmm import Hyperbolic
Hyperbolic(2).dist([0.0, 0.0], [0.5, 0.5])
"""


def compiled_by(work: str, package_root: Path, cache: Path) -> list[str]:
    """Names of the functions that a new process compiles while it does the work."""
    environment = os.environ | {"PYTHONPATH": str(package_root), "NUMBA_CACHE_DIR": str(cache)}
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", RECORD + work + REPORT],
        env=environment,
        cwd=cache,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(finished.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    def twice(work: str) -> tuple[list[str], list[str]]:
        cache = Path(tempfile.mkdtemp(dir=tmp_path))
        return compiled_by(work, REPOSITORY, cache), compiled_by(work, REPOSITORY, cache)

    with ThreadPoolExecutor() as pool:  # compiling is slow: side by side
        (matrices, again), (vectors, anew) = pool.map(twice, [MATRICES, VECTORS])
    assert "all_squared_distances" in matrices
    assert {"recentre_all", "_sample_near", "_sample_far"} <= set(vectors)
    assert again == anew == []


def test_editing_another_file_of_the_package_compiles_anew(tmp_path):
    package = tmp_path / "rhmm"
    shutil.copytree(REPOSITORY / "rhmm", package, ignore=shutil.ignore_patterns("__pycache__"))
    first = compiled_by(ONE_DISTANCE, tmp_path, tmp_path)
    assert first != []
    assert compiled_by(ONE_DISTANCE, tmp_path, tmp_path) == []
    with (package / "vector_math.py").open("a") as file:
        file.write("# edited\n")
    assert compiled_by(ONE_DISTANCE, tmp_path, tmp_path) == first
