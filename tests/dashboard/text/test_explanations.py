import re
from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute.measures import confusion
from dashboard.compute.runs import empty_run
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, KMEANS
from dashboard.model.presets import PRESETS
from dashboard.text import explanations
from tests.dashboard.made_runs import ONE_STATE, finished, until, with_method


def test_a_row_that_is_certain_in_truth_has_not_collapsed():
    learned = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert explanations.collapsed_rows(learned, np.array([[0.995, 0.005], [0.5, 0.5]])) == [1]


def test_nothing_is_said_before_there_is_a_result():
    assert explanations.why_they_differ(empty_run(Experiment())) == []


def test_two_points_to_one_for_each_method_and_the_cost_are_made_of_every_run(any_run):
    sentences = explanations.why_they_differ(any_run)
    assert 2 <= len(sentences) <= len(any_run.experiment.methods) + 1
    assert "nan" not in " ".join(sentences).lower()


def test_a_run_that_is_not_finished_is_told_as_far_as_it_goes(paper):
    words = " ".join(explanations.why_they_differ(until(paper, "windowed", CEILING)))
    assert "Windowed" in words
    assert "Streaming" not in words
    assert "K-means" not in words
    assert "EM" not in words


def test_the_loss_of_kmeans_is_said_with_its_worst_confusion(paper):
    said = next(s for s in explanations.why_they_differ(paper) if s.startswith("**K-means**"))
    kmeans, ceiling = paper.method(KMEANS), paper.method(CEILING)
    assert f"loses {100 * (ceiling.accuracy - kmeans.accuracy):.1f} points" in said
    i, j, times = map(
        int, re.search(r"state (\d) is taken for state (\d): (\d+) times", said).groups()
    )
    assert confusion(paper.true_states, kmeans.labels, 3)[i - 1, j - 1] == times


def test_one_state_leaves_nothing_to_confuse():
    words = " ".join(explanations.why_they_differ(finished(Experiment(**ONE_STATE, length=1_000))))
    assert "nothing to confuse" in words
    assert "overlap" not in words


def test_states_are_said_not_to_overlap_only_if_kmeans_tells_them_apart_too():
    truth = {**PRESETS["Two states"], "sigmas": (0.05, 0.05)}
    run = finished(Experiment(**truth, length=1_000))

    def said(run):
        return explanations.why_they_differ(run)[0]

    by_the_chain = with_method(run, KMEANS, accuracy=0.52)
    assert said(run).startswith("**The ceiling** is 100 % here: the states do not overlap")
    for unclear in (by_the_chain, until(run, "streaming", CEILING)):
        assert said(unclear).startswith("**The ceiling** is 100 % here: with the true parameters")


def test_a_ceiling_that_is_rounded_to_100_is_said_to_be_just_below_it(paper):
    n = paper.experiment.length
    states = paper.true_states.copy()
    states[0] = 2  # the chain starts in the first state
    run = with_method(paper, CEILING, accuracy=1 - 1e-5, labels=states)

    assert explanations.why_they_differ(run)[0].startswith(
        "**The ceiling** is just below 100 %, because the states overlap: even with the true "
        f"parameters 1 observation of {n:,} gets the wrong state"
    )


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.0, "loses nothing"),
        (0.00001, "loses less than 0.01 points"),
        (0.0001, "loses only 0.01 points"),
        (0.002, "loses only 0.2 points"),
    ],
)
def test_a_loss_is_never_said_to_be_zero_points(paper, gap, words):
    for key, name in (("windowed", "**Windowed**"), ("streaming", "**Streaming**")):
        run = with_method(paper, key, accuracy=paper.method(CEILING).accuracy - gap)
        said = next(s for s in explanations.why_they_differ(run) if s.startswith(name))
        assert words in said


