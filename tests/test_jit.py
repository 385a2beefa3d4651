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

USE = """
import numpy as np
from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM

def use(manifold, centre):
    for sigma in (0.05, 2.0):
        points = manifold.sample(centre, sigma, 5, rng=0)
        manifold.dist(points, centre)
        manifold.mean(points)
"""

MATRICES = f"""{USE}
use(SPD(2), np.eye(2))
"""

VECTORS = f"""{USE}
use(Euclidean(2), np.zeros(2))
disk = Hyperbolic(2)
use(disk, np.zeros(2))
X = np.concatenate([disk.sample([x, 0.0], 0.1, 30, rng=0) for x in (-0.5, 0.5)])
RiemannianHMM(disk, n_components=2, random_state=0).fit(X)
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
        for first, second in pool.map(twice, [MATRICES, VECTORS]):
            kernels = {"all_squared_distances", "recentre_all", "_sample_near", "_sample_far"}
            assert kernels <= set(first)
            assert second == []


def test_editing_another_file_of_the_package_compiles_anew(tmp_path):
    package = tmp_path / "rhmm"
    shutil.copytree(REPOSITORY / "rhmm", package, ignore=shutil.ignore_patterns("__pycache__"))
    first = compiled_by(ONE_DISTANCE, tmp_path, tmp_path)
    assert first != []
    assert compiled_by(ONE_DISTANCE, tmp_path, tmp_path) == []
    with (package / "vector_math.py").open("a") as file:
        file.write("# edited\n")
    assert compiled_by(ONE_DISTANCE, tmp_path, tmp_path) == first
