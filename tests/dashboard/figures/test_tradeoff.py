import math
from dataclasses import replace

import numpy as np
import pytest

from dashboard.figures import tradeoff
from dashboard.model.methods import VARIANTS
from dashboard.model.plan import Plan, Sweep
from dashboard.model.presets import PRESETS
from rhmm.sweeping import noise_floor, summarise
from rhmm.table import PAPER
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_runs import ONE_STATE, PAPERS, SMALL, SWEEP, all_runs, of_variant

WITH_DELTA = ("paper", "convex", "streaming", "fixed")
MEASURES = {measure.field: measure for measure in tradeoff.MEASURES}


@pytest.fixture(params=tradeoff.MEASURES, ids=lambda measure: measure.field)
def measure(request):
    return request.param


def shown(some, measure):
    """Mean of a measure over some runs, in the units of the page."""
    if measure.field == "nbytes":
        return max(run.nbytes for run in some)
    scale = 1e6 / some[0].configuration.length if measure.field == "seconds" else 1.0
    return scale * np.mean([getattr(run, measure.field) for run in some])


def traces(figure, words):
    return [trace for trace in figure.data if words in (trace.hovertemplate or "")]


def test_a_learners_points_are_the_means_over_its_runs(swept, measure):
    figure = checked(tradeoff.panel(SWEEP, summarise(swept), measure))

    for key in WITH_DELTA:
        (line,) = (trace for trace in figure.data if trace.name == VARIANTS[key].name)
        assert list(line.x) == [40, 60, 100]
        assert [tuple(point) for point in line.customdata] == [(key, w) for w in line.x]
        expected = [shown(of_variant(swept, key, window), measure) for window in line.x]
        assert list(line.y) == pytest.approx(expected, rel=1e-12)


def test_a_learner_without_delta_is_a_level_that_can_be_clicked(swept, measure):
    figure = checked(tradeoff.panel(SWEEP, summarise(swept), measure))
    (level,) = (trace for trace in figure.data if trace.name == "automatic memory")

    expected = shown(of_variant(swept, "auto", None), measure)
    assert list(level.x) == [40, 100]
    assert list(level.y) == pytest.approx([expected] * 2, rel=1e-12)
    assert [tuple(point) for point in level.customdata] == [("auto", None)] * 2
    assert level.mode == "lines+markers"  # Plotly selects marks alone, not lines


def test_a_band_holds_eight_runs_in_ten(swept):
    figure = checked(tradeoff.panel(SWEEP, summarise(swept), MEASURES["accuracy"]))
    bands = [trace for trace in figure.data if trace.fill == "toself"]

    assert len(bands) == len(VARIANTS)
    for band, key in zip(bands, SWEEP.learners, strict=True):
        windows = (40, 60, 100) if key in WITH_DELTA else (None, None)
        accuracies = [[run.accuracy for run in of_variant(swept, key, w)] for w in windows]
        count = len(windows)
        high, low = list(band.y[:count]), list(band.y[: count - 1 : -1])
        assert high == pytest.approx(np.quantile(accuracies, 0.9, axis=1))
        assert low == pytest.approx(np.quantile(accuracies, 0.1, axis=1))


def test_one_seed_has_no_band(swept, measure):
    figure = checked(tradeoff.panel(SWEEP, summarise([r for r in swept if r.seed == 0]), measure))

    assert [trace for trace in figure.data if trace.fill == "toself"] == []


@pytest.mark.parametrize(
    ("key", "name"), [("kmeans", "K-means"), ("em", "EM"), ("ceiling", "ceiling")]
)
def test_em_kmeans_and_the_ceiling_are_levels(key, name, swept):
    figure = checked(tradeoff.panel(SWEEP, summarise(swept), MEASURES["accuracy"]))
    (level,) = traces(figure, f"{name}: ")

    mine = [run for run in swept if run.configuration.learner == key]
    expected = np.mean([run.accuracy for run in mine])
    assert list(level.y) == pytest.approx([expected] * 2, rel=1e-12)
    names = " ".join(annotation.text for annotation in figure.layout.annotations)
    assert name in names