def test_a_collapse_is_named_with_its_rows_and_the_window(collapsed):
    rows = explanations.collapsed_rows(
        collapsed.method("windowed").model.transmat_, np.array(collapsed.experiment.transmat)
    )
    assert rows
    said = next(s for s in explanations.why_they_differ(collapsed) if s.startswith("**Windowed**"))
    assert "collapsed" in said
    assert all(str(row + 1) in said for row in rows)
    assert "Δ = 50" in said
    assert "as printed" in said


def test_the_printed_update_is_not_blamed_for_the_convex_one(collapsed):
    convex = replace(collapsed.experiment, transition_update="convex")
    said = " ".join(explanations.why_they_differ(collapsed._replace(experiment=convex)))
    assert "as printed" not in said


def test_it_is_said_when_all_methods_are_near_the_ceiling():
    run = finished(Experiment(**PRESETS["Near the boundary"], length=5_000))
    assert "All methods are near the ceiling" in " ".join(explanations.why_they_differ(run))


def test_it_is_not_said_when_one_of_them_is_not(paper):
    assert "All methods" not in " ".join(explanations.why_they_differ(paper))


def test_a_poor_optimum_of_em_is_named(paper):
    low = paper.method(CEILING).log_likelihood - 0.1
    said = " ".join(explanations.why_they_differ(with_method(paper, EM, log_likelihood=low)))
    assert "poorer optimum" in said
    assert f"{low:.4f}".replace("-", "−") in said


def test_em_that_was_stopped_is_not_said_to_have_converged(paper):
    run = with_method(paper, EM, remark="stopped after 100 iterations")
    said = " ".join(explanations.why_they_differ(run))
    assert "stopped after 100 iterations, before it had converged" in said


def test_em_that_labels_worse_than_the_best_online_learner_is_told_so(paper):
    best = max(("windowed", "streaming"), key=lambda key: paper.method(key).accuracy)
    run = with_method(paper, EM, accuracy=paper.method(best).accuracy - 0.02)
    said = " ".join(explanations.why_they_differ(run))
    assert f"2.0 points less accuracy than {paper.method(best).name}" in said
    assert "2.0 points ahead of EM" in said


def test_em_that_is_worse_in_both_respects_has_a_poorer_optimum(paper):
    ceiling = paper.method(CEILING)
    run = with_method(
        paper, EM, accuracy=ceiling.accuracy - 0.02, log_likelihood=ceiling.log_likelihood
    )
    run = with_method(
        run,
        "streaming",
        accuracy=ceiling.accuracy,
        log_likelihood=ceiling.log_likelihood + 0.01,
    )
    run = with_method(run, "windowed", accuracy=ceiling.accuracy - 0.01)
    said = " ".join(explanations.why_they_differ(run))
    assert "2.0 points less accuracy than Streaming, and less likelihood" in said


def test_the_cost_counts_the_iterations_and_leaves_out_times_that_were_not_measured(paper):
    iterations = len(paper.method(EM).path.step) - 1
    said = explanations.why_they_differ(with_method(paper, EM, seconds=None))[-1]
    assert f"EM took {iterations} iterations over all 3,000 observations (192.0 KB)" in said


@pytest.mark.parametrize(
    ("algorithms", "words"),
    [
        (("streaming",), r"; Streaming \([^)]*\) took a single pass\."),
        (
            ("windowed", "streaming"),
            r"; Windowed \(.*\) and Streaming \(.*\) took a single pass each\.",
        ),
    ],
)
def test_the_cost_names_every_online_learner_that_has_finished(paper, algorithms, words):
    run = paper._replace(experiment=replace(paper.experiment, algorithms=algorithms))
    assert re.search(words, explanations.why_they_differ(run)[-1])


def test_a_learner_that_never_took_a_step_is_not_blamed_for_one():
    whole = Experiment(length=500, window=500, algorithms=("windowed",))
    run = finished(whole)
    words = " ".join(explanations.why_they_differ(run))
    assert run.path("windowed") is None
    assert "as printed" not in words
    assert "never took a step" in words
