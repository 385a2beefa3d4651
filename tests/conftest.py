from hypothesis import settings
from xdist.scheduler import LoadScopeScheduling

# A slow machine must not fail a test, and the same commit must give the same verdict twice.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.load_profile("steady")


class Shares(LoadScopeScheduling):
    """What goes to the same process when there are several: a file, or a whole folder whose files
    share what takes long to start or to compile.
    """

    def _split_scope(self, nodeid):
        file = nodeid.split("::")[0]
        folders = ("tests/browser", "tests/canvas", "tests/online")
        return next((folder for folder in folders if file.startswith(folder)), file)


def pytest_collection_modifyitems(items):
    # At the same time as the browser's, these would compile the same kernels a second time.
    items.sort(key=lambda item: item.nodeid.startswith("tests/dashboard"))


def pytest_xdist_make_scheduler(config, log):
    return Shares(config, log)
