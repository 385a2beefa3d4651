"""The default experiment's run, computed beforehand: the first screen must not wait for compilers.

``python -m dashboard.compute.precomputed_run`` computes it anew. The server computes it too, in the
background, and then shows its own result, with the times of its own machine; a test compares the
two.
"""

from pathlib import Path

import numpy as np

from dashboard.compute.runs import ExperimentRun, MethodResult, compute
from dashboard.model.experiment import Experiment
from dashboard.model.space import DISK
from rhmm import Parameters, RiemannianHMM, Trace

FILE = Path(__file__).parent / "default_run.npz"

_MEASURES = ("accuracy", "transition_error", "mean_error", "sigma_error", "log_likelihood")


def default_run() -> ExperimentRun | None:
    """The precomputed run, without times; None if it is of another default experiment."""
    with FILE.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        content = {name: file[name] for name in file.files}
    experiment = Experiment()
    if str(content["experiment"]) != repr(experiment):
        return None
    methods = tuple(
        MethodResult(
            str(name),
            RiemannianHMM.from_parameters(DISK, *_parameters(content, f"method{i}")),
            content["states"][i],
            *map(float, content["measures"][i]),
            seconds=None,
            nbytes=int(content["nbytes"][i]) or None,
        )
        for i, name in enumerate(content["names"])
    )
    steps = len(content["em_log_likelihood"])
    return ExperimentRun(
        experiment,
        content["points"],
        content["true_states"],
        Trace(*(content[f"trace_{field}"] for field in Trace._fields)),
        methods,
        tuple(Parameters(*_parameters(content, f"em{i}")) for i in range(steps)),
        tuple(map(float, content["em_log_likelihood"])),
        finished=True,
    )


def save(run: ExperimentRun) -> None:
    content = {
        "experiment": repr(run.experiment),
        "points": run.points,
        "true_states": run.true_states.astype(np.int8),
        "names": [m.name for m in run.methods],
        "states": np.stack([m.states for m in run.methods]),
        "measures": [[getattr(m, name) for name in _MEASURES] for m in run.methods],
        "nbytes": [m.nbytes or 0 for m in run.methods],
        "em_log_likelihood": run.em_log_likelihood,
    }
    content |= {f"trace_{name}": value for name, value in run.trace._asdict().items()}
    models = {f"method{i}": m.model.parameters_ for i, m in enumerate(run.methods)}
    models |= {f"em{i}": parameters for i, parameters in enumerate(run.em_path)}
    for name, parameters in models.items():
        content |= {f"{name}_{field}": value for field, value in parameters._asdict().items()}
    np.savez_compressed(FILE, **content)


def _parameters(content: dict, name: str) -> list[np.ndarray]:
    return [content[f"{name}_{field}"] for field in Parameters._fields]


if __name__ == "__main__":
    save(compute(Experiment(), lambda run, doing, share: None))
