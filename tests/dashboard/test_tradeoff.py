import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dashboard import billing, paper_beside_ours, present, runs, tradeoff
from dashboard.experiment import Experiment
from dashboard.presets import PRESETS
from dashboard.runs import true_model
from dashboard.sweeps import LEARNERS, RIVALS, Plan, Sweep
from rhmm import Hyperbolic
from rhmm.__main__ import main
from rhmm.sweeping import (
    Configuration,
    load_runs,
    noise_floor,
    run_once,
    summarise,
)
from rhmm.table import PAPER, furthest_from_truth, rows

ROOT = Path(__file__).parents[2]
SMALL = Experiment(length=500, window=60)
SWEEP = Sweep.of(SMALL, Plan(windows=(40, 100), learners=tuple(LEARNERS), runs=3))
PAPERS = Sweep.of(Experiment(window=60), Plan(windows=(40,), learners=("paper",), runs=2))
ONE_STATE = {"transmat": ((1.0,),), "means": ((0.3, 0.2),), "sigmas": (0.5,), "startprob": (1.0,)}
MEASURES = {measure.field: measure for measure in tradeoff.MEASURES}


def all_runs(wish):
    truth = true_model(wish.experiment)
    return [run_once(truth, c, s) for c in wish.configurations() for s in range(wish.runs)]


@pytest.fixture(scope="module")
def swept():
    return all_runs(SWEEP)


@pytest.fixture(scope="module")
def papers():
    return all_runs(PAPERS)


@pytest.fixture(params=tradeoff.MEASURES, ids=lambda measure: measure.field)
def measure(request):
    return request.param


def of_learner(some, name, window=None):
    options = LEARNERS[name]
    return [
        run
        for run in some
        if all(getattr(run.configuration, key) == value for key, value in options.items())
        and (name != "streaming" or run.configuration.memory == "growing")
        and run.configuration.window is not None
        and window in (None, run.configuration.window)
    ]


def shown(some, measure):
    """Mean of a measure over some runs, in the units of the page."""
    if measure.field == "nbytes":
        return max(run.nbytes for run in some)
    scale = 1e6 / some[0].configuration.length if measure.field == "seconds" else 1.0
    return scale * np.mean([getattr(run, measure.field) for run in some])


def traces(figure, words):
    return [trace for trace in figure.data if words in (trace.hovertemplate or "")]


# Figures


def test_a_learners_points_are_the_means_over_its_runs(swept, measure):
    figure = tradeoff.panel(SWEEP, summarise(swept), measure)

    for name in LEARNERS:
        (line,) = (trace for trace in figure.data if trace.name == tradeoff.LOOKS[name].name)
        assert list(line.x) == [40, 60, 100]
        assert [tuple(point) for point in line.customdata] == [(name, w) for w in line.x]
        expected = [shown(of_learner(swept, name, window), measure) for window in line.x]
        assert list(line.y) == pytest.approx(expected, rel=1e-12)


def test_a_band_holds_eight_runs_in_ten(swept):
    figure = tradeoff.panel(SWEEP, summarise(swept), MEASURES["accuracy"])
    bands = [trace for trace in figure.data if trace.fill == "toself"]

    assert len(bands) == len(LEARNERS)
    for band, name in zip(bands, SWEEP.learners, strict=True):
        accuracies = [
            [run.accuracy for run in of_learner(swept, name, window)] for window in (40, 60, 100)
        ]
        high, low = list(band.y[:3]), list(band.y[:2:-1])
        assert high == pytest.approx(np.quantile(accuracies, 0.9, axis=1))
        assert low == pytest.approx(np.quantile(accuracies, 0.1, axis=1))


def test_one_seed_has_no_band(swept, measure):
    figure = tradeoff.panel(SWEEP, summarise([r for r in swept if r.seed == 0]), measure)

    assert [trace for trace in figure.data if trace.fill == "toself"] == []


@pytest.mark.parametrize("method", RIVALS)
def test_em_kmeans_and_the_ceiling_are_levels(method, swept):
    words = f"{tradeoff.RIVALS[method][0]}: "
    figure = tradeoff.panel(SWEEP, summarise(swept), MEASURES["accuracy"])
    (level,) = traces(figure, words)

    mine = [run for run in swept if run.configuration.method == method]
    expected = np.mean([run.accuracy for run in mine])
    assert list(level.y) == pytest.approx([expected] * 2, rel=1e-12)
    names = " ".join(annotation.text for annotation in figure.layout.annotations)
    assert tradeoff.RIVALS[method][0] in names


def test_the_ceiling_is_a_level_of_accuracy_alone(swept):
    drawn = {
        field
        for field, measure in MEASURES.items()
        if traces(tradeoff.panel(SWEEP, summarise(swept), measure), "ceiling: ")
    }

    assert drawn == {"accuracy"}


