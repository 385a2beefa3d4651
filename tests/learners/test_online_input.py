"""Observations that online learners are given: missing, masked, far away, tiny, or wrong."""

from inspect import signature
from itertools import product

import numpy as np
import pytest

from rhmm import (
    AutoMemoryRiemannianHMM,
    DegenerateWarning,
    Euclidean,
    Hyperbolic,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from tests.learners.chains import (
    LEARNERS,
    MANIFOLDS,
    STREAMING,
    content,
    is_sound,
    learner,
    stream,
    with_holes,
)

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
every_learner = pytest.mark.parametrize("name", LEARNERS)


# Missing observations


@every_manifold
@every_learner
def test_missing_observations_do_no_harm(manifold, name):
    online = learner(manifold, name)
    probabilities = online.partial_fit_predict_proba(with_holes(stream(manifold)))
    assert is_sound(online)
    assert np.isfinite(probabilities).all()
    for array in online.trace_:
        assert np.isfinite(array).all()


@every_learner
def test_a_masked_observation_is_missing(name, tmp_path):
    X = stream(Hyperbolic(2))
    holed, masked = with_holes(X), np.ma.array(X, mask=np.isnan(with_holes(X)))
    plain, other = learner(Hyperbolic(2), name), learner(Hyperbolic(2), name)
    plain.partial_fit(holed[:-1]).learn_one([np.nan, np.nan])
    other.partial_fit(masked[:-1]).learn_one(np.ma.masked_all(2))
    assert content(plain, tmp_path) == content(other, tmp_path)


@every_learner
def test_a_missing_observation_is_predicted_by_the_transitions_alone(name):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name)
    alpha = online.partial_fit_predict_proba(X)[-1]
    missing = np.full(2, np.nan)
    expected = alpha @ online.transmat_
    np.testing.assert_allclose(online.predict_proba_one(missing), expected, rtol=1e-12)
    assert online.predict_one(missing) == expected.argmax()


@every_learner
def test_a_missing_observation_is_filtered_by_the_transitions_alone(name):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name)
    alpha = online.partial_fit_predict_proba(X)[-1]
    expected = alpha @ online.transmat_
    filtered = online.partial_fit_predict_proba(np.full((1, 2), np.nan))[0]
    np.testing.assert_allclose(filtered, expected, rtol=1e-12)


@every_learner
def test_a_chunk_of_missing_observations_is_survived_at_any_time(name):
    X, nothing = stream(Hyperbolic(2)), np.full((120, 2), np.nan)
    online = learner(Hyperbolic(2), name).partial_fit(nothing)
    assert online.n_samples_seen_ == 120
    assert online.predict_one(X[0]) is None
    for piece in np.split(X, [10, 300, 600]):
        online.partial_fit(piece).partial_fit(nothing)
    assert online.n_samples_seen_ == 700 + 5 * 120
    assert is_sound(online)


@every_learner
def test_observations_that_are_missing_before_the_start_only_delay_it(name):
    X = stream(Hyperbolic(2))
    delayed = np.concatenate([np.full((50, 2), np.nan), X[:10], np.full((50, 2), np.nan), X[10:]])
    plain = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X[:250])
    late = learner(Hyperbolic(2), name, trace_every=1).partial_fit(delayed[:350])
    assert late.trace_.step[0] == plain.trace_.step[0] + 100


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("growing", {"lag": 1}),
        ("fixed", {"lag": 1}),
        ("windowed convex", {}),
        ("windowed paper", {}),
    ],
)
def test_nothing_is_learned_from_a_missing_observation(name, options):
    online = learner(Hyperbolic(2), name, **options).partial_fit(stream(Hyperbolic(2)))
    online.partial_fit(np.full((1, 2), np.nan))  # what a lag of one had left to learn
    before = online.transmat_, online.means_, online.sigmas_
    online.partial_fit(np.full((30, 2), np.nan))
    after = online.transmat_, online.means_, online.sigmas_
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old, new)


# Scale


@pytest.mark.parametrize(
    ("name", "unit"),
    # the windowed ones start from K-means, whose tolerance is a distance
    [*product(LEARNERS, [2.0**10]), *product(STREAMING, [2.0**-20])],
)
def test_the_unit_of_measurement_does_not_matter(name, unit):
    X = stream(Euclidean(2), 1_000)
    plain = learner(Euclidean(2), name).partial_fit(X)
    other = learner(Euclidean(2), name, min_sigma=1e-3 * unit).partial_fit(unit * X)
    np.testing.assert_allclose(other.transmat_, plain.transmat_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(other.means_ / unit, plain.means_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other.sigmas_ / unit, plain.sigmas_, rtol=1e-5)


@every_learner
def test_data_smaller_than_min_sigma_are_warned_of(name):
    small = 2.0**-20 * stream(Euclidean(2))
    with pytest.warns(
        DegenerateWarning, match=r"every state starts on a point .* min_sigma=0\.001"
    ):
        learner(Euclidean(2), name, min_sigma=1e-3).partial_fit(small)


@every_learner
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**-10])
def test_small_data_are_learned_as_large_ones_are(name, unit):
    """Powers of two scale without rounding, so that only the table of log Z makes a difference."""
    X = stream(Euclidean(2))
    large, small = (
        learner(Euclidean(2), name, trace_every=None).partial_fit(scale * X) for scale in (1, unit)
    )
    np.testing.assert_allclose(small.means_ / unit, large.means_, atol=1e-3)
    np.testing.assert_allclose(small.sigmas_ / unit, large.sigmas_, rtol=1e-3)


