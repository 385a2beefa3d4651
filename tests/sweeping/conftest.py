from concurrent.futures import ThreadPoolExecutor

import pytest

from rhmm import sweep
from tests.sweeping.tasks import GRID, TRUTH


@pytest.fixture(scope="package")
def runs():
    """Two runs of each configuration of the shared grid."""
    with ThreadPoolExecutor(1) as one:
        return sweep(TRUTH, GRID, 2, one)


@pytest.fixture(params=["runs.csv", "runs.parquet"])
def path(request, tmp_path):
    """A file for runs, of either kind."""
    return tmp_path / request.param
