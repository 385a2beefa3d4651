"""EM that finds the number of states: the choice of BIC, among the models of each size."""

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import hard
from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM, select_n_components
from rhmm.learners.em_sizes import criterion_values, fit_sizes
from rhmm.learners.tangent_start import Emission
from rhmm.scoring import accuracy
from tests.learners.chains import chain_on


@pytest.mark.parametrize("manifold", [Hyperbolic(2), SPD(2)], ids=repr)
def test_em_finds_the_number_of_states(manifold):
    truth = chain_on(manifold)
    X, states = truth.sample(1_500, random_state=0)
    model = RiemannianHMM(manifold, "auto", random_state=0).fit(X)
    assert model.n_components == "auto"
    assert model.n_components_ == 3
    assert model.means_.shape == (3, *manifold.point_shape)
    assert accuracy(states, model.predict(X), 3) > accuracy(states, truth.predict(X), 3) - 0.01


def test_the_choice_is_that_of_the_selection():
    X, _ = hard.ring(5, 0.6).sample(1_500, random_state=1)
    model = RiemannianHMM(Hyperbolic(2), "auto", max_components=8, random_state=0).fit(X)
    found = select_n_components(Hyperbolic(2), X, range(1, 9), random_state=0)
    assert model.n_components_ == found.best.n_components == 5
    assert model.bic(X) <= found.values.min() + 1.0
    assert model.monitor_.converged


def test_long_clusters_are_one_state_each_under_an_emission_that_can_be_long():
    truth = RiemannianHMM.from_parameters(
        Euclidean(2), [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.0, 0.0], [0.0, 1.5]],
        emission="full", covariances=[np.diag([4.0, 0.05])] * 2,
    )  # fmt: skip
    X, _ = truth.sample(1_000, random_state=0)
    options = {"max_components": 5, "random_state": 0}
    long = RiemannianHMM(Euclidean(2), "auto", emission="full", **options).fit(X)
    round_ = RiemannianHMM(Euclidean(2), "auto", **options).fit(X)
    assert long.n_components_ == 2
    assert round_.n_components_ > 2
    assert long.bic(X) < round_.bic(X)


def test_no_more_states_are_tried_than_allowed():
    X, _ = chain_on(Hyperbolic(2)).sample(600, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), "auto", max_components=2, random_state=0).fit(X)
    assert model.n_components_ == 2


@pytest.mark.filterwarnings("ignore::rhmm.DegenerateWarning")
def test_few_observations_are_no_error():
    X = np.random.default_rng(0).normal(size=(3, 2))
    assert RiemannianHMM(Euclidean(2), "auto", random_state=0).fit(X).n_components_ <= 3


def test_sequences_and_holes_are_counted_too():
    X, _ = chain_on(Hyperbolic(2)).sample(1_200, random_state=0)
    X[::7] = np.nan
    model = RiemannianHMM(Hyperbolic(2), "auto", random_state=0).fit(X, lengths=[500, 700])
    assert model.n_components_ == 3


def test_a_clone_is_still_automatic():
    X, _ = chain_on(Hyperbolic(2)).sample(600, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), "auto", max_components=4, random_state=0).fit(X)
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    np.testing.assert_array_equal(copy.fit(X).means_, model.means_)


def test_a_saved_model_has_the_number_that_was_found(tmp_path):
    X, _ = chain_on(Hyperbolic(2)).sample(600, random_state=0)
    model = RiemannianHMM(Hyperbolic(2), "auto", max_components=4, random_state=0).fit(X)
    model.save(tmp_path / "model.json")
    loaded = RiemannianHMM.load(tmp_path / "model.json")
    assert loaded.n_components == loaded.n_components_ == model.n_components_
    assert loaded.score(X) == model.score(X)
    assert loaded.bic(X) == model.bic(X)


def test_such_a_model_is_a_start_for_one_of_its_size():
    X, _ = chain_on(Hyperbolic(2)).sample(600, random_state=0)
    found = RiemannianHMM(Hyperbolic(2), "auto", max_components=4, random_state=0).fit(X)
    again = RiemannianHMM(Hyperbolic(2), found.n_components_, init=found).fit(X)
    assert again.monitor_.log_likelihood[0] == pytest.approx(found.score(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": "many"}, "n_components must be a whole number"),
        ({"max_components": 0}, "max_components must be at least 1"),
        ({"max_components": "all"}, "max_components must be a whole number"),
        ({"init": chain_on(Hyperbolic(2))}, "init must be None where n_components is 'auto'"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    given = {"n_components": "auto", **options}
    with pytest.raises(ValueError, match=f"^{message}"):
        RiemannianHMM(Hyperbolic(2), **given).fit([[0.0, 0.0]])


def test_patience_leaves_out_sizes_that_are_far_too_large():
    X, _ = chain_on(Hyperbolic(2)).sample(800, random_state=0)
    observed, lengths = np.ones(len(X), bool), np.array([len(X)])
    rng = np.random.default_rng(0)
    found = fit_sizes(
        Hyperbolic(2), X, observed, lengths, list(range(1, 11)), rng,
        emission=Emission("riemannian"), tried=1, min_sigma=1e-3, patience=2,
    )  # fmt: skip
    assert list(found) == [1, 2, 3, 4, 5]


def test_criteria_are_those_of_the_models():
    X, _ = chain_on(Hyperbolic(2)).sample(300, random_state=0)
    model = chain_on(Hyperbolic(2))
    likelihood, free = np.array([model.score(X)]), np.array([model.n_parameters])
    assert criterion_values("bic", likelihood, free, 300) == pytest.approx([model.bic(X)])
    assert criterion_values("aic", likelihood, free, 300) == pytest.approx([model.aic(X)])
