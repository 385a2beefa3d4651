import numpy as np
import pytest

from dashboard.compute import precomputed_run, runs
from dashboard.model.experiment import Experiment


@pytest.fixture(scope="module")
def default():
    return runs.compute(Experiment(), lambda *_: None)


def test_the_precomputed_run_is_the_default_experiments(default):
    run = precomputed_run.default_run()

    assert run.experiment == Experiment()
    np.testing.assert_allclose(run.points, default.points, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.true_states, default.true_states)
    np.testing.assert_allclose(run.trace.means, default.trace.means, rtol=0, atol=1e-6)
    np.testing.assert_allclose(run.trace.transmat, default.trace.transmat, rtol=0, atol=1e-6)
    for ours, theirs in zip(run.methods, default.methods, strict=True):
        assert ours.name == theirs.name
        assert ours.seconds is None
        assert ours.nbytes == theirs.nbytes
        assert ours[3:8] == pytest.approx(theirs[3:8], abs=1e-6)
    assert run.em_log_likelihood == pytest.approx(default.em_log_likelihood, abs=1e-3)
