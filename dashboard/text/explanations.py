"""Why the methods differ, in words that follow the numbers of a run."""

import numpy as np
from numpy.typing import NDArray

from dashboard.compute.measures import confusion
from dashboard.compute.runs import ExperimentRun, MethodResult
from dashboard.model.methods import CEILING, EM, KMEANS, WINDOWED, variant_with
from dashboard.text import formatting

NEAR = 0.005
"""Accuracies that differ by less than half a point count as equal in words."""

DEGENERATE = 0.99
"""A row of Â with an entry above this has collapsed, unless the true row is like that."""


SHAPES = "An outline that is no circle is one deviation away from its mean. "

EMS_START = (
    "EM begins with the likeliest of several starts on a sample of the data, after a few "
    "iterations there: so its curve begins above K-means."
)


def why_they_differ(run: ExperimentRun) -> list[str]:
    """A few sentences that follow the numbers of this run; none before the first result."""
    if run.experiment.is_recorded:
        return [sentence for sentence in (*_on_a_recording(run), _about_cost(run)) if sentence]
    ceiling = run.method(CEILING)
    if ceiling is None:
        return []
    if run.experiment.n_states == 1:
        sentences = [_one_state(run)]
    else:
        sentences = [_about_ceiling(run, ceiling), _about_kmeans(run, ceiling)]
        sentences += [_about_online(run, method, ceiling) for method in _online(run)]
        sentences.append(_about_em(run, ceiling))
    return [sentence for sentence in (*sentences, _about_cost(run)) if sentence]


def _on_a_recording(run: ExperimentRun) -> list[str]:
    """Which method explains the observations best, and which agrees with the labels most."""
    learned = _learned(run)
    if not learned:
        return []
    likeliest = max(learned, key=lambda m: m.log_likelihood)
    others = [
        f"{m.name} {formatting.number(m.log_likelihood)}" for m in learned if m is not likeliest
    ]
    against = f", against {formatting.listed(others)}" if others else ""
    sentences = [
        f"**Likelihood:** {likeliest.name} explains the observations best, with "
        f"{formatting.number(likeliest.log_likelihood)} per observation{against}."
    ]
    if not run.has_labels:
        return sentences
    nearest = max(learned, key=lambda m: m.accuracy)
    shares = [f"{m.name} {formatting.percent(m.accuracy)}" for m in learned if m is not nearest]
    against = f", against {formatting.listed(shares)}" if shares else ""
    sentences.append(
        f"**Labels:** {nearest.name} agrees with them most, on "
        f"{formatting.percent(nearest.accuracy)} of the observations{against}."
    )
    if nearest is not likeliest and run.finished:
        sentences.append(
            "The two need not go together: likelihood asks how well the observations are "
            "explained, and the methods were not told which differences the labels are about."
        )
    return sentences


def _online(run: ExperimentRun) -> list[MethodResult]:
    """The online learners that have finished."""
    return [m for key in run.experiment.algorithms if (m := run.method(key)) is not None]


def _learned(run: ExperimentRun) -> list[MethodResult]:
    """All that have learned: the online learners, EM and K-means, as far as they have finished."""
    others = (run.method(key) for key in (EM, KMEANS))
    return [*_online(run), *(method for method in others if method is not None)]


def collapsed_rows(model_transmat: NDArray, true_transmat: NDArray) -> list[int]:
    """The rows of Â that have nearly become certain although the true ones are not."""
    sure = np.max(model_transmat, axis=1) > DEGENERATE
    return np.flatnonzero(sure & (np.max(true_transmat, axis=1) <= DEGENERATE)).tolist()


def _one_state(run: ExperimentRun) -> str:
    offs = [f"{method.mean_error:.4f} ({method.name})" for method in _learned(run)]
    return (
        "With one state there is nothing to confuse: every label is right. What is left to learn "
        f"is a mean and a width. The mean is missed by {formatting.listed(offs)}."
    )


