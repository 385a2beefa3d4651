"""What Python says to a canvas: a run, its observations, a true model. `protocol` has the form."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dashboard.canvas.chart import Chart
from dashboard.canvas.protocol import pack
from dashboard.experiment import Experiment
from dashboard.runs import EM, KMEANS, ONLINE, Run, observations_held, trace_stride, true_model
from dashboard.views import View
from rhmm.scoring import path_errors

MOST_POINTS = 15_000
"""In the lab. Of longer chains every second, third, … point is drawn."""

MOST_SKETCHED = 3_000
"""The same where only the true model is shown."""


class Baseline(NamedTuple):
    """A method that the lab shows beside the online learner."""

    key: str
    """In messages, and in the ``show`` of a link."""
    method: str
    """Its name among the run's methods, and on the curves."""
    letter: str
    caption: str
    """Of its switch."""
    path: bool
    """Whether all its iterates are shown."""


BASELINES = (
    Baseline("em", EM, "E", "EM’s iterates (E)", path=True),
    Baseline("kmeans", KMEANS, "K", "K-means’ centres (K)", path=False),
)


def run_id(run: Run) -> str:
    """The same for the same experiment, wherever and whenever it is computed."""
    return hashlib.sha256(repr(run.experiment).encode()).hexdigest()[:12]


# The observations


def cloud_version(run: Run) -> str:
    """The same for the same message: what of the observations is known is all that can differ."""
    return f"{run_id(run)} {len(run.points)} {run.method(ONLINE) is not None}"


