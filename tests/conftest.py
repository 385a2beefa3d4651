from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A slow machine must not fail a test, and the same commit must give the same verdict twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


FOLDERS = {
    "tests/browser": "browser",
    "tests/canvas": "canvas",
    "tests/learners": "online learners",
    "tests/streams": "online learners",
}
"""Folders whose files share what takes long to start or to compile, by the name of their share."""


class Shares(LoadScopeScheduling):
    """What goes to the same process when there are several: a file, or whole folders."""

    def _split_scope(self, nodeid):
        file = nodeid.split("::")[0]
        return next((share for folder, share in FOLDERS.items() if file.startswith(folder)), file)


def pytest_collection_modifyitems(items):
    # Beside the browser's tests these would compile the same kernels a second time.
    items.sort(key=lambda item: item.nodeid.startswith("tests/dashboard"))


def pytest_xdist_make_scheduler(config, log):
    return Shares(config, log)