def _about_ceiling(run: ExperimentRun, ceiling: MethodResult) -> str:
    counts = _mistakes(run, ceiling)
    wrong = int(counts.sum())
    if wrong == 0:
        kmeans = run.method(KMEANS)  # as good without the chain: then it is not the chain's doing
        apart = kmeans is not None and ceiling.accuracy - kmeans.accuracy < NEAR
        reason = "the states do not overlap in these data, and " if apart else ""
        return (
            f"**The ceiling** is 100 % here: {reason}with the true parameters every observation "
            "gets its state."
        )
    both = counts + counts.T
    i, j = _greatest(np.triu(both))
    rest = (
        ""
        if run.experiment.n_states == 2
        else f", {_of_them(both[i, j], wrong)} between states {i + 1} and {j + 1}"
    )
    share = formatting.percent(ceiling.accuracy)
    level = "just below 100 %" if share == formatting.percent(1.0) else f"{share}, not 100 %"
    return (
        f"**The ceiling** is {level}, because the states overlap: even with the true parameters "
        f"{_times(wrong, 'observation')} of {run.experiment.length:,} "
        f"{'gets' if wrong == 1 else 'get'} the wrong state{rest}."
    )


def _about_kmeans(run: ExperimentRun, ceiling: MethodResult) -> str:
    kmeans = run.method(KMEANS)
    if kmeans is None:
        return ""
    begin = (
        "**K-means** knows neither the chain nor the widths: each point goes to the nearest centre."
    )
    loss = ceiling.accuracy - kmeans.accuracy
    if loss < NEAR:
        return f"{begin} Here it loses {_loss(loss)} by that.{_beyond_accuracy(run, ceiling)}"
    mistakes, unavoidable = _mistakes(run, kmeans), _mistakes(run, ceiling)
    i, j = _greatest(mistakes - unavoidable)
    return (
        f"{begin} It loses {_points(loss)} of accuracy on these data, above all where state "
        f"{i + 1} is taken for state {j + 1}: {_times(mistakes[i, j])}, against "
        f"{unavoidable[i, j]:,} with the true parameters."
    )


def _beyond_accuracy(run: ExperimentRun, ceiling: MethodResult) -> str:
    """Where all are as good as the ceiling, what still tells them apart."""
    learned = _learned(run)
    if not run.finished or any(ceiling.accuracy - m.accuracy >= NEAR for m in learned):
        return ""
    errors = [f"{m.transition_error:.3f} ({m.name})" for m in learned]
    return (
        " All methods are near the ceiling: accuracy hardly tells them apart, ‖A − Â‖ does: "
        f"{formatting.listed(errors)}."
    )


def _about_online(run: ExperimentRun, online: MethodResult, ceiling: MethodResult) -> str:
    em = run.method(EM)
    loss = ceiling.accuracy - online.accuracy
    against_em = "" if em is None else _against_em(em.accuracy - online.accuracy)
    collapsed = collapsed_rows(online.model.transmat_, np.array(run.experiment.transmat))
    if collapsed and loss >= NEAR:
        return (
            f"**{online.name}** has collapsed: {_rows_named(collapsed)} of its Â "
            f"{'puts' if len(collapsed) == 1 else 'put'} everything on one state, "
            f"‖A − Â‖ = {online.transition_error:.2f}, and accuracy is {_points(loss)} below the "
            f"ceiling. {_blame(run, online)}"
        )
    if loss < NEAR:
        sentence = f"**{online.name}** loses {_loss(loss)} against the ceiling{against_em}"
        if em is not None and online.transition_error > max(0.1, 3 * em.transition_error):
            return (
                f"{sentence}, though its Â is further from A: {online.transition_error:.3f} "
                f"against {em.transition_error:.3f}."
            )
        return f"{sentence}."
    return (
        f"**{online.name}** stays {_points(loss)} below the ceiling{against_em}: its Â is off by "
        f"{online.transition_error:.3f} and its means by {online.mean_error:.3f} on average"
        + (
            "."
            if em is None
            else f", those of EM by {em.transition_error:.3f} and {em.mean_error:.3f}."
        )
        + (
            f" {_blame(run, online)}"
            if em is not None and online.transition_error > em.transition_error
            else ""
        )
    )


def _against_em(behind: float) -> str:
    if abs(behind) < 0.0005:
        return " and is level with EM"
    return f" and is {_points(abs(behind))} {'behind' if behind > 0 else 'ahead of'} EM"


