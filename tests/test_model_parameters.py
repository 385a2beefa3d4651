"""Models as objects: their parameters, arguments, names of states and comparisons."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM
from rhmm.paper import paper_model
from tests.brute_force import MANIFOLDS, in_a_row, random_model

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)


ONE_STATE = {
    "manifold": Hyperbolic(2),
    "startprob": [1.0],
    "transmat": [[1.0]],
    "means": [[0.0, 0.0]],
    "sigmas": [1.0],
}


@pytest.mark.parametrize(
    ("argument", "value", "message"),
    [
        ("manifold", "disk", "manifold must be a manifold such as"),
        ("startprob", [0.5], "startprob must sum to 1, not 0.5"),
        ("startprob", [0.5, 0.5], r"transmat must have shape \(2, 2\) to match startprob"),
        ("startprob", [], "startprob must be a non-empty array"),
        ("startprob", [np.nan], "startprob must hold finite, non-negative"),
        ("startprob", 1.0, "startprob must be a non-empty array of 1 dim"),
        ("startprob", "one", "startprob must be an array of probabilities"),
        ("transmat", [[0.9]], "row 0 of transmat must sum to 1, not 0.9"),
        ("transmat", [[-1.0]], "transmat must hold finite, non-negative"),
        ("transmat", [1.0], "transmat must be a non-empty array of 2 dim"),
        ("means", [[1.0, 0.0]], r"means\[0\] is not a point of Hyperbolic\(2\): its norm is 1"),
        ("means", [[0.0, 0.0]] * 2, r"means must hold 1 points, not an array of shape \(2, 2\)"),
        ("means", [0.0, 0.0], r"means must hold 1 points, not an array of shape \(2,\)"),
        ("means", [[0.0, np.nan]], r"means\[0\] is not a point"),
        ("sigmas", [0.0], "sigmas must be positive and finite, not 0"),
        ("sigmas", [-1.0], "sigmas must be positive and finite, not -1"),
        ("sigmas", [np.inf], "sigmas must be positive and finite, not inf"),
        ("sigmas", [1e100], r"sigmas must be between 1e-60 and 1e\+06, not 1e\+100"),
        ("sigmas", [1e20], r"sigmas must be between 1e-60 and 1e\+06, not 1e\+20"),
        ("sigmas", [1e-200], "sigmas must be between 1e-60 and"),
        ("sigmas", [10**400], "sigmas must be a positive number"),
        ("sigmas", ["wide"], "sigmas must be a positive number"),
        ("startprob", [1j], "startprob must be an array of probabilities"),
        ("sigmas", [1.0, 1.0], r"sigmas must hold 1 numbers, not an array of shape \(2,\)"),
        ("sigmas", 1.0, r"sigmas must hold 1 numbers, not an array of shape \(\)"),
    ],
)
def test_from_parameters_names_what_is_wrong(argument, value, message):
    with pytest.raises(ValueError, match=message):
        RiemannianHMM.from_parameters(**ONE_STATE | {argument: value})


def test_a_model_keeps_its_own_copy_of_the_parameters():
    arrays = {
        name: np.array(ONE_STATE[name]) for name in ("startprob", "transmat", "means", "sigmas")
    }
    model = RiemannianHMM.from_parameters(Hyperbolic(2), **arrays)
    arrays["means"][:] = 0.5
    arrays["sigmas"][:] = 9.0
    assert model.means_.tolist() == [[0.0, 0.0]]
    assert model.sigmas_.tolist() == [1.0]


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("manifold", None),
        ("n_components", 0),
        ("n_components", 1.5),
        ("n_init", 0),
        ("n_iter", -1),
        ("tol", -1e-3),
        ("tol", "small"),
        ("min_sigma", 0.0),
        ("min_sigma", np.nan),
        ("min_sigma", 1e-200),
        ("min_sigma", 1e200),
        ("min_sigma", [1]),
        ("callback", 5),
        ("callback", "print"),
        ("random_state", "seed"),
    ],
)
def test_fit_names_a_wrong_argument_of_the_constructor(argument, value):
    model = RiemannianHMM(**{"manifold": Hyperbolic(2), "n_components": 1, argument: value})
    with pytest.raises(ValueError, match=f"{argument} must be"):
        model.fit([[0.0, 0.0], [0.1, 0.1]])


def test_a_start_without_parameters_is_refused():
    empty = RiemannianHMM(Hyperbolic(2), 1)
    with pytest.raises(ValueError, match="init has no parameters yet: fit it, or use"):
        RiemannianHMM(Hyperbolic(2), 1, init=empty).fit([[0.0, 0.0]])


@pytest.mark.parametrize(
    "use",
    [
        lambda model: model.means_,
        lambda model: model.predict([[0.0, 0.0]]),
        lambda model: model.score([[0.0, 0.0]]),
        lambda model: model.sample(3),
        lambda model: model.permuted([0]),
        lambda model: model.align_to(model),
    ],
)
def test_a_model_without_parameters_says_what_to_do(use):
    with pytest.raises(NotFittedError, match="has learned nothing yet: call fit, or use"):
        use(RiemannianHMM(Hyperbolic(2), 1))


def test_its_representation_names_manifold_and_states():
    assert repr(paper_model()) == "RiemannianHMM(manifold=Hyperbolic(2), n_components=3)"


# Choosing and comparing


@pytest.mark.parametrize(
    ("manifold", "expected"),
    [(Euclidean(1), 14), (Hyperbolic(2), 17), (Hyperbolic(3), 20), (SPD(2), 20), (SPD(3), 29)],
    ids=repr,
)
def test_free_parameters_are_counted(manifold, expected):
    assert RiemannianHMM(manifold, 3).n_parameters == expected  # 2 + 6 + 3·dim + 3


def test_aic_and_bic_follow_their_formulas():
    model = paper_model()
    X, _ = model.sample(40, random_state=0)
    X[[3, 7]] = np.nan
    score = model.score(X, lengths=[30, 10])
    np.testing.assert_allclose(model.aic(X, lengths=[30, 10]), 2 * 17 - 2 * score, rtol=1e-13)
    np.testing.assert_allclose(
        model.bic(X, lengths=[30, 10]), 17 * np.log(38) - 2 * score, rtol=1e-13
    )


def test_bic_finds_the_number_of_states():
    truth = RiemannianHMM.from_parameters(
        SPD(2), [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], in_a_row(SPD(2), [0.0, 2.0]), [0.4, 0.6]
    )
    X, _ = truth.sample(600, random_state=0)
    criteria = [
        RiemannianHMM(SPD(2), n, random_state=0, n_iter=1000).fit(X).bic(X) for n in (1, 2, 3)
    ]
    assert np.argmin(criteria) == 1


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_align_to_undoes_any_renaming(order):
    truth = paper_model()
    aligned = truth.permuted(order).align_to(truth)
    for ours, theirs in zip(aligned.parameters_, truth.parameters_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@everywhere
def test_align_to_undoes_renaming_where_only_sigma_tells_the_states_apart(manifold, order):
    rng = np.random.default_rng(0)
    model = RiemannianHMM.from_parameters(
        manifold,
        rng.dirichlet(np.ones(3)),
        rng.dirichlet(np.ones(3), size=3),
        in_a_row(manifold, [0.5, 0.5, 0.5]),
        [0.3, 0.4, 0.5],
    )
    aligned = model.permuted(order).align_to(model)
    np.testing.assert_array_equal(aligned.sigmas_, model.sigmas_)
    np.testing.assert_array_equal(aligned.transmat_, model.transmat_)


def test_a_renamed_model_gives_the_same_answers_under_new_names():
    model, order = paper_model(), [1, 2, 0]
    X, _ = model.sample(100, random_state=0)
    renamed = model.permuted(order)
    np.testing.assert_allclose(renamed.score(X), model.score(X), rtol=1e-13)
    np.testing.assert_allclose(
        renamed.predict_proba(X), model.predict_proba(X)[:, order], rtol=1e-9
    )
    np.testing.assert_array_equal(np.array(order)[renamed.decode(X)[1]], model.decode(X)[1])


@pytest.mark.parametrize(
    "order",
    [
        [0, 1],
        [0, 1, 1],
        [1, 2, 3],
        [0, 1, 2, 3],
        3,
        [0.0, 1.0, 2.0],
        [[0, 1, 2]],
        [[0], [1, 2]],
        None,
    ],
)
def test_an_order_that_is_not_a_permutation_is_refused(order):
    with pytest.raises(ValueError, match="order must be a permutation of 3 states"):
        paper_model().permuted(order)


@pytest.mark.parametrize("other", [(Hyperbolic(2), 2), (Hyperbolic(3), 3), (Euclidean(2), 3)])
def test_models_that_cannot_be_compared_are_refused(other):
    with pytest.raises(ValueError, match=r"other must have 3 states on Hyperbolic\(2\)"):
        paper_model().align_to(random_model(*other, np.random.default_rng(0)))


@pytest.mark.parametrize("verb", ["align_to", "order_like"])
def test_only_models_can_be_compared(verb):
    with pytest.raises(ValueError, match="other must be a RiemannianHMM, not None"):
        getattr(paper_model(), verb)(None)
