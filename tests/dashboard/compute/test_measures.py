import numpy as np
import pytest

from dashboard.compute import measures
from dashboard.compute.measures import confusion
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM
from dashboard.model.plan import Plan, Sweep
from rhmm import Hyperbolic
from tests.dashboard.made_runs import PAPERS, all_runs


def test_confusion_counts_labels_by_true_state():
    counts = confusion(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, 0], np.int8), 3)
    assert counts.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]


def test_the_diagonal_of_the_confusion_is_the_accuracy(any_run):
    for method in any_run.methods:
        counts = confusion(any_run.true_states, method.labels, any_run.experiment.n_states)
        assert np.trace(counts) / counts.sum() == pytest.approx(method.accuracy, abs=1e-12)


def test_the_clouds_distances_are_hyperbolic(papers):
    sweep = Sweep.of(Experiment(window=100), Plan(windows=(100,), learners=("paper",), runs=2))
    some = [*papers, *(run for run in all_runs(sweep) if run.configuration.window == 100)]
    clouds = measures.clouds(PAPERS.experiment, some)

    assert [cloud.title for cloud in clouds] == ["Windowed, Δ = 100", "EM"]
    disk, truth = Hyperbolic(2), np.array(Experiment().means)
    for cloud in clouds:
        assert cloud.distances.shape == (2, 3)
        for means, distances in zip(cloud.means, cloud.distances, strict=True):
            np.testing.assert_array_equal(distances, disk.dist(truth, means))
    em = [run for run in some if run.configuration.learner == "em"]
    np.testing.assert_array_equal(clouds[-1].means, [run.means for run in em])


def test_posteriors_are_those_of_all_methods_but_kmeans(paper):
    laws = measures.posteriors(paper)

    assert set(laws) == {"windowed", "streaming", EM, CEILING}
    for key, law in laws.items():
        expected = paper.method(key).model.predict_proba(paper.points)
        np.testing.assert_array_equal(law, expected.astype(np.float32))