def _blame(run: ExperimentRun, online: MethodResult) -> str:
    experiment = run.experiment
    if online.path is None:
        return (
            "Δ is the whole chain, or nearly: it never took a step, and what is judged is its "
            "start by K-means."
        )
    options = experiment.options_of(online.key)
    if online.key != WINDOWED:
        if not variant_with(online.key, options).has_window:
            return "Its start depends on the first observations; try other data."
        return (
            f"It started from its first Δ = {experiment.window:,} observations; try another Δ, or "
            "other data."
        )
    per_row = experiment.window / experiment.n_states
    reason = (
        f"Its window of Δ = {experiment.window:,} holds {per_row:.0f} steps out of each state on "
        "average"
    )
    if options["transition_update"] == "paper":
        return f"{reason}, and the update as printed can push entries of Â to 0 and 1."
    return f"{reason}, which is little to learn a row of A from."


def _about_em(run: ExperimentRun, ceiling: MethodResult) -> str:
    """Only where EM is worse than it could be."""
    em = run.method(EM)
    if em is None:
        return ""
    below = ceiling.log_likelihood - em.log_likelihood
    if below > 0.0005:  # less would not show in the digits we write
        reason = (
            f"it was {em.remark}"
            if em.remark
            else "it climbs from one start, the best that it found, and stopped at a poorer optimum"
        )
        return (
            f"**EM** ends below the true parameters: log-likelihood "
            f"{formatting.number(em.log_likelihood)} per observation against "
            f"{formatting.number(ceiling.log_likelihood)}; {reason}."
        )
    if em.remark:
        return f"**EM** was {em.remark}, before it had converged."
    online = max(_online(run), key=lambda method: method.accuracy, default=em)
    if online.accuracy - em.accuracy < NEAR:
        return ""
    behind = f"{_points(online.accuracy - em.accuracy)} less accuracy than {online.name}"
    if em.log_likelihood < online.log_likelihood:
        return f"**EM** has {behind}, and less likelihood: it has stopped at a poorer optimum."
    return (
        f"**EM** has the higher likelihood and yet {behind}: likelihood asks how well the "
        "observations are explained, not how many states are right."
    )


def _about_cost(run: ExperimentRun) -> str:
    em, online = run.method(EM), _online(run)
    if em is None or em.path is None or not online:
        return ""
    names = formatting.listed([f"{method.name} ({_cost(method)})" for method in online])
    passes = "a single pass" if len(online) == 1 else "a single pass each"
    iterations = len(em.path.step) - 1  # the first row is the start
    return (
        f"**The cost:** EM took {_times(iterations, 'iteration')} over all "
        f"{run.experiment.length:,} observations ({_cost(em)}); {names} took {passes}."
    )


def _cost(method: MethodResult) -> str:
    """Time and memory; a precomputed result has no times."""
    parts = [] if method.seconds is None else [formatting.seconds(method.seconds)]
    return ", ".join([*parts, formatting.size(method.nbytes)])


def _mistakes(run: ExperimentRun, method: MethodResult) -> NDArray[np.integer]:
    counts = confusion(run.true_states, method.labels, run.experiment.n_states)
    np.fill_diagonal(counts, 0)
    return counts


def _of_them(part: int, whole: int) -> str:
    return f"{part:,} of them" if part < whole else "all of them"


def _greatest(matrix: NDArray) -> tuple[int, int]:
    row, column = np.unravel_index(np.argmax(matrix), matrix.shape)
    return int(row), int(column)


def _points(gap: float) -> str:
    """0.0649 of accuracy is 6.5 points."""
    return f"{100 * gap:.1f} points" if gap >= 0.001 else f"{100 * gap:.2f} points"


def _loss(gap: float) -> str:
    if gap <= 0.0:
        return "nothing"
    return "less than 0.01 points" if round(gap, 6) < 0.0001 else f"only {_points(gap)}"


def _times(count: int, noun: str = "time") -> str:
    if noun == "time" and count in (1, 2):
        return ("once", "twice")[count - 1]
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _rows_named(rows: list[int]) -> str:
    names = [str(row + 1) for row in rows]
    return f"row {names[0]}" if len(names) == 1 else f"rows {formatting.listed(names)}"
