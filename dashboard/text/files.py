"""The contents of the files that pages hand out: data, results, and scripts that compute them."""

import io
import json
import math
import tempfile
import unicodedata
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pyarrow
from pyarrow.csv import WriteOptions, write_csv
from pyarrow.parquet import write_table

from dashboard.compute.runs import ExperimentRun, MethodResult
from dashboard.model.analysis import OFFERED, HeldFile, HeldRecording, ReadOptions
from dashboard.model.experiment import TRUTH, Experiment
from dashboard.model.methods import method_name
from dashboard.model.plan import Sweep
from dashboard.model.spaces.registry import SPACES
from rhmm import Configuration, Run
from rhmm.learners.learner import Learner
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping import save_runs

NEEDS_RHMM = """import sys
from importlib.util import find_spec

if find_spec("rhmm") is None:
    sys.exit(
        "This script needs the package rhmm: run `pip install .` in the folder of its project, the "
        "one with pyproject.toml, and start the script again."
    )
"""
"""How a script begins, so that a computer without rhmm gets a sentence and no traceback."""

_TEMPLATE, _RECORDING_TEMPLATE = (
    Template((Path(__file__).parent / file).read_text(encoding="utf-8"))
    for file in ("run_again.txt", "run_recording_again.txt")
)


def data_csv(run: ExperimentRun) -> bytes:
    """One line for each observation: where it is, its true state, and each method's label."""
    columns = {
        "k": np.arange(1, len(run.points) + 1),
        **_coordinates(run),
        **_known_states(run),
        **{m.key: m.labels + 1 for m in run.methods},
    }
    return csv_of(pyarrow.table(columns))


def _known_states(run: ExperimentRun) -> dict[str, np.ndarray]:
    """The true states; of a recording, which sequence each observation belongs to, and its label.

    Methods call the state that is matched with a label by the label's number.
    """
    states, names = run.true_states, run.experiment.label_names
    if not run.experiment.is_recorded:
        return {"true_state": states + 1}
    columns: dict[str, np.ndarray] = {}
    if run.lengths is not None and len(run.lengths) > 1:
        columns["sequence"] = np.repeat(np.arange(1, len(run.lengths) + 1), run.lengths)
    if run.has_labels:
        columns |= {"label": states + 1, "label_name": np.array([*names, ""])[states]}
    return columns


def csv_of(table: pyarrow.Table) -> bytes:
    """The table as a CSV file."""
    out = io.BytesIO()
    out.write(",".join(table.column_names).encode() + b"\n")  # Arrow's own is in quotation marks
    write_csv(table, out, WriteOptions(include_header=False))
    return out.getvalue()


def _coordinates(run: ExperimentRun) -> dict[str, np.ndarray]:
    """A column for each coordinate; in a file a₁₁ is a11."""
    space = run.experiment.observed_in
    names = (unicodedata.normalize("NFKC", name) for name in space.coordinates)
    return dict(zip(names, space.coords(run.points).T, strict=True))


def arrays_npz(run: ExperimentRun) -> bytes:
    """The data, every method's parameters, and the paths of those that keep one."""
    content: dict[str, Any] = {"points": run.points}
    if run.has_labels:
        content["labels" if run.experiment.is_recorded else "true_states"] = run.true_states
    if run.lengths is not None:
        content["lengths"] = run.lengths
    for method in run.methods:
        parameters = method.model.parameters_._asdict()
        content |= {f"{method.key}_{name}": value for name, value in parameters.items()}
    for key in run.experiment.methods:
        path = run.path(key)
        if path is not None:
            content |= {f"{key}_path_{name}": value for name, value in path._asdict().items()}
    out = io.BytesIO()
    np.savez_compressed(out, **content)
    return out.getvalue()


def results_json(run: ExperimentRun) -> str:
    """The experiment and every method's parameters and measures."""
    methods = {
        m.key: {
            **{name: value.tolist() for name, value in m.model.parameters_._asdict().items()},
            **{name: value for name, value in _measured(m).items() if not _is_unknown(value)},
        }
        for m in run.methods
    }
    return _json({"experiment": _settings(run.experiment), "methods": methods})


def _measured(method: MethodResult) -> dict[str, float | None]:
    return {
        "accuracy": method.accuracy,
        "transition_error": method.transition_error,
        "mean_error": method.mean_error,
        "sigma_error": method.sigma_error,
        "log_likelihood_per_observation": method.log_likelihood,
        "seconds": method.seconds,
        "bytes": method.nbytes,
    }


def _is_unknown(value: float | None) -> bool:
    """Whether a truth or labels would be needed for it."""
    return value is not None and math.isnan(value)


def _settings(experiment: Experiment) -> dict[str, Any]:
    """What the results follow from: a recording is no chain of the truth that is set."""
    foreign = TRUTH if experiment.is_recorded else ("recording", "states")
    given = {name: getattr(experiment, name) for name in experiment.table() if name not in foreign}
    return given | ({"recording": experiment.held.name} if experiment.is_recorded else {})


def experiment_json(experiment: Experiment) -> str:
    """The true model, the data's length and seed, and how they are learned."""
    return _json({"experiment": _settings(experiment)})


