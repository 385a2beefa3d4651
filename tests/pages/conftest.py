import pytest

from dashboard.compute import runs
from dashboard.model.experiment import ALGORITHMS, Experiment


@pytest.fixture(scope="session", autouse=True)
def _kernels():
    """Loads or compiles them, however long it takes: a page waits, but not for ever, and a job that
    nobody looks at ends before that."""
    for algorithm in ALGORITHMS:
        runs.compute(Experiment(length=500, window=60, algorithm=algorithm), lambda *_: None)
