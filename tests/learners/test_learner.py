"""Entries of the registry: how a learner is made, watched and described."""

import numpy as np
import pytest

from rhmm.learners.learner import Option
from rhmm.learners.registry import LEARNERS
from rhmm.paper import paper_model

TRUTH = paper_model()
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
online_learners = pytest.mark.parametrize("key", ["windowed", "streaming", "auto"])


@pytest.fixture(scope="module", name="X")
def observations():
    return TRUTH.sample(1_000, random_state=0)[0]


def made(learner, **more):
    return learner.make(TRUTH.manifold, 3, 7, learner.settings({}), truth=TRUTH, **more)


@every_learner
def test_every_entry_learns_and_gives_a_model(learner, X):
    estimator = made(learner)
    learner.learn(estimator, X)
    model = estimator.to_hmm()
    assert (model.manifold, model.n_components) == (TRUTH.manifold, 3)
    assert estimator.peak_nbytes_ >= 0
    assert learner.remark(estimator) == ""


@every_learner
def test_the_same_seed_learns_the_same(learner, X):
    first, second = made(learner), made(learner)
    for estimator in (first, second):
        learner.learn(estimator, X)
    for ours, theirs in zip(first.to_hmm().parameters_, second.to_hmm().parameters_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@every_learner
def test_every_row_of_the_table_and_every_variant_can_be_made(learner):
    for options in (*learner.table, *learner.variants.values()):
        settings = learner.settings(options)
        learner.make(TRUTH.manifold, 3, 0, settings, truth=TRUTH).check_options()


@every_learner
def test_names_of_settings_differ(learner):
    names = [learner.describe(learner.settings(options)) for options in learner.table]
    assert len(set(names)) == len(names)


def model_of(learner, X):
    estimator = made(learner)
    learner.learn(estimator, X)
    return estimator.to_hmm()


@every_learner
@pytest.mark.filterwarnings("ignore::rhmm.DegenerateWarning")
def test_the_least_length_is_enough_and_one_less_is_not(learner):
    least = learner.least_length(3, learner.settings({}))
    X, _ = TRUTH.sample(least, random_state=0)
    assert model_of(learner, X).n_components == 3
    if not learner.needs_truth:
        with pytest.raises(ValueError, match="observations"):
            model_of(learner, X[1:])


# Watching


@online_learners
def test_watching_an_online_learner_shows_how_far_it_is(key, X):
    seen = []
    learner = LEARNERS[key]
    estimator = made(learner)
    learner.learn(estimator, X, lambda progress: seen.append((progress.doing, progress.share)))
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert {doing for doing, _ in seen} == {""}


def test_watching_em_counts_its_iterations(X):
    seen = []
    learner = LEARNERS["em"]
    estimator = made(learner)
    learner.learn(estimator, X, lambda progress: seen.append((progress.doing, progress.share)))
    n_iter = estimator.monitor_.n_iter
    assert [doing for doing, _ in seen] == [f"iteration {k}" for k in range(n_iter + 1)]
    assert all(0.0 <= share < 1.0 for _, share in seen)


@pytest.mark.parametrize("key", ["windowed", "streaming", "auto", "em"])
def test_what_a_watcher_raises_ends_the_learning(key, X):
    class Stopped(Exception):
        pass

    def stop(progress):
        raise Stopped

    learner = LEARNERS[key]
    with pytest.raises(Stopped):
        learner.learn(made(learner), X, stop)


# Paths


@online_learners
def test_the_path_of_an_online_learner_is_its_trace(key, X):
    learner = LEARNERS[key]
    traced, plain = made(learner, trace_every=100), made(learner)
    for estimator in (traced, plain):
        learner.learn(estimator, X)
    assert learner.path(plain) is None
    path = learner.path(traced)
    assert path.step[-1] == 1_000
    np.testing.assert_array_equal(path.transmat[-1], traced.transmat_)


def test_the_path_of_em_ends_at_its_result(X):
    learner = LEARNERS["em"]
    estimator = made(learner)
    learner.learn(estimator, X)
    path = learner.path(estimator)
    np.testing.assert_array_equal(path.means[-1], estimator.means_)
    assert path.step[-1] == estimator.monitor_.n_iter


# Options


NUMBER = Option("window", "delta", 200, "Δ", "how many", phrases={"": "Δ"}, at_least=2)
CHOICE = Option(
    "init",
    "init",
    "kmeans",
    "Start",
    "how",
    {"kmeans": "K-means", "cold": "Cold"},
    {"cold": "cold"},
)


@pytest.mark.parametrize(
    ("option", "value", "phrase"),
    [(NUMBER, 60, "Δ=60"), (CHOICE, "kmeans", ""), (CHOICE, "cold", "cold")],
)
def test_a_right_value_is_passed_on_and_described(option, value, phrase):
    assert option.check(value) == value
    assert option.phrase(value) == phrase


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        (NUMBER, 1, "window must be at least 2, not 1"),
        (NUMBER, "60", "window must be a whole number, not '60'"),
        (CHOICE, "warm", "init must be one of 'kmeans', 'cold', not 'warm'"),
    ],
)
def test_a_wrong_value_is_named(option, value, message):
    with pytest.raises(ValueError, match=message):
        option.check(value)


@pytest.mark.parametrize("key", [key for key in LEARNERS if not LEARNERS[key].needs_truth])
def test_no_transition_is_learned_between_sequences(key, X):
    learner = LEARNERS[key]
    lengths = [400, 600]
    apart, by_hand = made(learner), made(learner)
    learner.learn(apart, X, lengths=lengths)
    by_hand.fit(X, lengths=lengths)

    np.testing.assert_array_equal(apart.to_hmm().transmat_, by_hand.to_hmm().transmat_)
    assert not np.array_equal(apart.to_hmm().transmat_, model_of(learner, X).transmat_)
