"""The contents of the files that pages hand out: data, results, and scripts that compute them."""

import io
import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from string import Template

import numpy as np
import pyarrow
from pyarrow.csv import WriteOptions, write_csv

from dashboard.compute.runs import ExperimentRun
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, KMEANS, ONLINE
from dashboard.model.plan import Sweep
from rhmm import Parameters, Run
from rhmm.sweeping import save_runs

_TEMPLATE = Template((Path(__file__).parent / "run_again.txt").read_text(encoding="utf-8"))
_COLUMN = {ONLINE: "online", EM: "em", KMEANS: "kmeans", CEILING: "true_parameters"}


def data_csv(run: ExperimentRun) -> bytes:
    """One line for each observation: where it is, its true state, and each method's label."""
    columns = {
        "k": np.arange(1, len(run.points) + 1),
        "x": run.points[:, 0],
        "y": run.points[:, 1],
        "true_state": run.true_states + 1,
        **{_COLUMN[m.name]: m.states + 1 for m in run.methods},
    }
    out = io.BytesIO()
    out.write(",".join(columns).encode() + b"\n")  # Arrow's own header is in quotation marks
    write_csv(pyarrow.table(columns), out, WriteOptions(include_header=False))
    return out.getvalue()


def arrays_npz(run: ExperimentRun) -> bytes:
    """The data, the online learner's path, EM's path and every method's parameters."""
    content = {"points": run.points, "true_states": run.true_states}
    if run.trace is not None:
        content |= {f"online_path_{name}": value for name, value in run.trace._asdict().items()}
    for field in Parameters._fields:
        if run.em_path:
            content[f"em_path_{field}"] = np.stack([getattr(p, field) for p in run.em_path])
        for method in run.methods:
            value = getattr(method.model.parameters_, field)
            content[f"{_COLUMN[method.name]}_{field}"] = value
    content["em_path_log_likelihood"] = np.array(run.em_log_likelihood)
    out = io.BytesIO()
    np.savez_compressed(out, **content)
    return out.getvalue()


def results_json(run: ExperimentRun) -> str:
    """The experiment and every method's parameters and measures."""
    methods = {
        _COLUMN[m.name]: {
            **{name: value.tolist() for name, value in m.model.parameters_._asdict().items()},
            "accuracy": m.accuracy,
            "transition_error": m.transition_error,
            "mean_error": m.mean_error,
            "sigma_error": m.sigma_error,
            "log_likelihood_per_observation": m.log_likelihood,
            "seconds": m.seconds,
            "bytes": m.nbytes,
        }
        for m in run.methods
    }
    return _json({"experiment": asdict(run.experiment), "methods": methods})


def experiment_json(experiment: Experiment) -> str:
    """The true model, the data's length and seed, and how they are learned."""
    return _json({"experiment": asdict(experiment)})


def _json(content: dict) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def run_script(experiment: Experiment) -> str:
    """A program that computes the numbers on the page again, with rhmm alone."""
    return _TEMPLATE.substitute(asdict(experiment))


def runs_file(experiment: Experiment, suffix: str, runs: Iterable[Run]) -> bytes:
    """All runs as the engine writes them: ``.csv`` or ``.parquet``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"runs{suffix}"
        save_runs(path, experiment.source.true_model(), runs)
        return path.read_bytes()


def sweep_script(sweep: Sweep) -> str:
    """A program that runs the sweep again, with rhmm alone."""
    experiment = sweep.experiment
    grid = "\n".join(f"    {configuration!r}," for configuration in sweep.configurations())
    return f'''"""Runs again the sweep that the dashboard showed."""

from rhmm import Configuration, Hyperbolic, RiemannianHMM, sweep
from rhmm.sweeping import summarise

truth = RiemannianHMM.from_parameters(
    Hyperbolic(2),
    {experiment.startprob!r},
    {experiment.transmat!r},
    {experiment.means!r},
    {experiment.sigmas!r},
)
grid = [
{grid}
]
runs = sweep(truth, grid, {sweep.runs}, file="runs.csv")
for s in summarise(runs):
    print(
        f"{{s.configuration.name:36}} accuracy {{s.accuracy.mean:.4f}}, "
        f"|A - A^| {{s.transition_error.mean:.4f}}, means {{s.mean_error.mean:.4f}}, "
        f"{{1000 * s.seconds.mean:.1f}} ms, {{s.nbytes}} bytes"
    )
'''
