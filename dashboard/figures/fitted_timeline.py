"""The states of a recording over time: all of it at a glance, and a part with probabilities."""

import numpy as np

from dashboard.compute.fits import Fitted
from dashboard.compute.shared_cache import kept_with_it
from dashboard.figures import common
from dashboard.figures.common import Strip
from dashboard.figures.drawing import Drawing
from dashboard.model.marks import STATE_COLOURS

MOST_COLUMNS = 2_000
"""Of the picture of the whole recording: a screen has no more."""
_MOST_LINES = 60
"""Between sequences: with more of them nothing else could be seen."""
_MOST_NAMED = 2
"""Lines of restarts that are named in the picture: more names would lie on each other."""
_LINE = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "layer": "above"}


def _label_marks(fitted: Fitted) -> np.ndarray | None:
    """The mark of each observation's label, shape (T,), -1 where it has none; None without labels.

    It is that of the state that the label is matched with.
    """
    labels, agreement = fitted.recording.labels, fitted.agreement
    if labels is None or agreement is None:
        return None
    found = np.append(agreement.marks, -1)[labels]  # an unknown label is -1, the last
    return np.where(found < len(STATE_COLOURS), found, -1)


def stride_of(fitted: Fitted) -> int:
    """One of so many observations is drawn in the picture of the whole recording."""
    return -(-len(fitted.states) // MOST_COLUMNS)


@kept_with_it(1)
def overview(fitted: Fitted) -> Drawing:
    """All states from the first to the last observation, with the labels above."""
    stride = stride_of(fitted)
    rows, names = [fitted.states], ["states"]
    marks = _label_marks(fitted)
    if marks is not None:
        rows, names = [marks, *rows], ["labels", *names]
    z = np.array([row[::stride] for row in rows], dtype=float)
    z[z < 0] = np.nan
    n = len(STATE_COLOURS)
    steps = [[edge / n, STATE_COLOURS[i]] for i in range(n) for edge in (i, i + 1)]
    figure = Drawing()
    figure.add(
        "heatmap", z=[_with_gaps(row) for row in z], x0=1, dx=stride, y=names,
        zmin=-0.5, zmax=n - 0.5, colorscale=steps, showscale=False, ygap=6, hoverinfo="skip",
    )  # fmt: skip
    named = _restart_names(fitted)
    above = 28 if named else 6
    figure.layout = {
        "height": 88 + above + 34 * len(rows),
        "margin": {"l": 0, "r": 0, "t": above, "b": 0},
        "annotations": named,
        "xaxis": {
            "title": {"text": "observation t", "font": {"size": 16}}, "tickfont": {"size": 15},
            "showgrid": False, "zeroline": False,
        },
        "yaxis": {
            "autorange": "reversed", "tickfont": {"size": 15}, "showgrid": False, "ticks": "",
            "fixedrange": True, "automargin": True,
        },
        "shapes": _lines(fitted, 1, len(fitted.states)),
        "dragmode": False,
    }  # fmt: skip
    return figure


def _with_gaps(row: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else value for value in row]


def shows_sequences(fitted: Fitted) -> bool:
    """Whether there are lines between sequences in the picture of all of them: not too many."""
    return 1 < len(fitted.recording.lengths) <= _MOST_LINES + 1


def _boundaries(fitted: Fitted, first: int, last: int) -> list[dict]:
    """A line between two sequences, unless there are too many."""
    ends = np.cumsum(fitted.recording.lengths)[:-1]
    ends = ends[(ends >= first) & (ends < last)]
    if len(ends) > _MOST_LINES:
        return []
    line = {"color": common.NEUTRAL, "width": 1}
    return [{**_LINE, "x0": end + 0.5, "x1": end + 0.5, "line": line} for end in ends.tolist()]


def _lines(fitted: Fitted, first: int, last: int) -> list[dict]:
    """Between sequences, and a dashed one where the automatic memory has started anew."""
    # black on white is seen on every colour
    looks = ({"color": "white", "width": 6}, {"color": "black", "width": 3, "dash": "dash"})
    anew = [k + 0.5 for k in fitted.restarts if first <= k < last]
    dashed = [{**_LINE, "x0": at, "x1": at, "line": line} for at in anew for line in looks]
    return _boundaries(fitted, first, last) + dashed


def _restart_names(fitted: Fitted) -> list[dict]:
    """What the dashed lines are, above them; none if there are too many."""
    if len(fitted.restarts) > _MOST_NAMED:
        return []
    length = len(fitted.states)
    sides = [(k, "left" if k < 0.3 * length else "right") for k in fitted.restarts]
    return [
        {
            "text": "started anew", "x": k + 0.5, "y": 1, "yref": "paper", "xanchor": side,
            "yanchor": "bottom", "showarrow": False, "font": {"size": 14},
        }
        for k, side in sides
    ]  # fmt: skip


@kept_with_it(8)
def timeline(fitted: Fitted, window: tuple[int, int]) -> Drawing:
    """The labels, if there are any, and the probabilities of the states in a part of the time."""
    first, last = window
    part = slice(first - 1, last)
    states, marks, labels = fitted.states[part], _label_marks(fitted), fitted.recording.labels
    where = _moments(fitted, window)
    strips, wrong = [], None
    if marks is not None and labels is not None:
        strips.append(_labels_strip(fitted, marks[part], labels[part], where))
        wrong = (labels[part] >= 0) & (marks[part] != states)
    law = fitted.probabilities[part]
    hovers = [
        f"{at}: state {state + 1}<br>P = ({', '.join(f'{p:.2f}' for p in row)})"
        for at, state, row in zip(where, states, law, strict=True)
    ]
    title = "<b>States</b>"
    if wrong is not None:
        title += f": {wrong.sum()} of {len(wrong)} differ from the label"
    strips.append(Strip(title, law, hovers, wrong))
    figure = common.timeline(first, strips)
    figure.layout["shapes"] = _lines(fitted, first, last)
    return figure


def _labels_strip(fitted: Fitted, marks: np.ndarray, labels: np.ndarray, where: list[str]) -> Strip:
    names = [*fitted.recording.label_names, "unknown"]
    weights = np.zeros((len(marks), int(marks.max(initial=0)) + 1))
    known = np.flatnonzero(marks >= 0)
    weights[known, marks[known]] = 1.0
    hovers = [f"{at}: label {names[label]}" for at, label in zip(where, labels, strict=True)]
    return Strip("<b>Labels</b>", weights, hovers)


def _moments(fitted: Fitted, window: tuple[int, int]) -> list[str]:
    """When each observation was: its number, its sequence and its time."""
    recording, (first, last) = fitted.recording, window
    ends, observed = np.cumsum(recording.lengths), recording.observed
    words = []
    for t in range(first - 1, last):
        at = f"t = {t + 1:,}"
        if len(ends) > 1:
            at += f", {recording.sequence_names[int(np.searchsorted(ends, t, side='right'))]}"
        if recording.times is not None:
            at += f", {recording.times[t]:,.1f} s"
        words.append(at if observed[t] else f"{at}, missing")
    return words


def timeline_in_words(fitted: Fitted, window: tuple[int, int]) -> str:
    part = fitted.states[window[0] - 1 : window[1]]
    counts = np.bincount(part, minlength=fitted.n_states)
    shares = ", ".join(f"state {i + 1} {count} times" for i, count in enumerate(counts) if count)
    return f"States of observations {window[0]:,} to {window[1]:,}: {shares}."