def test_the_noise_floor_is_drawn_with_the_error_of_a_alone(swept):
    truth = true_model(SMALL)
    for field, measure in MEASURES.items():
        found = traces(tradeoff.panel(SWEEP, summarise(swept), measure), "noise floor")
        assert len(found) == (field == "transition_error")
    (floor,) = traces(
        tradeoff.panel(SWEEP, summarise(swept), MEASURES["transition_error"]), "noise floor"
    )
    assert list(floor.x) == [40, 100]
    assert list(floor.y) == [noise_floor(truth, 40), noise_floor(truth, 100)]


def test_the_papers_points_stand_where_the_truth_is_the_papers(papers):
    accuracy = tradeoff.panel(PAPERS, summarise(papers), MEASURES["accuracy"])
    seconds = tradeoff.panel(PAPERS, summarise(papers), MEASURES["seconds"])

    (points,) = traces(accuracy, "Table 2")
    assert dict(zip(points.x, points.y, strict=True)) == {40: 0.48, 60: 0.5}
    (points,) = traces(seconds, "Table 2")
    assert list(points.y) == [100 * PAPER[40].seconds, 100 * PAPER[60].seconds]
    for field in ("transition_error", "mean_error", "nbytes"):
        assert not traces(tradeoff.panel(PAPERS, summarise(papers), MEASURES[field]), "Table 2")
    assert "Table 2" in tradeoff.legend(PAPERS)


@pytest.mark.parametrize("changes", [{"length": 9_999}, PRESETS["Overlapping"]])
def test_the_papers_points_stand_nowhere_else(changes, papers, measure):
    other = replace(PAPERS, experiment=replace(PAPERS.experiment, **changes))

    assert not traces(tradeoff.panel(other, summarise(papers), measure), "Table 2")
    assert "Table 2" not in tradeoff.legend(other)


def test_panels_can_be_drawn_before_anything_is_known(measure):
    figure = tradeoff.panel(SWEEP, [], measure)

    assert [trace for trace in figure.data if trace.name] == []


@pytest.mark.parametrize("experiment", [replace(SMALL, **ONE_STATE), replace(SMALL, window=500)])
def test_panels_can_be_drawn_for_one_state_and_for_one_window(experiment, measure):
    wish = Sweep.of(experiment, Plan(windows=(experiment.window,), learners=("paper",), runs=1))
    figure = tradeoff.panel(wish, summarise(all_runs(wish)), measure)

    assert any(trace.name == tradeoff.LOOKS["paper"].name for trace in figure.data)
    assert all(math.isfinite(end) for end in figure.layout.xaxis.range)


def test_a_panel_in_words_says_its_numbers(swept, measure):
    words = tradeoff.panel_in_words(SWEEP, summarise(swept), measure)

    for name in LEARNERS:
        for window in (40, 60, 100):
            value = shown(of_learner(swept, name, window), measure)
            assert f"{value:{measure.format}} at {window}" in words


def test_every_learner_looks_like_no_other():
    looks = tradeoff.LOOKS

    assert set(looks) == set(LEARNERS)
    for marks in zip(*looks.values(), strict=True):
        assert len(set(marks)) == len(looks)


# The paper's figure


def test_the_clouds_distances_are_hyperbolic(papers):
    wish = Sweep.of(Experiment(window=100), Plan(windows=(100,), learners=("paper",), runs=2))
    some = [*papers, *(run for run in all_runs(wish) if run.configuration.window == 100)]
    clouds = paper_beside_ours.clouds(PAPERS.experiment, some)

    assert [cloud.title for cloud in clouds] == ["Windowed, Δ = 100", "EM"]
    disk, truth = Hyperbolic(2), np.array(Experiment().means)
    for cloud in clouds:
        assert cloud.distances.shape == (2, 3)
        for means, distances in zip(cloud.means, cloud.distances, strict=True):
            np.testing.assert_array_equal(distances, disk.dist(truth, means))
    em = [run for run in some if run.configuration.method == "em"]
    np.testing.assert_array_equal(clouds[-1].means, [run.means for run in em])
    figure = paper_beside_ours.cloud_distances(PAPERS.experiment, clouds)
    assert [len(box.y) for box in figure.data] == [4, 4, 4]
    means = paper_beside_ours.cloud_disk(PAPERS.experiment, clouds[0]).data[-3:]
    np.testing.assert_array_equal([trace.x for trace in means], clouds[0].means[:, :, 0].T)


# Tables