@every_learner
def test_the_farthest_point_does_no_harm_and_one_beyond_is_refused(name, tmp_path):
    X = stream(Euclidean(2))
    online = learner(Euclidean(2), name).partial_fit(X[:600])
    before = content(online, tmp_path)
    for far in (1.1e30, 1e100, 1e160):
        with pytest.raises(ValueError, match=r"^y is not a point .* at most 1e\+30 in size"):
            online.learn_one([0.0, far])
    assert content(online, tmp_path) == before
    online.learn_one([1e30, -1e30]).learn_one([-1e30, 1e30])
    assert is_sound(online)
    assert np.isfinite(online.partial_fit_predict_proba(X[600:])).all()
    assert is_sound(online)
    assert np.isfinite(online.predict_proba_one(X[0])).all()


@every_learner
def test_no_state_is_narrower_than_allowed(name):
    """The observations lie on three points: every spread would be zero."""
    X = np.random.default_rng(0).choice([0.0, 10.0, 20.0], size=(700, 1))
    online = learner(Euclidean(1), name, random_state=0, min_sigma=0.1)
    with pytest.warns(DegenerateWarning, match=r"min_sigma=0\.1"):
        online.partial_fit(X[:200])
    for piece in np.split(X[200:], 50):
        assert (online.partial_fit(piece).sigmas_ >= 0.1 * (1 - 1e-6)).all()


# Wrong input


WRONG = {
    "manifold": [None, "Hyperbolic", 2],
    "n_components": [0, -1, 2.5, "three", None, True],
    "window": [1, 2, 0, -5, 20.5, "automatic", "auto", None, True],
    "memory": ["shrinking", None, "auto"],
    "transition_update": ["plain", None],
    "lag": [0, -1, 1.5, None],
    "init": ["warm", None],
    "min_sigma": [0.0, -1.0, np.nan, np.inf, "small", [0.1, 0.2], 1e-200, 1e100],
    "random_state": [-1, "seed", 1.5],
    "trace_every": [0, -3, 2.5, "often", 10**30],
    "callback": [3, "print"],
}

KINDS = [StreamingRiemannianHMM, WindowedRiemannianHMM, AutoMemoryRiemannianHMM]


@pytest.mark.parametrize(
    ("kind", "argument", "value"),
    [
        (kind, argument, value)
        for kind in KINDS
        for argument, values in WRONG.items()
        if argument in signature(kind).parameters
        for value in values
    ],
)
def test_a_wrong_argument_is_named_when_learning_begins(kind, argument, value):
    online = kind(**{"manifold": Hyperbolic(2), "n_components": 3, argument: value})
    for learn in (online.fit, online.partial_fit):
        with pytest.raises(ValueError, match=rf"^{argument}\b"):
            learn(stream(Hyperbolic(2)))


def test_an_automatic_memory_is_said_to_be_another_learner():
    online = StreamingRiemannianHMM(Hyperbolic(2), 3, memory="auto")
    with pytest.raises(ValueError, match="learner of its own: AutoMemoryRiemannianHMM"):
        online.check_options()


@pytest.mark.parametrize("seen", [10, 300])
@pytest.mark.parametrize(
    "bad", [[[0.1, 0.2, 0.3]], [[2.0, 0.0]], [[np.inf, 0.0]], "abc", [0.1, 0.2], np.empty((0, 2))]
)
def test_a_wrong_chunk_is_refused_whole(bad, seen, tmp_path):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), "growing").partial_fit(X[:seen])
    before = content(online, tmp_path)
    for method in (online.partial_fit, online.partial_fit_predict_proba):
        with pytest.raises(ValueError, match=r"^X"):
            method(bad)
    assert content(online, tmp_path) == before


@pytest.mark.parametrize("seen", [10, 300])
@pytest.mark.parametrize("method", ["learn_one", "predict_one", "predict_proba_one"])
@pytest.mark.parametrize("bad", [[0.1, 0.2, 0.3], [2.0, 0.0], [np.inf, 0.0], "abc"], ids=repr)
def test_a_wrong_single_observation_is_named(bad, method, seen):
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2))[:seen])
    with pytest.raises(ValueError, match=r"^y\b"):
        getattr(online, method)(bad)


def test_points_of_the_disk_may_be_complex_numbers(tmp_path):
    X = stream(Hyperbolic(2))
    plain, complex_ = learner(Hyperbolic(2), "growing"), learner(Hyperbolic(2), "growing")
    z = X[:, 0] + 1j * X[:, 1]
    complex_.partial_fit(z[:-1]).learn_one(z[-1])
    assert content(complex_, tmp_path) == content(plain.partial_fit(X), tmp_path)
    assert np.array_equal(complex_.predict_proba_one(z[0]), plain.predict_proba_one(X[0]))
