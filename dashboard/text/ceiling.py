"""What the ceiling is, and which sample the number at hand is from: the same words on every page.

Each page has a number of its own, because each looks at other chains: Compare at the one on
screen, Set the truth at a long simulated one, the Δ trade-off at one for each seed.
"""

from dashboard.compute.runs import ExperimentRun
from dashboard.model.methods import CEILING
from dashboard.text import formatting

MEANING = (
    "The ceiling is the accuracy of a decoder that knows the true model and sees all observations. "
    "On average over all chains no method does better."
)
_NO_TRUTH = (
    "A recording comes without a true model to compare with: there is no ceiling, and no error of "
    "A or of means."
)
_NO_LABELS = "It has no labels either: what can be compared is how likely the observations are."
BY_CHANCE = "On a single chain a method may beat it by chance."


def of_this_chain(run: ExperimentRun) -> str:
    """The ceiling of a run, and which methods are above it; empty before it is known."""
    if run.experiment.is_recorded:
        return _NO_TRUTH if run.experiment.label_names else f"{_NO_TRUTH} {_NO_LABELS}"
    best = run.method(CEILING)
    if best is None:
        return ""
    above = [method.name for method in run.methods if method.accuracy > best.accuracy]
    chance = f"{BY_CHANCE} {_beaten(above)}" if above else BY_CHANCE
    return (
        f"{MEANING} Its {formatting.percent(best.accuracy)} in this table are counted on this "
        f"very chain of {run.experiment.length:,} observations. {chance}"
    )


def _beaten(names: list[str]) -> str:
    return f"Here {formatting.listed(names)} {'does' if len(names) == 1 else 'do'}."


def of_simulated_chain(length: int) -> str:
    """The ceiling of a true model, from a chain that was simulated for it alone."""
    return (
        f"{MEANING} This number is counted on one simulated chain of {length:,} observations, and "
        f"not on the chain that other pages show: theirs differ a little. {BY_CHANCE}"
    )


def over_starts(seeds: str) -> str:
    """What the lines of a sweep over a recording are."""
    return (
        f"Each line is the mean over {seeds}: the observations are always those of the recording, "
        f"and only the start of a learner depends on the seed. {_NO_TRUTH}"
    )


def over_seeds(seeds: str) -> str:
    """The ceiling of a sweep over so many seeds, in words."""
    return (
        f"{MEANING} Its line is the mean over the chains of {seeds}, each as long as the chain of "
        f"the experiment. {BY_CHANCE}"
    )
