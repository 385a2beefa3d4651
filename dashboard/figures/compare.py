"""The figures of Compare: the methods' results side by side, each with its alternative text."""

from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.measures import confusion
from dashboard.compute.outlines import outlines
from dashboard.compute.runs import ExperimentRun, MethodResult
from dashboard.compute.shared_cache import SharedCache
from dashboard.figures import common
from dashboard.figures.drawing import Drawing
from dashboard.figures.maps import MOST_ELLIPSES, map_figure
from dashboard.model.methods import CEILING, EM, method_name
from dashboard.model.spaces.chart import Chart
from dashboard.model.spaces.registry import SPACES
from dashboard.text import formatting
from rhmm.emissions import RIEMANNIAN

MOST_POINTS = 1_200
"""Points on each small map: enough to see the clouds, few enough to draw at once."""

_drawn = SharedCache(16)
_timelines = SharedCache(16)


class Pictures(NamedTuple):
    """Everything that stands still, by the names of the methods that have a result.

    Without a truth there are no errors, without labels no confusions.
    """

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
    own = run.experiment.own
    return _drawn.get((*_stage(run), centre), lambda: _draw(run, centre), beside=own)


def kept_timeline(
    run: ExperimentRun, posteriors: dict[str, NDArray], window: tuple[int, int]
) -> Drawing:
    """`timeline`, drawn once for each stage of a run and each window."""
    key, own = (*_stage(run), window), run.experiment.own
    return _timelines.get(key, lambda: timeline(run, posteriors, window), beside=own)


def _stage(run: ExperimentRun) -> tuple:
    return run.experiment.digest, tuple(method.key for method in run.methods)


def chart_of(run: ExperimentRun, centre: int | None) -> Chart:
    """The map of the experiment, whole or with the true mean of a state in its middle."""
    experiment = run.experiment
    if centre is None or experiment.is_recorded:
        return run.chart
    space = SPACES[experiment.space]
    return space.centred_chart(experiment.means[centre]) or run.chart


def _draw(run: ExperimentRun, centre: int | None = None) -> Pictures:
    is_recorded = run.experiment.is_recorded
    return Pictures(
        {method.key: map_of(run, method, centre) for method in run.methods},
        {method.key: transitions(method) for method in run.methods},
        {} if is_recorded else {m.key: transition_errors(run, m) for m in run.methods},
        {m.key: confusions(run, m) for m in run.methods} if run.has_labels else {},
        likelihood(run),
        likelihood(run, closer=True),
    )


def map_of(run: ExperimentRun, method: MethodResult, centre: int | None = None) -> Drawing:
    """The observations in the labels of a method, and its means."""
    shown, experiment, chart = _sample(run), run.experiment, chart_of(run, centre)
    is_recorded, has_shape = experiment.is_recorded, method.model.law_.emission != RIEMANNIAN
    return map_figure(
        chart,
        _titled(run, method),
        run.points[shown],
        method.states[shown],
        method.model.means_,
        method.model.sigmas_,
        None if is_recorded else SPACES[experiment.space].points(experiment.means),
        outlines(chart, method.model) if has_shape else None,
    )


def _titled(run: ExperimentRun, method: MethodResult) -> str:
    """The name of a method, with its accuracy if there is anything to compare it with."""
    if not run.has_labels:
        return method.name
    return f"{method.name}: {formatting.percent(method.accuracy)}"


def map_in_words(run: ExperimentRun, method: MethodResult) -> str:
    picture = run.experiment.observed_in.words.picture
    if run.experiment.is_recorded:
        agrees = (
            f", of which {formatting.percent(method.accuracy)} agree with the labels"
            if run.has_labels
            else ""
        )
        return (
            f"{picture} with {len(_sample(run)):,} observations in the colours of the states that "
            f"{method.name} gives them{agrees}, and its {len(method.model.means_)} means."
        )
    return (
        f"{picture} with {len(_sample(run)):,} observations in the colours of the states that "
        f"{method.name} gives them, {formatting.percent(method.accuracy)} of all "
        f"rightly. Its means are {method.mean_error:.3f} from the true ones on average."
    )


def _sample(run: ExperimentRun) -> NDArray[np.integer]:
    """The same observations for every method, so that only colours differ between the maps."""
    length = len(run.points)
    are_dots = run.chart.glyphs(run.points[:1]) is None
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


def counted(run: ExperimentRun, method: MethodResult) -> NDArray[np.integer]:
    """How often each true state or label (row) is taken for each state (column)."""
    n = max(run.experiment.n_states, len(run.experiment.label_names))
    known = (run.true_states >= 0) & (method.labels >= 0)
    return confusion(run.true_states[known], method.labels[known], n)


