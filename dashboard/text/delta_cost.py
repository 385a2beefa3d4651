"""What the chosen Δ costs: four numbers and a paragraph."""

from collections.abc import Iterable
from typing import NamedTuple

from dashboard.model.experiment import Experiment
from dashboard.model.methods import LEARNER_NAMES, learner_of
from dashboard.text import formatting
from rhmm import Run
from rhmm.sweeping import Summary, enough_window, noise_floor, summarise

WITHIN = 0.01
"""How near the ceiling is near enough."""


class DeltaCost(NamedTuple):
    """Four numbers and a paragraph."""

    accuracy: str
    error: str
    time: str
    memory: str
    words: str


def delta_cost(experiment: Experiment, runs: Iterable[Run]) -> DeltaCost | None:
    """What the Δ of the experiment costs with its algorithm; None if it has not been run yet."""
    name = experiment.learner
    family = [run for run in runs if learner_of(run.configuration) == name]
    mine = [s for s in summarise(family) if s.configuration.window == experiment.window]
    if not mine:
        return None
    summary = mine[0]
    microseconds = 1e6 * summary.seconds.mean / experiment.length
    return DeltaCost(
        formatting.percent(summary.accuracy.mean),
        f"{summary.transition_error.mean:.4f}",
        formatting.microseconds(microseconds),
        formatting.size(summary.nbytes),
        _in_words(experiment, summary, family),
    )


def _in_words(experiment: Experiment, summary: Summary, family: list[Run]) -> str:
    gap = 100 * (summary.ceiling.mean - summary.accuracy.mean)
    if gap < 0.05:
        reach = "as many hidden states as a decoder that knows the truth"
    else:
        reach = (
            f"{gap:.1f} percentage points fewer hidden states than a decoder that knows the truth"
        )
    enough = enough_window(family, WITHIN)
    windows = sorted({run.configuration.window for run in family})
    if enough is None:
        tried = f"None of the values of Δ up to {windows[-1]:,} that were run"
        advice = f"{tried} comes within 1 % of the ceiling."
    elif enough == windows[0]:
        advice = f"Even Δ = {enough:,}, the smallest that was run, is within 1 % of the ceiling."
    else:
        advice = f"Δ = {enough:,} would be enough to be within 1 % of the ceiling."
    floor = noise_floor(experiment.source.true_model(), experiment.window)
    error = summary.transition_error.mean
    if experiment.n_states == 1:
        noise = "One state alone has nothing to learn in A."
    elif experiment.algorithm == "streaming" and error < floor:
        noise = (
            f"Its memory grows, so that ‖A − Â‖ keeps falling: {error:.3f} after "
            f"{experiment.length:,} observations, where a memory of Δ alone would stay at about "
            f"{floor:.3f}."
        )
    else:
        noise = (
            f"A memory of Δ observations leaves ‖A − Â‖ at about {floor:.3f} by chance alone; "
            f"here it is {error:.3f}."
        )
    runs = "one run" if summary.runs == 1 else f"{summary.runs} runs"
    return (
        f"With Δ = {experiment.window:,}, {LEARNER_NAMES[experiment.learner]}: over {runs} it "
        f"identifies {reach}. {noise} {advice}"
    )
