"""The streaming algorithm: Δ's two roles parted.

In the paper's algorithm Δ says both how far the smoother looks back and how long estimates
remember. Here a short lag ℓ serves the first and a count of expected visits n_i the second, so that
an observation costs O(N²) whatever Δ is.

Observations are filtered as they come. Whenever 2ℓ are held, one backward pass smooths the older
half with all that is known, γ_t and ζ_t for t = 1..ℓ; they are learned together and let go:

    n_i ← min(n_i + Σγ_t(i), cap)          τ_i = 1 − exp(−gain Σγ_t(i)/n_i)
    c_i ← Exp(τ_i/κ_i · mean of Log y_t)   κ_i = δ_i / (dim σ_i²)
    δ_i ← (1 − τ_i) δ_i + τ_i · mean of d²(y_t, c_i)
    A_i ← (1 − τ_i) A_i + τ_i · mean of ζ_t(i, ·)/γ_t(i)

with means over t weighted by γ_t(i). Each observation is thus learned from with ℓ to 2ℓ − 1 later
ones known, the parameters stand still for ℓ observations at a time, and distances and densities
run in vectors. τ is what single steps of gain γ_t/n would amount to.

κ is the mean Hessian of ½d² under the Gaussian: on a curved space a step of 1/n moves too far, and
without this the means converge more slowly than EM's. A gain above 1 forgets early mistakes faster
than a plain average would. ``cap = ∞`` converges; ``cap = Δ/N`` tracks a drifting chain.

An observation far from every state is filtered as any other, but not learned from, as long as such
ones are few: a single one at the rim would move a mean across the disk. After a jump all are far,
and nearly all are learned from at once.

Means and δ are those of the paper's emission. The class of the state says which emission there is
(`rhmm.streams.emission`); `rhmm.streams.shaped_kernel` has other ones.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel, lean_kernel
from rhmm.inference.few_states import FEW
from rhmm.manifolds import verbs
from rhmm.search.climbing import outlying
from rhmm.streams import emission
from rhmm.streams.group import filter_group, smooth_group
from rhmm.streams.trace import record
from rhmm.vector_math import exp, log, one_less_exp

FLOOR = 1e-6
"""Least entry of A: a state that was not seen for long can come back."""
NEGLIGIBLE = 1e-6
"""A state that was visited less than this, in expectation, does not move: the bias is far below
the noise."""
_OUTLIERS, BURST = 0.03, 5.0
"""The share of the observations that can be left out as outliers, and how many in a row."""


class StreamingSettings(NamedTuple):
    """What the kernel needs to know besides its state."""

    dim: int
    """Of the manifold."""
    gain: float
    """How much more a step counts than in a plain average."""
    cap: float
    """The most visits that are remembered; ∞ for a memory that grows."""
    least_delta: float
    """The floor of every δ_i."""
    trace_every: int
    """Observations between two rows of the trace; 0 for no trace."""


class StreamingState(NamedTuple):
    """Everything the algorithm remembers: its size depends on ℓ and N alone."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray
    half_precision: np.ndarray
    """1/2σ², a function of delta."""
    log_z: np.ndarray
    """log Z(σ), a function of delta."""
    visits: np.ndarray
    """n_i, the expected visits remembered."""
    points: np.ndarray
    """The observations that are held, the oldest first, and room up to 2ℓ."""
    missing: np.ndarray
    """Which of them are missing, or left out as outliers."""
    begins: np.ndarray
    """Which of them are the first of a sequence."""
    alpha: np.ndarray
    """Filtered probabilities of the same times, each row up to a factor."""
    density: np.ndarray
    """Densities of the same times, each row up to a factor, as they were when y_t arrived."""
    filtered: np.ndarray
    """The latest filtered probabilities, up to a factor."""
    counters: np.ndarray
    """Observations seen, and how many of them are held."""
    credit: np.ndarray
    """How many outliers can be left out at once, shape (1,)."""
    log_likelihood: np.ndarray
    """Sum of the one-step predictive log densities, shape (1,)."""

    def latest_filter(self) -> np.ndarray:
        """The latest filtered probabilities, shape (N,)."""
        return self.filtered / self.filtered.sum()


