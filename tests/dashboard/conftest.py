import pytest

from dashboard.model.experiment import Experiment
from dashboard.model.presets import PRESETS
from tests.dashboard.made_runs import PAPERS, SWEEP, TRUTHS, all_runs, finished


@pytest.fixture(scope="session")
def paper():
    return finished(Experiment(length=3_000))


@pytest.fixture(scope="session", params=TRUTHS)
def any_run(request):
    return finished(Experiment(**TRUTHS[request.param], length=2_000, seed=1))


@pytest.fixture(scope="session")
def collapsed():
    return finished(
        Experiment(**PRESETS["Overlapping"], length=3_000, window=50, algorithms=("windowed",))
    )


@pytest.fixture(scope="session")
def swept():
    return all_runs(SWEEP)


@pytest.fixture(scope="session")
def papers():
    return all_runs(PAPERS)
