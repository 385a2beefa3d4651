import re
from dataclasses import replace

import numpy as np
import pytest

from dashboard import compare, differences, figures, present
from dashboard.experiment import Experiment
from dashboard.presets import PRESETS
from dashboard.runs import CEILING, DISK, EM, KMEANS, ONLINE, Run, compute, empty_run

ONE_STATE = {
    "transmat": ((1.0,),),
    "means": ((0.3, 0.2),),
    "sigmas": (0.5,),
    "startprob": (1.0,),
}
EIGHT_STATES = {
    "transmat": tuple(tuple(0.65 if i == j else 0.05 for j in range(8)) for i in range(8)),
    "means": tuple((0.09 * i - 0.3, 0.7 * (-1) ** i) for i in range(8)),
    "sigmas": (0.3,) * 8,
    "startprob": (0.125,) * 8,
}
TRUTHS = {**PRESETS, "One state": ONE_STATE, "Eight states": EIGHT_STATES}


def finished(experiment: Experiment) -> Run:
    return compute(experiment, lambda run, doing, share: None)


@pytest.fixture(scope="module")
def paper():
    return finished(Experiment(length=3_000))


@pytest.fixture(scope="module", params=TRUTHS)
def any_run(request):
    return finished(Experiment(**TRUTHS[request.param], length=2_000, seed=1))


@pytest.fixture(scope="module")
def collapsed():
    return finished(
        Experiment(**PRESETS["Overlapping"], length=3_000, window=50, algorithm="windowed")
    )


def with_method(run: Run, name: str, **changes) -> Run:
    methods = tuple(m._replace(**changes) if m.name == name else m for m in run.methods)
    return run._replace(methods=methods)


def until(run: Run, *names: str) -> Run:
    """The run as it was when only these methods had finished."""
    unfinished = run._replace(
        methods=tuple(m for m in run.methods if m.name in names), finished=False
    )
    return unfinished if EM in names else unfinished._replace(em_path=(), em_log_likelihood=())


# Measures


def test_confusion_counts_labels_by_true_state():
    counts = compare.confusion(np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 2, 0], np.int8), 3)
    assert counts.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]


def test_the_diagonal_of_the_confusion_is_the_accuracy(any_run):
    for method in any_run.methods:
        counts = compare.confusion(any_run.true_states, method.states, any_run.experiment.n_states)
        assert np.trace(counts) / counts.sum() == pytest.approx(method.accuracy, abs=1e-12)


def test_a_row_that_is_certain_in_truth_has_not_collapsed():
    learned = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert differences.collapsed_rows(learned, np.array([[0.995, 0.005], [0.5, 0.5]])) == [1]


@pytest.mark.parametrize(
    ("asked", "before", "shown"),
    [
        ((1, 200), (1, 200), (1, 200)),
        ((1, 500), (1, 200), (1, 500)),
        ((1, 501), (1, 200), (2, 501)),  # the right end was moved: the left follows
        ((300, 2_000), (1_600, 2_000), (300, 799)),  # the left end was moved: the right follows
        ((5_900, 6_000), (5_900, 6_000), (4_900, 5_000)),  # the chain is shorter now
    ],
)
def test_a_timeline_shows_at_most_500_observations(asked, before, shown):
    assert compare.clamped(asked, before, 5_000) == shown


def test_turning_pages_stops_at_both_ends():
    assert compare.turned((101, 200), 1, 1_000) == (201, 300)
    assert compare.turned((51, 150), -1, 1_000) == (1, 100)
    assert compare.turned((851, 950), 1, 1_000) == (901, 1_000)


# Figures


def test_outlines_of_balls_keep_their_distance_from_the_mean():
    centres = np.array([[0.0, 0.0], [0.29, 0.82], [-0.9, 0.3]])
    radii = np.array([0.2, 1.0, 2.5])

    outlines = figures.ball_outlines(DISK, centres, radii)

    for centre, radius, rim in zip(centres, radii, outlines, strict=True):
        distances = DISK.dist(np.broadcast_to(centre, rim.shape), rim)
        np.testing.assert_allclose(distances, radius, rtol=1e-9)
        steps = np.linalg.norm(np.diff(rim, axis=0), axis=1)
        assert steps.max() < 1.5 * steps.mean()
        np.testing.assert_allclose(rim[0], rim[-1], atol=1e-12)


def test_disks_show_the_same_few_observations_in_the_labels_of_each_method(paper):
    def cloud(name):
        """State by point."""
        traces = compare.disk(paper, paper.method(name)).data[:3]
        return {
            point: state
            for state, trace in enumerate(traces)
            for point in zip(trace.x, trace.y, strict=True)
        }

    online, kmeans = cloud(ONLINE), cloud(KMEANS)
    assert len(online) == compare.MOST_POINTS
    assert online.keys() == kmeans.keys()
    assert online != kmeans


