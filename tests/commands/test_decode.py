"""``rhmm decode``, end to end."""

import csv

import numpy as np
import pytest
from pyarrow import parquet

from rhmm import SPD, RiemannianHMM
from rhmm.__main__ import main
from rhmm.paper import paper_model
from tests.reading.files import csv_bytes, matrices, named

TRUTH = paper_model()
POINTS, STATES = TRUTH.sample(120, random_state=2)
POINTS[7] = np.nan
SEQUENCES = ["a"] * 50 + ["b"] * 70
GAMMA = TRUTH.predict_proba(POINTS, lengths=[50, 70])


@pytest.fixture
def files(tmp_path):
    TRUTH.save(tmp_path / "model.json")
    columns = named(POINTS) | {
        "sequence": SEQUENCES,
        "time": np.arange(120) / 4,
        "label": np.where(np.arange(120) == 3, "", STATES.astype(str)),
    }
    (tmp_path / "data.csv").write_bytes(csv_bytes(columns))
    return [str(tmp_path / "model.json"), str(tmp_path / "data.csv")]


def test_states_and_probabilities_are_those_of_the_engine(tmp_path, capsys, files):
    main(["decode", *files, "--out", str(tmp_path / "states.csv")])

    with open(tmp_path / "states.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["state"] for row in rows] == [str(state + 1) for state in GAMMA.argmax(axis=1)]
    found = [[float(row[f"probability_{i}"]) for i in (1, 2, 3)] for row in rows]
    np.testing.assert_array_equal(found, GAMMA)
    assert [row["sequence"] for row in rows] == SEQUENCES
    assert [float(row["time"]) for row in rows] == (np.arange(120) / 4).tolist()
    assert rows[3]["label"] == ""
    assert rows[4]["label"] == str(STATES[4])
    assert rows[-1]["observation"] == "120"
    printed = capsys.readouterr()
    assert "120 states are in" in printed.out
    assert "1 observation is missing" in printed.err


def test_parquet_holds_the_same_as_csv(tmp_path, files):
    main(["decode", *files, "--out", str(tmp_path / "states.parquet")])

    table = parquet.read_table(tmp_path / "states.parquet").to_pydict()
    assert table["state"] == (GAMMA.argmax(axis=1) + 1).tolist()
    assert table["probability_2"] == GAMMA[:, 1].tolist()
    assert table["sequence"] == SEQUENCES


def test_a_single_sequence_without_labels_has_no_such_columns(tmp_path, files):
    np.save(tmp_path / "data.npy", POINTS)

    main(["decode", files[0], str(tmp_path / "data.npy"), "--out", str(tmp_path / "states.csv")])

    first = (tmp_path / "states.csv").read_text(encoding="utf-8").splitlines()[0]
    assert first == "observation,state,probability_1,probability_2,probability_3"


def test_another_ending_is_refused_before_anything_is_read(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["decode", "no.json", "no.csv", "--out", "states.xlsx"])
    assert "--out must end in .csv or .parquet, not 'states.xlsx'" in capsys.readouterr().err


def test_observations_of_another_size_are_refused(tmp_path, capsys):
    model = RiemannianHMM.from_parameters(SPD(3), [1.0], [[1.0]], np.eye(3)[None], [0.5])
    model.save(tmp_path / "model.json")
    np.save(tmp_path / "data.npy", matrices(5, 2))

    with pytest.raises(SystemExit) as ended:
        main([
            "decode", str(tmp_path / "model.json"), str(tmp_path / "data.npy"),
            "--out", str(tmp_path / "states.csv"),
        ])  # fmt: skip

    assert ended.value.code == 2
    assert "the observations are on SPD(2) and the model on SPD(3)" in capsys.readouterr().err
