"""The paper's online algorithm: stochastic gradient steps over a window of Δ observations.

At each new observation y_k the backward recursion runs over the whole window under today's
parameters, so a step costs O(Δ N²). Symbols are the paper's; where it is ambiguous: the newest
pair of states known at time k is ζ_{k−1|k} (ζ_{k+1|k+1} would need an observation from the future),
the A on the right-hand side is the present one, and α of earlier times stay as they were computed.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel
from rhmm.gaussian.table import half_precision_and_log_z
from rhmm.manifolds import verbs
from rhmm.streams.chunk import start_law
from rhmm.streams.trace import record
from rhmm.streams.window_sums import window_sums, window_sums_of_three
from rhmm.vector_math import exp, squared

FLOOR = 1e-6
"""The paper's update keeps the row sums of A, not its signs: entries below this are raised to it,
and rows are scaled back to one."""
LEAST = 1e-12
"""The least entry of A under the convex update, which only underflow can bring to 0."""


class WindowedSettings(NamedTuple):
    """What the kernel needs to know besides its state."""

    window: int
    """The paper's Δ."""
    convex: bool
    """Whether A moves by the convex update instead of the paper's."""
    least_delta: float
    """The floor of every δ_i."""
    trace_every: int
    """Observations between two rows of the trace; 0 for no trace."""


