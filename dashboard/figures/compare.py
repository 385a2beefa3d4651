"""The figures of Compare: the methods' results side by side, each with its alternative text."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.measures import confusion
from dashboard.compute.runs import ExperimentRun, MethodResult
from dashboard.compute.shared_cache import SharedCache
from dashboard.figures import common
from dashboard.figures.drawing import Drawing
from dashboard.figures.maps import MOST_ELLIPSES, map_figure
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, method_name
from dashboard.model.spaces.chart import Chart
from dashboard.model.spaces.registry import SPACES
from dashboard.text import formatting

MOST_POINTS = 1_200
"""Points on each small map: enough to see the clouds, few enough to draw at once."""

_drawn = SharedCache(16)
_timelines = SharedCache(16)


class Pictures(NamedTuple):
    """Everything that stands still, by the names of the methods that have a result."""

    maps: dict[str, Drawing]
    transitions: dict[str, Drawing]
    errors: dict[str, Drawing]
    confusions: dict[str, Drawing]
    likelihood: Drawing | None
    likelihood_closer: Drawing | None


def pictures(run: ExperimentRun, centre: int | None = None) -> Pictures:
    """All pictures of a run, drawn once for each stage of it: a page looks again and again.

    `centre` is the state whose true mean is in the middle of the maps; None shows them whole.
    """
    return _drawn.get((*_stage(run), centre), lambda: _draw(run, centre))


def kept_timeline(
    run: ExperimentRun, posteriors: dict[str, NDArray], window: tuple[int, int]
) -> Drawing:
    """`timeline`, drawn once for each stage of a run and each window."""
    return _timelines.get((*_stage(run), window), lambda: timeline(run, posteriors, window))


def _stage(run: ExperimentRun) -> tuple:
    return run.experiment, tuple(method.key for method in run.methods)


def chart_of(experiment: Experiment, centre: int | None) -> Chart:
    """The map of the experiment, whole or with the mean of a state in its middle."""
    if centre is None:
        return experiment.chart
    space = SPACES[experiment.space]
    return space.centred_chart(experiment.means[centre]) or experiment.chart


def _draw(run: ExperimentRun, centre: int | None = None) -> Pictures:
    return Pictures(
        {method.key: map_of(run, method, centre) for method in run.methods},
        {method.key: transitions(method) for method in run.methods},
        {method.key: transition_errors(run, method) for method in run.methods},
        {method.key: confusions(run, method) for method in run.methods},
        likelihood(run),
        likelihood(run, closer=True),
    )


def map_of(run: ExperimentRun, method: MethodResult, centre: int | None = None) -> Drawing:
    """The observations in the labels of a method, and its means."""
    shown = _sample(run)
    return map_figure(
        chart_of(run.experiment, centre),
        f"{method.name}: {formatting.percent(method.accuracy)}",
        run.points[shown],
        method.labels[shown],
        method.model.means_,
        method.model.sigmas_,
        SPACES[run.experiment.space].points(run.experiment.means),
    )


def map_in_words(run: ExperimentRun, method: MethodResult) -> str:
    picture = SPACES[run.experiment.space].words.picture
    return (
        f"{picture} with {len(_sample(run)):,} observations in the colours of the states that "
        f"{method.name} gives them, {formatting.percent(method.accuracy)} of all "
        f"rightly. Its means are {method.mean_error:.3f} from the true ones on average."
    )


def _sample(run: ExperimentRun) -> NDArray[np.integer]:
    """The same observations for every method, so that only colours differ between the maps."""
    length = len(run.points)
    are_dots = run.experiment.chart.glyphs(run.points[:1]) is None
    count = min(length, MOST_POINTS if are_dots else MOST_ELLIPSES)
    return np.sort(np.random.default_rng(0).choice(length, count, replace=False))


def transitions(method: MethodResult) -> Drawing:
    transmat = method.model.transmat_
    return common.matrix(
        f"{method.name}: {'A' if method.key == CEILING else 'Â'}",
        transmat,
        _each(transmat, lambda i, j: _short(f"{transmat[i, j]:.2f}", len(transmat))),
        _each(
            transmat,
            lambda i, j: f"from state {i + 1} to state {j + 1}: {transmat[i, j]:.4f}",
        ),
        colours=common.SHARES,
        limits=(0.0, 1.0),
        down="from state",
        across="to state",
    )


def transition_errors(run: ExperimentRun, method: MethodResult) -> Drawing:
    """Â − A, in colours that mean the same for every method."""
    truth = np.array(run.experiment.transmat)
    errors = method.model.transmat_ - truth
    most = max(np.abs(other.model.transmat_ - truth).max() for other in run.methods)
    most = max(most, 0.01)  # no drama about errors that are nearly nothing
    return common.matrix(
        f"{method.name}: {'A' if method.key == CEILING else 'Â'} − A",
        errors,
        _each(errors, lambda i, j: _short(_signed(errors[i, j], 2), len(truth))),
        _each(
            errors,
            lambda i, j: (
                f"from state {i + 1} to state {j + 1}: {method.model.transmat_[i, j]:.4f} "
                f"instead of {truth[i, j]:.4f}, {_signed(errors[i, j], 4)}"
            ),
        ),
        colours=common.DIFFERENCES,
        limits=(-most, most),
        down="from state",
        across="to state",
    )


def confusions(run: ExperimentRun, method: MethodResult) -> Drawing:
    n = run.experiment.n_states
    counts = confusion(run.true_states, method.labels, n)
    visits = counts.sum(axis=1)
    shares = [[_share(counts[i, j], visits[i]) for j in range(n)] for i in range(n)]
    return common.matrix(
        f"{method.name}: {formatting.percent(method.accuracy)}",
        np.array(shares, dtype=float),
        _each(counts, lambda i, j: _percent_cell(shares[i][j])),
        _each(
            counts,
            lambda i, j: (
                f"state {i + 1} taken for state {j + 1}: {counts[i, j]:,} of {visits[i]:,} times"
                if i != j
                else f"state {i + 1} recognised {counts[i, i]:,} of {visits[i]:,} times"
            ),
        ),
        colours=common.SHARES,
        limits=(0.0, 1.0),
        down="true state",
        across="decoded state",
    )


def likelihood(run: ExperimentRun, *, closer: bool = False) -> Drawing | None:
    """log p(X) per observation over EM's iterations; `closer` looks at where all of them end.

    None where there is nothing to see: no result yet, or no closer look to take.
    """
    em = run.method(EM)
    path = []
    if em is not None and em.path is not None:
        path = (em.path.log_likelihood / run.experiment.length).tolist()
    levels = [
        (method.name, method.log_likelihood)
        for key in (*run.experiment.algorithms, CEILING)
        if (method := run.method(key)) is not None
    ]
    ends = [value for _, value in levels] + path[-1:]
    if not ends or (closer and not path):
        return None
    low, high = _span(ends if closer else [*ends, *path])
    if closer and high - low > 0.3 * np.ptp([*ends, *path]):
        return None
    return common.climb(path, "its own start", method_name(EM), levels, (low, high))


def transitions_in_words(run: ExperimentRun, method: MethodResult) -> str:
    return f"Transition matrix of {method.name}: {_spoken(method.model.transmat_)}."


def errors_in_words(run: ExperimentRun, method: MethodResult) -> str:
    return (
        f"Errors of the transition matrix of {method.name}; their norm is "
        f"{method.transition_error:.4f}."
    )


def confusions_in_words(run: ExperimentRun, method: MethodResult) -> str:
    counts = confusion(run.true_states, method.labels, run.experiment.n_states)
    rows = (
        f"of {row.sum():,} observations of state {i + 1}, {row[i]:,} recognised"
        for i, row in enumerate(counts)
    )
    return f"Confusion matrix of {method.name}: {'; '.join(rows)}."


def likelihood_in_words(run: ExperimentRun) -> str:
    ends = (
        f"{method.name} {formatting.number(method.log_likelihood)}"
        for key in (EM, *run.experiment.algorithms, CEILING)
        if (method := run.method(key)) is not None
    )
    return (
        f"Log-likelihood per observation over the iterations of EM. At the end: {', '.join(ends)}."
    )


def _spoken(matrix: NDArray) -> str:
    rows = (", ".join(f"{value:.2f}" for value in row) for row in matrix)
    return "; ".join(f"from state {i}: {row}" for i, row in enumerate(rows, start=1))


def _span(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = 0.12 * (high - low) or 0.01
    return low - room, high + room


def timeline(
    run: ExperimentRun, posteriors: dict[str, NDArray], window: tuple[int, int]
) -> Drawing:
    """The true states and each method's posterior, from the first to the last observation."""
    first, last = window
    part = slice(first - 1, last)
    truth = run.true_states[part]
    certain = np.eye(run.experiment.n_states)
    strips = [
        common.Strip(
            "<b>True state</b>",
            certain[truth],
            [f"t = {t:,}: state {s + 1}" for t, s in enumerate(truth, start=first)],
        )
    ]
    for key in run.experiment.methods:
        method = run.method(key)
        if method is None:
            continue
        labels = method.labels[part]
        wrong = labels != truth
        strips.append(
            common.Strip(
                f"<b>{method.name}</b>: {wrong.sum()} of {len(wrong)} wrong",
                posteriors[key][part] if key in posteriors else certain[labels],
                [
                    _moment(t, truth[t - first], labels[t - first], posteriors.get(key))
                    for t in range(first, last + 1)
                ],
                wrong,
            )
        )
    return common.timeline(first, strips)


