"""Runs whose states have another law than the paper's."""

from dataclasses import replace

import numpy as np
import pytest

from dashboard.canvas import messages
from dashboard.compute import kernels, outlines, runs
from dashboard.compute.feeding import models_along
from dashboard.figures import compare
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.disk import DISK_CHART
from dashboard.model.view import View
from dashboard.text import files
from rhmm import StreamingRiemannianHMM
from tests.dashboard.canvas.unpacking import unpack
from tests.dashboard.made_recordings import of_the_disk
from tests.dashboard.made_runs import finished

TIED = Experiment(length=600, window=150, emission="tied")


@pytest.fixture(name="run", scope="module")
def shaped_run():
    return finished(TIED)


def test_streaming_and_em_learn_the_law_and_all_others_keep_to_the_papers(run):
    laws = {method.key: method.model.law_.emission for method in run.methods}
    assert laws == {
        "windowed": "riemannian", "streaming": "tied", "kmeans": "riemannian", "em": "tied",
        "ceiling": "riemannian",
    }  # fmt: skip
    by_hand = StreamingRiemannianHMM(
        TIED.source.manifold, 3, window=150, emission="tied", random_state=0
    ).fit(run.points)
    found = run.method("streaming").model
    np.testing.assert_array_equal(
        found.covariances_, by_hand.to_hmm().permuted(run.method("streaming").order).covariances_
    )


def test_ellipses_along_the_path_end_with_that_of_the_result(run):
    method = run.method("streaming")

    assert method.balls.shape == (len(method.path.step), 3, 5)
    np.testing.assert_allclose(method.balls[:, :, :2], method.path.means)
    ends = outlines.balls(DISK_CHART, method.model)
    np.testing.assert_allclose(method.balls[-1, :, :4], ends[:, :4])
    turns = np.diff(method.balls[:, :, 4], axis=0)
    assert np.abs(turns).max() <= np.pi / 2
    assert method.accuracies[-1] == method.accuracy
    assert run.method("windowed").balls is None


def test_a_learner_goes_the_same_way_in_any_pieces():
    recording = of_the_disk().recording
    options = {"window": 60, "emission": "full", "random_state": 0}
    learner = StreamingRiemannianHMM(recording.manifold, 3, trace_every=7, **options)
    trace = learner.fit(recording.points, lengths=recording.lengths).trace_
    again = StreamingRiemannianHMM(recording.manifold, 3, **options)

    models = list(models_along(again, recording.points, recording.lengths, trace.step))

    np.testing.assert_array_equal([model.means_ for model in models], trace.means)
    np.testing.assert_array_equal([model.transmat_ for model in models], trace.transmat)


def test_the_canvas_gets_ellipses_of_the_shaped_and_sigma_alone_of_the_round(run):
    _, arrays = unpack(messages.run_message(run, True, View(), run.chart))

    assert arrays["streaming.balls"].size == run.method("streaming").balls.size
    assert "windowed.balls" not in arrays


def test_maps_of_compare_show_the_outlines(run):
    method = run.method("em")
    drawn = compare.map_of(run, method)

    (line,) = {
        tuple(zip(trace["x"].tolist(), trace["y"].tolist(), strict=True))
        for trace in drawn.data
        if trace.get("mode") == "lines" and np.allclose(
            np.column_stack([trace["x"], trace["y"]]),
            outlines.outlines(DISK_CHART, method.model)[0], atol=1e-6,
        )
    }  # fmt: skip
    assert len(line) == 73


def test_what_is_known_of_one_law_is_not_taken_for_another(run):
    again = runs.compute(replace(TIED, emission="diag"), lambda *_: None, same_data=run)

    assert again.method("windowed") is run.method("windowed")
    assert again.method("kmeans") is run.method("kmeans")
    for key in ("streaming", "em"):
        assert again.method(key).model.law_.emission == "diag"


def test_the_script_names_the_law(run):
    script = files.run_script(TIED)
    assert script.count("emission='tied'") == 2
    assert "emission" not in files.run_script(replace(TIED, emission="riemannian"))


def test_the_law_is_in_the_link_unless_it_is_the_papers():
    assert TIED.to_query()["emission"] == "tied"
    assert Experiment.from_query(TIED.to_query()) == (TIED, [])
    assert "emission" not in Experiment().to_query()
    _, (problem,) = Experiment.from_query({"emission": "square"})
    assert "Law of a state" in str(problem)


def test_kernels_of_shapes_are_parts_of_their_own():
    parts = kernels.parts_of("disk", TIED.algorithms, with_shapes=True)

    assert {part.method for part in parts} == {
        "windowed", "streaming+shapes", "kmeans", "em+shapes", "ceiling",
    }  # fmt: skip
    assert {part.learner for part in parts} == {*TIED.methods}
