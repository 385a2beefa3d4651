"""What Python says to a picture of the lesson: the tables and results that it draws."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dashboard.canvas.protocol import pack
from dashboard.compute import lesson
from dashboard.compute.steps import STREAMING, Step
from dashboard.figures.chain_diagram import chain_svg
from dashboard.model.model_checks import indexed
from dashboard.model.spaces.chart import Chart
from dashboard.text.lesson import DELTA_NAMES

_ON_A_WAY = 24
"""Points on the way of a mean."""

Parts = tuple[dict[str, Any], dict[str, np.ndarray]]


def lesson_message(name: str, revealed: bool) -> bytes:
    """The picture of a screen that is the same for every experiment."""
    about, arrays = _PARTS.get(name, lambda: ({}, {}))()
    return _packed(name, revealed, about, arrays)


def step_message(step: Step, chart: Chart, revealed: bool) -> bytes:
    """The picture of one step of a learner."""
    e, n = step.explanation, len(step.explanation.tau)
    before, after, manifold = e.before.means, e.after.means, step.manifold
    ways = _ways(manifold, before, after, chart)
    towards = np.empty(0)
    if step.kind != STREAMING and len(e.learned):
        towards = _ways(manifold, before, np.broadcast_to(e.observation, before.shape), chart)
    balls = chart.balls(before, e.before.sigmas)
    about = {
        "chart": chart.about(),
        "k": e.step,
        "n": n,
        "tau": e.tau.tolist(),
        "sigmas": e.before.sigmas.tolist(),
        "balls": None if balls is None else balls.tolist(),
    }
    arrays = {
        "held": chart.places(step.held),
        "ways": ways,
        "towards": towards,
        "alpha": e.alpha,
        "beta": e.beta,
        "gamma": e.gamma,
        "zeta": e.zeta,
    }
    return _packed("step", revealed, about, arrays)


def _ways(manifold, starts: np.ndarray, ends: np.ndarray, chart: Chart) -> np.ndarray:
    """Geodesics on the map, shape (N, K, 2)."""
    shares = np.linspace(0.0, 1.0, _ON_A_WAY)
    ways = [
        chart.places(
            manifold.geodesic(
                np.broadcast_to(start, (_ON_A_WAY, *start.shape)),
                np.broadcast_to(end, (_ON_A_WAY, *end.shape)),
                shares,
            )
        )
        for start, end in zip(starts, ends, strict=True)
    ]
    return np.stack(ways)


def _gaussian() -> Parts:
    return {}, lesson.gaussian_tables()._asdict()


def _chain() -> Parts:
    paper, walk = lesson.PAPERS, lesson.walk()
    about = {
        "diagram": chain_svg(paper.transmat),
        "means": paper.means,
        "sigmas": paper.sigmas,
    }
    return about, {"points": walk.points, "states": walk.states}


def _delta() -> Parts:
    found = lesson.windows()
    out = found.exit
    about = {
        "runs": [
            {"name": DELTA_NAMES[run.key], "window": run.window, "accuracy": run.accuracy}
            for run in found.runs
        ],
        "truth": np.diagonal(lesson.PAPERS.transmat).tolist(),
        "length": lesson.PAPERS.length,
        "exit": {"k": out.k, "entry": indexed("A", out.row, out.column), "raw": out.raw},
    }
    arrays: dict[str, np.ndarray] = {"states": found.states}
    for i, run in enumerate(found.runs):
        arrays |= {f"steps.{i}": run.steps.astype(float), f"diagonal.{i}": run.diagonal}
    return about, arrays


def _differ() -> Parts:
    case = lesson.mistake()
    about = {
        name: getattr(case, name).tolist()
        for name in ("point", "centres", "distances", "density", "past", "future", "both")
    }
    about |= {"t": case.t, "truth": case.state, "kmeans": case.label}
    return about, {"cloud": case.cloud, "labels": case.labels}


_PARTS: dict[str, Callable[[], Parts]] = {
    "gaussian": _gaussian,
    "chain": _chain,
    "delta": _delta,
    "differ": _differ,
}


def _packed(
    picture: str, revealed: bool, about: Mapping, arrays: Mapping[str, np.ndarray]
) -> bytes:
    """The message. Its id names the content: another one is another picture to the browser."""
    kept = {
        name: array.astype(np.int8 if array.dtype.kind in "iu" else np.float32)
        for name, array in arrays.items()
    }
    content = {"picture": picture, **about}
    id = hashlib.sha256(pack(content, kept)).hexdigest()[:12]
    return pack({"id": id, "revealed": revealed, **content}, kept)
