"""The estimators in the hands of scikit-learn: clones, pipelines, searches and its own checks."""

import pickle
import re

import numpy as np
import pytest
from pyriemann.estimation import Covariances
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_is_fitted

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.gaussian.table import radial_table
from rhmm.paper import paper_model
from rhmm.scoring import accuracy
from tests.brute_force import in_a_row

KINDS = {
    RiemannianHMM: {"n_iter": 7, "tol": 0, "min_sigma": np.float32(0.01), "emission": "tied"},
    RiemannianKMeans: {"n_init": 3, "tol": 0},
    StreamingRiemannianHMM: {"window": np.int64(60), "memory": "fixed", "trace_every": None},
    WindowedRiemannianHMM: {"window": 60, "transition_update": "paper", "trace_every": 10},
    AutoMemoryRiemannianHMM: {"lag": 4, "init": "cold"},
}
every_kind = pytest.mark.parametrize(("kind", "options"), KINDS.items())


def two_states(manifold) -> RiemannianHMM:
    """States that are far apart, in a chain that stays where it is for long."""
    return RiemannianHMM.from_parameters(
        manifold,
        [0.5, 0.5],
        [[0.95, 0.05], [0.1, 0.9]],
        in_a_row(manifold, [0.0, 4.0]),
        [0.4, 0.6],
    )


# Parameters


@every_kind
def test_the_constructor_stores_the_very_objects_that_it_is_given(kind, options):
    disk, rng = Hyperbolic(2), np.random.default_rng(0)
    given = kind(disk, 3, random_state=rng, **options).get_params()
    assert given["manifold"] is disk
    assert given["random_state"] is rng
    for name, value in options.items():
        assert given[name] is value


@every_kind
def test_a_clone_has_equal_parameters_and_has_learned_nothing(kind, options):
    X, _ = paper_model().sample(300, random_state=0)
    fitted = kind(Hyperbolic(2), 2, random_state=3).fit(X)
    check_is_fitted(fitted)
    for estimator in (fitted, kind(Hyperbolic(2), 2, random_state=3, **options)):
        copy = clone(estimator)
        assert copy is not estimator
        assert copy.get_params() == estimator.get_params()
        with pytest.raises(NotFittedError):
            check_is_fitted(copy)


@pytest.mark.parametrize("kind", KINDS)
def test_clones_learn_the_same(kind):
    X, _ = paper_model().sample(300, random_state=0)
    original = kind(Hyperbolic(2), 3, random_state=0)
    first, second = clone(original).fit(X), clone(original).fit(X)
    np.testing.assert_array_equal(first.to_hmm().means_, second.to_hmm().means_)


def test_a_clone_keeps_the_parameters_of_its_start():
    start = two_states(Euclidean(2))
    X, _ = start.sample(200, random_state=0)
    copy = clone(RiemannianHMM(Euclidean(2), 2, init=start))
    np.testing.assert_array_equal(copy.init.means_, start.means_)
    np.testing.assert_array_equal(copy.fit(X).monitor_.parameters[0].means, start.means_)


@every_kind
def test_parameters_that_were_set_are_used(kind, options):
    estimator = kind(Hyperbolic(2), 2, **options).set_params(manifold="nowhere")
    with pytest.raises(ValueError, match="manifold must be a manifold such as"):
        estimator.fit([[0.0, 0.0]])


@every_kind
def test_its_representations_name_the_class_and_what_differs_from_the_defaults(kind, options):
    estimator = kind(Hyperbolic(2), 3, **options)
    for text in (repr(estimator), estimator._repr_html_()):
        assert kind.__name__ in text
        assert "Hyperbolic(2)" in text
    assert re.search(r"n_(components|clusters)=3\b", repr(estimator))


def test_matrices_are_arrays_of_three_dimensions_and_vectors_of_two():
    for manifold, is_matrix in ((SPD(2), True), (Hyperbolic(3), False), (Euclidean(1), False)):
        tags = get_tags(RiemannianHMM(manifold, 2)).input_tags
        assert (tags.two_d_array, tags.three_d_array) == (not is_matrix, is_matrix)
        assert tags.allow_nan


