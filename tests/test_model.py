"""Sampling, scoring, filtering, smoothing and decoding with known parameters."""

import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM, inference
from rhmm.paper import paper_model
from tests import brute_force
from tests.brute_force import MANIFOLDS, in_a_row, random_model, with_gaps

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


# Every posterior on every manifold, against enumeration of all paths


@pytest.fixture(params=[1, 2, 3], ids="{} states".format)
def n(request):
    return request.param


class Case:
    """A random model with two short sequences of its observations, some of them missing."""

    lengths = (5, 3)

    def __init__(self, manifold, n):
        rng = np.random.default_rng([n, manifold.size])
        self.model = random_model(manifold, n, rng)
        self.X = with_gaps(self.model.sample(8, rng)[0], 0.25, rng)
        self.chain = (
            self.model.startprob_,
            self.model.transmat_,
            brute_force.log_density(self.model, self.X),
            self.lengths,
        )

    def truth(self, function, *more):
        return brute_force.each_sequence(function, *self.chain, *more)


@everywhere
def test_log_densities_are_those_of_normalised_gaussians(manifold, n):
    case = Case(manifold, n)
    np.testing.assert_allclose(case.model.log_density(case.X), case.chain[2], **CLOSE)


@everywhere
def test_scores_and_posteriors_are_sums_over_all_paths(manifold, n):
    case = Case(manifold, n)
    X, lengths = case.X, case.lengths
    total = sum(case.truth(brute_force.log_likelihood))
    np.testing.assert_allclose(case.model.score(X, lengths=lengths), total, **CLOSE)
    gamma = np.concatenate(case.truth(brute_force.smoother))
    np.testing.assert_allclose(case.model.predict_proba(X, lengths=lengths), gamma, **CLOSE)
    labels = case.model.predict(X, lengths=lengths)
    np.testing.assert_array_equal(labels, gamma.argmax(axis=1))
    alpha = np.concatenate(case.truth(brute_force.fixed_lag, 0))
    np.testing.assert_allclose(case.model.filter_proba(X, lengths=lengths), alpha, **CLOSE)


@everywhere
def test_recursions_on_its_log_densities_are_sums_over_all_paths(manifold, n):
    case = Case(manifold, n)
    model = case.model
    chain = model.startprob_, model.transmat_, model.log_density(case.X)
    zeta = np.concatenate(case.truth(brute_force.pairs))
    np.testing.assert_allclose(inference.pair_posteriors(*chain, case.lengths), zeta, **CLOSE)
    smoothed = inference.smoothing(*chain, case.lengths)
    np.testing.assert_allclose(smoothed.zeta_sum, zeta.sum(axis=0), **CLOSE)
    log_beta = np.concatenate(case.truth(brute_force.log_beta))
    np.testing.assert_allclose(inference.backward(*chain, case.lengths), log_beta, **CLOSE)
    for lag in range(6):
        gamma = np.concatenate(case.truth(brute_force.fixed_lag, lag))
        lagged = inference.fixed_lag_smoothing(*chain, lag, case.lengths)
        np.testing.assert_allclose(lagged, gamma, **CLOSE)


@everywhere
def test_decode_finds_the_heaviest_of_all_paths(manifold, n):
    case = Case(manifold, n)
    log_probability, path = case.model.decode(case.X, lengths=case.lengths)
    best = sum(case.truth(brute_force.best_weight))
    np.testing.assert_allclose(log_probability, best, **CLOSE)
    start, transition, log_density, _ = case.chain
    weight = brute_force.weight_of(path[:5], start, transition, log_density[:5])
    weight += brute_force.weight_of(path[5:], start, transition, log_density[5:])
    np.testing.assert_allclose(weight, best, **CLOSE)


# Sampling


def test_a_sampled_chain_follows_its_transitions_and_its_stationary_law():
    model = paper_model()
    size = 100_000
    _, states = model.sample(size, random_state=0)
    counts = np.zeros((3, 3))
    np.add.at(counts, (states[:-1], states[1:]), 1.0)
    leaving, a = counts.sum(axis=1, keepdims=True), model.transmat_
    assert (np.abs(counts / leaving - a) < 4 * np.sqrt(a * (1 - a) / leaving)).all()
    law = np.linalg.matrix_power(a, 1000)[0]
    second = np.sort(np.abs(np.linalg.eigvals(a)))[-2]  # how long the chain remembers
    error = np.sqrt(law * (1 - law) / size * (1 + second) / (1 - second))
    assert (np.abs(np.bincount(states) / size - law) < 4 * error).all()


