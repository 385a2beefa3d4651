import numpy as np
import pytest

from dashboard.compute import precomputed_run, runs
from dashboard.model.experiment import Experiment
from dashboard.model.methods import EM
from rhmm.scoring import MEASURES


@pytest.fixture(scope="module")
def default():
    return runs.compute(Experiment(), lambda *_: None)


def test_the_precomputed_run_is_the_default_experiments(default):
    run = precomputed_run.default_run()

    assert run.experiment == Experiment()
    np.testing.assert_allclose(run.points, default.points, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.true_states, default.true_states)
    for key in Experiment().algorithms:
        ours, theirs = run.path(key), default.path(key)
        np.testing.assert_allclose(ours.means, theirs.means, rtol=0, atol=1e-6)
        np.testing.assert_allclose(ours.transmat, theirs.transmat, rtol=0, atol=1e-6)
    for ours, theirs in zip(run.methods, default.methods, strict=True):
        assert ours.key == theirs.key
        assert ours.seconds is None
        assert ours.nbytes == theirs.nbytes
        for name in MEASURES:
            if name != "seconds":
                assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-6)
        np.testing.assert_array_equal(ours.labels, theirs.labels)
        assert type(ours.path) is type(theirs.path)
    em, expected = run.method(EM).path, default.method(EM).path
    np.testing.assert_allclose(em.log_likelihood, expected.log_likelihood, rtol=0, atol=1e-3)
    np.testing.assert_allclose(em.means, expected.means, rtol=0, atol=1e-6)