@every_kind
def test_before_fit_it_is_not_fitted(kind, options):
    estimator = kind(Hyperbolic(2), 2)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)
    with pytest.raises(NotFittedError, match=f"this {kind.__name__} has learned nothing yet"):
        estimator.predict([[0.0, 0.0]])


@pytest.mark.parametrize(
    "kind", [StreamingRiemannianHMM, WindowedRiemannianHMM, AutoMemoryRiemannianHMM]
)
@pytest.mark.parametrize("seen", [10, 300])
def test_an_online_learner_that_was_pickled_in_mid_stream_goes_on(kind, seen):
    X, _ = paper_model().sample(800, random_state=0)
    online = kind(Hyperbolic(2), 3, random_state=0).partial_fit(X[:seen])
    other = pickle.loads(pickle.dumps(online))
    ours, theirs = (each.partial_fit_predict_proba(X[seen:]) for each in (online, other))
    assert ours.tobytes() == theirs.tobytes()


# Pipelines and searches


@pytest.fixture(scope="module")
def signals():
    """400 stretches of four channels whose mixing changes with a hidden state."""
    rng = np.random.default_rng(0)
    states = two_states(Euclidean(1)).sample(400, random_state=1)[1]
    mixing = rng.normal(size=(2, 4, 4)) + 2 * np.eye(4)
    return mixing[states] @ rng.normal(size=(400, 4, 64)), states


def test_a_pipeline_finds_the_states_of_signals_by_their_covariances(signals):
    X, states = signals
    model = RiemannianHMM(SPD(4), 2, random_state=0)
    pipeline = make_pipeline(Covariances("oas"), model).fit(X, states)
    assert accuracy(states, pipeline.predict(X), 2) > 0.99
    np.testing.assert_allclose(
        pipeline.score(X), pipeline[-1].score(Covariances("oas").fit_transform(X))
    )


def test_a_pipeline_ends_in_any_of_the_online_learners(signals):
    X, states = signals
    online = StreamingRiemannianHMM(SPD(4), 2, window=100, random_state=0)
    pipeline = make_pipeline(Covariances("oas"), online).fit(X, states)
    assert accuracy(states, pipeline.predict(X), 2) > 0.99


@pytest.mark.parametrize("manifold", [Euclidean(2), SPD(2)], ids=repr)
def test_a_search_over_folds_in_time_finds_the_number_of_states(manifold):
    X, _ = two_states(manifold).sample(600, random_state=0)
    search = GridSearchCV(
        RiemannianHMM(manifold, 1, random_state=0, n_iter=1000),
        {"n_components": [1, 2]},
        cv=TimeSeriesSplit(3),
        error_score="raise",
    ).fit(X)
    assert search.best_params_ == {"n_components": 2}
    assert search.best_estimator_.n_components == 2
    best = search.cv_results_["mean_test_score"]
    by_hand = [
        RiemannianHMM(manifold, 2, random_state=0, n_iter=1000).fit(X[train]).score(X[test])
        for train, test in TimeSeriesSplit(3).split(X)
    ]
    np.testing.assert_allclose(best[1], np.mean(by_hand), rtol=1e-12)


@pytest.mark.parametrize("kind", [StreamingRiemannianHMM, WindowedRiemannianHMM])
def test_online_learners_are_validated_on_folds_in_time(kind):
    truth = two_states(Euclidean(2))
    X, _ = truth.sample(800, random_state=0)
    online = kind(Euclidean(2), 2, window=100, random_state=0)
    scores = cross_val_score(online, X, cv=TimeSeriesSplit(3), error_score="raise")
    expected = [truth.score(X[test]) for _, test in TimeSeriesSplit(3).split(X)]
    np.testing.assert_allclose(scores, expected, rtol=0.1)


# scikit-learn's own checks