def test_the_runs_behind_a_point_are_shown_with_their_seeds(swept):
    mine = of_learner(swept, "convex", 60)
    table = tradeoff.runs_table(mine)

    assert table["Seed"] == ["0", "1", "2"]
    assert table["Accuracy"] == [present.percent(run.accuracy) for run in mine]
    assert table["‖A − Â‖"] == [f"{run.transition_error:.4f}" for run in mine]


@pytest.mark.parametrize(
    ("left_out", "words"), [(0, "2 seeds"), (1, "1 to 2 seeds"), (len(RIVALS) + 4, "one seed")]
)
def test_the_papers_table_says_over_how_many_seeds_it_is(papers, left_out, words):
    by_seed = sorted(papers, key=lambda run: run.seed)
    some = by_seed[: len(by_seed) - left_out]
    assert paper_beside_ours.seeds_in_words(paper_beside_ours.paper_rows(some)) == words


def test_the_papers_table_agrees_with_the_command_line(papers, capsys, monkeypatch):
    monkeypatch.setattr("rhmm.table.configurations", lambda length: PAPERS.configurations())
    monkeypatch.setattr("rhmm.__main__.sweep", lambda *_: papers)
    main(["table", "--json", "--runs", "2"])
    printed = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    table = paper_beside_ours.paper_table(paper_beside_ours.paper_rows(papers))

    lines = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
    assert {line[""] for line in lines} == set(printed)
    for line in lines:
        row = printed[line[""]]
        accuracy, error = row["accuracy"], row["transition_error"]
        assert line["Accuracy"] == f"{accuracy['mean']:.4f} ± {accuracy['spread']:.4f}"
        assert line["‖A − Â‖"] == f"{error['mean']:.3f} ± {error['spread']:.3f}"
        assert line["Diagonal of Â"] == " ".join(f"{a:.2f}" for a in row["diagonal"])
        ceiling = row["configuration"]["method"] == "ceiling"
        time = "–" if ceiling else present.seconds(row["seconds"]["mean"])
        assert line["Time"] == time
        paper = row["paper"]
        assert line["Paper’s accuracy"] == (f"{paper['accuracy']:.2f}" if paper else "")
        assert line["Paper’s RMSE"] == (f"{paper['rmse']:.2f}" if paper else "")


def test_the_papers_rows_come_first_and_each_says_why_it_differs(papers):
    table = paper_beside_ours.paper_rows(papers)

    assert [row.summary.configuration.name for row in table] == [
        "windowed, paper's update, Δ=40",
        "windowed, paper's update, Δ=60",
        "K-means only",
        "EM",
        "streaming, Δ=40",
        "streaming, Δ=60",
        "true parameters (the ceiling)",
    ]
    assert sorted(table, key=str) == sorted(rows(papers), key=str)
    for row in table[:4]:
        assert len(row.remarks) == 3
        assert f"{furthest_from_truth(row.paper.diagonal):.2f}" in row.remarks[1]
    assert all(row.remarks == [] for row in table[4:])


@pytest.mark.parametrize("name", ["streaming", "paper", "convex"])
def test_the_live_lab_opens_that_very_run(name, swept):
    run = of_learner(swept, name, 100)[2]
    assert tradeoff.opens_in_the_lab(run.configuration)

    experiment = tradeoff.experiment_of(replace(SMALL, seed=77), run)
    link, problems = Experiment.from_query(experiment.to_query())
    online = runs.compute(link, lambda *_: None).method(runs.ONLINE)

    assert problems == []
    assert (link.seed, link.window) == (2, 100)
    assert online.accuracy == run.accuracy
    assert online.transition_error == run.transition_error
    assert online.mean_error == run.mean_error
    assert online.sigma_error == run.sigma_error
    assert online.log_likelihood == run.log_likelihood


def test_what_the_live_lab_does_not_know_has_no_link(swept):
    cannot = {
        tradeoff.learner_of(run.configuration)
        for run in swept
        if not tradeoff.opens_in_the_lab(run.configuration)
    }

    assert cannot == {"fixed", None}


# What Δ costs


def with_accuracies(experiment, by_window, ceiling=0.9):
    """Runs of the experiment's algorithm with these accuracies."""
    name = experiment.learner
    out = []
    for window, accuracies in by_window.items():
        c = Configuration(length=experiment.length, window=window, **LEARNERS[name])
        run = run_once(true_model(experiment), c, 0)
        out += [
            run._replace(seed=seed, accuracy=accuracy, ceiling=ceiling, transition_error=0.123)
            for seed, accuracy in enumerate(accuracies)
        ]
    return out


