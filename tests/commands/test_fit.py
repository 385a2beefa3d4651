"""``rhmm fit``, end to end."""

import csv

import numpy as np
import pytest

from rhmm import SPD, Hyperbolic, RiemannianHMM, recentred
from rhmm.__main__ import main
from rhmm.paper import paper_model
from tests.reading.files import csv_bytes, named

TRUTH = paper_model()
POINTS, STATES = TRUTH.sample(600, random_state=1)
SEQUENCES = ["a"] * 250 + ["b"] * 350


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(csv_bytes(named(POINTS) | {"label": STATES, "sequence": SEQUENCES}))
    return str(path)


def test_the_model_is_that_of_the_engine(tmp_path, capsys, data):
    out = tmp_path / "model.json"

    main(["fit", data, "--space", "hyperbolic", "--states", "3", "--out", str(out)])

    expected = RiemannianHMM(Hyperbolic(2), 3, random_state=0).fit(POINTS, lengths=[250, 350])
    for found, value in zip(RiemannianHMM.load(out).parameters_, expected.parameters_, strict=True):
        np.testing.assert_array_equal(found, value)
    printed = capsys.readouterr()
    assert "600 observations on Hyperbolic(2) in 2 sequences" in printed.err
    assert "state 3" in printed.out
    assert f"the model is in {out}" in printed.out
    right = np.mean(expected.align_to(TRUTH).predict(POINTS, lengths=[250, 350]) == STATES)
    assert f"agree with {right:.1%} of the labels" in printed.out


def test_sequences_are_re_centred_and_states_have_the_shape_that_was_asked_for(tmp_path, data):
    out = tmp_path / "model.json"
    arguments = ["--states", "3", "--emission", "full", "--recentre", "--out", str(out)]

    main(["fit", data, *arguments])

    X, _ = recentred(Hyperbolic(2), POINTS, lengths=[250, 350])
    expected = RiemannianHMM(Hyperbolic(2), 3, emission="full", random_state=0)
    expected.fit(X, lengths=[250, 350])
    np.testing.assert_array_equal(RiemannianHMM.load(out).covariances_, expected.covariances_)

    main(["decode", str(out), data, "--recentre", "--out", str(tmp_path / "states.csv")])

    with open(tmp_path / "states.csv", encoding="utf-8", newline="") as file:
        found = [int(row["state"]) - 1 for row in csv.DictReader(file)]
    assert found == expected.predict(X, lengths=[250, 350]).tolist()


def test_the_likelihood_is_of_an_observation_that_is_there(tmp_path, capsys):
    points = POINTS.copy()
    points[::2] = np.nan
    (tmp_path / "data.csv").write_bytes(csv_bytes(named(points)))
    out = tmp_path / "model.json"

    main(["fit", str(tmp_path / "data.csv"), "--states", "2", "--out", str(out)])

    expected = RiemannianHMM.load(out).score(points) / 300
    assert f"log p = {expected:.4f} per observation" in capsys.readouterr().out


def test_a_signal_is_cut_into_windows(tmp_path, capsys):
    signal = np.random.default_rng(0).standard_normal((900, 3))
    signal[300:600] *= 4
    np.save(tmp_path / "signal.npy", signal)
    arguments = ["--window", "30", "--step", "15", "--shrinkage", "ledoit-wolf", "--states", "2"]

    main(["fit", str(tmp_path / "signal.npy"), *arguments, "--out", str(tmp_path / "model.npz")])

    model = RiemannianHMM.load(tmp_path / "model.npz")
    assert model.manifold == SPD(3)
    volumes = np.sort(np.linalg.det(model.means_))
    assert volumes[1] / volumes[0] > 1_000  # 4⁶ = 4096
    printed = capsys.readouterr()
    assert "59 windows of 30 samples, a new one every 15" in printed.err
    assert "labels" not in printed.out


def test_a_warning_is_printed_as_a_sentence(tmp_path, capsys, data):
    arguments = ["--states", "3", "--iterations", "1", "--out", str(tmp_path / "model.json")]

    main(["fit", data, *arguments])

    assert capsys.readouterr().err.endswith(
        "ConvergenceWarning: EM (1 iterations) did not converge\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--states", "0"], "argument --states: must be a whole number, at least 1"),
        (["--states", "3", "--space", "torus"], "argument --space: invalid choice: 'torus'"),
        (["--states", "3", "--step", "5"], "rhmm fit: --step needs --window"),
        (["--states", "3", "--shrinkage", "oas"], "rhmm fit: --shrinkage needs --window"),
        (["--states", "3", "--label", "x"], "rhmm fit: there is no label column 'x'"),
        (["--states", "3", "--space", "spd"], "rhmm fit: 2 numbers in a row make no symmetric"),
        (["--states", "3", "--out", "model.pkl"], "rhmm fit: path must end in .json or .npz"),
    ],
)
def test_a_wrong_argument_ends_with_a_sentence(tmp_path, capsys, data, arguments, words):
    with pytest.raises(SystemExit) as ended:
        main(["fit", data, "--out", str(tmp_path / "model.json"), *arguments])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err
    assert not (tmp_path / "model.json").exists()


def test_a_file_that_is_not_there_ends_with_a_sentence(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit", str(tmp_path / "no.csv"), "--states", "2", "--out", str(tmp_path / "m.json")])
    assert ended.value.code == 1
    assert "rhmm fit: [Errno 2] No such file" in capsys.readouterr().err


def test_the_number_of_states_can_be_found(tmp_path, capsys, data):
    out = tmp_path / "model.json"

    main(["fit", data, "--space", "hyperbolic", "--states", "auto", "--out", str(out)])

    assert RiemannianHMM.load(out).n_components == 3
    assert "BIC is least with 3 states" in capsys.readouterr().out