@kernel
def learn(geometry, table, settings, X, observed, begins, state, filtered, predictive, trace):
    """Take in X one by one; a sequence begins with the stationary law.

    Unless empty, `filtered` receives P(s_k | y_1..y_k) and `predictive` log p(y_k | y_1..y_{k−1}).
    """
    held = state.counters[1]
    if not 0 <= held < len(state.alpha):
        raise ValueError("counters of a streaming state must be below its room")
    # What is held and what is new in one row: index held + u is X[u].
    points = np.concatenate((state.points[:held], X))
    missing = np.concatenate((state.missing[:held], ~observed))
    starts = np.concatenate((state.begins[:held], begins))
    for t in range(len(points)):
        if missing[t]:
            copy_into(points[t], state.means[0])  # of no weight, but a point
    begin = take_in(
        geometry, table, settings, verbs.prepared(geometry, points), missing, starts, 0, len(X),
        state, filtered, predictive, trace, 0, room_for(len(state.alpha), len(state.visits)),
    )  # fmt: skip
    hold(
        state.points, state.missing, state.begins, state.counters[1], points, missing, starts, begin
    )


class Room(NamedTuple):
    """Working memory of the recursion, which several states can share."""

    logs: np.ndarray
    """Log densities of a group, shape (2ℓN,)."""
    shift: np.ndarray
    """The largest of each time, shape (2ℓ,)."""
    scale: np.ndarray
    """p(y | all before) of a group, shape (2ℓ,)."""
    alpha: np.ndarray
    """Of what is held, the state's transposed, shape (max(N, 4), 2ℓ); so is `density`."""
    density: np.ndarray
    gamma: np.ndarray
    """Shape (max(N, 4), ℓ)."""
    pair: np.ndarray
    """Shape (max(N, 4), max(N, 4))."""
    work: np.ndarray
    """Shape (5, N)."""
    later: np.ndarray
    """Shape (2, N, ℓ)."""


@kernel
def room_for(size, n):
    """The room for n states that hold up to `size` observations."""
    lag, rows = size // 2, max(n, FEW)
    return Room(
        np.empty(n * size), np.empty(size), np.empty(size), np.zeros((rows, size)),
        np.zeros((rows, size)), np.empty((rows, lag)), np.empty((rows, rows)), np.empty((5, n)),
        np.empty((2, n, lag)),
    )  # fmt: skip


@lean_kernel
def hold(held_points, held_missing, held_begins, held, points, missing, starts, begin):
    """Keep `held` points, those from `begin` on, and 0 where there is more room."""
    width = points.size // len(points)
    for t in range(len(held_points)):
        is_there = t < held
        held_missing[t] = is_there and missing[begin + t]
        held_begins[t] = is_there and starts[begin + t]
        is_known = is_there and not missing[begin + t]
        for k in range(t * width, (t + 1) * width):
            held_points.flat[k] = points.flat[begin * width + k] if is_known else 0.0


