"""The paper's Table 2 beside ours, and what is said about each row."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rhmm import Configuration, table
from rhmm.__main__ import main
from rhmm.paper import paper_model
from rhmm.parameters import stationary_law
from rhmm.sweeping import run_once

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


@pytest.mark.parametrize(("key", "row"), table.PAPER.items())
def test_no_matrix_with_the_papers_diagonal_is_as_far_as_its_rmse_says(key, row):
    bounds = REFERENCE["paper_experiment"]["table2_rmse_check"]["max_frobenius_given_reported_diag"]
    name = "EM" if key == "em" else str(key)
    bound = table.furthest_from_truth(row.diagonal)
    assert bound == pytest.approx(bounds[name], abs=1e-3)
    assert bound < row.rmse


@pytest.mark.parametrize("diagonal", [row.diagonal for row in table.PAPER.values()])
def test_estimates_are_on_average_no_further_than_the_bound_and_reach_it(diagonal):
    truth = paper_model().transmat_

    def mean_square(matrices):
        return ((matrices - truth) ** 2).sum(axis=(1, 2)).mean()

    rng = np.random.default_rng(0)
    stay = rng.random((10_000, 3)) < diagonal  # each state stays for ever or leaves at once
    off_diagonal = np.where(np.eye(3, dtype=bool), np.inf, truth)
    leave = np.eye(3)[off_diagonal.argmin(axis=1)]  # for where the truth goes least
    extreme = np.where(stay[:, :, None], np.eye(3), leave)
    bound = table.furthest_on_average(diagonal)
    assert np.sqrt(mean_square(extreme)) == pytest.approx(bound, rel=0.02)

    spread = np.minimum(diagonal, 1 - np.array(diagonal)) * rng.uniform(-1, 1, (10_000, 3))
    milder = np.array(diagonal) + spread - spread.mean(axis=0)
    moderate = np.where(np.eye(3, dtype=bool), milder[:, :, None], 0.0)
    moderate += (1 - milder)[:, :, None] * leave
    assert table.furthest_from_truth(diagonal) < np.sqrt(mean_square(moderate)) < bound


def run_of(configuration, **measures):
    template = run_once(paper_model(), Configuration("ceiling", 50), 0)
    return replace(template, configuration=configuration, **measures)


def remarks(configuration, **measures):
    (row,) = table.rows([run_of(configuration, **measures)])
    return row.remarks


def test_the_rows_of_the_paper_are_beside_ours_in_its_order():
    rows = table.rows([run_of(configuration) for configuration in table.configurations()])
    printed = [row.paper for row in rows if row.paper is not None]
    assert printed == list(table.PAPER.values())
    assert [bool(row.remarks) for row in rows] == [row.paper is not None for row in rows]


def test_every_learner_has_rows_in_the_order_of_the_registry():
    configurations = table.configurations()
    assert [configuration.learner for configuration in configurations] == (
        ["windowed"] * 10 + ["streaming"] * 3 + ["auto", "kmeans", "em", "ceiling"]
    )
    assert len({configuration.name for configuration in configurations}) == len(configurations)


def test_an_accuracy_that_is_reached_is_said_to_be():
    configuration = Configuration("windowed", window=200, transition_update="paper")
    accuracy, error, time = remarks(configuration, accuracy=0.978, seconds=0.1)
    assert accuracy == "The paper's accuracy, 0.98, is reached."
    assert "1.12 cannot be ‖A − A′‖_F of one estimate" in error
    assert "further than 0.51 from A; as a mean over runs it would need estimates that" in error
    assert time.startswith("58 times less time")


def test_an_accuracy_that_differs_is_explained():
    configuration = Configuration("windowed", window=60, transition_update="paper")
    assert remarks(configuration, accuracy=0.68)[0].startswith("0.18 more accurate")
    assert remarks(configuration, accuracy=0.40)[0].startswith("0.10 less accurate")
    assert "clipped" in remarks(configuration, accuracy=0.68)[0]


def test_em_is_compared_with_the_ceiling():
    sentence = remarks(Configuration("em"), accuracy=0.9798, ceiling=0.9799)[0]
    assert "0.90 is not what EM does" in sentence
    assert "0.980" in sentence


def test_only_em_has_an_error_that_no_mean_over_runs_has_either():
    rows = table.PAPER.items()
    excluded = {key for key, row in rows if row.rmse > table.furthest_on_average(row.diagonal)}
    assert excluded == {"em"}
    sentence = remarks(Configuration("em"))[1]
    assert "1.29 cannot be ‖A − A′‖_F of one estimate" in sentence
    assert "further than 0.64 from A; nor can it be the mean over runs" in sentence
    assert "with that mean diagonal: 1.06 at most" in sentence


def test_chains_of_another_length_are_not_compared_with_the_papers(capsys, monkeypatch):
    runs = [run_of(configuration) for configuration in table.configurations(6000)]
    assert all(row.paper is None and row.remarks == [] for row in table.rows(runs))
    monkeypatch.setattr("rhmm.commands.table.sweep", lambda *_: runs)
    main(["table", "--length", "6000"])
    printed = capsys.readouterr().out
    assert "the paper's numbers are of 10,000 observations and not shown" in printed
    for claim in ("than the paper's", "The paper's accuracy", "cannot be", "laptop"):
        assert claim not in printed


def test_a_window_as_long_as_the_chain_gets_the_remark_that_nothing_is_learned_online():
    runs = [run_of(configuration) for configuration in table.configurations(5000)]
    said = {row.summary.configuration.name: row.remarks for row in table.rows(runs) if row.remarks}
    assert said == {
        "windowed, paper's update, Δ=5000": [
            "Δ is the whole chain: this is the K-means start, without any online step."
        ]
    }


@pytest.mark.parametrize("arguments", [["--runs", "0"], ["--runs", "x"], ["--length", "100"]])
def test_a_wrong_option_ends_with_a_sentence(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["table", *arguments])
    assert ended.value.code == 2
    assert arguments[0].strip("-") in capsys.readouterr().err


def test_the_stationary_law_is_kept_by_the_chain():
    transmat = paper_model().transmat_
    law = stationary_law(transmat)
    np.testing.assert_allclose(law @ transmat, law, rtol=0, atol=1e-14)
    np.testing.assert_allclose(law, np.linalg.matrix_power(transmat, 200)[0], rtol=1e-12)
