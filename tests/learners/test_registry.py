"""A learner that is registered appears everywhere, with no other change."""

import numpy as np
import pytest

from rhmm import Configuration, open_executor, register_learner, sweep, table
from rhmm.__main__ import main
from rhmm.learners.registry import LEARNERS, learner_named
from rhmm.paper import paper_model
from rhmm.sweeping import grid, load_runs
from tests.learners.toy import TOY

TRUTH = paper_model()
LENGTH = 60


@pytest.fixture
def toy():
    yield register_learner(TOY)
    del LEARNERS[TOY.key]


def chain(seed):
    return TRUTH.sample(LENGTH, random_state=seed)[0]


def assert_is_its_run(run):
    """The means are those that the toy takes, in the order that suits the truth."""
    apart = run.configuration.settings["apart"]
    expected = chain(run.seed)[: 3 * apart : apart]
    np.testing.assert_array_equal(np.sort(run.means, axis=0), np.sort(expected, axis=0))
    assert run.transmat == ((1 / 3,) * 3,) * 3
    assert run.nbytes == expected.nbytes


def test_a_registered_learner_is_found_by_its_key(toy):
    assert learner_named("toy") is toy
    assert list(LEARNERS)[-1] == "toy"


def test_a_sweep_runs_a_registered_learner_in_worker_processes(toy):
    configurations = grid(["toy", "em"], apart=[1, 4], length=LENGTH)
    assert [c.name for c in configurations] == [
        "first points, apart=1",
        "first points, apart=4",
        "EM",
    ]
    with open_executor(workers=2) as executor:
        runs = sweep(TRUTH, configurations, 2, executor)
    assert [run.configuration.learner for run in runs] == ["toy"] * 4 + ["em"] * 2
    for run in runs[:4]:
        assert_is_its_run(run)


@pytest.mark.parametrize("name", ["runs.csv", "runs.parquet"])
def test_the_file_of_a_sweep_keeps_the_options_of_a_registered_learner(toy, name, tmp_path):
    configurations = grid(["toy", "ceiling"], apart=[1, 4], length=LENGTH)
    runs = sweep(TRUTH, configurations, 1, file=tmp_path / name)
    assert set(load_runs(tmp_path / name, TRUTH)) == set(runs)


def test_the_rows_of_a_registered_learner_are_in_the_table(toy):
    assert table.configurations()[-1] == Configuration("toy", apart=2)


def test_the_command_line_knows_a_registered_learner_and_its_options(toy, tmp_path, capsys):
    path = tmp_path / "runs.csv"
    arguments = ["--algorithm", "toy", "--gap", "1,4", "--length", str(LENGTH), "--runs", "1"]
    main(["sweep", *arguments, "--out", str(path)])
    printed = capsys.readouterr().out
    assert "first points, apart=1" in printed
    assert "first points, apart=4" in printed
    for run in load_runs(path, TRUTH):
        assert_is_its_run(run)


def test_its_options_are_checked_as_those_of_any_learner(toy):
    with pytest.raises(ValueError, match="apart must be at least 1, not 0"):
        Configuration("toy", apart=0)
    with pytest.raises(ValueError, match="window means nothing to learner='toy'"):
        Configuration("toy", window=20)


def test_a_learner_that_is_not_registered_is_unknown_everywhere(tmp_path, capsys):
    with pytest.raises(
        ValueError, match=r"learner must be one of 'windowed', .*, not 'toy'; regis"
    ):
        Configuration("toy")
    with pytest.raises(ValueError, match="apart is not an option of any learner"):
        grid(["em"], apart=[1])
    with pytest.raises(SystemExit):
        main(["sweep", "--algorithm", "toy", "--out", str(tmp_path / "runs.csv")])
    assert "must be of windowed,streaming,auto,kmeans,em,ceiling" in capsys.readouterr().err


def test_a_key_is_registered_once(toy):
    assert register_learner(toy) is toy  # a module may be imported again
    other = type(toy)(key="em", label="another", estimator=toy.estimator)
    with pytest.raises(ValueError, match="learner 'em' is registered already"):
        register_learner(other)
    assert LEARNERS["em"] is not other


@pytest.mark.parametrize("wrong", [None, "toy", TOY.estimator])
def test_only_learners_are_registered(wrong):
    with pytest.raises(ValueError, match="learner must be a Learner, not"):
        register_learner(wrong)
