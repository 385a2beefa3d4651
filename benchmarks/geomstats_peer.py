"""Fits of geomstats' RiemannianEM, by the Python that has it: ``geomstats_peer points.npz``.

Reads one request a line, ``{"initialisation": "random", "seed": 0}``, and answers each with one
line of JSON. The first line says that it is ready. Only `fit` is timed.
"""

import json
import logging
import sys
import time

import geomstats.backend as gs
import numpy as np
from geomstats.geometry.poincare_ball import PoincareBall
from geomstats.learning.expectation_maximization import RiemannianEM


class _Verdict(logging.Handler):
    """Whether EM converged: geomstats says so in its log and nowhere else."""

    converged = False

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("EM converged"):
            self.converged = True


def main(points: str) -> None:
    with np.load(points) as file:
        X = file["X"]
    verdict = _Verdict()
    logging.basicConfig(level=logging.INFO, handlers=[verdict], force=True)
    answer(ready=True)
    for line in sys.stdin:
        request = json.loads(line)
        gs.random.seed(request["seed"])
        em = RiemannianEM(
            PoincareBall(X.shape[1]),
            n_gaussians=3,
            initialisation_method=request["initialisation"],
        )
        verdict.converged = False
        begin = time.perf_counter()
        em.fit(X)
        seconds = time.perf_counter() - begin
        answer(seconds=seconds, converged=verdict.converged, means=em.means_.tolist())


def answer(**fields) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
