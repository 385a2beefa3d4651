"""Kernels are compiled once: the next process finds them on disk, until the package changes."""

import contextlib
import gc
import io
import json
import multiprocessing.spawn
import os
import shutil
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numba
import numpy as np
import pytest
from numba import njit
from numba.core.types.functions import BaseFunction

from tests.prepared import REAL_PYTHON

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

AS_IT_WAS = """
import gc
from numba.core.base import BaseContext
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

PLACES = [(TargetConfig, "__eq__"), (TargetConfig, "__hash__"), (BaseFunction, "get_call_type"),
          (BaseContext, "get_abi_sizeof")]
before = [getattr(*place) for place in PLACES]
{first}
from rhmm import Hyperbolic
has_frozen = gc.get_freeze_count() > 0
Hyperbolic(2).dist([0.0, 0.0], [0.5, 0.5])
assert [getattr(*place) for place in PLACES] == before
print(gc.isenabled(), (gc.get_freeze_count() > 0) == has_frozen)
"""

ONE_DISTANCE = """
from rhmm import Hyperbolic
Hyperbolic(2).dist([0.0, 0.0], [0.5, 0.5])
"""


PROCESSES = multiprocessing.get_context("forkserver")
# Each process imports the engine anew, but not the libraries below it: they take most of the time.
PROCESSES.set_forkserver_preload(["numba", "scipy.special", "scipy.stats", "sklearn.base"])


@pytest.fixture(scope="module", autouse=True)
def processes_without_the_engine():
    before = multiprocessing.spawn.get_executable()
    multiprocessing.set_executable(REAL_PYTHON)
    yield
    multiprocessing.set_executable(before)


def run(script: str, cache: Path, *paths: Path) -> str:
    """What a new process prints that finds packages in `paths`."""
    with ProcessPoolExecutor(1, PROCESSES) as process:
        return process.submit(_execute, script, cache, paths).result()


def _execute(script: str, cache: Path, paths: tuple[Path, ...]) -> str:
    assert "rhmm" not in sys.modules
    warnings.simplefilter("error")
    os.chdir(cache)
    os.environ["NUMBA_CACHE_DIR"] = str(cache)
    numba.core.config.reload_config()
    sys.path[:0] = map(str, paths)
    sys.modules["__main__"] = main = ModuleType("__main__")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(script, vars(main))
    return printed.getvalue()


def compiled_by(work: str, package_root: Path, cache: Path) -> list[str]:
    """Names of the functions that a new process compiles while it does the work."""
    return json.loads(run(RECORD + work + REPORT, cache, package_root))


def test_a_second_process_compiles_nothing(tmp_path):
    def twice(work: str) -> tuple[list[str], list[str]]:
        cache = Path(tempfile.mkdtemp(dir=tmp_path))
        return compiled_by(work, REPOSITORY, cache), compiled_by(work, REPOSITORY, cache)

    with ThreadPoolExecutor() as pool:  # compiling is slow: side by side
        (matrices, again), (vectors, anew) = pool.map(twice, [MATRICES, VECTORS])
    assert "all_squared_distances" in matrices
    assert {"recentre_held", "_sample_near", "_sample_far"} <= set(vectors)
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


# Geometries of other packages

OUTSIDER = REPOSITORY / "tests" / "manifolds" / "positive.py"

OUTSIDERS_DISTANCE = """
from {module} import Positive
distance = Positive(1).dist([1.0], [2.718281828459045])
"""

DISTANCE_AND_REPORT = """
names = [entry.data["dispatcher"].py_func.__qualname__ for _, entry in recorder.buffer]
print(json.dumps([float(distance), names]))
"""


class Outsider:
    """A module, or a package with a module in it, that uses the engine from outside."""

    def __init__(self, home: Path, module: str):
        self.home, self.module = home, module
        self.file = home.joinpath(*module.split(".")).with_suffix(".py")
        self.file.parent.mkdir(exist_ok=True)
        shutil.copy(OUTSIDER, self.file)

    def distance(self, cache: Path) -> tuple[float, bool]:
        """d(1, e) in a new process, and whether a kernel was compiled for it."""
        work = OUTSIDERS_DISTANCE.format(module=self.module)
        printed = run(RECORD + work + DISTANCE_AND_REPORT, cache, REPOSITORY, self.home)
        distance, compiled = json.loads(printed)
        return round(distance, 12), compiled != []


