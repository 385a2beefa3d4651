"""What Python says to a canvas: a run, its observations, a true model. `protocol` has the form."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial

import numpy as np

from dashboard.canvas.protocol import pack
from dashboard.compute.measures import posteriors, predictive_densities
from dashboard.compute.runs import ExperimentRun, MethodResult, observations_held, trace_stride
from dashboard.compute.sample import sample_to_draw
from dashboard.compute.shared_cache import SharedCache
from dashboard.model.experiment import Experiment
from dashboard.model.methods import (
    BASELINES,
    CEILING,
    ONLINE_LEARNERS,
    method_definition,
    method_name,
)
from dashboard.model.spaces.chart import Chart
from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import SHOWN_BESIDE, View
from dashboard.text.moments import moments
from rhmm.learners.learner import Path
from rhmm.scoring import path_errors

MOST_POINTS = 15_000
"""In the lab. Of longer chains every second, third, … point is drawn."""

_OF_TRUTH = (
    {"title": "‖A − Â‖", "is_ratio": True},
    {"title": "distance of the means", "is_ratio": True},
)
_OF_RECORDING = ({"title": "log density of the next observation", "is_ratio": False},)
"""What is drawn below A against k: errors where there is a truth, else how well is predicted."""


_made = SharedCache(64)


def run_id(run: ExperimentRun) -> str:
    """The same for the same experiment, wherever and whenever it is computed."""
    return run.experiment.digest[:12]


# The observations


def cloud_version(run: ExperimentRun) -> str:
    """The same for the same message: what of the observations is known is all that can differ."""
    return f"{run_id(run)} {len(run.points)} {_decoder(run) is not None}"


def cloud_message(
    run: ExperimentRun, chart: Chart, known: str | None = None, sent: int = 0
) -> bytes:
    """The observations, or only their version if that is `known` to the browser.

    `sent` is how often a session has sent observations: it differs after each time.
    """
    version = cloud_version(run)
    if version == known:
        return pack({"version": version, "continues": version, "sent": sent}, {})
    stride = max(1, -(-len(run.points) // MOST_POINTS))  # a queued run has no points yet
    shown = slice(None, None, stride)
    arrays = _points(chart, run.points[shown], run.true_states[shown])
    decoder = _decoder(run)
    if decoder is not None:
        arrays |= _decoded(run, decoder, chart, shown)
    about = {
        "version": version,
        "continues": None,
        "id": run_id(run),
        "stride": stride,
        "decoder": method_name(run.experiment.algorithms[0]),
    }
    return pack(about, arrays)


def _decoder(run: ExperimentRun) -> MethodResult | None:
    """The online learner by whose result observations are coloured: the first."""
    return run.method(run.experiment.algorithms[0])


def _decoded(
    run: ExperimentRun, method: MethodResult, chart: Chart, shown: slice
) -> dict[str, np.ndarray]:
    """What a method says of each observation: its state, and the probabilities in 255ths.

    A chart that cannot measure distances on its map also gets those to the method's means.
    """
    shares = posteriors(run)[method.key][shown]
    arrays = {
        "decoded": method.labels[shown].astype(np.int8),
        "shares": np.rint(255 * shares).astype(np.uint8),
    }
    if not chart.measures:
        manifold, means, points = method.model.manifold, method.model.means_, run.points[shown]
        columns = [manifold.dist(points, np.broadcast_to(c, points.shape)) for c in means]
        arrays["distances"] = np.stack(columns, axis=1).astype(np.float32)
    return arrays


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
    doing: str = "",
    view_version: int = 0,
    acknowledged: int = 0,
    version: int = 1,
    before: ExperimentRun | None = None,
) -> bytes:
    """What is known of the run so far; `over` says that no more of it will come.

    `doing` is what the server is doing for it.

    To a browser that has the version before this one it is enough to send what has come since
    `before`.
    """
    experiment = run.experiment
    known = _known_rows(before, run)
    arrays: dict[str, np.ndarray] = {}
    for key in experiment.algorithms:
        first = known.get(key, 0)
        make = partial(_path_arrays, run, key, chart, first)
        arrays |= _named(key, _once(run, key, chart, first, make))
    for key in (*experiment.algorithms, *SHOWN_BESIDE):
        method = run.method(key)
        if method is not None and (before is None or not known or before.method(key) is None):
            arrays |= _named(key, _result_arrays(run, method, chart))
    about = {
        "id": run_id(run),
        "version": version,
        "continues": version - 1 if known else None,
        "acknowledged": acknowledged,
        "chart": chart.about(),
        "states": experiment.n_states,
        "truth": _truth_of(experiment, chart),
        "labels": _name_of_labels(run),
        "measures": _OF_RECORDING if experiment.is_recorded else _OF_TRUTH,
        "length": experiment.length,
        "stride": trace_stride(experiment),
        "reached": _reached(run),
        "over": over,
        "doing": "" if over else doing,
        "view": view.for_browser() | {"version": view_version},
        "learners": [
            _once(run, key, chart, "about", partial(_about_learner, run, key))
            for key in experiment.algorithms
        ],
        "baselines": [_about_baseline(key) for key in SHOWN_BESIDE],
        "ceiling": None if experiment.is_recorded else _about_ceiling(run),
    }
    return pack(about, arrays)


def _about_ceiling(run: ExperimentRun) -> dict:
    ceiling = run.method(CEILING)
    return {
        "key": CEILING,
        "label": method_name(CEILING),
        "about": method_definition(CEILING),
        "accuracy": None if ceiling is None else ceiling.accuracy,
    }


def _name_of_labels(run: ExperimentRun) -> str | None:
    """What observations may be coloured by besides what is decoded; None without labels."""
    if not run.experiment.is_recorded:
        return "true state"
    return "label" if run.experiment.label_names else None


def _once(run: ExperimentRun, key: str, chart: Chart, part: Hashable, make: Callable):
    """Part of the message about a finished learner, made once for all who look at it."""
    method = run.method(key)
    if method is None:
        return make()
    name = (method, json.dumps(chart.about()), part)
    return _made.get(name, make, beside=run.experiment.own)


def _named(key: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{key}.{name}": array for name, array in arrays.items()}


def _truth_of(experiment: Experiment, chart: Chart) -> dict:
    """The true model; one without states if there is none."""
    if experiment.is_recorded:
        return {"means": [], "sigmas": [], "transmat": []}
    drawn = _truth(chart, experiment.space, experiment.means, experiment.sigmas)
    return drawn | {"transmat": experiment.transmat}


def _truth(chart: Chart, space: str, means: Sequence, sigmas: Sequence[float]) -> dict:
    """Means, their σ, and how the chart draws them."""
    points = SPACES[space].points(means)
    about = {"means": chart.places(points).tolist(), "sigmas": sigmas}
    drawn = _given(balls=chart.balls(points, np.asarray(sigmas)), glyphs=chart.glyphs(points))
    return about | {name: array.tolist() for name, array in drawn.items()}


def _path_arrays(run: ExperimentRun, key: str, chart: Chart, known: int) -> dict[str, np.ndarray]:
    """The path of an online learner from row `known` on."""
    path = run.path(key)
    if path is None:
        floats = ("means", "transmat", "sigmas", "errors")
        return {"steps": np.zeros(0, np.int32)} | {n: np.zeros(0, np.float32) for n in floats}
    steps, means, transmats, sigmas = (rows[known:] for rows in _drawn(path))
    truth = run.experiment.source.true_model()
    if truth is None:
        errors = predictive_densities(path, run.experiment.length)[known:, None]
    else:
        errors = np.stack(path_errors(path.transmat, path.means, truth), axis=1)[known:]
    points, method = means.reshape(-1, *means.shape[2:]), run.method(key)
    if method is None or method.balls is None:
        balls = chart.balls(points, sigmas.ravel())
    else:
        balls = method.balls[known:].reshape(-1, method.balls.shape[2])
    return {
        "steps": steps.astype(np.int32),
        "means": chart.places(points).astype(np.float32),
        "transmat": transmats.astype(np.float32),
        "sigmas": sigmas.astype(np.float32),
        "errors": errors.astype(np.float32),
    } | _given(balls=balls, glyphs=chart.glyphs(points))


def _reached(run: ExperimentRun) -> int:
    """How far the online learners have come: the most observations that any of them has seen."""
    online = run.experiment.algorithms
    if any(run.method(key) is not None for key in online):
        return run.experiment.length
    return max((int(path.step[-1]) for key in online if (path := run.path(key))), default=0)


def _drawn(path: Path) -> tuple[np.ndarray, ...]:
    """What is drawn of a path, a row for each frame."""
    return path.step, path.means, path.transmat, path.sigmas


def _known_rows(before: ExperimentRun | None, run: ExperimentRun) -> dict[str, int]:
    """How many rows of each path were known before: none of any if one of them was another.

    While a learner goes on, its states may turn out to be in another order.
    """
    if before is None or before.experiment != run.experiment:
        return {}
    known: dict[str, int] = {}
    for key in run.experiment.algorithms:
        old, new = before.path(key), run.path(key)
        if old is None:
            continue
        rows = len(old.step)
        if new is None or not all(
            np.array_equal(x, y[:rows]) for x, y in zip(_drawn(old), _drawn(new), strict=True)
        ):
            return {}
        known[key] = rows
    return known


def _about_learner(run: ExperimentRun, key: str) -> dict:
    """An online learner: its name, what it holds, and what it does when."""
    held = observations_held(run.experiment, key)
    return {
        "key": key,
        "label": method_name(key),
        "held": held,
        "about": method_definition(key),
        "moments": moments(run, key),
    }


def _about_baseline(key: str) -> dict:
    """A method beside the online learners: its name, its key on the keyboard."""
    name = method_name(key)
    return {
        "key": key,
        "label": name,
        "letter": name[0],
        "about": method_definition(key),
        "path": BASELINES[key].keeps_path,
    }


def _result_arrays(run: ExperimentRun, method: MethodResult, chart: Chart) -> dict[str, np.ndarray]:
    """What is known once a method has finished.

    Of an online learner: its accuracy after so many observations. Of another one: its accuracy, its
    means (those of all iterates if it has a path), A and errors. Without labels, the log density of
    an observation stands for the accuracy.
    """
    has_labels, path = run.has_labels, method.path
    score, final = (
        ("accuracies", method.accuracy) if has_labels else ("densities", method.log_likelihood)
    )
    if method.key in ONLINE_LEARNERS:
        if path is None:
            steps, scores = np.zeros(1), np.array([final])
        elif has_labels:
            steps, scores = path.step[method.judged], method.accuracies
        else:
            steps, scores = path.step, predictive_densities(path, run.experiment.length)
        return {"judged": steps.astype(np.int32), score: scores.astype(np.float32)}
    means = method.model.means_[None] if path is None else path.means
    errors = (
        [method.log_likelihood]
        if run.experiment.is_recorded
        else [method.transition_error, method.mean_error]
    )
    arrays = {
        score: np.array([final]),
        "means": chart.places(means.reshape(-1, *means.shape[2:])),
        "transmat": method.model.transmat_,
        "errors": np.array(errors),
    }
    return {name: array.astype(np.float32) for name, array in arrays.items()}


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