@pytest.mark.parametrize("algorithm", ["streaming", "windowed"])
def test_the_bill_is_of_the_experiments_own_delta(algorithm, swept):
    experiment = replace(SMALL, algorithm=algorithm)
    bill = billing.bill(experiment, swept)

    name = "streaming" if algorithm == "streaming" else "paper"
    mine = of_learner(swept, name, 60)
    seconds = np.mean([run.seconds for run in mine])
    assert bill.accuracy == present.percent(np.mean([run.accuracy for run in mine]))
    assert bill.error == f"{np.mean([run.transition_error for run in mine]):.4f}"
    assert bill.time == present.microseconds(1e6 * seconds / 500)
    assert bill.memory == present.size(max(run.nbytes for run in mine))
    assert "Δ = 60" in bill.words
    assert "over 3 runs" in bill.words
    assert f"{noise_floor(true_model(SMALL), 60):.3f}" in bill.words


@pytest.mark.parametrize(
    ("by_window", "sentence"),
    [
        ({40: [0.5], 60: [0.6], 100: [0.895]}, "Δ = 100 would be enough to be within 1 %"),
        ({40: [0.895], 60: [0.9]}, "Even Δ = 40, the smallest that was run, is within 1 %"),
        ({40: [0.5], 60: [0.6]}, "None of the values of Δ up to 60 that were run comes within 1 %"),
        ({40: [0.5], 60: [0.6]}, "it names 30.0 percentage points fewer hidden states"),
        ({60: [0.8996]}, "it names as many hidden states as"),
        ({60: [0.95]}, "it names as many hidden states as"),
        ({60: [0.6]}, "over one run"),
        ({60: [0.6, 0.7]}, "over 2 runs"),
    ],
)
def test_the_bills_sentences_follow_the_numbers(by_window, sentence):
    bill = billing.bill(SMALL, with_accuracies(SMALL, by_window))

    assert sentence in bill.words


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.1234, "0.123 µs"), (28.14, "28.1 µs"), (281.4, "281 µs"), (2_814.0, "2,814 µs")],
)
def test_the_time_for_an_observation_is_written_without_powers_of_ten(value, words):
    assert present.microseconds(value) == words


def test_there_is_no_bill_before_the_first_run(swept):
    assert billing.bill(SMALL, []) is None
    assert billing.bill(SMALL, [run for run in swept if run.configuration.window != 60]) is None


def test_an_error_above_that_of_chance_is_not_praised(swept):
    mine = of_learner(swept, "streaming", 60)
    for factor, praised in ((0.5, True), (2.0, False)):
        error = factor * noise_floor(true_model(SMALL), 60)
        bill = billing.bill(SMALL, [run._replace(transition_error=error) for run in mine])
        assert f"{error:.3f}" in bill.words
        assert ("keeps falling" in bill.words) == praised


@pytest.mark.parametrize("algorithm", ["streaming", "windowed"])
def test_one_state_has_a_bill_that_promises_nothing_about_its_transitions(algorithm):
    alone = replace(SMALL, **ONE_STATE, algorithm=algorithm)
    wish = Sweep.of(alone, Plan(windows=(40,), learners=("paper",), runs=1))
    bill = billing.bill(alone, all_runs(wish))

    assert bill.accuracy == "100.00 %"
    assert "as many hidden states" in bill.words
    assert "nothing to learn in A" in bill.words
    assert "keeps falling" not in bill.words


# Files


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_hold_the_very_same_runs(suffix, swept, tmp_path):
    path = tmp_path / f"runs{suffix}"
    path.write_bytes(tradeoff.file_of(SMALL, suffix, swept))

    assert load_runs(path, true_model(SMALL)) == swept


def test_the_script_runs_the_sweep_again_with_the_same_numbers(tmp_path):
    wish = Sweep.of(
        replace(SMALL, **PRESETS["Five states"]), Plan((40,), ("convex", "fixed"), runs=2)
    )
    file = tmp_path / "sweep.py"
    file.write_text(tradeoff.script(wish), encoding="utf-8")

    done = subprocess.run(
        [sys.executable, file], cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    again = load_runs(tmp_path / "runs.csv", true_model(wish.experiment))
    expected = all_runs(wish)
    assert {run._replace(seconds=0) for run in again} == {r._replace(seconds=0) for r in expected}
    lines = done.stdout.splitlines()
    for line, summary in zip(lines, summarise(expected), strict=True):
        assert line.startswith(summary.configuration.name)
        assert f"accuracy {summary.accuracy.mean:.4f}, " in line
        assert f"{summary.transition_error.mean:.4f}, " in line
        assert f"means {summary.mean_error.mean:.4f}, " in line
        assert line.endswith(f" {summary.nbytes} bytes")


def test_a_script_of_a_user_does_not_reach_the_dashboard():
    assert "dashboard" not in tradeoff.script(SWEEP).replace("the dashboard showed", "")
