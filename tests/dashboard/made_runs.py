"""Runs and sweeps that several test files look at, and ways to change them."""

from dashboard.compute.runs import ExperimentRun, compute
from dashboard.model.experiment import Experiment
from dashboard.model.methods import EM, LEARNERS
from dashboard.model.plan import Plan, Sweep
from dashboard.model.presets import PRESETS
from rhmm.sweeping import run_once

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
SWEEP = Sweep.of(SMALL, Plan(windows=(40, 100), learners=tuple(LEARNERS), runs=3))
PAPERS = Sweep.of(Experiment(window=60), Plan(windows=(40,), learners=("paper",), runs=2))


def finished(experiment: Experiment) -> ExperimentRun:
    return compute(experiment, lambda run, doing, share: None)


def with_method(run: ExperimentRun, name: str, **changes) -> ExperimentRun:
    methods = tuple(m._replace(**changes) if m.name == name else m for m in run.methods)
    return run._replace(methods=methods)


def until(run: ExperimentRun, *names: str) -> ExperimentRun:
    """The run as it was when only these methods had finished."""
    unfinished = run._replace(
        methods=tuple(m for m in run.methods if m.name in names), finished=False
    )
    return unfinished if EM in names else unfinished._replace(em_path=(), em_log_likelihood=())


def all_runs(sweep):
    truth = sweep.experiment.source.true_model()
    return [run_once(truth, c, s) for c in sweep.configurations() for s in range(sweep.runs)]


def of_learner(some, name, window=None):
    options = LEARNERS[name]
    return [
        run
        for run in some
        if all(getattr(run.configuration, key) == value for key, value in options.items())
        and (name != "streaming" or run.configuration.memory == "growing")
        and run.configuration.window is not None
        and window in (None, run.configuration.window)
    ]
