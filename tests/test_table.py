import json
from pathlib import Path

import numpy as np
import pytest

from rhmm import table
from rhmm.__main__ import main
from rhmm.paper import paper_model
from rhmm.parameters import stationary_law

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


@pytest.mark.parametrize(("key", "row"), table.PAPER.items())
def test_no_matrix_with_the_papers_diagonal_is_as_far_as_its_rmse_says(key, row):
    bounds = REFERENCE["paper_experiment"]["table2_rmse_check"]["max_frobenius_given_reported_diag"]
    name = "EM" if key == "em" else str(key)
    bound = table.furthest_from_truth(row.diagonal)
    assert bound == pytest.approx(bounds[name], abs=1e-3)
    assert bound < row.rmse


def test_a_summary_holds_means_spreads_and_the_papers_row():
    runs = [
        table.Result("EM", seed, 0.97 + 0.01 * seed, 0.1, (0.4, 0.6, 0.8), 0.02, 0.01, 100 + seed)
        for seed in range(2)
    ]
    (summary,) = table.summarise(runs)
    assert summary.runs == 2
    assert summary.accuracy == pytest.approx((0.975, np.std([0.97, 0.98], ddof=1)))
    assert summary.nbytes == 101
    assert summary.paper == table.PAPER["em"]
    assert "reaches the ceiling" in summary.remark


@pytest.mark.parametrize("arguments", [["--runs", "0"], ["--runs", "x"], ["--length", "100"]])
def test_a_wrong_option_ends_with_a_sentence(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["table", *arguments])
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_the_stationary_law_is_kept_by_the_chain():
    transmat = paper_model().transmat_
    law = stationary_law(transmat)
    np.testing.assert_allclose(law @ transmat, law, rtol=0, atol=1e-14)
    np.testing.assert_allclose(law, np.linalg.matrix_power(transmat, 200)[0], rtol=1e-12)
