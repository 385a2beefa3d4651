"""The default experiment's run, computed beforehand: the first screen must not wait for compilers.

``python -m dashboard.compute.precomputed_run`` computes it anew. The server computes it too, in the
background, and then shows its own result, with the times of its own machine; a test compares the
two.
"""

from pathlib import Path
from typing import Any

import numpy as np

from dashboard.compute.runs import ExperimentRun, MethodResult, compute
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.registry import SPACES
from rhmm import Parameters, RiemannianHMM, Trace
from rhmm.learners.baum_welch import Iterates
from rhmm.scoring import MEASURES

FILE = Path(__file__).parent / "default_run.npz"

_UNTIMED = [name for name in MEASURES if name != "seconds"]
_ARRAYS = ("mean_errors", "sigma_errors", "order", "labels", "judged", "accuracies")
_PATHS = {kind.__name__: kind for kind in (Trace, Iterates)}


def default_run() -> ExperimentRun | None:
    """The precomputed run, without times; None if it is of another default experiment."""
    with FILE.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        content = {name: file[name] for name in file.files}
    experiment = Experiment()
    if str(content["experiment"]) != repr(experiment):
        return None
    methods = tuple(_method(content, str(key)) for key in content["methods"])
    return ExperimentRun(
        experiment, content["points"], content["true_states"], methods=methods, finished=True
    )


def save(run: ExperimentRun) -> None:
    content: dict[str, Any] = {
        "experiment": repr(run.experiment),
        "points": run.points,
        "true_states": run.true_states.astype(np.int8),
        "methods": [method.key for method in run.methods],
    }
    for method in run.methods:
        values = {name: getattr(method, name) for name in (*_UNTIMED, *_ARRAYS)}
        values |= {f"model_{name}": x for name, x in method.model.parameters_._asdict().items()}
        values["labels"] = method.labels.astype(np.int8)
        if method.path is not None:
            values["path"] = type(method.path).__name__
            values |= {f"path_{name}": value for name, value in method.path._asdict().items()}
        content |= {f"{method.key}_{name}": value for name, value in values.items()}
    np.savez_compressed(FILE, **{n: value for n, value in content.items() if value is not None})


def _method(content: dict, key: str) -> MethodResult:
    def of(name: str) -> np.ndarray:
        return content[f"{key}_{name}"]

    parameters = (of(f"model_{name}") for name in Parameters._fields)
    path: Any = None
    if f"{key}_path" in content:
        kind = _PATHS[str(of("path"))]
        path = kind(*(of(f"path_{name}") for name in kind._fields))
    values: dict[str, Any] = {name: of(name) for name in _ARRAYS}
    values |= {name: of(name).item() for name in _UNTIMED if f"{key}_{name}" in content}
    model = RiemannianHMM.from_parameters(SPACES[Experiment().space].manifold, *parameters)
    names = np.arange(model.n_components)
    return MethodResult(key=key, model=model, path=path, names=names, **values)


if __name__ == "__main__":
    save(compute(Experiment(), lambda run, doing, share: None))
