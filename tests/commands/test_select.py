"""``rhmm select``, end to end."""

import numpy as np
import pytest

from rhmm import Hyperbolic, select_n_components
from rhmm.__main__ import main
from rhmm.paper import paper_model
from tests.reading.files import csv_bytes, named

POINTS, _ = paper_model().sample(600, random_state=1)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(csv_bytes(named(POINTS)))
    return str(path)


def test_the_curve_and_the_choice_are_those_of_the_engine(capsys, data):
    main(["select", data, "--space", "hyperbolic", "--most", "5"])
    expected = select_n_components(Hyperbolic(2), POINTS, range(1, 6), random_state=0)
    printed = capsys.readouterr().out
    assert expected.explanation() in printed
    for value in expected.values:
        assert f"{value:,.1f}" in printed


def test_held_out_density_is_printed_as_the_engine_has_it(capsys, data):
    main(["select", data, "--space", "hyperbolic", "--most", "3", "--criterion", "predictive"])
    expected = select_n_components(
        Hyperbolic(2), POINTS, range(1, 4), criterion="predictive", random_state=0
    )
    printed = capsys.readouterr().out
    assert "−2 log p held out" in printed
    assert expected.explanation() in printed
    for value in expected.values:
        assert f"{value:,.1f}" in printed


def test_no_more_states_are_tried_than_there_are_observations(tmp_path, capsys):
    rows = POINTS[:6].copy()
    rows[2:4] = np.nan
    path = tmp_path / "few.csv"
    path.write_bytes(csv_bytes(named(rows)))
    main(["select", str(path), "--space", "hyperbolic"])
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.strip()[:1].isdigit() for line in lines) == 4


def test_a_wrong_criterion_ends_with_a_sentence(capsys, data):
    with pytest.raises(SystemExit) as ended:
        main(["select", data, "--criterion", "mdl"])
    assert ended.value.code == 2
    assert "argument --criterion: invalid choice: 'mdl'" in capsys.readouterr().err
