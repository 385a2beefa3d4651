import subprocess
import time

import pytest

from dashboard.compute import kernels
from dashboard.compute.kernels import ROOT, Compilers, Part, parts_of
from dashboard.model.experiment import Experiment
from dashboard.model.methods import BASELINES, ONLINE_LEARNERS
from dashboard.model.spaces.registry import SPACES
from tests.prepared import REAL_PYTHON

DISK, SPD2 = "disk", "spd2"


class Compiler:
    """Stands in for a process that compiles; it ends when the test says so."""

    started: list["Compiler"]

    def __init__(self, command, **_):
        *_, self.space, self.methods = command[:3], command[3], command[4:]
        self.code = None
        self.started.append(self)

    def poll(self):
        return self.code

    def end(self, code=0):
        if code == 0:
            for method in self.methods:
                Part(self.space, method).mark.touch()
        self.code = code

    def terminate(self):
        self.code = -15

    def wait(self):
        return self.code


@pytest.fixture
def started(monkeypatch, tmp_path):
    """The compilers that were started, on a machine that has compiled nothing yet."""
    monkeypatch.setattr(kernels, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(kernels, "processors", lambda: 2)
    monkeypatch.setattr(kernels, "_LOOK", 0.0)
    monkeypatch.setattr(subprocess, "Popen", Compiler)
    Compiler.started = []
    return Compiler.started


@pytest.fixture
def compilers(started):
    """Two at a time; closed at the end, so that none is started in the next test."""
    compilers = Compilers()
    yield compilers
    compilers.close()


@pytest.fixture
def one_at_a_time(started):
    compilers = Compilers(at_once=1)
    yield compilers
    compilers.close()


def test_a_run_needs_its_learners_and_all_baselines():
    parts = parts_of(DISK, ("windowed", "auto"))

    assert {part.method for part in parts} == {*BASELINES, "windowed", "auto"}
    assert {part.space for part in parts} == {DISK}


def test_one_process_compiles_all_parts_of_a_space(started, compilers):
    compilers.ask([Part(DISK, "em"), Part(DISK, "windowed")])

    (only,) = started
    assert (only.space, only.methods) == (DISK, ["em", "windowed"])


def test_what_is_on_disk_is_not_compiled_again(started, compilers):
    Part(DISK, "em").mark.touch()

    compilers.ask([Part(DISK, "em")])

    assert started == []


def test_the_space_that_was_asked_for_last_comes_first(started, one_at_a_time):
    compilers = one_at_a_time
    compilers.ask([Part(DISK, "em")])
    compilers.ask([Part(SPD2, "em")])
    compilers.ask([Part(DISK, "windowed")])
    started[0].end()

    while len(started) < 2:
        time.sleep(0.01)

    assert [(each.space, each.methods) for each in started] == [
        (DISK, ["em"]),
        (DISK, ["windowed"]),
    ]


def test_waiting_reports_how_far_it_is_and_ends_with_the_last_part(started, compilers):
    reported = []

    def report(done, total):
        reported.append((done, total))
        if done == 0:
            Part(DISK, "em").mark.touch()
        else:
            started[0].end()

    compilers.wait([Part(DISK, "em"), Part(DISK, "windowed")], report)

    assert reported == [(0, 2), (1, 2)]


def test_a_compiler_that_fails_is_not_waited_for(started, compilers):
    compilers.wait([Part(DISK, "em")], lambda done, total: started[0].end(code=1))

    assert len(started) == 1


def test_giving_up_leaves_the_compiler_to_others(started, compilers):
    class GaveUpError(Exception):
        pass

    def give_up(done, total):
        raise GaveUpError

    with pytest.raises(GaveUpError):
        compilers.wait([Part(DISK, "em")], give_up)
    started[0].end()
    compilers.wait([Part(DISK, "em")], give_up)

    assert len(started) == 1


def test_compilers_end_with_the_server(started, compilers):
    compilers.ask([Part(DISK, "em")])

    compilers.close()

    assert started[0].poll() == -15


def test_another_engine_has_other_marks(monkeypatch):
    before = Part(DISK, "em").mark
    monkeypatch.setattr(kernels, "cache_stamp", lambda: "another")

    assert Part(DISK, "em").mark != before


@pytest.mark.parametrize("method", [*BASELINES, *Experiment().algorithms])
def test_loading_leaves_a_mark(monkeypatch, tmp_path, method):
    monkeypatch.setattr(kernels, "cache_folder", lambda: tmp_path)

    Part(DISK, method).load()

    assert Part(DISK, method).is_there


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], set(parts_of(DISK, Experiment().algorithms))),
        (["all"], {Part(s, m) for s in SPACES for m in (*BASELINES, *ONLINE_LEARNERS)}),
    ],
)
def test_the_program_compiles_the_first_page_or_all(started, monkeypatch, arguments, expected):
    waited_for = []

    class Waiting:
        def wait(self, parts, report):
            waited_for.extend(parts)

    monkeypatch.setattr(kernels, "compilers", Waiting)

    kernels.main(arguments)

    assert set(waited_for) == expected


LONGER = """
import gc
import warnings

from numba.core.dispatcher import Dispatcher

from dashboard.compute.kernels import Part
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.registry import SPACES
from rhmm.learners.registry import LEARNERS


def loaded():
    kernels = (one for one in gc.get_objects() if isinstance(one, Dispatcher))
    return {(one.py_func.__qualname__, str(types)) for one in kernels for types in one.overloads}


warnings.simplefilter("ignore")
Part("spd2", "auto").load()
before = loaded()
experiment = Experiment(**SPACES["spd2"].truth, length=3_000, algorithms=("auto",))
learner, options = LEARNERS["auto"], experiment.options_of("auto")
assert before
made = learner.make(experiment.source.manifold, experiment.n_states, 0, options, trace_every=50)
learner.learn(made, experiment.source.observe()[0])
print(sorted(name for name, _ in loaded() - before))
"""


def test_a_part_has_all_kernels_of_a_long_run():
    """Matrices have the most: after an alarm sensors are tried in another order."""
    ran = subprocess.run(
        [REAL_PYTHON, "-c", LONGER], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"
