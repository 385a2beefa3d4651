"""Runs and sweeps that several test files look at, and ways to change them."""

from dataclasses import replace

from dashboard.compute.runs import ExperimentRun, compute
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, VARIANTS
from dashboard.model.plan import Plan, Sweep
from dashboard.model.presets import PRESETS
from rhmm.sweeping import Configuration, run_once

ONE_STATE = {
    "transmat": ((1.0,),),
    "means": ((0.3, 0.2),),
    "sigmas": (0.5,),
    "startprob": (1.0,),
}
EIGHT_STATES = {
    "transmat": tuple(tuple(0.65 if i == j else 0.05 for j in range(8)) for i in range(8)),
    "means": tuple((0.09 * i - 0.3, 0.7 * (-1) ** i) for i in range(8)),
    "sigmas": (0.3,) * 8,
    "startprob": (0.125,) * 8,
}
TRUTHS = {**PRESETS, "One state": ONE_STATE, "Eight states": EIGHT_STATES}
SMALL = Experiment(length=500, window=60)
SWEEP = Sweep.of(SMALL, Plan(windows=(40, 100), learners=tuple(VARIANTS), runs=3))
PAPERS = Sweep.of(Experiment(window=60), Plan(windows=(40,), learners=("paper",), runs=2))


def finished(experiment: Experiment) -> ExperimentRun:
    return compute(experiment, lambda run, doing, share: None)


def with_method(run: ExperimentRun, key: str, **changes) -> ExperimentRun:
    methods = tuple(replace(m, **changes) if m.key == key else m for m in run.methods)
    return run._replace(methods=methods)


def until(run: ExperimentRun, *keys: str) -> ExperimentRun:
    """The run as it was when only these methods had finished."""
    return run._replace(methods=tuple(m for m in run.methods if m.key in keys), finished=False)


def first_rows(run: ExperimentRun, count: int) -> ExperimentRun:
    """The run while its first online learner was learning: so many rows of its path."""
    key = run.experiment.algorithms[0]
    path = run.path(key)
    so_far = type(path)(*(field[:count] for field in path))
    return until(run, CEILING)._replace(paths_so_far={key: so_far})


def all_runs(sweep):
    truth = sweep.experiment.source.true_model()
    return [run_once(truth, c, s) for c in sweep.configurations() for s in range(sweep.runs)]


WAYS = {
    "paper": ("windowed", {"transition_update": "paper"}),
    "convex": ("windowed", {"transition_update": "convex"}),
    "streaming": ("streaming", {"memory": "growing"}),
    "fixed": ("streaming", {"memory": "fixed"}),
    "auto": ("auto", {}),
}
"""What each variant means to the engine."""


def configured(variant: str, length: int, window: int | None) -> Configuration:
    learner, options = WAYS[variant]
    return Configuration(learner, length, window=window, **options)


def of_variant(some, variant, window):
    """The runs of one variant with one Δ, None for a variant that has none."""
    wanted = {configured(variant, run.configuration.length, window) for run in some}
    return [run for run in some if run.configuration in wanted]