class WindowedState(NamedTuple):
    """Everything the algorithm remembers: its size depends on Δ and N alone."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    half_precision: np.ndarray
    """1/2σ², a function of delta."""
    log_z: np.ndarray
    """log Z(σ), a function of delta."""
    points: np.ndarray
    """Room for 2Δ observations, of which the last Δ are the window."""
    missing: np.ndarray
    """Which of them are missing."""
    begins: np.ndarray
    """Which of them are the first of a sequence."""
    alpha: np.ndarray
    """Filtered probabilities of the same times."""
    counters: np.ndarray
    """Observations seen, and how much of the room is taken."""
    log_likelihood: np.ndarray
    """Sum of the one-step predictive log densities, shape (1,)."""

    def latest_filter(self) -> np.ndarray:
        """The latest filtered probabilities, shape (N,)."""
        return self.alpha[self.counters[1] - 1]


@kernel
def learn(geometry, table, settings, X, observed, begins, state, filtered, predictive, trace):
    """Take in X one by one; a sequence begins with the stationary law.

    Unless empty, `filtered` receives P(s_k | y_1..y_k) and `predictive` log p(y_k | y_1..y_{k−1}).
    """
    transmat, means, delta = state.transmat, state.means, state.delta
    half_precision, log_z = state.half_precision, state.log_z
    points, missing, starts, alpha = state.points, state.missing, state.begins, state.alpha
    window = settings.window
    n = len(delta)
    d2, density, largest = np.empty((n, window)), np.empty((n, window)), np.empty(window)
    inverse_mu, g = np.empty(n), np.empty(n)
    beta, v, pair, first = np.empty(n), np.empty(n), np.empty((n, n)), np.empty(n)
    gamma_sum, zeta_sum, moved = np.empty(n), np.empty((n, n)), np.empty_like(means[0])
    k, end = state.counters
    if not (window <= end <= len(points) and len(points) == 2 * window):
        raise ValueError("counters of a windowed state must be within its room")
    row = np.int64(0)  # a plain 0 would be a type of its own, and have `record` compiled twice
    last, laid_out = window - 1, end
    layout = verbs.prepared(geometry, points[:0])
    for u in range(len(X)):
        k += 1
        if end == len(points):  # slide the window back to the beginning of the room
            copy_into(points[:window], points[window:])
            copy_into(missing[:window], missing[window:])
            copy_into(starts[:window], starts[window:])
            copy_into(alpha[:window], alpha[window:])
            end = laid_out = window
        if end == laid_out:  # take in as many observations as there is room for
            oldest = end - window + 1
            laid_out = min(len(points), end + len(X) - u)
            _note(points, missing, starts, X[u:], observed[u:], begins[u:], end, laid_out)
            layout = verbs.prepared(geometry, points[oldest:laid_out])
            n_missing, n_starts = _count(missing[oldest:end]), _count(starts[oldest:end])
        n_missing += missing[end]
        n_starts += starts[end]
        end += 1
        begin = end - window
        n_starts -= starts[begin]  # only where one begins within the window is it cut in two

        # p_i(y_t) for the window under today's parameters, each row up to a factor.
        for i in range(n):
            verbs.distances_to(geometry, layout, begin - oldest, end - oldest, means[i], d2[i])
        _densities(d2, half_precision, log_z, density, largest)
        if n_missing > 0:
            _ignore(missing[begin:end], density)

        _predict(transmat, alpha[end - 2], begins[u], first)
        scale = _filter(first, density[:, last], alpha[end - 1])
        log_predictive = math.log(scale) + largest[last] if observed[u] else 0.0
        state.log_likelihood[0] += log_predictive
        if len(predictive):
            predictive[u] = log_predictive
        if len(filtered):
            copy_into(filtered[u], alpha[end - 1])
        if n == 3 and n_starts == 0:
            window_sums_of_three(transmat, alpha[begin:end], density, gamma_sum, zeta_sum, pair)
        else:
            window_sums(
                transmat, alpha[begin:end], density, starts[begin:end], beta, v, gamma_sum,
                zeta_sum, pair,
            )  # fmt: skip
        n_missing -= missing[begin]

        if observed[u]:
            if settings.convex:
                _convex_step(transmat, pair, gamma_sum)
            else:
                _paper_step(transmat, pair, zeta_sum, inverse_mu, g)
            for i in range(n):
                gamma = alpha[end - 1, i]
                verbs.geodesic_into(geometry, means[i], X[u], gamma / gamma_sum[i], moved)
                if verbs.holds(geometry, moved):  # else the mean stays where it is
                    copy_into(means[i], moved)
                delta[i] += gamma * (d2[i, last] - delta[i]) / math.sqrt(k)
                delta[i] = max(delta[i], settings.least_delta)
                half_precision[i], log_z[i] = half_precision_and_log_z(table, delta[i])
        is_due = settings.trace_every > 0 and k % settings.trace_every == 0
        if is_due and row < len(trace.step):
            record(
                trace, row, k, transmat, means, delta, half_precision,
                alpha[end - 1], gamma_sum, state.log_likelihood[0],
            )  # fmt: skip
            row += 1
    state.counters[0] = k
    state.counters[1] = end


@kernel
def _predict(transmat, before, is_first, law):
    """The law of the next state, into `law` (N,): α_{k−1} A, or the stationary one."""
    if is_first:
        start_law(transmat, law)
        return
    for j in range(len(law)):
        law[j] = 0.0
        for i in range(len(law)):
            law[j] += before[i] * transmat[i, j]


@kernel
def _filter(predicted, density, now):
    """Table 1: α_k from what α_{k−1} predicts; returns what it was divided by to sum to one."""
    n, scale = len(now), 0.0
    for j in range(n):
        now[j] = predicted[j] * density[j]
        scale += now[j]
    for j in range(n):
        now[j] /= scale
    return scale


@kernel
def _note(points, missing, starts, X, observed, begins, first, last):
    """Write observations into the room from `first` to before `last`.

    In the place of one that is missing stands the point before it.
    """
    for t in range(first, last):
        u = t - first
        missing[t], starts[t] = not observed[u], begins[u]
        copy_into(points[t], X[u] if observed[u] else points[t - 1])


@kernel
def _count(flags):
    total = 0
    for t in range(len(flags)):
        total += flags[t]
    return total


@kernel
def _densities(d2, half_precision, log_z, density, largest):
    """p_i(y_t) as ``density[i, t]``, each time divided by the largest, whose log is `largest`."""
    n, size = d2.shape
    largest[:] = -math.inf
    for i in range(n):
        for t in range(size):
            density[i, t] = -half_precision[i] * d2[i, t] - log_z[i]
            largest[t] = max(largest[t], density[i, t])
    for i in range(n):
        for t in range(size):
            density[i, t] = exp(density[i, t] - largest[t])


@kernel
def _ignore(missing, density):
    """An observation that is missing has the same density in all states."""
    for t in range(len(missing)):
        if missing[t]:
            density[:, t] = 1.0


@kernel
def _convex_step(transmat, pair, gamma_sum):
    """A_ij += (ζ_ij − A_ij Σ_h ζ_ih)/Σγ(i): a convex combination, so A stays stochastic."""
    n = len(transmat)
    for i in range(n):
        leaving, row_sum = pair[i].sum(), 0.0
        for j in range(n):
            transmat[i, j] += (pair[i, j] - transmat[i, j] * leaving) / gamma_sum[i]
            transmat[i, j] = max(transmat[i, j], LEAST)
            row_sum += transmat[i, j]
        for j in range(n):
            transmat[i, j] /= row_sum


@kernel
def _paper_step(transmat, pair, zeta_sum, inverse_mu, g):
    """The paper's update of A: μ_ij = Σζ/A², g_ij = ζ/A, and the row sums kept.

    `inverse_mu` and `g` are room for N numbers each.
    """
    n = len(transmat)
    for i in range(n):
        weighted, total = 0.0, 0.0
        for j in range(n):
            inverse_mu[j] = squared(transmat[i, j]) / max(zeta_sum[i, j], 1e-300)
            g[j] = pair[i, j] / transmat[i, j]
            weighted += g[j] * inverse_mu[j]
            total += inverse_mu[j]
        row_sum = 0.0
        for j in range(n):
            step = (g[j] - weighted / total) * inverse_mu[j]
            transmat[i, j] = max(transmat[i, j] + step, FLOOR)
            row_sum += transmat[i, j]
        for j in range(n):
            transmat[i, j] /= row_sum