def test_the_ceiling_is_a_level_of_accuracy_alone(swept):
    drawn = {
        field
        for field, measure in MEASURES.items()
        if traces(checked(tradeoff.panel(SWEEP, summarise(swept), measure)), "ceiling: ")
    }

    assert drawn == {"accuracy"}


def test_the_noise_floor_is_drawn_with_the_error_of_a_alone(swept):
    truth = SMALL.source.true_model()
    for field, measure in MEASURES.items():
        found = traces(checked(tradeoff.panel(SWEEP, summarise(swept), measure)), "noise floor")
        assert len(found) == (field == "transition_error")
    (floor,) = traces(
        checked(tradeoff.panel(SWEEP, summarise(swept), MEASURES["transition_error"])),
        "noise floor",
    )
    assert list(floor.x) == [40, 100]
    assert list(floor.y) == [noise_floor(truth, 40), noise_floor(truth, 100)]


def test_the_papers_points_stand_where_the_truth_is_the_papers(papers):
    accuracy = checked(tradeoff.panel(PAPERS, summarise(papers), MEASURES["accuracy"]))
    seconds = checked(tradeoff.panel(PAPERS, summarise(papers), MEASURES["seconds"]))

    (points,) = traces(accuracy, "Table 2")
    assert dict(zip(points.x, points.y, strict=True)) == {40: 0.48, 60: 0.5}
    (points,) = traces(seconds, "Table 2")
    assert list(points.y) == [100 * PAPER[40].seconds, 100 * PAPER[60].seconds]
    for field in ("transition_error", "mean_error", "nbytes"):
        assert not traces(
            checked(tradeoff.panel(PAPERS, summarise(papers), MEASURES[field])), "Table 2"
        )
    assert "Table 2" in tradeoff.legend(PAPERS)


@pytest.mark.parametrize("changes", [{"length": 9_999}, PRESETS["Overlapping"]])
def test_the_papers_points_stand_nowhere_else(changes, papers, measure):
    other = replace(PAPERS, experiment=replace(PAPERS.experiment, **changes))

    assert not traces(checked(tradeoff.panel(other, summarise(papers), measure)), "Table 2")
    assert "Table 2" not in tradeoff.legend(other)


def test_panels_can_be_drawn_before_anything_is_known(measure):
    figure = checked(tradeoff.panel(SWEEP, [], measure))

    assert [trace for trace in figure.data if trace.name] == []


@pytest.mark.parametrize("experiment", [replace(SMALL, **ONE_STATE), replace(SMALL, window=500)])
def test_panels_can_be_drawn_for_one_state_and_for_one_window(experiment, measure):
    sweep = Sweep.of(experiment, Plan(windows=(experiment.window,), learners=("paper",), runs=1))
    figure = checked(tradeoff.panel(sweep, summarise(all_runs(sweep)), measure))

    assert any(trace.name == VARIANTS["paper"].name for trace in figure.data)
    assert all(math.isfinite(end) for end in figure.layout.xaxis.range)


def test_a_panel_in_words_says_its_numbers(swept, measure):
    words = tradeoff.panel_in_words(SWEEP, summarise(swept), measure)

    for key in WITH_DELTA:
        for window in (40, 60, 100):
            value = shown(of_variant(swept, key, window), measure)
            assert f"{value:{measure.format}} at {window}" in words
    level = shown(of_variant(swept, "auto", None), measure)
    assert words.endswith(f"automatic memory: {level:{measure.format}}.")


def test_every_learner_looks_like_no_other():
    looks = tradeoff.LOOKS

    assert set(looks) == set(VARIANTS)
    for marks in zip(*looks.values(), strict=True):
        assert len(set(marks)) == len(looks)
