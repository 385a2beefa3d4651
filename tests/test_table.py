import json
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


def run_of(configuration, **measures):
    template = run_once(paper_model(), Configuration("ceiling", 50), 0)
    return template._replace(configuration=configuration, **measures)


def remarks(configuration, **measures):
    (row,) = table.rows([run_of(configuration, **measures)])
    return row.remarks


def test_the_rows_of_the_paper_are_beside_ours_in_its_order():
    rows = table.rows([run_of(configuration) for configuration in table.configurations()])
    printed = [row.paper for row in rows if row.paper is not None]
    assert printed == list(table.PAPER.values())
    assert [bool(row.remarks) for row in rows] == [row.paper is not None for row in rows]


def test_an_accuracy_that_is_reached_is_said_to_be():
    configuration = Configuration("windowed", window=200, transition_update="paper")
    accuracy, error, time = remarks(configuration, accuracy=0.978, seconds=0.1)
    assert accuracy == "The paper's accuracy, 0.98, is reached."
    assert "1.12 cannot be ‖A − A′‖_F" in error
    assert "further than 0.51 from A" in error
    assert time.startswith("58 times less time")


def test_an_accuracy_that_differs_is_said_to_and_why():
    configuration = Configuration("windowed", window=60, transition_update="paper")
    assert remarks(configuration, accuracy=0.68)[0].startswith("0.18 more accurate")
    assert remarks(configuration, accuracy=0.40)[0].startswith("0.10 less accurate")
    assert "clipped" in remarks(configuration, accuracy=0.68)[0]


def test_em_is_held_against_the_ceiling():
    sentence = remarks(Configuration("em"), accuracy=0.9798, ceiling=0.9799)[0]
    assert "0.90 is not what EM does" in sentence
    assert "0.980" in sentence


def test_chains_of_another_length_are_not_held_against_the_papers(capsys, monkeypatch):
    runs = [run_of(configuration) for configuration in table.configurations(6000)]
    assert all(row.paper is None and row.remarks == [] for row in table.rows(runs))
    monkeypatch.setattr("rhmm.__main__.sweep", lambda *_: runs)
    main(["table", "--length", "6000"])
    printed = capsys.readouterr().out
    assert "the paper's numbers are of 10,000 observations and not shown" in printed
    for claim in ("than the paper's", "The paper's accuracy", "cannot be", "laptop"):
        assert claim not in printed


def test_a_window_as_long_as_the_chain_is_said_to_learn_nothing_online():
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