def cloud_message(run: Run, chart: Chart, known: str | None = None) -> bytes:
    """The observations, or only their version if that is `known` to the browser."""
    version = cloud_version(run)
    if version == known:
        return pack({"version": version, "continues": version}, {})
    stride = max(1, -(-len(run.points) // MOST_POINTS))  # a queued run has no points yet
    arrays = _points(chart, run.points[::stride], run.true_states[::stride])
    online = run.method(ONLINE)
    if online is not None:
        arrays["decoded"] = online.states[::stride].astype(np.int8)
    about = {"version": version, "continues": None, "id": run_id(run), "stride": stride}
    return pack(about, arrays)


def _points(chart: Chart, points: np.ndarray, states: np.ndarray) -> dict[str, np.ndarray]:
    arrays = {"xy": chart.places(points).astype(np.float32), "states": states.astype(np.int8)}
    return arrays | _given(glyphs=chart.glyphs(points))


def _given(**arrays: np.ndarray | None) -> dict[str, np.ndarray]:
    """Those that the chart gives, in single precision."""
    return {name: a.astype(np.float32) for name, a in arrays.items() if a is not None}


# The run


def run_message(
    run: Run,
    over: bool,
    view: View,
    chart: Chart,
    *,
    view_version: int = 0,
    acknowledged: int = 0,
    version: int = 1,
    before: Run | None = None,
) -> bytes:
    """What is known of the run so far; `over` says that no more of it will come.

    To a browser that has the version before this one it is enough to send what has come since
    `before`.
    """
    experiment = run.experiment
    held = observations_held(experiment)
    known = _known_rows(before, run)
    arrays = _path_arrays(run, chart, known)
    for baseline in BASELINES:
        if not (known and before.method(baseline.method)):
            arrays |= _baseline_arrays(run, chart, baseline)
    about = {
        "id": run_id(run),
        "version": version,
        "continues": version - 1 if known else None,
        "acknowledged": acknowledged,
        "chart": chart.about(),
        "truth": _truth(chart, experiment.means, experiment.sigmas)
        | {"transmat": experiment.transmat},
        "length": experiment.length,
        "frames": _frames(run),
        "held": held,
        "heldName": f"the {held:,} observations it holds",
        "over": over,
        "withoutPath": _without_path(run, over),
        "view": view.for_browser() | {"version": view_version},
        "baselines": [
            {"key": b.key, "label": b.method, "letter": b.letter, "caption": b.caption,
             "path": b.path}
            for b in BASELINES
        ],
    }  # fmt: skip
    return pack(about, arrays)


def _truth(chart: Chart, means: Sequence, sigmas: Sequence[float]) -> dict:
    """Means, their σ, and how the chart draws them."""
    points = np.asarray(means)
    about = {"means": chart.places(points).tolist(), "sigmas": sigmas}
    drawn = _given(balls=chart.balls(points, np.asarray(sigmas)), glyphs=chart.glyphs(points))
    return about | {name: array.tolist() for name, array in drawn.items()}


def _path_arrays(run: Run, chart: Chart, known: int) -> dict[str, np.ndarray]:
    """The path from row `known` on."""
    if run.trace is None:
        floats = ("means", "transmat", "sigmas", "errors")
        return {"steps": np.zeros(0, np.int32)} | {n: np.zeros(0, np.float32) for n in floats}
    steps, means, transmats, sigmas = (field[known:] for field in _path(run))
    truth = true_model(run.experiment)
    errors = np.stack(path_errors(run.trace.transmat, run.trace.means, truth), axis=1)[known:]
    points = means.reshape(-1, *means.shape[2:])
    return {
        "steps": steps.astype(np.int32),
        "means": chart.places(points).astype(np.float32),
        "transmat": transmats.astype(np.float32),
        "sigmas": sigmas.astype(np.float32),
        "errors": errors.astype(np.float32),
    } | _given(balls=chart.balls(points, sigmas.ravel()), glyphs=chart.glyphs(points))


def _frames(run: Run) -> int:
    """How many frames the whole path will have."""
    if run.trace is None:
        return 1
    first, stride = int(run.trace.step[0]), trace_stride(run.experiment)
    return (run.experiment.length - first) // stride + 1


def _path(run: Run) -> tuple[np.ndarray, ...]:
    """What is drawn of the online learner's path, a row for each frame."""
    return run.trace.step, run.trace.means, run.trace.transmat, run.trace.sigmas


def _known_rows(before: Run | None, run: Run) -> int:
    """How many rows of the path were known before: none if one of them was another.

    While the learner goes on, its states may turn out to be in another order.
    """
    if before is None or before.experiment != run.experiment or before.trace is None:
        return 0
    known = len(before.trace.step)
    pairs = zip(_path(before), _path(run), strict=True)
    return known if all(np.array_equal(old, new[:known]) for old, new in pairs) else 0


def _without_path(run: Run, over: bool) -> str:
    """What to say in place of errors while the online learner has no path to show."""
    if run.method(ONLINE) is not None:
        return "Δ is the whole chain, or nearly: no online step to show"
    return "it ended before its first estimate" if over else "collecting its first observations"


def _baseline_arrays(run: Run, chart: Chart, baseline: Baseline) -> dict[str, np.ndarray]:
    """Its means (those of all iterates if it has a path), A and errors, if it is computed."""
    method = run.method(baseline.method)
    if method is None:
        return {}
    path = [p.means for p in run.em_path] if baseline.path else [method.model.means_]
    arrays = {
        "means": chart.places(np.concatenate(path)),
        "transmat": method.model.transmat_,
        "errors": np.array([method.transition_error, method.mean_error]),
    }
    return {f"{baseline.key}.{name}": a.astype(np.float32) for name, a in arrays.items()}


# A true model alone


def sketch_message(
    experiment: Experiment, means: Sequence, sigmas: Sequence, chart: Chart, acknowledged: int
) -> bytes:
    """The experiment's data with these true means and σ, which may be half typed."""
    points, states = _sample(experiment)
    if len(means) != experiment.n_states:
        points, states = points[:0], states[:0]  # of a model with other states
    about = {
        "chart": chart.about(),
        "truth": _truth(chart, means, sigmas),
        "acknowledged": acknowledged,
    }
    return pack(about, _points(chart, points, states))


@lru_cache(maxsize=32)
def _sample(experiment: Experiment) -> tuple[np.ndarray, np.ndarray]:
    """The data that every page shows, as few as make a picture."""
    points, states = true_model(experiment).sample(experiment.length, experiment.seed)
    stride = -(-len(points) // MOST_SKETCHED)
    return points[::stride].copy(), states[::stride].copy()