def test_the_first_state_follows_startprob():
    model = RiemannianHMM.from_parameters(
        Euclidean(1), [0.0, 0.25, 0.75, 0.0], np.eye(4), np.zeros((4, 1)), np.ones(4)
    )
    rng = np.random.default_rng(0)
    firsts = np.bincount([model.sample(1, rng)[1][0] for _ in range(4000)], minlength=4)
    assert firsts[0] == firsts[3] == 0
    assert abs(firsts[1] - 1000) < 4 * np.sqrt(4000 * 0.25 * 0.75)


def test_impossible_transitions_are_never_drawn():
    circle = np.array([[0.0, 0.5, 0.5, 0.0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    model = RiemannianHMM.from_parameters(
        Euclidean(1), [0, 0, 0, 1], circle, np.zeros((4, 1)), np.ones(4)
    )
    states = model.sample(10_000, random_state=0)[1]
    assert states[0] == 3
    assert (circle[states[:-1], states[1:]] > 0).all()


@everywhere
def test_observations_lie_around_the_mean_of_their_state(manifold):
    model = RiemannianHMM.from_parameters(
        manifold, [0.5, 0.5], np.full((2, 2), 0.5), in_a_row(manifold, [-1.0, 2.0]), [0.3, 0.9]
    )
    X, states = model.sample(4000, random_state=0)
    assert X.shape == (4000, *manifold.point_shape)
    for i in range(2):
        d2 = manifold.dist(X[states == i], model.means_[i]) ** 2
        delta, error = manifold.delta(model.sigmas_[i]), np.sqrt(manifold.var_d2(model.sigmas_[i]))
        assert abs(d2.mean() - delta) < 4 * error / np.sqrt(len(d2))


def test_the_same_seed_gives_the_same_chain():
    model = paper_model()
    X, states = model.sample(100, random_state=5)
    again, states_again = model.sample(100, random_state=np.random.default_rng(5))
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(states, states_again)
    assert (model.sample(100, random_state=6)[0] != X).any()


def test_sampling_does_not_touch_the_global_random_state():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    paper_model().sample(100)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("count", [0, -1, 2.5, None, "ten", True])
def test_a_wrong_number_of_samples_is_named(count):
    with pytest.raises(ValueError, match="n_samples must be"):
        paper_model().sample(count)


# Inference


def test_points_of_the_disk_may_be_complex_numbers():
    pairs = paper_model()
    numbers = RiemannianHMM.from_parameters(
        Hyperbolic(2),
        pairs.startprob_,
        pairs.transmat_,
        [0, 0.29 + 0.82j, -0.29 + 0.82j],
        [0.2, 1, 1],
    )
    np.testing.assert_array_equal(numbers.means_, pairs.means_)
    X, _ = pairs.sample(50, random_state=0)
    z = X[:, 0] + 1j * X[:, 1]
    assert pairs.score(z) == pairs.score(X)
    np.testing.assert_array_equal(pairs.predict_proba(z), pairs.predict_proba(X))
    fits = [RiemannianHMM(Hyperbolic(2), 2, random_state=0).fit(data) for data in (X, z)]
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)


def test_predict_is_the_most_probable_state_and_decode_the_most_probable_path():
    model = RiemannianHMM.from_parameters(  # of the paths 00, 10 and 11, state 1 begins two
        Euclidean(1), [0.45, 0.55], [[1, 0], [0.5, 0.5]], [[0.0], [0.0]], [1, 1]
    )
    X = np.zeros((2, 1))
    assert model.decode(X)[1].tolist() == [0, 0]
    assert model.predict(X).tolist() == [1, 0]


def test_sequences_do_not_influence_each_other():
    model = paper_model()
    X, _ = model.sample(30, random_state=0)
    lengths = [10, 1, 19]
    pieces = np.split(X, [10, 11])
    total = sum(map(model.score, pieces))
    np.testing.assert_allclose(model.score(X, lengths=lengths), total, rtol=1e-13)
    for verb in (model.predict_proba, model.filter_proba, model.predict):
        expected = np.concatenate([verb(piece) for piece in pieces])
        np.testing.assert_allclose(verb(X, lengths=lengths), expected, rtol=1e-13)
    assert (model.predict_proba(X) != model.predict_proba(X, lengths=lengths)).any()


@everywhere
def test_one_nan_makes_an_observation_missing(manifold):
    model = random_model(manifold, 2, np.random.default_rng(0))
    X, _ = model.sample(6, random_state=0)
    whole, partly = X.copy(), X.copy()
    whole[2] = np.nan
    partly[2].flat[0] = np.nan
    assert model.score(partly) == model.score(whole)
    np.testing.assert_array_equal(model.predict_proba(partly), model.predict_proba(whole))
    skipped = RiemannianHMM.from_parameters(  # two steps of the chain at once
        manifold,
        model.predict_proba(X[:2])[1] @ np.linalg.matrix_power(model.transmat_, 2),
        model.transmat_,
        model.means_,
        model.sigmas_,
    )
    expected = model.score(X[:2]) + skipped.score(X[3:])
    np.testing.assert_allclose(model.score(whole), expected, rtol=1e-10)


def test_a_masked_observation_is_missing():
    model = paper_model()
    X, _ = model.sample(6, random_state=0)
    holed, mask = X.copy(), np.zeros(X.shape, bool)
    holed[2], mask[2, 1] = np.nan, True
    assert model.score(np.ma.array(X, mask=mask)) == model.score(holed)


def test_observations_that_are_all_missing_are_refused():
    with pytest.raises(ValueError, match="X must hold at least one observation that is not NaN"):
        paper_model().predict(np.full((3, 2), np.nan))


@pytest.mark.parametrize(
    ("manifold", "X", "message"),
    [
        (Hyperbolic(2), [[0.1, 0.2, 0.3]], r"X must be of shape \(..., 2\) on Hyperbolic\(2\)"),
        (Hyperbolic(2), [0.1, 0.2], r"X must hold observations in shape \(T, 2\), not \(2,\)"),
        (Hyperbolic(2), np.empty((0, 2)), r"X must hold observations in shape \(T, 2\)"),
        (Hyperbolic(2), np.zeros((2, 2, 2)), r"X must hold observations in shape \(T, 2\)"),
        (Hyperbolic(2), [["a", "b"]], "X must be an array of numbers"),
        (Hyperbolic(2), [[0.0, 0.0], [1.0, 0.5]], r"X\[1\] is not a point of Hyperbolic\(2\)"),
        (Hyperbolic(2), [[0.0, np.inf]], r"X\[0\] is not a point of Hyperbolic\(2\)"),
        (Hyperbolic(3), np.array([0.1 + 0.2j]), "X must be"),
        (Euclidean(2), [[0.0, np.inf]], r"X\[0\] is not a point of Euclidean\(2\)"),
        (SPD(2), [[[1.0, 0.0], [0.0, -1.0]]], r"X\[0\] is not a point of SPD\(2\)"),
        (SPD(2), [[[1.0, 0.5], [0.0, 1.0]]], "X must be symmetric"),
        (SPD(2), np.eye(2), r"X must hold observations in shape \(T, 2, 2\), not \(2, 2\)"),
        (SPD(2), [np.eye(3)], r"X must be of shape \(..., 2, 2\) on SPD\(2\), not \(1, 3, 3\)"),
    ],
)
@pytest.mark.parametrize("verb", ["score", "predict", "decode", "fit"])
def test_observations_that_are_not_points_are_refused(manifold, X, message, verb):
    model = random_model(manifold, 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        getattr(model, verb)(X)


@pytest.mark.parametrize(
    "verb", ["score", "predict", "predict_proba", "filter_proba", "decode", "fit"]
)
@pytest.mark.parametrize(
    "lengths",
    [
        [1, 1],
        [4, -1],
        [1.5, 1.5],
        "abc",
        3,
        [2**70],
        [2**62] * 3 + [2**62 + 3],
        [1e300],
        [np.nan],
        [True, True, True],
        [3 + 0j],
        np.ma.array([3, 3], mask=[False, True]),
    ],
    ids=str,
)
def test_wrong_lengths_are_refused(verb, lengths):
    with pytest.raises(ValueError, match="lengths must"):
        getattr(paper_model(), verb)(np.zeros((3, 2)), lengths=lengths)


@pytest.mark.parametrize("verb", ["fit", "score"])
def test_labels_given_by_position_are_ignored(verb):
    """scikit-learn's pipelines and searches call fit(X, y) and score(X, y)."""
    X, states = paper_model().sample(50, random_state=0)
    plain, labelled = (RiemannianHMM(Hyperbolic(2), 2, random_state=0).fit(X) for _ in range(2))
    result = getattr(labelled, verb)(X, states)
    if verb == "score":
        assert result == plain.score(X)
    np.testing.assert_array_equal(labelled.means_, plain.means_)


@pytest.mark.parametrize("verb", ["predict", "predict_proba", "filter_proba", "decode"])
def test_lengths_are_given_by_name_only(verb):
    with pytest.raises(TypeError, match="positional argument"):
        getattr(paper_model(), verb)(np.zeros((3, 2)), [1, 2])
