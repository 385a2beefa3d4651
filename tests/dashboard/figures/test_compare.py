import re

import numpy as np
import pytest

from dashboard.figures import common, compare
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, KMEANS
from dashboard.text import explanations
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_runs import finished, until


def test_maps_show_the_same_few_observations_in_the_labels_of_each_method(paper):
    def cloud(key):
        """State by point."""
        traces = checked(compare.map_of(paper, paper.method(key))).data[:3]
        return {
            point: state
            for state, trace in enumerate(traces)
            for point in zip(trace.x, trace.y, strict=True)
        }

    online, kmeans = cloud("streaming"), cloud(KMEANS)
    assert len(online) == compare.MOST_POINTS
    assert online.keys() == kmeans.keys()
    assert online != kmeans


def test_cells_say_the_transition_matrix_to_two_digits(paper):
    figure = checked(compare.transitions(paper.method("streaming")))
    cells = [[float(re.sub("<.*?>", "", cell)) for cell in row] for row in figure.data[0].text]
    np.testing.assert_allclose(cells, paper.method("streaming").model.transmat_, atol=0.005)


def test_errors_of_all_methods_share_one_scale(paper):
    scales = {
        (heat.zmin, heat.zmax)
        for method in paper.methods
        for heat in checked(compare.transition_errors(paper, method)).data
    }
    worst = max(
        np.abs(m.model.transmat_ - np.array(paper.experiment.transmat)).max() for m in paper.methods
    )
    assert scales == {(-worst, worst)}


@pytest.mark.filterwarnings("ignore::rhmm.ConvergenceWarning")
def test_a_state_that_never_occurs_leaves_its_row_of_the_confusion_empty():
    truth = {
        "transmat": ((1.0, 0.0), (0.0, 1.0)),
        "means": ((0.0, 0.0), (0.5, 0.0)),
        "sigmas": (0.3, 0.3),
        "startprob": (1.0, 0.0),
    }
    run = finished(Experiment(**truth, length=500, window=100))
    heat = checked(compare.confusions(run, run.method(CEILING))).data[0]
    assert all(re.sub("<.*?>", "", cell) == "" for cell in heat.text[1])
    assert "nan" not in " ".join(np.ravel(heat.hovertext)).lower()
    assert explanations.why_they_differ(run)


def test_the_likelihood_climbs_from_above_kmeans_to_em(paper):
    climb = checked(compare.likelihood(paper)).data[0]
    assert climb.y[0] > paper.method(KMEANS).log_likelihood
    assert climb.y[-1] == pytest.approx(paper.method(EM).log_likelihood)
    assert np.all(np.diff(climb.y) >= 0.0)


def test_the_likelihood_has_a_level_for_every_online_learner_and_the_ceiling(paper):
    names = [trace.name for trace in checked(compare.likelihood(paper)).data]
    expected = ("EM", "Windowed", "Streaming", "True parameters")
    assert len(names) == len(expected)
    assert all(name.startswith(start) for name, start in zip(names, expected, strict=True))


def test_the_climb_begins_where_em_itself_began(any_run):
    climb = checked(compare.likelihood(any_run)).data[0]
    em = any_run.method(EM)
    assert climb.y[0] == em.path.log_likelihood[0] / any_run.experiment.length
    assert climb.text[0] == "its own start"


@pytest.mark.parametrize("centre", [0, 2])
def test_a_map_can_have_the_true_mean_of_a_state_in_its_middle(paper, centre):
    crosses = checked(compare.map_of(paper, paper.method(EM), centre)).data[-1]
    assert (crosses.x[centre], crosses.y[centre]) == pytest.approx((0.0, 0.0), abs=1e-12)
    assert crosses.text[centre].startswith(f"true mean of state {centre + 1}")


def test_the_likelihood_without_em_shows_the_levels_alone(paper):
    early = until(paper, "windowed", CEILING)
    assert len(checked(compare.likelihood(early)).data) == 2
    assert compare.likelihood(early, closer=True) is None


def test_the_timeline_marks_each_wrong_label_and_no_other(paper):
    window = (301, 700)
    posteriors = {
        m.key: m.model.predict_proba(paper.points) for m in paper.methods if m.key != KMEANS
    }
    figure = checked(compare.timeline(paper, posteriors, window))
    marks = [t for t in figure.data if t.marker.color == common.WRONG]
    for key, mark in zip(paper.experiment.methods, marks, strict=True):
        wrong = 1 + np.flatnonzero(paper.method(key).labels != paper.true_states)
        inside = wrong[(wrong >= window[0]) & (wrong <= window[1])]
        np.testing.assert_array_equal(mark.x, inside)


def test_every_run_and_every_stage_of_it_can_be_drawn(any_run):
    stages = (
        until(any_run, "windowed", CEILING),
        until(any_run, "windowed", "streaming", CEILING, KMEANS),
        any_run,
    )  # fmt: skip
    for stage in stages:
        pictures = compare._draw(stage)
        checked(pictures.likelihood)
        assert set(pictures.maps) == {m.key for m in stage.methods}
        for group in pictures[:4]:
            for figure in map(checked, group.values()):
                words = [figure.layout.title.text]
                for trace in figure.data:
                    words += np.ravel(trace.text).tolist() + np.ravel(trace.hovertext).tolist()
                assert "nan" not in " ".join(filter(None, words)).lower()
