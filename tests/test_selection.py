"""How many states: the criterion finds the number behind the data, and says why."""

import numpy as np
import pytest

from benchmarks import hard
from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM, select_n_components
from tests.brute_force import in_a_row


def chain(manifold, n: int, sigma=0.35) -> RiemannianHMM:
    """States in a row that hardly overlap."""
    means = in_a_row(manifold, 2.0 * np.arange(n) - n + 1.0)
    transmat = hard.staying(n, 0.5)
    return RiemannianHMM.from_parameters(
        manifold, np.full(n, 1 / n), transmat, means, np.full(n, sigma)
    )


@pytest.mark.parametrize("manifold", [Euclidean(2), Hyperbolic(2), SPD(2)], ids=repr)
@pytest.mark.parametrize("n", [1, 2, 4])
def test_bic_finds_the_number_of_states(manifold, n):
    X, _ = chain(manifold, n).sample(1_500, random_state=n)
    found = select_n_components(manifold, X, range(1, 7), random_state=0)
    assert found.best.n_components == n
    assert found.n_components.tolist() == [1, 2, 3, 4, 5, 6]


def test_the_curve_is_that_of_the_models():
    X, _ = chain(Hyperbolic(2), 2).sample(600, random_state=0)
    found = select_n_components(Hyperbolic(2), X, [3, 1, 2], lengths=[200, 400], random_state=0)
    for model, value, likelihood in zip(
        found.models, found.values, found.log_likelihood, strict=True
    ):
        assert model.score(X, lengths=[200, 400]) == pytest.approx(likelihood)
        assert model.bic(X, lengths=[200, 400]) == pytest.approx(value)
    assert (np.diff(found.log_likelihood) > -1.0).all()


def test_aic_weighs_states_less():
    X, _ = chain(Euclidean(2), 2).sample(600, random_state=0)
    found = select_n_components(Euclidean(2), X, range(1, 4), criterion="aic", random_state=0)
    np.testing.assert_allclose(found.values, [model.aic(X) for model in found.models])


def test_held_out_observations_are_predicted_by_what_the_others_teach():
    # One state makes observations independent, so each part is a plain fit to the two others.
    manifold = Hyperbolic(2)
    X, _ = chain(manifold, 2).sample(300, random_state=0)
    X[40] = np.nan
    expected, part = 0.0, np.arange(300) // 12 % 3
    for number in range(3):
        learned = RiemannianHMM(manifold, 1, random_state=0, tol=1e-9).fit(X[part != number])
        expected += learned.score(X[part == number])
    found = select_n_components(
        manifold, X, [1, 2], criterion="predictive", lengths=[100, 200], random_state=0
    )
    assert found.values[0] == pytest.approx(-2.0 * expected, rel=1e-6)


def test_what_predicts_best_is_the_number_of_states_or_little_more():
    X, _ = chain(Hyperbolic(2), 3).sample(900, random_state=1)
    seen = []
    found = select_n_components(
        Hyperbolic(2), X, range(1, 6), criterion="predictive", random_state=0,
        callback=lambda *told: seen.append(told),
    )  # fmt: skip
    assert found.best.n_components in (3, 4)
    assert found.explanation().startswith(
        f"Held-out observations are predicted best with {found.best.n_components} states, and "
        "−2 log p is larger by"
    )
    plain = select_n_components(Hyperbolic(2), X, range(1, 6), random_state=0)
    np.testing.assert_array_equal(found.by("bic").values, plain.values)
    done, totals = zip(*seen, strict=True)
    assert set(totals) == {20}
    assert sorted(done) == list(done)
    assert done[-1] == 20


def test_a_criterion_that_was_not_asked_for_is_not_known():
    X, _ = chain(Euclidean(2), 1).sample(60, random_state=0)
    found = select_n_components(Euclidean(2), X, [1], random_state=0)
    with pytest.raises(ValueError, match=r"^criterion must be"):
        found.by("predictive")


def test_observations_that_are_not_held_out_must_be_enough():
    with pytest.raises(ValueError, match=r"^X must hold at least 4 observations besides"):
        select_n_components(
            Euclidean(2), np.eye(5)[:, :2] * 3.0, [4], criterion="predictive", random_state=0
        )


def test_the_same_seed_gives_the_same_curve():
    X, _ = chain(Hyperbolic(2), 3).sample(500, random_state=0)
    one, other = (
        select_n_components(Hyperbolic(2), X, range(1, 5), random_state=4) for _ in range(2)
    )
    np.testing.assert_array_equal(one.values, other.values)


def test_the_choice_is_explained():
    X, _ = chain(Euclidean(2), 2).sample(400, random_state=0)
    found = select_n_components(Euclidean(2), X, range(1, 5), random_state=0)
    by = np.sort(found.values)[1] - found.values.min()
    assert found.explanation().startswith(f"BIC is least with 2 states, and larger by {by:.1f}")
    few = select_n_components(Euclidean(2), X, [1, 2], random_state=0)
    assert few.explanation().endswith("the most that were tried: the best may lie beyond.")
    only = select_n_components(Euclidean(2), X, [1], random_state=0)
    assert only.explanation() == "BIC is least with 1 state, the only number that was tried."


def test_progress_is_told():
    X, _ = chain(Euclidean(2), 2).sample(200, random_state=0)
    seen = []
    select_n_components(
        Euclidean(2), X, range(1, 4), random_state=0, callback=lambda *p: seen.append(p)
    )
    assert seen == [(0, 3), (0, 3), (0, 3), (1, 3), (2, 3), (3, 3)]


def test_missing_observations_are_left_out():
    X, _ = chain(Hyperbolic(2), 2).sample(800, random_state=0)
    X[::7] = np.nan
    found = select_n_components(Hyperbolic(2), X, range(1, 4), random_state=0)
    assert found.best.n_components == 2


@pytest.mark.parametrize("n_components", [[], [0, 1], "many", [1.5], None, 3])
def test_numbers_of_states_that_are_none_are_refused(n_components):
    with pytest.raises(ValueError, match=r"^n_components must be whole numbers from 1 on"):
        select_n_components(Euclidean(2), np.zeros((5, 2)), n_components)


def test_more_states_than_observations_are_refused():
    with pytest.raises(ValueError, match=r"^X must hold at least 4 observations"):
        select_n_components(Euclidean(2), np.zeros((3, 2)), range(1, 5))


def test_another_criterion_is_refused():
    with pytest.raises(ValueError, match=r"^criterion must be"):
        select_n_components(Euclidean(2), np.zeros((9, 2)), criterion="mdl")
