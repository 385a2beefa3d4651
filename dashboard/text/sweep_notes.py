"""Sentences about a sweep: how long it takes, what it leaves out, where its times are from."""

from dashboard.compute.sweeps import TURN, scheduler, seconds
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Sweep
from dashboard.text.tables import ONE_SEED


def duration(sweep: Sweep) -> str:
    """About how long the sweep takes, where it is computed, and what other visitors mean for it."""
    time = f"about {seconds(sweep):,.0f} s"
    where = f"That takes {time} on this machine."
    if scheduler() is not None:
        where = (
            f"On this machine that would take {time}; "
            "it is computed by the cluster that this server uses."
        )
    return f"{where} {budget()}"


def budget() -> str:
    """How much of the server one visitor's sweep may take while others wait for theirs."""
    return (
        f"While other visitors wait for a sweep of theirs, each gets {TURN:.0f} s in turn; "
        "the runs that are done are kept."
    )


def left_out(sweep: Sweep) -> str | None:
    """Which Δ cannot be used with this chain, and why; None if all can."""
    if not sweep.left_out():
        return None
    windows = ", ".join(f"{window:,}" for window in sweep.left_out())
    n = sweep.experiment.n_states
    return (
        f"Left out, because a chain of {sweep.experiment.length:,} observations and "
        f"{n} state{'' if n == 1 else 's'} cannot use them: Δ = {windows}."
    )


def law(experiment: Experiment) -> str | None:
    """That a sweep keeps to the paper's law of a state, if another one is set."""
    if not experiment.has_shapes:
        return None
    return (
        "All runs here are learned with the paper’s law of a state. The one that is set in the "
        "sidebar holds for the Live lab and Compare."
    )


def origin_of_times(seeds: str) -> str:
    """What the numbers of the paper's table are, over so many seeds."""
    where = "this machine" if scheduler() is None else "the cluster that this server uses"
    what = "Of one seed" if seeds == ONE_SEED else f"Mean ± standard deviation over {seeds}"
    time = f"Time is that of learning, on {where}; the paper’s is that of its authors’ machine."
    return f"{what}. {time}"