def test_cells_say_the_transition_matrix_to_two_digits(paper):
    figure = compare.transitions(paper.method(ONLINE))
    cells = [[float(re.sub("<.*?>", "", cell)) for cell in row] for row in figure.data[0].text]
    np.testing.assert_allclose(cells, paper.method(ONLINE).model.transmat_, atol=0.005)


def test_errors_of_all_methods_share_one_scale(paper):
    scales = {
        (heat.zmin, heat.zmax)
        for method in paper.methods
        for heat in compare.transition_errors(paper, method).data
    }
    worst = max(
        np.abs(m.model.transmat_ - np.array(paper.experiment.transmat)).max() for m in paper.methods
    )
    assert scales == {(-worst, worst)}


@pytest.mark.parametrize("colours", [figures.SHARES, figures.DIFFERENCES])
def test_what_is_written_in_a_cell_stands_out_from_its_colour(colours):
    values = np.linspace(0.0, 1.0, 64).reshape(8, 8)
    texts = [["x"] * 8] * 8
    figure = figures.matrix(
        "", values, texts, texts, colours=colours, limits=(0.0, 1.0), down="", across=""
    )
    cells = figures.sample_colorscale(colours, values.ravel(), colortype="tuple")
    for cell, text in zip(cells, np.ravel(figure.data[0].text), strict=True):
        ink = int(re.search("color:#(.)", text)[1], 16) / 15
        lighter, darker = sorted((luminance(cell), luminance((ink,) * 3)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) > 4.0


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))


def test_a_state_that_never_occurs_leaves_its_row_of_the_confusion_empty():
    truth = {
        "transmat": ((1.0, 0.0), (0.0, 1.0)),
        "means": ((0.0, 0.0), (0.5, 0.0)),
        "sigmas": (0.3, 0.3),
        "startprob": (1.0, 0.0),
    }
    run = finished(Experiment(**truth, length=500, window=100))
    heat = compare.confusions(run, run.method(CEILING)).data[0]
    assert all(re.sub("<.*?>", "", cell) == "" for cell in heat.text[1])
    assert "nan" not in " ".join(np.ravel(heat.hovertext)).lower()
    assert differences.why_they_differ(run)


def test_the_likelihood_climbs_from_kmeans_to_em(paper):
    climb = compare.likelihood(paper).data[0]
    assert climb.y[0] == pytest.approx(paper.method(KMEANS).log_likelihood)
    assert climb.y[-1] == pytest.approx(paper.method(EM).log_likelihood)
    assert np.all(np.diff(climb.y) >= 0.0)


def test_the_likelihood_without_em_shows_the_levels_alone(paper):
    early = until(paper, ONLINE, CEILING)
    assert len(compare.likelihood(early).data) == 2
    assert compare.likelihood(early, closer=True) is None


def test_the_timeline_marks_each_wrong_label_and_no_other(paper):
    window = (301, 700)
    posteriors = {
        m.name: m.model.predict_proba(paper.points) for m in paper.methods if m.name != KMEANS
    }
    figure = compare.timeline(paper, posteriors, window)
    marks = [t for t in figure.data if t.marker.color == figures.WRONG]
    for name, mark in zip(present.ORDER, marks, strict=True):
        wrong = 1 + np.flatnonzero(paper.method(name).states != paper.true_states)
        inside = wrong[(wrong >= window[0]) & (wrong <= window[1])]
        np.testing.assert_array_equal(mark.x, inside)


def test_every_run_and_every_stage_of_it_can_be_drawn(any_run):
    stages = (
        until(any_run, ONLINE, CEILING), until(any_run, ONLINE, CEILING, KMEANS), any_run,
    )  # fmt: skip
    for stage in stages:
        pictures = compare.draw(stage)
        assert set(pictures.disks) == {m.name for m in stage.methods}
        for group in pictures[:4]:
            for figure in group.values():
                words = [figure.layout.title.text]
                for trace in figure.data:
                    words += np.ravel(trace.text).tolist() + np.ravel(trace.hovertext).tolist()
                assert "nan" not in " ".join(filter(None, words)).lower()


# Words


def test_nothing_is_said_before_there_is_a_result():
    assert differences.why_they_differ(empty_run(Experiment())) == []


def test_two_to_five_points_are_made_of_every_run(any_run):
    sentences = differences.why_they_differ(any_run)
    assert 2 <= len(sentences) <= 5
    assert "nan" not in " ".join(sentences).lower()


def test_a_run_that_is_not_finished_is_told_as_far_as_it_goes(paper):
    words = " ".join(differences.why_they_differ(until(paper, ONLINE, CEILING)))
    assert "Online" in words
    assert "K-means" not in words
    assert "EM" not in words