def replace_in(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("module", ["positive", "theirs.positive"])
def test_an_outsiders_edit_is_never_answered_with_yesterdays_kernel(module, tmp_path):
    outsider = Outsider(tmp_path, module)
    if "." in module:
        (outsider.file.parent / "__init__.py").touch()
    assert outsider.distance(tmp_path) == (1.0, True)
    assert outsider.distance(tmp_path) == (1.0, False)
    replace_in(outsider.file, "UNIT = 1.0", "UNIT = 2.0")
    assert outsider.distance(tmp_path) == (2.0, True)
    assert outsider.distance(tmp_path) == (2.0, False)


def test_editing_another_file_of_an_outsiders_package_compiles_anew(tmp_path):
    outsider = Outsider(tmp_path, "theirs.positive")
    package = outsider.file.parent
    (package / "__init__.py").touch()
    (package / "units.py").write_text("UNIT = 1.0\n", encoding="utf-8")
    replace_in(outsider.file, "UNIT = 1.0\n", "from theirs.units import UNIT\n")
    assert outsider.distance(tmp_path) == (1.0, True)
    (package / "units.py").write_text("UNIT = 3.0\n", encoding="utf-8")
    assert outsider.distance(tmp_path) == (3.0, True)


def test_our_kernels_are_found_where_an_outsiders_package_is_missing(tmp_path):
    (home := tmp_path / "home").mkdir()
    ours = compiled_by(ONE_DISTANCE, REPOSITORY, tmp_path)
    Outsider(home, "positive").distance(tmp_path)
    assert ours != []
    assert compiled_by(ONE_DISTANCE, REPOSITORY, tmp_path) == []


def test_equally_named_modules_of_two_outsiders_do_not_disturb_each_other(tmp_path):
    outsiders = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        outsiders.append(Outsider(tmp_path / name, "positive"))
    replace_in(outsiders[1].file, "UNIT = 1.0", "UNIT = 2.0")
    assert [o.distance(tmp_path) for o in outsiders] == [(1.0, True), (2.0, True)]
    assert [o.distance(tmp_path) for o in outsiders] == [(1.0, False), (2.0, False)]


def test_a_geometry_of_the_script_itself_leaves_nothing_on_disk(tmp_path):
    work = OUTSIDER.read_text(encoding="utf-8") + "\nPositive(1).dist([1.0], [2.0])\n"
    run(work, tmp_path, REPOSITORY)
    kept = [file.name for file in tmp_path.rglob("verbs.all_*.nbc")]
    assert kept == []
    assert compiled_by(ONE_DISTANCE, REPOSITORY, tmp_path) != []


@pytest.mark.parametrize(
    ("first", "is_collecting"), [("", "True"), ("gc.freeze()", "True"), ("gc.disable()", "False")]
)
def test_compiling_leaves_numba_and_the_collector_as_they_were(first, is_collecting, tmp_path):
    printed = run(AS_IT_WAS.format(first=first), tmp_path, REPOSITORY)
    assert printed.split() == [is_collecting, "True"]


def test_a_kernel_that_fails_to_compile_leaves_them_too():
    from rhmm._compiler import KernelCompiler  # not for the processes that import this file

    @njit(pipeline_class=KernelCompiler)
    def wrong(x):
        return x.nothing

    before = BaseFunction.get_call_type
    with pytest.raises(numba.TypingError):
        wrong(1.0)
    assert BaseFunction.get_call_type is before
    assert gc.isenabled()


def test_a_lean_kernel_that_makes_an_array_is_refused():
    """It would never be freed. What a kernel may do is not remembered for those that count less."""
    from rhmm._jit import kernel, lean_kernel  # not for the processes that import this file

    @lean_kernel
    def lean(size):
        return np.empty(size).size

    @kernel
    def outer(size):
        return np.empty(size).size + lean(size)

    with pytest.raises(numba.TypingError):
        outer(3)