def _json(content: dict) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def run_script(experiment: Experiment) -> str:
    """A program that computes the numbers on the page again, with rhmm alone."""
    learners = {k: LEARNERS[k] for k in experiment.methods if not LEARNERS[k].needs_truth}
    lines = [
        f'    "{method_name(key)}": {learner.script(experiment.options_of(key), experiment.seed)},'
        for key, learner in learners.items()
    ]
    manifold = experiment.observed_in.manifold
    if experiment.is_recorded:
        names = {"rhmm": {"evaluate_without_truth"}}
    else:
        names = {"rhmm": {manifold.name, "RiemannianHMM", "evaluate"}}
    for learner in learners.values():
        home = "rhmm" if _is_ours(learner) else learner.estimator.__module__
        names.setdefault(home, set()).add(learner.estimator.__name__)
    imports = [f"from {home} import {', '.join(sorted(used))}" for home, used in names.items()]
    if experiment.is_recorded:
        more, recording = recording_lines(experiment.held)
        return _RECORDING_TEMPLATE.substitute(
            recording=recording,
            beginning=_beginning(experiment.own),
            states=experiment.n_states,
            needs_rhmm=NEEDS_RHMM,
            imports="\n".join([*imports, *more]),
            learners="\n".join(lines),
        )
    return _TEMPLATE.substitute(
        asdict(experiment),
        means=_means(experiment),
        manifold=manifold,
        needs_rhmm=NEEDS_RHMM,
        imports="\n".join(imports),
        learners="\n".join(lines),
    )


def recording_lines(held: HeldRecording) -> tuple[list[str], str]:
    """Imports, and the lines that read a recording."""
    first = held.key[0]
    if isinstance(first, HeldFile):
        options: ReadOptions = held.key[1]
        said = "".join(f", {name}={_written(value)}" for name, value in options.said().items())
        names = "Window, read" if options.window is not None else "read"
        return (
            [f"from rhmm.reading import {names}"],
            f'recording, report = read({first.name!r}{said})\nprint(*report.notes, sep="\\n")',
        )
    call = OFFERED[first].call
    return [f"from rhmm.datasets import {call.partition('(')[0]}"], f"recording = {call}"


def _written(value: Any) -> str:
    return repr(tuple(value)) if type(value) is tuple else repr(value)


def _beginning(own: HeldRecording | None) -> str:
    """Lines that leave of a file what the page has learned."""
    if own is None:
        return ""
    count, lines = len(own.recording.points), []
    if count < own.whole:
        lines += [
            f"X, labels = X[:{count}], None if labels is None else labels[:{count}]",
            f"ends = [min(int(end), {count}) for end in lengths.cumsum()]",
            "lengths = [b - a for a, b in zip([0, *ends], ends) if b > a]",
        ]
    if own.recording.labels is None:
        lines.append("labels = None")
    return "".join(f"{line}\n" for line in lines)


def _means(experiment: Experiment) -> str:
    """The true means as Python: points as the engine takes them."""

    def written(array: np.ndarray) -> str:
        if array.ndim == 0:
            return repr(array.item())
        items = ", ".join(map(written, array))
        return f"({items},)" if len(array) == 1 else f"({items})"

    return written(SPACES[experiment.space].points(experiment.means))


def _is_ours(learner: Learner) -> bool:
    """Whether rhmm itself has the learner; others are registered by the module they are in."""
    return learner.estimator.__module__.partition(".")[0] == "rhmm"


def runs_file(experiment: Experiment, suffix: str, runs: Iterable[Run]) -> bytes:
    """All runs as the engine writes them: ``.csv`` or ``.parquet``."""
    if experiment.is_recorded:
        return _recorded_runs(experiment, suffix, runs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"runs{suffix}"
        save_runs(path, experiment.simulated.true_model(), runs)
        return path.read_bytes()


def _recorded_runs(experiment: Experiment, suffix: str, runs: Iterable[Run]) -> bytes:
    """The runs of a sweep over a recording: a line for each, without what needs a truth."""
    measured = {
        "accuracy": "accuracy", "predictive_log_density": "log_likelihood", "seconds": "seconds",
        "nbytes": "nbytes",
    }  # fmt: skip
    if not experiment.label_names:
        del measured["accuracy"]
    lines = [
        {
            "recording": experiment.held.name,
            "states": experiment.n_states,
            "learner": run.configuration.name,
            "window": run.configuration.window,
            "seed": run.seed,
            **{name: getattr(run, field) for name, field in measured.items()},
        }
        for run in runs
    ]
    table = pyarrow.Table.from_pylist(lines)
    if suffix == ".csv":
        return csv_of(table)
    out = io.BytesIO()
    write_table(table, out)
    return out.getvalue()


def _call(configuration: Configuration) -> str:
    """The configuration as Python."""
    options = "".join(f", {name}={value!r}" for name, value in configuration.options)
    return f"Configuration({configuration.learner!r}, {configuration.length}{options})"


def sweep_script(sweep: Sweep) -> str:
    """A program that runs the sweep again, with rhmm alone."""
    experiment, ways = sweep.experiment, sweep.configurations()
    manifold = SPACES[experiment.space].manifold
    names = ", ".join(sorted({"Configuration", manifold.name, "RiemannianHMM"}))
    grid = "\n".join(f"    {_call(way)}," for way in ways)
    homes = {way.entry.estimator.__module__ for way in ways if not _is_ours(way.entry)}
    others = "".join(f"import {home}  # registers a learner\n" for home in sorted(homes))
    return f'''"""Runs again the sweep that the dashboard showed."""

{NEEDS_RHMM}
{others}from rhmm import {names}, sweep
from rhmm.sweeping import summarise

truth = RiemannianHMM.from_parameters(
    {manifold},
    {experiment.startprob!r},
    {experiment.transmat!r},
    {_means(experiment)},
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
        f"{{1000 * s.seconds.mean:.1f}} ms, {{s.nbytes.most}} bytes"
    )
'''
