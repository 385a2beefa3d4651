"""The other libraries, brought to the same start as ours."""

import json
import math
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from hmmlearn.hmm import GaussianHMM

from rhmm import Parameters

_ROOT = Path(__file__).parent.parent
_GEOMSTATS_PYTHON = _ROOT / ".venv-bench" / "bin" / "python"


def gaussian_hmm(parameters: Parameters, n_iter: int = 1) -> GaussianHMM:
    """hmmlearn's spherical Gaussian HMM at `parameters`: its faster recursion, priors off.

    With `tol` at −∞ a fit takes `n_iter` iterations whatever they gain.
    """
    model = GaussianHMM(
        len(parameters.sigmas),
        covariance_type="spherical",
        implementation="scaling",
        covars_prior=0.0,
        init_params="",
        n_iter=n_iter,
        tol=-math.inf,
    )
    model.n_features = parameters.means.shape[1]
    model.startprob_ = parameters.startprob
    model.transmat_ = parameters.transmat
    model.means_ = parameters.means
    model.covars_ = parameters.sigmas**2
    return model


class GeomstatsWorker:
    """The module `geomstats_peer`, run by the environment that geomstats needs.

    One process serves many fits, so that ours can run in between. It ends when we do.
    """

    def __init__(self, X: np.ndarray):
        _require_geomstats()
        with tempfile.TemporaryDirectory() as folder:
            points = Path(folder) / "points.npz"
            np.savez(points, X=X)
            self._process = subprocess.Popen(
                [_GEOMSTATS_PYTHON, "-m", "benchmarks.geomstats_peer", points],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._answer()  # it has read the points: their folder may go

    def fit(self, initialisation: str, seed: int) -> dict:
        """One fit: its ``seconds``, whether it ``converged``, the ``means`` it found."""
        request = {"initialisation": initialisation, "seed": seed}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"geomstats_peer ended with exit code {self._process.wait()}")
        return json.loads(line)


def geomstats_version() -> str:
    """The version of geomstats, and of the numpy in its environment."""
    if not _GEOMSTATS_PYTHON.exists():
        return "not installed (`make bench` does it)"
    question = "from importlib.metadata import version as v; print(v('geomstats'), v('numpy'))"
    command = [_GEOMSTATS_PYTHON, "-c", question]
    answer = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    geomstats, numpy = answer.split()
    return f"{geomstats} (with numpy {numpy})"


def _require_geomstats() -> None:
    if not _GEOMSTATS_PYTHON.exists():
        raise RuntimeError("geomstats has no environment yet: `make bench` creates it")
