import json

import pytest

from dashboard.model.methods import BASELINES
from dashboard.text import formatting, tables
from rhmm.__main__ import main
from rhmm.table import furthest_from_truth, rows
from tests.dashboard.made_runs import PAPERS, of_variant


def test_the_runs_behind_a_point_are_shown_with_their_seeds(swept):
    mine = of_variant(swept, "convex", 60)
    table = tables.runs_table(mine)

    assert table["Seed"] == ["0", "1", "2"]
    assert table["Accuracy (%)"] == [formatting.hundredths(run.accuracy) for run in mine]
    assert table["‖A − Â‖"] == [f"{run.transition_error:.4f}" for run in mine]


@pytest.mark.parametrize(
    ("left_out", "words"), [(0, "2 seeds"), (1, "1 to 2 seeds"), (len(BASELINES) + 4, "one seed")]
)
def test_the_papers_table_says_over_how_many_seeds_it_is(papers, left_out, words):
    by_seed = sorted(papers, key=lambda run: run.seed)
    some = by_seed[: len(by_seed) - left_out]
    assert tables.seeds_in_words(tables.paper_rows(some)) == words


def test_the_papers_table_agrees_with_the_command_line(papers, capsys, monkeypatch):
    monkeypatch.setattr("rhmm.table.configurations", lambda length: PAPERS.configurations())
    monkeypatch.setattr("rhmm.commands.table.sweep", lambda *_: papers)
    main(["table", "--json", "--runs", "2"])
    printed = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    table = tables.paper_table(tables.paper_rows(papers))

    lines = [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]
    assert {line["Method"] for line in lines} == set(printed)
    for line in lines:
        row = printed[line["Method"]]
        accuracy, error = row["accuracy"], row["transition_error"]
        mean, spread = 100 * accuracy["mean"], 100 * accuracy["spread"]
        assert line["Accuracy (%)"] == f"{mean:.2f} ± {spread:.2f}"
        assert line["‖A − Â‖"] == f"{error['mean']:.3f} ± {error['spread']:.3f}"
        assert line["Diagonal of Â"] == " ".join(f"{a:.2f}" for a in row["diagonal"])
        ceiling = row["configuration"]["learner"] == "ceiling"
        time = "–" if ceiling else f"{row['seconds']['mean']:.3f}"
        assert line["Time (s)"] == time
        paper = row["paper"]
        printed_accuracy = f"{100 * paper['accuracy']:.0f}" if paper else ""
        assert line["Paper’s accuracy (%)"] == printed_accuracy
        assert line["Paper’s RMSE"] == (f"{paper['rmse']:.2f}" if paper else "")


def test_a_single_run_has_no_spread(papers):
    table = tables.paper_table(tables.paper_rows(run for run in papers if run.seed == 0))

    assert "±" not in " ".join(cell for column in table.values() for cell in column)


def test_the_papers_rows_come_first_and_each_says_why_it_differs(papers):
    table = tables.paper_rows(papers)

    assert [row.summary.configuration.name for row in table] == [
        "windowed, paper's update, Δ=40",
        "windowed, paper's update, Δ=60",
        "K-means",
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
