import pytest

from dashboard.model.experiment import Experiment
from dashboard.model.stories import stories, story_of
from dashboard.model.view import View
from tests.dashboard.made_runs import finished


def accuracies(name):
    run = finished(stories()[name].experiment)
    return {method.key: method.accuracy for method in run.methods}


def test_every_story_has_a_link_that_opens_it():
    for name, story in stories().items():
        experiment, view = story.opened()
        query = experiment.to_query() | view.to_query()

        assert Experiment.from_query(query) == (experiment, [])
        assert View.from_query(query) == (view, [])
        assert story_of(experiment) == name


def test_the_default_experiment_is_no_story():
    assert story_of(Experiment()) is None


def test_in_the_collapse_the_papers_algorithm_fails_and_ours_does_not():
    found = accuracies("The collapse")

    assert found["windowed"] < 0.8
    assert found["streaming"] > found["ceiling"] - 0.01


def test_in_k_means_fails_only_k_means_does():
    found = accuracies("K-means fails")

    assert found["kmeans"] < 0.85
    assert min(found["em"], found["streaming"]) > found["ceiling"] - 0.01


def test_in_overlap_one_observation_in_seven_cannot_be_known():
    assert accuracies("Overlap")["ceiling"] == pytest.approx(6 / 7, abs=0.015)


def test_in_bad_start_the_papers_algorithm_stays_behind_and_ours_recovers():
    found = accuracies("Bad start")

    assert found["windowed"] < found["em"] - 0.1
    assert found["streaming"] > found["em"] - 0.01
