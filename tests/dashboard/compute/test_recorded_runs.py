"""Runs on recordings: no truth, perhaps labels, several sequences."""

import json
from dataclasses import replace

import numpy as np
import pytest

from dashboard.canvas import messages
from dashboard.compute import runs
from dashboard.compute.labels import taught
from dashboard.compute.measures import posteriors, predictive_densities
from dashboard.figures import compare
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING
from dashboard.model.view import View
from dashboard.text import ceiling, explanations, files, tables
from rhmm import RiemannianHMM, RiemannianKMeans, WindowedRiemannianHMM, evaluate_without_truth
from tests.dashboard.canvas.unpacking import unpack
from tests.dashboard.made_runs import finished
from tests.dashboard.recorded_experiments import on_a_small_recording

# with the wrong number of states EM may take long
pytestmark = pytest.mark.filterwarnings("ignore::rhmm.ConvergenceWarning")
METHODS = ("windowed", "streaming", "kmeans", "em")


@pytest.fixture(name="labelled")
def run_with_labels(monkeypatch):
    return finished(on_a_small_recording(monkeypatch))


@pytest.fixture(name="unlabelled")
def run_without_labels(monkeypatch):
    return finished(on_a_small_recording(monkeypatch, labelled=False))


@pytest.fixture(params=["labelled", "unlabelled"])
def either(request):
    return request.getfixturevalue(request.param)


def test_a_recording_has_no_ceiling_and_no_errors(either):
    assert either.experiment.methods == METHODS
    assert [method.key for method in either.methods] == list(METHODS)
    assert either.method(CEILING) is None
    for method in either.methods:
        assert np.isnan([method.ceiling, method.transition_error, method.mean_error]).all()
        assert np.isfinite(method.log_likelihood)


def test_methods_learn_sequence_by_sequence_as_by_hand(labelled):
    points, states, lengths = labelled.experiment.source.observe()
    manifold = labelled.experiment.source.manifold
    by_hand = {
        "windowed": WindowedRiemannianHMM(
            manifold, 3, window=60, transition_update="paper", random_state=0
        ),
        "kmeans": RiemannianKMeans(manifold, 3, random_state=0),
        "em": RiemannianHMM(manifold, 3, random_state=0),
    }
    for key, estimator in by_hand.items():
        estimator.fit(points, lengths=lengths)
        found = evaluate_without_truth(
            estimator.to_hmm(), points, states,
            lengths=lengths, labels=getattr(estimator, "labels_", None),
        )  # fmt: skip
        method = labelled.method(key)
        assert method.accuracy == pytest.approx(found.accuracy, abs=1e-12)
        assert method.log_likelihood == pytest.approx(found.log_likelihood, rel=1e-9)
        np.testing.assert_allclose(method.model.transmat_, found.model.transmat_, atol=1e-9)


def test_observations_without_a_label_do_not_count(labelled):
    known = labelled.true_states >= 0
    for method in labelled.methods:
        right = (method.labels == labelled.true_states)[known]
        assert method.accuracy == pytest.approx(right.mean())
        assert method.key == "kmeans" or method.key == "em" or len(method.accuracies)


def test_without_labels_all_methods_name_their_states_alike(unlabelled):
    first, *others = unlabelled.methods
    for method in others:
        assert list(method.model.order_like(first.model)) == [0, 1, 2]


def test_another_number_of_states_is_learned_anew(monkeypatch):
    experiment = on_a_small_recording(monkeypatch)
    before = finished(experiment)
    more = Experiment(recording="disk", states=4, window=60)

    run = runs.compute(more, lambda *_: None, same_data=before)

    assert [len(method.model.means_) for method in run.methods] == [4] * 4


def test_predictive_densities_are_slopes_of_the_likelihood(labelled):
    path = labelled.path("windowed")
    found = predictive_densities(path, 300)
    row = len(found) - 1
    back = int(np.flatnonzero(path.step >= path.step[row] - 30)[0])
    rise = path.log_likelihood[row] - path.log_likelihood[back]
    assert found[row] == pytest.approx(rise / (path.step[row] - path.step[back]))
    assert np.isfinite(found).all()


def test_the_canvas_gets_no_truth(either):
    about, arrays = unpack(messages.run_message(either, True, View(), either.chart))

    assert about["truth"] == {"means": [], "sigmas": [], "transmat": []}
    assert about["ceiling"] is None
    assert about["states"] == 3
    assert len(about["measures"]) == 1
    assert about["labels"] == ("label" if either.has_labels else None)
    score = "accuracies" if either.has_labels else "densities"
    assert all(f"{key}.{score}" in arrays for key in METHODS)
    assert all(np.isfinite(array).all() for name, array in arrays.items())
    steps = arrays["windowed.steps"]
    assert arrays["windowed.errors"].shape == steps.shape


def test_what_is_said_and_drawn_needs_no_truth(either):
    words = " ".join(
        [*explanations.why_they_differ(either), ceiling.of_this_chain(either)]
        + [cell for column in tables.methods_table(either).values() for cell in column]
    )
    drawn = compare.pictures(either)
    window = (1, 120)
    timeline = compare.timeline(either, posteriors(either), window)
    words += compare.timeline_in_words(either, window)
    words += " ".join(compare.map_in_words(either, method) for method in either.methods)

    assert "nan" not in words.lower()
    assert not drawn.errors
    assert bool(drawn.confusions) == either.has_labels
    titles = [one["text"] for one in timeline.layout["annotations"]]
    assert titles[0].startswith("<b>Label</b>" if either.has_labels else "<b>Windowed</b>")
    assert ("differ from the label" in titles[-1]) == either.has_labels


def test_files_say_what_is_known(either):
    results = json.loads(files.results_json(either))
    heads = files.data_csv(either).splitlines()[0].decode().split(",")

    assert "NaN" not in files.results_json(either)
    assert results["experiment"]["recording"] == "disk"
    assert "transmat" not in results["experiment"]
    assert ("accuracy" in results["methods"]["em"]) == either.has_labels
    assert heads[:4] == ["k", "x1", "x2", "sequence"]
    assert ("label_name" in heads) == either.has_labels


def test_a_model_that_is_taught_the_labels_is_learned_if_it_is_asked_for(monkeypatch, labelled):
    asked = replace(labelled.experiment, reference="yes")
    run = runs.compute(asked, lambda *_: None, same_data=labelled)
    recording = asked.held.recording

    assert labelled.reference is None
    assert run.reference == taught(recording, recording, "riemannian")
    assert run.methods == labelled.methods
    assert asked.to_query()["reference"] == "yes"
    assert Experiment(reference="yes") == Experiment()  # a chain has the true parameters


@pytest.mark.parametrize("states", [2, 5])
def test_there_may_be_fewer_or_more_states_than_labels(monkeypatch, states):
    on_a_small_recording(monkeypatch)
    run = finished(Experiment(recording="disk", states=states, window=60))

    for method in run.methods:
        assert len(method.model.means_) == states
        assert set(method.states) <= {-1, *range(states)}
        np.testing.assert_array_equal(
            method.labels[method.labels >= 0], method.names[method.states[method.states >= 0]]
        )
        assert compare.counted(run, method).shape == (max(states, 3),) * 2
    assert compare.timeline(run, posteriors(run), (1, 50))
