"""What Python says to a canvas: a run, its observations, a true model. `protocol` has the form."""

import hashlib
from collections.abc import Sequence

import numpy as np

from dashboard.canvas.protocol import pack
from dashboard.compute.runs import ExperimentRun, observations_held, trace_stride
from dashboard.compute.sample import sample_to_draw
from dashboard.model.experiment import Experiment
from dashboard.model.methods import BASELINES, ONLINE, method_name
from dashboard.model.spaces.chart import Chart
from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import View
from rhmm.learners.learner import Path
from rhmm.scoring import path_errors

MOST_POINTS = 15_000
"""In the lab. Of longer chains every second, third, … point is drawn."""

SHOWN_BESIDE = tuple(key for key, learner in BASELINES.items() if not learner.needs_truth)
"""The methods that the lab can show beside the online learner."""


def run_id(run: ExperimentRun) -> str:
    """The same for the same experiment, wherever and whenever it is computed."""
    return hashlib.sha256(repr(run.experiment).encode()).hexdigest()[:12]


# The observations


def cloud_version(run: ExperimentRun) -> str:
    """The same for the same message: what of the observations is known is all that can differ."""
    return f"{run_id(run)} {len(run.points)} {run.method(ONLINE) is not None}"


def cloud_message(run: ExperimentRun, chart: Chart, known: str | None = None) -> bytes:
    """The observations, or only their version if that is `known` to the browser."""
    version = cloud_version(run)
    if version == known:
        return pack({"version": version, "continues": version}, {})
    stride = max(1, -(-len(run.points) // MOST_POINTS))  # a queued run has no points yet
    arrays = _points(chart, run.points[::stride], run.true_states[::stride])
    online = run.method(ONLINE)
    if online is not None:
        arrays["decoded"] = online.labels[::stride].astype(np.int8)
    about = {"version": version, "continues": None, "id": run_id(run), "stride": stride}
    return pack(about, arrays)


def _points(chart: Chart, points: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
    xy = chart.places(points).astype(np.float32)
    return {"xy": xy, "states": states.astype(np.int8), **_given(glyphs=chart.glyphs(points))}


def _given(**arrays: np.ndarray | None) -> dict[str, np.ndarray]:
    """Those that the chart gives, in single precision."""
    return {name: a.astype(np.float32) for name, a in arrays.items() if a is not None}


# The run


def run_message(
    run: ExperimentRun,
    over: bool,
    view: View,
    chart: Chart,
    *,
    view_version: int = 0,
    acknowledged: int = 0,
    version: int = 1,
    before: ExperimentRun | None = None,
) -> bytes:
    """What is known of the run so far; `over` says that no more of it will come.

    To a browser that has the version before this one it is enough to send what has come since
    `before`.
    """
    experiment = run.experiment
    held = observations_held(experiment)
    known = _known_rows(before, run)
    arrays = _path_arrays(run, chart, known)
    for key in SHOWN_BESIDE:
        if before is None or not (known and before.method(key)):
            arrays |= _baseline_arrays(run, chart, key)
    about = {
        "id": run_id(run),
        "version": version,
        "continues": version - 1 if known else None,
        "acknowledged": acknowledged,
        "chart": chart.about(),
        "truth": _truth(chart, experiment.space, experiment.means, experiment.sigmas)
        | {"transmat": experiment.transmat},
        "length": experiment.length,
        "frames": _frames(run),
        "held": held,
        "heldName": f"the {held:,} observations it holds",
        "over": over,
        "withoutPath": _without_path(run, over),
        "view": view.for_browser() | {"version": view_version},
        "baselines": [_about_baseline(key) for key in SHOWN_BESIDE],
    }
    return pack(about, arrays)


def _truth(chart: Chart, space: str, means: Sequence, sigmas: Sequence[float]) -> dict:
    """Means, their σ, and how the chart draws them."""
    points = SPACES[space].points(means)
    about = {"means": chart.places(points).tolist(), "sigmas": sigmas}
    drawn = _given(balls=chart.balls(points, np.asarray(sigmas)), glyphs=chart.glyphs(points))
    return about | {name: array.tolist() for name, array in drawn.items()}


def _path_arrays(run: ExperimentRun, chart: Chart, known: int) -> dict[str, np.ndarray]:
    """The path from row `known` on."""
    if run.trace is None:
        floats = ("means", "transmat", "sigmas", "errors")
        return {"steps": np.zeros(0, np.int32)} | {n: np.zeros(0, np.float32) for n in floats}
    steps, means, transmats, sigmas = (field[known:] for field in _drawn(run.trace))
    truth = run.experiment.source.true_model()
    errors = np.stack(path_errors(run.trace.transmat, run.trace.means, truth), axis=1)[known:]
    points = means.reshape(-1, *means.shape[2:])
    return {
        "steps": steps.astype(np.int32),
        "means": chart.places(points).astype(np.float32),
        "transmat": transmats.astype(np.float32),
        "sigmas": sigmas.astype(np.float32),
        "errors": errors.astype(np.float32),
    } | _given(balls=chart.balls(points, sigmas.ravel()), glyphs=chart.glyphs(points))


def _frames(run: ExperimentRun) -> int:
    """How many frames the whole path will have."""
    if run.trace is None:
        return 1
    first, stride = int(run.trace.step[0]), trace_stride(run.experiment)
    return (run.experiment.length - first) // stride + 1


def _drawn(path: Path) -> tuple[np.ndarray, ...]:
    """What is drawn of a path, a row for each frame."""
    return path.step, path.means, path.transmat, path.sigmas


def _known_rows(before: ExperimentRun | None, run: ExperimentRun) -> int:
    """How many rows of the path were known before: none if one of them was another.

    While the learner goes on, its states may turn out to be in another order.
    """
    if before is None or before.experiment != run.experiment:
        return 0
    if before.trace is None or run.trace is None:
        return 0
    known = len(before.trace.step)
    pairs = zip(_drawn(before.trace), _drawn(run.trace), strict=True)
    return known if all(np.array_equal(old, new[:known]) for old, new in pairs) else 0


def _without_path(run: ExperimentRun, over: bool) -> str:
    """What to say in place of errors while the online learner has no path to show."""
    if run.method(ONLINE) is not None:
        return "Δ is the whole chain, or nearly: no online step to show"
    return "it ended before its first estimate" if over else "collecting its first observations"


def _about_baseline(key: str) -> dict:
    """A method beside the online learner: its name, its letter on the map, and its switch."""
    name = method_name(key)
    has_path = BASELINES[key].keeps_path
    owned = f"{name}’" if name.endswith("s") else f"{name}’s"
    caption = f"{owned} {'iterates' if has_path else 'centres'} ({name[0]})"
    return {"key": key, "label": name, "letter": name[0], "caption": caption, "path": has_path}


def _baseline_arrays(run: ExperimentRun, chart: Chart, key: str) -> dict[str, np.ndarray]:
    """Its means (those of all iterates if it has a path), A and errors, if it is computed."""
    method = run.method(key)
    if method is None:
        return {}
    means = method.model.means_[None] if method.path is None else method.path.means
    arrays = {
        "means": chart.places(means.reshape(-1, *means.shape[2:])),
        "transmat": method.model.transmat_,
        "errors": np.array([method.transition_error, method.mean_error]),
    }
    return {f"{key}.{name}": a.astype(np.float32) for name, a in arrays.items()}


# A true model alone


def sketch_message(
    experiment: Experiment, means: Sequence, sigmas: Sequence, chart: Chart, acknowledged: int
) -> bytes:
    """The experiment's data with these true means and σ, which may be half typed."""
    points, states = sample_to_draw(experiment)
    if (experiment.space, experiment.n_states) != (chart.space, len(means)):
        points, states = SPACES[chart.space].points([]), states[:0]  # of a model with other states
    about = {
        "chart": chart.about(),
        "truth": _truth(chart, chart.space, means, sigmas),
        "acknowledged": acknowledged,
    }
    return pack(about, _points(chart, points, states))
