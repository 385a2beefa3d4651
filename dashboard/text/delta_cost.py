"""What the chosen Δ costs: four numbers and a paragraph."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from dashboard.compute.shared_cache import Same, SharedCache
from dashboard.model.experiment import Experiment
from dashboard.model.methods import Variant, capitalised, variant_of
from dashboard.text import formatting
from rhmm import Run
from rhmm.learners.streaming import GROWING
from rhmm.sweeping import Summary, enough_window, noise_floor, summarise

WITHIN = 0.01
"""How near the ceiling is near enough."""

_costs = SharedCache(64)


class DeltaCost(NamedTuple):
    """Four numbers and a paragraph."""

    accuracy: str
    error: str
    """Of a recording, which has no truth: how well the next observation is predicted."""
    time: str
    memory: str
    words: str


def delta_cost(experiment: Experiment, variant: Variant, runs: Iterable[Run]) -> DeltaCost | None:
    """What the experiment's Δ costs with this algorithm; None if it has not been run yet."""
    # runs have seeds of their own: visitors who differ in theirs share the answer
    asked = replace(experiment, seed=Experiment.seed)
    key = (asked.digest, variant.key, Same(runs))
    return _costs.get(key, lambda: _delta_cost(asked, variant, runs), beside=experiment.own)


def _delta_cost(experiment: Experiment, variant: Variant, runs: Iterable[Run]) -> DeltaCost | None:
    window = experiment.window if variant.has_window else None
    family = [run for run in runs if variant_of(run.configuration) == variant]
    mine = [s for s in summarise(family) if s.configuration.window == window]
    if not mine:
        return None
    summary = mine[0]
    microseconds = 1e6 * summary.seconds.mean / experiment.length
    if experiment.is_recorded:
        return DeltaCost(
            formatting.percent(summary.accuracy.mean) if experiment.label_names else "–",
            formatting.number(summary.log_likelihood.mean),
            formatting.microseconds(microseconds),
            formatting.size(summary.nbytes.most),
            _on_a_recording(experiment, variant, summary, family),
        )
    return DeltaCost(
        formatting.percent(summary.accuracy.mean),
        f"{summary.transition_error.mean:.4f}",
        formatting.microseconds(microseconds),
        formatting.size(summary.nbytes.most),
        _in_words(experiment, variant, summary, family),
    )


def _on_a_recording(
    experiment: Experiment, variant: Variant, summary: Summary, family: list[Run]
) -> str:
    by_labels = bool(experiment.label_names)

    def score(one: Summary) -> float:
        return one.accuracy.mean if by_labels else one.log_likelihood.mean

    def written(one: Summary) -> str:
        if by_labels:
            return f"{formatting.percent(score(one))} agreement with the labels"
        return f"a log density of {formatting.number(score(one))} of the next observation"

    runs = "one run" if summary.runs == 1 else f"{summary.runs} runs from other starts"
    if not variant.has_window:
        return f"{capitalised(variant.name)}, which has no Δ: {written(summary)} over {runs}."
    best = max(summarise(family), key=score)
    tried = "of the Δ that were run"
    found = (
        f"No other {tried} does better"
        if best.configuration == summary.configuration
        else f"The best {tried} is {best.configuration.window:,}, with {written(best)}"
    )
    return (
        f"With Δ = {experiment.window:,}, {variant.name}: {written(summary)} over {runs}. {found}."
    )


def _in_words(experiment: Experiment, variant: Variant, summary: Summary, family: list[Run]) -> str:
    gap = 100 * (summary.ceiling.mean - summary.accuracy.mean)
    if gap < 0.05:
        reach = "as many hidden states as a decoder that knows the truth"
    else:
        reach = (
            f"{gap:.1f} percentage points fewer hidden states than a decoder that knows the truth"
        )
    runs = "one run" if summary.runs == 1 else f"{summary.runs} runs"
    if not variant.has_window:
        name = capitalised(variant.name)
        return f"{name}, which has no Δ: over {runs} it identifies {reach}."
    enough = enough_window(family, WITHIN)
    windows = sorted({run.configuration.settings["window"] for run in family})
    if enough is None:
        tried = f"None of the values of Δ up to {windows[-1]:,} that were run"
        advice = f"{tried} comes within 1 % of the ceiling."
    elif enough == windows[0]:
        advice = f"Even Δ = {enough:,}, the smallest that was run, is within 1 % of the ceiling."
    else:
        advice = f"Δ = {enough:,} would be enough to be within 1 % of the ceiling."
    floor = noise_floor(experiment.simulated.true_model(), experiment.window)
    error = summary.transition_error.mean
    if experiment.n_states == 1:
        noise = "One state alone has nothing to learn in A."
    elif summary.configuration.settings.get("memory") == GROWING and error < floor:
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
    return (
        f"With Δ = {experiment.window:,}, {variant.name}: over {runs} it "
        f"identifies {reach}. {noise} {advice}"
    )