def confusions(run: ExperimentRun, method: MethodResult) -> Drawing:
    counts = counted(run, method)
    n, visits = len(counts), counts.sum(axis=1)
    true = "label" if run.experiment.is_recorded else "state"
    shares = [[_share(counts[i, j], visits[i]) for j in range(n)] for i in range(n)]
    return common.matrix(
        f"{method.name}: {formatting.percent(method.accuracy)}",
        np.array(shares, dtype=float),
        _each(counts, lambda i, j: _percent_cell(shares[i][j])),
        _each(
            counts,
            lambda i, j: (
                f"{true} {i + 1} taken for state {j + 1}: {counts[i, j]:,} of {visits[i]:,} times"
                if i != j
                else f"{true} {i + 1} recognised {counts[i, i]:,} of {visits[i]:,} times"
            ),
        ),
        colours=common.SHARES,
        limits=(0.0, 1.0),
        down="label" if run.experiment.is_recorded else "true state",
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
    true = "label" if run.experiment.is_recorded else "state"
    rows = (
        f"of {row.sum():,} observations of {true} {i + 1}, {row[i]:,} recognised"
        for i, row in enumerate(counted(run, method))
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
    """The true states or labels, and each method's posterior, from the first to the last
    observation."""
    first, last = window
    part = slice(first - 1, last)
    truth = run.true_states[part]
    n = max(run.experiment.n_states, len(run.experiment.label_names))
    certain = np.vstack([np.eye(n), np.zeros(n)])  # the last row is for what is not known, −1
    strips = []
    if run.has_labels:
        names = _true_names(run)
        title = "Label" if run.experiment.is_recorded else "True state"
        strips.append(
            common.Strip(
                f"<b>{title}</b>",
                certain[truth],
                [f"t = {t:,}: {names[s]}" for t, s in enumerate(truth, start=first)],
            )
        )
    for key in run.experiment.methods:
        method = run.method(key)
        if method is None:
            continue
        states, wrong = method.states[part], _wrong(run, method, part)
        strips.append(
            common.Strip(
                f"<b>{method.name}</b>{_wrong_in_words(run, wrong)}",
                posteriors[key][part] if key in posteriors else certain[states],
                [
                    _moment(run, t, states[t - first], wrong[t - first], posteriors.get(key))
                    for t in range(first, last + 1)
                ],
                wrong if run.has_labels else None,
            )
        )
    return common.timeline(first, strips)


def _true_names(run: ExperimentRun) -> list[str]:
    """What the true states or labels are called; the last one is for −1."""
    experiment = run.experiment
    states = [f"state {i + 1}" for i in range(experiment.n_states)]
    return [
        *(map(escape, experiment.label_names) if experiment.label_names else states),
        "no label",
    ]


def _wrong(run: ExperimentRun, method: MethodResult, part: slice) -> NDArray[np.bool_]:
    """Which observations get another state than the true one, or than that of their label."""
    truth = run.true_states[part]
    return (method.labels[part] != truth) & (truth >= 0)


def _wrong_in_words(run: ExperimentRun, wrong: NDArray[np.bool_]) -> str:
    if not run.has_labels:
        return ""
    verdict = "differ from the label" if run.experiment.is_recorded else "wrong"
    return f": {wrong.sum()} of {len(wrong)} {verdict}"


def timeline_in_words(run: ExperimentRun, window: tuple[int, int]) -> str:
    part = slice(window[0] - 1, window[1])
    if not run.has_labels:
        return f"Posteriors of observations {window[0]:,} to {window[1]:,}."
    wrong = (
        f"{method.name} gets {np.sum(_wrong(run, method, part))} wrong"
        for key in run.experiment.methods
        if (method := run.method(key)) is not None
    )
    known = "Labels" if run.experiment.is_recorded else "True states"
    return (
        f"{known} and posteriors of observations {window[0]:,} to {window[1]:,}: "
        f"{', '.join(wrong)}."
    )


def _moment(run: ExperimentRun, t: int, state: int, wrong: bool, posterior: NDArray | None) -> str:
    words = f"t = {t:,}: state {state + 1}"
    if run.has_labels:
        truth = run.true_states[t - 1]
        name = _true_names(run)[truth] if run.experiment.is_recorded else f"{truth + 1}"
        known = "label" if run.experiment.is_recorded else "truth"
        words += f", {known}: {name}" if wrong else ", right"
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
