import time
from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute import jobs, runs
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, KMEANS, ONLINE_LEARNERS
from dashboard.model.presets import PRESETS
from rhmm import (
    Hyperbolic,
    RiemannianHMM,
    RiemannianKMeans,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
    evaluate,
)
from rhmm.scoring import MEASURES, accuracy

COSTS = ("seconds", "nbytes")
"""Measures that the ceiling does not have."""


def ignore(run, doing, share):
    pass


@pytest.fixture(scope="module")
def default():
    return runs.compute(Experiment(), ignore)


@pytest.fixture(scope="module")
def small():
    return runs.compute(Experiment(length=2_000, algorithms=("windowed",), window=100), ignore)


def test_the_numbers_are_those_of_the_engine(default):
    truth = Experiment().source.true_model()
    X, states = truth.sample(10_000, random_state=0)
    streaming = StreamingRiemannianHMM(Hyperbolic(2), 3, window=200, random_state=0)
    windowed = WindowedRiemannianHMM(
        Hyperbolic(2), 3, window=200, transition_update="paper", random_state=0
    )
    em = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(X)
    clusters = RiemannianKMeans(Hyperbolic(2), 3, random_state=0).fit(X)

    models = {
        "windowed": windowed.partial_fit(X).to_hmm(),
        "streaming": streaming.partial_fit(X).to_hmm(),
        EM: em,
        CEILING: truth,
    }
    for key, model in models.items():
        method, result = default.method(key), evaluate(model, truth, X, states)
        assert method.accuracy == result.accuracy
        assert method.transition_error == result.transition_error
        assert method.mean_error == result.mean_errors.mean()
        assert method.log_likelihood == result.log_likelihood
    assert default.method(KMEANS).accuracy == accuracy(states, clusters.labels_, 3)


def test_every_method_names_the_states_as_the_truth_does(default):
    for method in default.methods:
        agreement = np.mean(method.labels == default.true_states)
        assert agreement == pytest.approx(method.accuracy, abs=1e-12)


@pytest.mark.parametrize("key", ["windowed", "streaming"])
def test_the_path_of_an_online_learner_ends_where_its_result_is(default, key):
    model, path = default.method(key).model, default.path(key)

    np.testing.assert_array_equal(path.means[-1], model.means_)
    np.testing.assert_array_equal(path.transmat[-1], model.transmat_)
    assert path.step[-1] == 10_000
    assert len(path.step) <= runs.MOST_FRAMES


def test_ems_path_ends_where_em_is(default):
    em = default.method(EM)

    np.testing.assert_array_equal(em.path.means[-1], em.model.means_)
    assert len(em.path.means) == len(em.path.log_likelihood)
    assert em.path.log_likelihood[-1] / 10_000 == em.log_likelihood


def test_learning_in_pieces_changes_nothing(small):
    learner = WindowedRiemannianHMM(
        Hyperbolic(2), 3, window=100, transition_update="paper", random_state=0
    ).partial_fit(small.points)
    truth = small.experiment.source.true_model()

    result = evaluate(learner.to_hmm(), truth, small.points, small.true_states)

    np.testing.assert_array_equal(small.path("windowed").means[-1], result.model.means_)


def test_another_learner_on_the_same_data_needs_no_second_em(small):
    other = replace(small.experiment, algorithms=("streaming",), window=60)
    assert other.source == small.experiment.source

    quick, whole = runs.compute(other, ignore, same_data=small), runs.compute(other, ignore)

    assert quick.method(EM) is small.method(EM)
    assert quick.finished
    assert [m.key for m in quick.methods] == [m.key for m in whole.methods]
    for ours, theirs in zip(quick.methods, whole.methods, strict=True):
        np.testing.assert_array_equal(ours.model.means_, theirs.model.means_)
        np.testing.assert_array_equal(ours.labels, theirs.labels)
        assert ours.log_likelihood == theirs.log_likelihood
    np.testing.assert_array_equal(quick.points, whole.points)
    paths = (run.path("streaming") for run in (quick, whole))
    np.testing.assert_array_equal(*(path.means for path in paths))
    for ours, theirs in zip(quick.method(EM).path, whole.method(EM).path, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_learner_with_the_same_options_on_the_same_data_is_not_run_again(small):
    both = replace(small.experiment, algorithms=("windowed", "streaming"))

    run = runs.compute(both, ignore, same_data=small)
    other = runs.compute(replace(both, transition_update="convex"), ignore, same_data=run)

    assert run.method("windowed") is small.method("windowed")
    assert other.method("streaming") is run.method("streaming")
    assert other.method("windowed").transition_error != run.method("windowed").transition_error


@pytest.mark.parametrize("other", [{"seed": 1}, {"length": 2_001}, {"sigmas": (0.3, 1, 1)}])
def test_experiments_with_other_data_share_no_results(small, other):
    assert replace(small.experiment, **other).source != small.experiment.source


def test_progress_is_reported_and_the_picture_grows():
    seen = []
    runs.compute(
        Experiment(length=20_000, algorithms=("windowed",), window=400),
        lambda run, doing, share: seen.append((run, doing, share)),
    )

    shares = [share for run, doing, share in seen if doing == "Windowed"]
    paths = [run.path("windowed") for run, _, _ in seen]
    frames = [0 if path is None else len(path.step) for path in paths]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert frames == sorted(frames)
    assert len(set(frames)) > 5


@pytest.mark.skipif(not runs._FINE, reason="this system does not count the time of a thread")
def test_what_keeps_a_method_waiting_does_not_count_as_its_time():
    def wait(run, doing, share):
        if doing.startswith("EM, iteration"):
            time.sleep(1.0)

    run = runs.compute(Experiment(length=500, window=60), wait)

    assert run.method(EM).seconds < len(run.method(EM).path.step) / 2


def test_a_cancelled_computation_stops_at_once():
    calls = []

    def stop_at_the_third(run, doing, share):
        calls.append(doing)
        if len(calls) == 3:
            raise jobs.Cancelled

    with pytest.raises(jobs.Cancelled):
        runs.compute(Experiment(length=5_000), stop_at_the_third)
    assert len(calls) == 3


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("algorithm", ONLINE_LEARNERS)
def test_every_preset_gives_finite_results(name, algorithm):
    experiment = replace(
        Experiment(length=1_000, window=100, algorithms=(algorithm,)), **PRESETS[name]
    )
    run = runs.compute(experiment, ignore)

    assert [m.key for m in run.methods] == [CEILING, algorithm, KMEANS, EM]
    for method in run.methods:
        assert 0 <= method.accuracy <= 1
        measured = [getattr(method, name) for name in MEASURES if name not in COSTS]
        assert np.isfinite(measured).all()


def test_one_state_alone_is_an_experiment_too():
    alone = {"transmat": ((1.0,),), "means": ((0.3, 0.0),), "sigmas": (0.5,), "startprob": (1.0,)}
    run = runs.compute(replace(Experiment(length=600), **alone), ignore)

    assert all(method.accuracy == 1.0 for method in run.methods)
