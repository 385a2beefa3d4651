"""Starts in the tangent space find what a search for round clusters misses."""

import numpy as np
import pytest

from rhmm import SPD, Hyperbolic, RiemannianHMM, recentred
from rhmm.datasets import load_emg
from rhmm.learners.baum_welch import Iterate
from rhmm.learners.tangent_start import Emission, best_start, wrapped_law
from rhmm.scoring import accuracy
from tests.emissions.models import KINDS, wrapped_model


def lost_start(manifold, X, kind) -> Iterate:
    """Both states begin at the same point."""
    law = wrapped_law(manifold, X[[0, 0]], np.array([1.0, 1.0]), Emission(kind))
    return Iterate(np.full(2, 0.5), np.full((2, 2), 0.5), law)


@pytest.mark.parametrize("manifold", [Hyperbolic(2), SPD(2)], ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_it_does_not_need_the_start_that_it_is_given(manifold, kind):
    truth = wrapped_model(manifold, kind)
    X, states = truth.sample(400, random_state=0)
    start = best_start(
        X, np.ones(400, bool), np.array([400]), lost_start(manifold, X, kind),
        np.random.default_rng(0), tried=4, emission=Emission(kind), min_sigma=1e-3,
    )  # fmt: skip
    found = RiemannianHMM.from_parameters(
        manifold, start.startprob, start.transmat, start.law.means,
        emission=kind, covariances=start.law.covariances,
    )  # fmt: skip
    assert accuracy(states, found.predict(X), 2) > accuracy(states, truth.predict(X), 2) - 0.02


def test_hand_signs_are_found_that_the_paper_s_emission_mixes_up():
    signs = load_emg(["mg_s2"])
    X, _ = recentred(signs.manifold, signs.points, lengths=signs.lengths)
    reached = {}
    for emission in ("riemannian", "tied"):
        model = RiemannianHMM(signs.manifold, 5, emission=emission, random_state=0)
        labels = model.fit(X, lengths=signs.lengths).predict(X, lengths=signs.lengths)
        reached[emission] = accuracy(signs.labels, labels, 5)
    assert reached["tied"] > 0.94
    assert reached["riemannian"] < 0.85
