"""What an online learner is doing at each moment of its run, in one line."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.runs import ExperimentRun, start_size
from dashboard.model.methods import ONLINE_LEARNERS, WINDOWED
from dashboard.text.explanations import DEGENERATE
from rhmm.learners.learner import Path

STRETCH = 0.1
"""The share of the chain over which motion is judged."""
STILL_TRANSMAT = 0.05
"""Entries of Â that stay within so much over a stretch have settled."""
STILL_MEANS = 0.1
"""Means that stay within so many σ over a stretch have settled."""
LEARNING, SETTLED, RESTLESS, COLLAPSED = "learning", "settled", "restless", "collapsed"

_CERTAIN_FOR = 4
"""Rows of the trace for which a row of Â must be certain before that counts as a collapse."""


_ANEW = (
    "has started anew at k = {:,}: all its memories predicted worse than before, and one that "
    "began with the latest observations predicts better."
)


class Moment(NamedTuple):
    """From observation `k` on, until the next moment, `text` is true."""

    k: int
    text: str


def moments(run: ExperimentRun, key: str) -> list[Moment]:
    """What the learner is doing, from the first observation on."""
    path = run.path(key)
    if path is None:
        return [Moment(0, _collecting(run, key, run.experiment.length))]
    out = [Moment(0, _collecting(run, key, int(path.step[0])))]
    motion = _motion(run, path)
    before = ""
    for row, phase in enumerate(_phases(run, key, path, motion)):
        if phase != before:
            text = _in_words(run, key, path, motion, row, phase)
            out.append(Moment(int(path.step[row]), text))
            before = phase
    method = run.method(key)
    out += [Moment(k, _ANEW.format(k)) for k in (method.restarts if method else ())]
    return sorted(out)


class _Motion(NamedTuple):
    """How much has changed over the stretch before each row of a path, arrays of shape (R,)."""

    means: NDArray
    """The largest way of a mean, in its σ."""
    transmat: NDArray
    """The widest span of an entry of Â."""
    is_whole: NDArray
    """Whether the path goes back so far."""


def _motion(run: ExperimentRun, path: Path) -> _Motion:
    rows, stretch = len(path.step), STRETCH * run.experiment.length
    back = np.searchsorted(path.step, path.step - stretch, side="left")
    manifold = run.experiment.observed_in.manifold
    shape = manifold.point_shape
    moved = manifold.dist(path.means.reshape(-1, *shape), path.means[back].reshape(-1, *shape))
    spans = (np.ptp(path.transmat[back[row] : row + 1], axis=0).max() for row in range(rows))
    return _Motion(
        (moved.reshape(rows, -1) / path.sigmas).max(axis=1),
        np.fromiter(spans, float, rows),
        path.step - path.step[0] >= stretch,
    )


def _phases(run: ExperimentRun, key: str, path: Path, motion: _Motion) -> list[str]:
    """What the learner does at each row of the path. A phase ends later than it would begin."""
    stretch = STRETCH * run.experiment.length
    certain = np.any(_collapsed(path.transmat, _true_rows(run)), axis=1)
    ratio = np.maximum(motion.means / STILL_MEANS, motion.transmat / STILL_TRANSMAT)
    phases: list[str] = []
    last_certain, phase = -np.inf, ""
    for row, step in enumerate(path.step):
        last_certain = step if certain[row] else last_certain
        if certain[row] or (phase == COLLAPSED and step - last_certain < stretch):
            phase = COLLAPSED
        elif motion.is_whole[row] and ratio[row] < (2.0 if phase == SETTLED else 1.0):
            phase = SETTLED
        elif (
            key == WINDOWED
            and motion.transmat[row] > STILL_TRANSMAT
            and step - path.step[0] > 3 * stretch
        ):
            phase = RESTLESS
        else:
            phase = LEARNING
        phases.append(phase)
    return phases


def _true_rows(run: ExperimentRun) -> NDArray:
    """The true A. States of a recording may well stay for long: there no row counts as wrong."""
    experiment = run.experiment
    return np.eye(experiment.n_states) if experiment.is_recorded else np.array(experiment.transmat)


def _collapsed(transmat: NDArray, truth: NDArray) -> NDArray[np.bool_]:
    """Whether a row of Â is nearly certain, and stays so, although the true one is not: (R, N)."""
    certain = (transmat.max(axis=2) > DEGENERATE) & (truth.max(axis=1) <= DEGENERATE)
    stays = certain.copy()
    for ahead in range(1, min(_CERTAIN_FOR, len(certain))):
        stays[:-ahead] &= certain[ahead:]
    return stays


def _collecting(run: ExperimentRun, key: str, first: int) -> str:
    has_window = any(option.name == "window" for option in ONLINE_LEARNERS[key].options)
    if not has_window:
        return "is collecting its first observations to start from."
    window, start = run.experiment.window, start_size(run.experiment, key)
    if start > window:
        return f"is collecting its first {start:,} observations: shapes need 60 for each state."
    if first >= run.experiment.length and window >= 0.9 * run.experiment.length:
        return "has nothing to learn from: Δ is the whole chain, or nearly."
    return f"is collecting the first Δ = {window:,} observations, which give it its start."


def _in_words(
    run: ExperimentRun, key: str, path: Path, motion: _Motion, row: int, phase: str
) -> str:
    step, stretch = f"{path.step[row]:,}", f"{STRETCH * run.experiment.length:,.0f}"
    if phase == LEARNING:
        return "is learning: its means or its Â still move."
    if phase == SETTLED:
        return f"has settled: means and Â have hardly moved for {stretch} observations."
    if phase == RESTLESS:
        return (
            f"is restless: within {stretch} observations an entry of Â still swings by "
            f"{motion.transmat[row]:.2f}, because it learns A from Δ = {run.experiment.window:,} "
            "observations at a time."
        )
    rows = path.transmat[row : row + _CERTAIN_FOR]
    state = int(np.argmax(_collapsed(rows, _true_rows(run))[0]))
    target = int(np.argmax(path.transmat[row, state]))
    return (
        f"has collapsed at k = {step}: row {state + 1} of Â is all on state {target + 1}. "
        f"{_why(run, key)}"
    )


def _why(run: ExperimentRun, key: str) -> str:
    experiment = run.experiment
    if key != WINDOWED:
        return "It started badly: try another Δ, or other data."
    each = experiment.window / experiment.n_states
    if experiment.options_of(key)["transition_update"] == "paper":
        return (
            f"With Δ = {experiment.window:,} it sees {each:.0f} steps out of each state, and the "
            "printed update leaves [0, 1]."
        )
    return f"With Δ = {experiment.window:,} about {each:.0f} steps out of each state are too few."