FEATURES = {
    "check_fit2d_1feature": 1,
    "check_dict_unchanged": 3,
    "check_dont_overwrite_parameters": 3,
    "check_estimators_pickle": 3,
    "check_f_contiguous_array_estimator": 3,
    "check_fit2d_predict1d": 3,
    "check_fit_score_takes_y": 3,
    "check_methods_sample_order_invariance": 3,
    "check_methods_subset_invariance": 3,
    "check_pipeline_consistency": 3,
    "check_n_features_in_after_fitting": 4,
    "check_non_transformer_estimators_n_iter": 4,
    "check_positive_only_tag_during_fit": 4,
    "check_estimators_dtypes": 5,
    "check_dtype_object": 10,
    "check_fit2d_1sample": 10,
}
"""How many features the data of a check have, if not two: its estimator is on that space. The
number of features is the manifold's, not the data's."""

ALL = tuple(KINDS)
ONLY_AUTO = (AutoMemoryRiemannianHMM,)
TOO_SHORT = "the data of the check are shorter than the start of the learner"

EXPECTED_FAILURES = {
    "check_n_features_in": (ALL, "the manifold tells the number of features, no n_features_in_"),
    "check_n_features_in_after_fitting": (ALL, "there is no n_features_in_, for the same reason"),
    "check_complex_data": (ALL, "complex numbers are refused in other words: disks take them"),
    "check_dtype_object": (ALL, "an array of objects is refused in other words"),
    "check_estimators_empty_data_messages": (ALL, "data without features are refused as the "
        "wrong shape for the manifold"),
    "check_fit2d_predict1d": (ALL, "a flat array is refused in other words: the shape is named"),
    "check_estimators_overwrite_params": (
        (RiemannianHMM, WindowedRiemannianHMM),
        "fit fills the cache of the manifold's Gaussian, which the check takes for a change",
    ),
    "check_dict_unchanged": (ONLY_AUTO, TOO_SHORT),
    "check_estimators_dtypes": (ONLY_AUTO, TOO_SHORT),
    "check_estimators_pickle": (ONLY_AUTO, TOO_SHORT),
    "check_f_contiguous_array_estimator": (ONLY_AUTO, TOO_SHORT),
    "check_methods_sample_order_invariance": (ONLY_AUTO, TOO_SHORT),
    "check_methods_subset_invariance": (ONLY_AUTO, TOO_SHORT),
}  # fmt: skip
"""Checks that fail, of which estimators, and why; one that passes by now fails the test."""

NOT_RUN = ("check_array_api_input",)
"""It skips itself: the estimators do not claim to work on arrays of other libraries."""

SMALL = (
    (RiemannianHMM, 2, {}),
    (RiemannianHMM, 2, {"emission": "full"}),
    (RiemannianHMM, "auto", {"max_components": 3}),
    (RiemannianKMeans, 2, {}),
    (StreamingRiemannianHMM, 2, {"window": 20}),
    (StreamingRiemannianHMM, "auto", {"window": 20}),
    (WindowedRiemannianHMM, 2, {"window": 20}),
    (AutoMemoryRiemannianHMM, 2, {"init": "cold"}),
)
"""Estimators that the small data of the checks are enough for: class, states and options."""


def name_of(check) -> str:
    return check.func.__name__


def checks():
    """Every check of every estimator, on the space that its data are of."""
    for kind, states, options in SMALL:
        failing = {name: why for name, (kinds, why) in EXPECTED_FAILURES.items() if kind in kinds}
        for features in sorted({2, *FEATURES.values()}):
            radial_table(Euclidean(features).gaussian)  # the first use fills a cache of its law
            estimator = kind(Euclidean(features), states, **options)
            for case in estimator_checks_generator(
                estimator, expected_failed_checks=failing, mark="xfail", xfail_strict=True
            ):
                _, check = getattr(case, "values", case)
                name = name_of(check)
                if name not in NOT_RUN and FEATURES.get(name, 2) == features:
                    yield case


@pytest.mark.filterwarnings("ignore::rhmm.ConvergenceWarning", "ignore::rhmm.DegenerateWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    list(checks()),
    ids=lambda x: type(x).__name__ if hasattr(x, "fit") else name_of(x),
)
def test_it_passes_the_check_of_scikit_learn(estimator, check):
    check(estimator)


def test_every_named_check_exists():
    run = {name_of(getattr(case, "values", case)[1]) for case in checks()}
    assert FEATURES.keys() | EXPECTED_FAILURES.keys() <= run
