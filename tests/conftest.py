import gc
import multiprocessing
import os
import sys
from contextlib import ExitStack

import pytest
from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

from tests.prepared import prepared_python

# A slow machine must not fail a test, and the same commit must give the same verdict twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


FOLDERS = {
    "tests/canvas": "canvas",
    "tests/learners": "online learners",
    "tests/manifolds": "manifolds",
    "tests/streams": "online learners",
}
"""Folders whose files share what takes long to start or to compile, by the name of their share."""

FIRST = ("tests/streams", "tests/learners", "tests/manifolds", "tests/test_jit.py", "tests/browser")
"""What takes longest: if it came last, one process would still be busy with it while the others had
nothing left to do. Arithmetic comes before browsers, which often wait: both go side by side."""


class Shares(LoadScopeScheduling):
    """What goes to the same process when there are several: a file, or whole folders."""

    def _split_scope(self, nodeid):
        file = nodeid.split("::")[0]
        return next((share for folder, share in FOLDERS.items() if file.startswith(folder)), file)


def pytest_collection_modifyitems(items):
    def place(item):
        return next((k for k, f in enumerate(FIRST) if item.nodeid.startswith(f)), len(FIRST))

    items.sort(key=place)


def pytest_collection_finish():
    """Leave thousands of tests and all libraries out of every search for garbage to come."""
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config, log):
    return Shares(config, log)


def pytest_xdist_auto_num_workers(config):
    """One more than there are cores: tests of browsers and servers wait a third of their time."""
    return (os.cpu_count() or 1) + 1


PREPARED = "RHMM_PREPARED_PYTHON"
"""The variable by which all processes of a test run know the one Python that is prepared."""


def pytest_configure(config):
    if PREPARED not in os.environ and sys.platform == "linux":
        with ExitStack() as stack:
            os.environ[PREPARED] = stack.enter_context(prepared_python())
            stack.callback(os.environ.pop, PREPARED)
            config.add_cleanup(stack.pop_all().close)


@pytest.fixture(scope="session", autouse=True)
def programs_start_at_once():
    """Give every process that a test starts a Python with its libraries in it."""
    real = sys.executable
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", os.environ.get(PREPARED, real))
        multiprocessing.set_executable(sys.executable)
        yield
    multiprocessing.set_executable(real)
