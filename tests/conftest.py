import gc
import os

from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

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
