from dataclasses import replace

import pytest

from dashboard.compute.sweeps import TURN
from dashboard.model.plan import Plan, Sweep
from dashboard.text import sweep_notes
from tests.dashboard.made_runs import ONE_STATE, SMALL


def test_a_delta_that_the_chain_cannot_use_is_named():
    alone = replace(SMALL, **ONE_STATE)

    assert sweep_notes.left_out(Sweep.of(SMALL, Plan(windows=(40,)))) is None
    assert sweep_notes.left_out(Sweep.of(alone, Plan(windows=(10, 1_000)))) == (
        "Left out, because a chain of 500 observations and 1 state cannot use them: Δ = 10, 1,000."
    )


def test_a_sweep_says_that_it_keeps_to_the_papers_law():
    assert sweep_notes.law(SMALL) is None
    assert "paper’s law" in sweep_notes.law(replace(SMALL, emission="tied"))


@pytest.mark.parametrize(
    ("seeds", "words"),
    [("one seed", "Of one seed. "), ("5 seeds", "Mean ± standard deviation over 5 seeds. ")],
)
def test_one_seed_is_not_said_to_have_a_spread(seeds, words):
    assert sweep_notes.origin_of_times(seeds).startswith(words)


def test_the_duration_says_where_the_sweep_is_computed(monkeypatch):
    sweep = Sweep.of(SMALL, Plan(windows=(40,)))
    monkeypatch.delenv("RHMM_SCHEDULER", raising=False)
    assert " s on this machine. " in sweep_notes.duration(sweep)

    monkeypatch.setenv("RHMM_SCHEDULER", "tcp://127.0.0.1:9")
    assert "by the cluster that this server uses. " in sweep_notes.duration(sweep)


def test_the_duration_ends_with_what_a_visitor_gets_while_others_wait():
    words = sweep_notes.duration(Sweep.of(SMALL, Plan(windows=(40,))))

    assert words.endswith(sweep_notes.budget())
    assert f"each gets {TURN:.0f} s in turn" in words
