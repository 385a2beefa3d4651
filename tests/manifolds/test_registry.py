"""Saved models name their manifold: ours, and those that outsiders register."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import rhmm
from rhmm import (
    Euclidean,
    Hyperbolic,
    Manifold,
    RiemannianHMM,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.manifolds.registry import manifold_named, register_manifold, registered_manifolds
from tests.manifolds.cases import every_manifold
from tests.manifolds.positive import Positive

MEANS = np.array([[1.0, 2.0], [3.0, 0.5], [0.2, 0.3]])
TRANSMAT = np.array([[0.9, 0.05, 0.05], [0.1, 0.8, 0.1], [0.02, 0.08, 0.9]])


@every_manifold
def test_a_manifold_is_found_by_its_name_and_size(case):
    assert manifold_named(case.manifold.name, case.manifold.size) == case.manifold


def test_every_manifold_of_ours_is_registered_and_exported():
    ours = {
        name: kind for name, kind in registered_manifolds().items() if kind.__module__[:4] == "rhmm"
    }
    assert set(ours) == {"Euclidean", "Hyperbolic", "SPD", "LogEuclideanSPD"}
    for name, kind in ours.items():
        assert name in rhmm.__all__
        assert getattr(rhmm, name) is getattr(rhmm.manifolds, name) is kind


def test_an_unknown_manifold_is_refused_with_the_way_to_register_it():
    with pytest.raises(ValueError, match=r"^name must be one of Euclidean, .*, not 'Sphere'") as e:
        manifold_named("Sphere", 2)
    assert "@rhmm.register_manifold" in str(e.value)


@pytest.mark.parametrize("kind", [Hyperbolic(2), "Hyperbolic", int, None])
def test_what_is_no_class_of_manifolds_is_refused(kind):
    with pytest.raises(ValueError, match=r"^kind must be a subclass of Manifold"):
        register_manifold(kind)


def test_a_name_that_is_taken_is_refused():
    taken = type("Euclidean", (Hyperbolic,), {})
    with pytest.raises(
        ValueError, match=r"^kind must have a name of its own: 'Euclidean' is taken"
    ):
        register_manifold(taken)
    assert manifold_named("Euclidean", 2) == Euclidean(2)


def test_a_module_that_is_loaded_again_replaces_its_manifold(monkeypatch):
    monkeypatch.setattr("rhmm.manifolds.registry._kinds", registered_manifolds())
    again = type("Positive", (Manifold,), {"__module__": Positive.__module__})
    assert register_manifold(again) is again
    assert registered_manifolds()["Positive"] is again


# An outsider's manifold, of which only what is required is known


def outsiders_model() -> RiemannianHMM:
    return RiemannianHMM.from_parameters(
        Positive(2), [0.5, 0.3, 0.2], TRANSMAT, MEANS, [0.3, 0.2, 0.4]
    )


@pytest.mark.parametrize("name", ["model.json", "model.npz"])
def test_a_model_on_an_outsiders_manifold_is_loaded_again(name, tmp_path):
    model = outsiders_model()
    model.save(tmp_path / name)
    loaded = RiemannianHMM.load(tmp_path / name)
    assert loaded.manifold == Positive(2)
    assert_array_equal(loaded.means_, MEANS)


def test_a_file_on_an_unknown_manifold_is_refused_with_the_way_to_register_it(
    tmp_path, monkeypatch
):
    outsiders_model().save(tmp_path / "model.json")
    monkeypatch.delitem(rhmm.manifolds.registry._kinds, "Positive")
    with pytest.raises(ValueError, match="not 'Positive'; a manifold of your own is known once"):
        RiemannianHMM.load(tmp_path / "model.json")


def test_an_outsiders_manifold_is_learned_by_em():
    X, _ = outsiders_model().sample(1000, random_state=0)
    ours = RiemannianHMM(Positive(2), 3, random_state=0).fit(X)
    flat = RiemannianHMM(Euclidean(2), 3, random_state=0).fit(np.log(X))
    assert_allclose(np.log(ours.means_), flat.means_, rtol=0.0, atol=1e-8)
    assert_allclose(ours.sigmas_, flat.sigmas_, rtol=0.0, atol=1e-8)
    assert_allclose(ours.transmat_, flat.transmat_, rtol=0.0, atol=1e-8)
    assert ours.score(X) == pytest.approx(flat.score(np.log(X)), rel=1e-10)


@pytest.mark.parametrize("kind", [StreamingRiemannianHMM, WindowedRiemannianHMM])
def test_an_outsiders_manifold_is_learned_online(kind, tmp_path):
    X, _ = outsiders_model().sample(1000, random_state=0)
    ours = kind(Positive(2), 3, window=60, random_state=0)
    flat = kind(Euclidean(2), 3, window=60, random_state=0)
    filtered = ours.partial_fit_predict_proba(X[:700])
    assert_allclose(filtered, flat.partial_fit_predict_proba(np.log(X[:700])), rtol=0.0, atol=1e-8)
    ours.save(tmp_path / "learner.npz")
    ours = kind.load(tmp_path / "learner.npz")
    filtered = ours.partial_fit_predict_proba(X[700:])
    assert_allclose(filtered, flat.partial_fit_predict_proba(np.log(X[700:])), rtol=0.0, atol=1e-8)
