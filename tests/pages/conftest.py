import pytest

from dashboard.compute import runs
from dashboard.model.experiment import Experiment
from dashboard.model.methods import ONLINE_LEARNERS


@pytest.fixture(scope="session", autouse=True)
def _kernels():
    """Loads or compiles them before the first page: a page gives up waiting after a while, and a
    job without visitors ends."""
    for algorithm in ONLINE_LEARNERS:
        runs.compute(Experiment(length=500, window=60, algorithms=(algorithm,)), lambda *_: None)