def timeline_in_words(run: ExperimentRun, window: tuple[int, int]) -> str:
    part = slice(window[0] - 1, window[1])
    wrong = (
        f"{method.name} gets {np.sum(method.labels[part] != run.true_states[part])} wrong"
        for key in run.experiment.methods
        if (method := run.method(key)) is not None
    )
    return (
        f"True states and posteriors of observations {window[0]:,} to {window[1]:,}: "
        f"{', '.join(wrong)}."
    )


def _moment(t: int, truth: int, label: int, posterior: NDArray | None) -> str:
    verdict = "right" if truth == label else f"truth: {truth + 1}"
    words = f"t = {t:,}: state {label + 1}, {verdict}"
    if posterior is None:
        return words
    law = ", ".join(f"{share:.2f}" for share in posterior[t - 1])
    return f"{words}<br>P = ({law})"


def _each(matrix, cell) -> list[list[str]]:
    return [[cell(i, j) for j in range(len(matrix))] for i in range(len(matrix))]


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0.0 else text.replace("-", "−")


def _short(text: str, n_states: int) -> str:
    """Many states leave small cells: there .65 stands for 0.65."""
    return text.replace("0.", ".", 1) if n_states > 5 else text


def _share(count: int, total: int) -> float | None:
    return count / total if total else None


def _percent_cell(share: float | None) -> str:
    """None and all of them without digits: 0 and 100 are exact."""
    if share is None:
        return ""
    return f"{100 * share:.0f}" if share in (0.0, 1.0) else f"{100 * share:.1f}"