@lean_kernel
def take_in(
    geometry, table, settings, layout, missing, starts, begin, count, state, filtered, predictive,
    trace, row, room,
):  # fmt: skip
    """Learn from `count` points of the layout. Those that are held come before them: the first of
    all is `begin`.

    The trace is written from `row` on. Returns the first point that is held in the end. An outlier
    is marked as missing.
    """
    transmat, latest, alpha, density = state.transmat, state.filtered, room.alpha, room.density
    most, n = state.alpha.shape
    lag = most // 2
    k, held = state.counters[0], state.counters[1]
    gamma, pair, work, later = room.gamma, room.pair, room.work, room.later
    predicted, visited, taus = work[4], work[0], work[1]
    shift, scale, limit = room.shift, room.scale, outlying(settings.dim)
    log_likelihood, credit = state.log_likelihood[0], state.credit[0]
    for t in range(held):
        for i in range(n):
            alpha[i, t], density[i, t] = state.alpha[t, i], state.density[t, i]
    for i in range(n, len(alpha)):  # another state may have left NaN there
        for t in range(most):
            alpha[i, t] = density[i, t] = 0.0
    # Plain numbers would be types of their own, and have `_step` compiled twice.
    begin, done, row = np.int64(begin), np.int64(0), np.int64(row)
    while done < count:
        # Until 2ℓ are held the parameters stand still.
        size = min(most - held, count - done)
        first, logs = begin + held, room.logs[: n * size]
        emission.log_densities(state, geometry, layout, first, first + size, logs)
        _scale(logs, missing, first, size, n, held, density, shift)
        filter_group(transmat, density, starts, first, held, size, latest, alpha, scale, predicted)
        for u in range(size):
            scale[u] = log(scale[u])
        faint = _faintest(state.log_z) - limit
        for u in range(size):
            known, log_predictive = not missing[first + u], 0.0
            if known:
                log_predictive = scale[u] + shift[u]
                log_likelihood += log_predictive
                credit = min(credit + _OUTLIERS, BURST)
                if shift[u] < faint and credit >= 1.0:
                    missing[first + u] = True
                    credit -= 1.0
            if len(predictive):
                predictive[done + u] = log_predictive
            if len(filtered):
                normalise(alpha, held + u, filtered[done + u])
            is_due = settings.trace_every > 0 and (k + u + 1) % settings.trace_every == 0
            if held + u == most - 1:  # the step of the group comes before its last row
                smooth_group(
                    transmat, alpha, density, missing, starts, begin, gamma, pair, later, work
                )
                _count(transmat, state.visits, settings, gamma, pair, visited, taus)
                emission.learn_spreads(
                    state, geometry, table, settings, layout, begin, gamma[:n], visited, taus,
                    work[2], work[3],
                )  # fmt: skip
                emission.settle(state, table, settings)
            if is_due and row < len(trace.step):
                normalise(alpha, held + u, predicted)
                record(
                    trace, row, k + u + 1, transmat, state.means, state.delta,
                    state.half_precision, predicted, state.visits, log_likelihood,
                )  # fmt: skip
                row += 1
        held, done, k = held + size, done + size, k + size
        if held == most:
            for i in range(n):
                for t in range(lag):
                    alpha[i, t] = alpha[i, lag + t]
                    density[i, t] = density[i, lag + t]
            begin, held = begin + lag, lag
    for t in range(most):
        for i in range(n):  # what is not held has numbers too, the same however it came about
            state.alpha[t, i] = alpha[i, t] if t < held else 0.0
            state.density[t, i] = density[i, t] if t < held else 1.0
    state.counters[0], state.counters[1] = k, held
    state.log_likelihood[0], state.credit[0] = log_likelihood, credit
    return begin


@lean_kernel
def normalise(weights, t, law):
    """Probabilities `law` (N,) from a column of numbers that are proportional to them."""
    total = 0.0
    for j in range(len(law)):
        total += weights[j, t]
    for j in range(len(law)):
        law[j] = weights[j, t] / total


@lean_kernel
def _faintest(log_z):
    """The least of all largest densities, as a logarithm."""
    faintest = math.inf
    for i in range(len(log_z)):
        faintest = min(faintest, -log_z[i])
    return faintest


@lean_kernel
def _scale(logs, missing, first, size, n, held, density, shift):
    """From log p_i(y_t) of n states and `size` points, of which `missing` has the first at `first`,
    densities from the column `held` on, divided by the largest of each time, whose log is `shift`;
    1 where an observation is missing.
    """
    largest = shift[:size]
    for t in range(size):
        largest[t] = -math.inf
    for i in range(n):  # along the times: across them, compilers scatter
        mine = logs[i * size : (i + 1) * size]
        for t in range(len(mine)):
            largest[t] = max(largest[t], mine[t])
    for i in range(n):
        mine, scaled = logs[i * size : (i + 1) * size], density[i, held : held + size]
        for t in range(len(mine)):
            scaled[t] = exp(mine[t] - largest[t])
    for t in range(size):
        if missing[first + t]:
            for i in range(n):
                density[i, held + t] = 1.0


@lean_kernel
def _count(transmat, visits, settings, gamma, pair, visited, taus):
    """Learn visits and A from the older half: the formulas at the top of this file.

    Σγ of each state goes to `visited` (N,), and its τ to `taus` (N,).
    """
    n, lag = len(visits), gamma.shape[1]
    for i in range(n):
        total = 0.0
        for t in range(lag):
            total += gamma[i, t]
        visits[i] = min(visits[i] + total, settings.cap)
        visited[i], taus[i] = total, 0.0
        if total < NEGLIGIBLE:
            continue
        tau = one_less_exp(settings.gain * total / visits[i])
        share, row_sum = tau / total, 0.0
        for j in range(n):
            transmat[i, j] = max((1.0 - tau) * transmat[i, j] + share * pair[i, j], FLOOR)
            row_sum += transmat[i, j]
        inverse = 1.0 / row_sum
        for j in range(n):
            transmat[i, j] *= inverse
        taus[i] = tau