def test_the_loss_of_kmeans_is_said_with_its_worst_confusion(paper):
    said = next(s for s in differences.why_they_differ(paper) if s.startswith("**K-means**"))
    kmeans, ceiling = paper.method(KMEANS), paper.method(CEILING)
    assert f"loses {100 * (ceiling.accuracy - kmeans.accuracy):.1f} points" in said
    i, j, times = map(
        int, re.search(r"state (\d) is taken for state (\d): (\d+) times", said).groups()
    )
    assert compare.confusion(paper.true_states, kmeans.states, 3)[i - 1, j - 1] == times


def test_one_state_leaves_nothing_to_confuse():
    words = " ".join(differences.why_they_differ(finished(Experiment(**ONE_STATE, length=1_000))))
    assert "nothing to confuse" in words
    assert "overlap" not in words


def test_states_are_said_not_to_overlap_only_if_kmeans_tells_them_apart_too():
    truth = {**PRESETS["Two states"], "sigmas": (0.05, 0.05)}
    run = finished(Experiment(**truth, length=1_000))

    def said(run):
        return differences.why_they_differ(run)[0]

    by_the_chain = with_method(run, KMEANS, accuracy=0.52)
    assert said(run).startswith("**The ceiling** is 100 % here: the states do not overlap")
    for unclear in (by_the_chain, until(run, ONLINE, CEILING)):
        assert said(unclear).startswith("**The ceiling** is 100 % here: with the true parameters")


def test_a_ceiling_that_is_rounded_to_100_is_said_to_be_just_below_it(paper):
    n = paper.experiment.length
    states = paper.true_states.copy()
    states[0] = 2  # the chain starts in the first state
    run = with_method(paper, CEILING, accuracy=1 - 1e-5, states=states)

    assert differences.why_they_differ(run)[0].startswith(
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
    run = with_method(paper, ONLINE, accuracy=paper.method(CEILING).accuracy - gap)
    said = next(s for s in differences.why_they_differ(run) if s.startswith("**Online**"))
    assert words in said


def test_a_collapse_is_named_with_its_rows_and_the_window(collapsed):
    rows = differences.collapsed_rows(
        collapsed.method(ONLINE).model.transmat_, np.array(collapsed.experiment.transmat)
    )
    assert rows
    said = next(s for s in differences.why_they_differ(collapsed) if s.startswith("**Online**"))
    assert "collapsed" in said
    assert all(str(row + 1) in said for row in rows)
    assert "Δ = 50" in said
    assert "as printed" in said


def test_the_printed_update_is_not_blamed_for_the_convex_one(collapsed):
    convex = replace(collapsed.experiment, transition_update="convex")
    said = " ".join(differences.why_they_differ(collapsed._replace(experiment=convex)))
    assert "as printed" not in said


def test_it_is_said_when_all_methods_are_near_the_ceiling():
    run = finished(Experiment(**PRESETS["Near the boundary"], length=5_000))
    assert "All three are near the ceiling" in " ".join(differences.why_they_differ(run))


def test_it_is_not_said_when_one_of_them_is_not(paper):
    assert "All three" not in " ".join(differences.why_they_differ(paper))


def test_a_poor_optimum_of_em_is_named(paper):
    low = paper.method(CEILING).log_likelihood - 0.1
    said = " ".join(differences.why_they_differ(with_method(paper, EM, log_likelihood=low)))
    assert "poorer optimum" in said
    assert f"{low:.4f}".replace("-", "−") in said


def test_em_that_was_stopped_is_not_said_to_have_converged(paper):
    run = with_method(paper, EM, remark="stopped after 100 iterations")
    said = " ".join(differences.why_they_differ(run))
    assert "stopped after 100 iterations, before it had converged" in said


def test_em_that_labels_worse_than_online_is_told_so(paper):
    run = with_method(paper, EM, accuracy=paper.method(ONLINE).accuracy - 0.02)
    said = " ".join(differences.why_they_differ(run))
    assert "2.0 points less accuracy than online" in said
    assert "2.0 points ahead of EM" in said


def test_em_that_is_worse_in_both_respects_has_a_poorer_optimum(paper):
    online, ceiling = paper.method(ONLINE), paper.method(CEILING)
    run = with_method(
        paper, EM, accuracy=online.accuracy - 0.02, log_likelihood=ceiling.log_likelihood
    )
    run = with_method(run, ONLINE, log_likelihood=ceiling.log_likelihood + 0.01)
    said = " ".join(differences.why_they_differ(run))
    assert "2.0 points less accuracy than online, and less likelihood" in said


def test_the_cost_counts_the_iterations_and_leaves_out_times_that_were_not_measured(paper):
    iterations = len(paper.em_path) - 1
    said = differences.why_they_differ(with_method(paper, EM, seconds=None))[-1]
    assert f"EM took {iterations} iterations over all 3,000 observations (192.0 KB)" in said


def test_who_never_took_a_step_is_not_blamed_for_one():
    whole = Experiment(length=500, window=500, algorithm="windowed")
    run = compute(whole, lambda *_: None)
    words = " ".join(differences.why_they_differ(run))
    assert run.trace is None
    assert "as printed" not in words
    assert "never took a step" in words
