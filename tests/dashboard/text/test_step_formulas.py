"""The numbers in the formulas are those of the learner's next state."""

import re

import numpy as np
import pytest

from dashboard.compute import lesson
from dashboard.compute.steps import Replay
from dashboard.model.experiment import Experiment
from dashboard.model.lesson import INSPECTED
from dashboard.model.spaces.registry import SPACES
from dashboard.text.step_formulas import formulas, kind_in_words, number

COORDS = SPACES["disk"].coords
KEYS = ("paper", "convex", "streaming")
MOMENTS = (84, 100, 300, 500)


def steps_of(key):
    variant = INSPECTED[key]
    source = Experiment(length=500, window=60, seed=1).source
    return Replay(source, variant.learner, {**variant.options, "window": 60}, 1, 3)


@pytest.fixture(scope="module", params=KEYS)
def steps(request):
    return steps_of(request.param)


def by_title(step, state):
    return {formula.title: formula for formula in formulas(step, state, COORDS)}


def last_number(tex):
    """The number after the last equals sign."""
    text = tex.rpartition("=")[2].replace(r"\end{aligned}", "")
    text = re.sub(r"\\textcolor\{red\}\{\\mathbf\{(.*)\}\}", r"\1", text)
    mantissa, _, power = text.partition(r"\times")
    exponent = re.search(r"10\^\{(-?\d+)\}", power)
    return float(mantissa) * 10.0 ** int(exponent[1] if exponent else 0)


@pytest.mark.parametrize("k", MOMENTS)
@pytest.mark.parametrize("state", range(3))
def test_the_formulas_end_at_the_learner_s_next_state(steps, k, state):
    step = steps.step(k)
    e, found = step.explanation, by_title(step, state)
    row = found[f"Row {state + 1} of A moves"].tex
    lines = [line for line in row.split(r"\\[4pt]") if re.match(r" ?A_\{\d\d\}", line)]

    assert [last_number(line) for line in lines] == pytest.approx(step.raw[state], abs=6e-5)
    kept = re.search(r"longrightarrow\\; \\left\((.*)\\right\)", row)[1].split(r",\ ")
    ends = [last_number(f"={value}") for value in kept]
    assert ends == pytest.approx(e.after.transmat[state], abs=6e-5)
    delta = last_number(found["Its mean squared distance"].tex)
    assert delta == pytest.approx(e.after.delta[state], rel=1e-3, abs=6e-5)
    assert number(e.after.sigmas[state]) in found["Its spread follows from δ"].tex
    mean = next(f for title, f in found.items() if title.startswith("The mean moves"))
    for value in e.after.means[state]:
        assert number(value) in mean.tex


def test_tau_is_the_share_of_the_new_point():
    step = steps_of("paper").step(100)
    for state in range(3):
        found = by_title(step, state)["How much of this state’s points is the new one?"]
        tau = step.explanation.gamma[-1, state] / step.explanation.gamma[:, state].sum()
        assert last_number(found.tex) == pytest.approx(tau, rel=1e-3, abs=6e-5)


def test_an_entry_that_leaves_the_unit_interval_is_red():
    found = lesson.windows().exit
    moves = by_title(found.step, found.row)[f"Row {found.row + 1} of A moves"]
    assert moves.tex.count(r"\textcolor{red}") == 1
    assert "clipped" in moves.words
    inside = (found.step.raw >= 0).all(axis=1) & (found.step.raw <= 1).all(axis=1)
    calm = by_title(found.step, int(np.flatnonzero(inside)[0]))
    assert all(r"\textcolor" not in formula.tex for formula in calm.values())


def test_an_observation_that_waits_moves_nothing_and_says_so():
    step = steps_of("streaming").step(101)
    assert not len(step.explanation.learned)
    found = by_title(step, 0)
    assert "waits" in found["Nothing moves yet"].words
    assert not any("of A" in title for title in found)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.25, "0.2500"),
        (0.0, "0.0000"),
        (-1.5, "-1.5000"),
        (1.234e-6, r"1.234 \times 10^{-6}"),
        (np.float64(123456.0), r"1.235 \times 10^{5}"),
    ],
)
def test_small_and_large_numbers_are_powers_of_ten(value, text):
    assert number(value) == text


def test_every_kind_of_step_has_its_name(steps):
    assert kind_in_words(steps.step(100).kind).endswith(".")
