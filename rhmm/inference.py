"""Recursions on a hidden chain: functions of (start, transition, log densities), no manifold.

``log_density[t, i]`` = log p(y_t | s_t = i); a row of NaN is a missing observation. Several
sequences lie one after another, their sizes in `lengths`. The symbols are the paper's (Table 1).

The forward recursion scales probabilities at every step. Where that could lose a path for good (a
probability underflows, and zeros of the transition matrix forbid to come back another way) it runs
again on logarithms. Going back, everything follows from the reversed chain
P(s_t = i | s_{t+1} = j, y_1..y_t) ∝ α_t(i) A_ij, whose entries are probabilities and need no
scaling: densities of e^{−100000}, zeros in `start` and `transition` and 10⁷ observations are fine.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import kernel
from rhmm.validation import check_integer, check_lengths, check_stochastic

_TINY = 1e-200
_UNLIKELY = 1e-100
_MOST_STATES = 2**16


class Filtered(NamedTuple):
    alpha: np.ndarray
    """P(s_t = i | y_1..y_t), shape (T, N)."""
    log_likelihood: float
    """log p(y_1..y_T), summed over sequences."""


class Smoothed(NamedTuple):
    gamma: np.ndarray
    """P(s_t = i | y_1..y_T), shape (T, N)."""
    zeta_sum: np.ndarray
    """Σ_t P(s_t = i, s_{t+1} = j | y_1..y_T), shape (N, N): the expected transitions."""
    log_likelihood: float
    """log p(y_1..y_T), summed over sequences."""


class Decoded(NamedTuple):
    log_probability: float
    """log p(y_1..y_T, path), summed over sequences."""
    path: np.ndarray
    """The most probable sequence of states, shape (T,)."""


def filtering(start, transition, log_density, lengths=None) -> Filtered:
    """Forward recursion: the law of each state given the past and the present."""
    chain = _Chain(start, transition, log_density, lengths)
    alpha, in_logs, log_likelihood = chain.forward()
    return Filtered(np.exp(alpha, out=alpha) if in_logs else alpha, log_likelihood)


def smoothing(start, transition, log_density, lengths=None) -> Smoothed:
    """Forward–backward: the law of each state given all observations."""
    chain = _Chain(start, transition, log_density, lengths)
    alpha, in_logs, log_likelihood = chain.forward()
    zeta_sum = np.zeros_like(chain.transition)
    if in_logs:
        _smooth_logs(alpha, chain.transition_for(True), chain.ends, zeta_sum)
    else:
        smooth_pass(alpha, chain.transition, chain.ends, zeta_sum)
    return Smoothed(alpha, zeta_sum, log_likelihood)


def pair_posteriors(start, transition, log_density, lengths=None) -> np.ndarray:
    """ζ_{t|T}(i, j) = P(s_t = i, s_{t+1} = j | y_1..y_T), shape (T, N, N).

    The last time of a sequence has no successor: its slice is zero.
    """
    chain = _Chain(start, transition, log_density, lengths)
    alpha, in_logs, _ = chain.forward()
    zeta = np.zeros((*alpha.shape, alpha.shape[1]))
    _smooth_pairs(alpha, chain.transition_for(in_logs), in_logs, chain.ends, zeta)
    return zeta


def fixed_lag_smoothing(start, transition, log_density, lag, lengths=None) -> np.ndarray:
    """P(s_t = i | y_1..y_{t+lag}), shape (T, N): what is known `lag` observations later."""
    lag = check_integer("lag", lag, at_least=0)
    chain = _Chain(start, transition, log_density, lengths)
    alpha, in_logs, _ = chain.forward()
    gamma = np.empty_like(alpha)
    _fixed_lag(alpha, chain.transition_for(in_logs), in_logs, chain.ends, lag, gamma)
    return gamma


def backward(start, transition, log_density, lengths=None) -> np.ndarray:
    """log β_{t|T}(i) = log p(y_{t+1}..y_T | s_t = i), shape (T, N)."""
    chain = _Chain(start, transition, log_density, lengths)
    beta = np.empty_like(chain.log_density)
    _backward(chain.transition_for(True), chain.log_density, chain.ends, beta)
    return beta


def viterbi(start, transition, log_density, lengths=None) -> Decoded:
    """The single most probable path through the states."""
    chain = _Chain(start, transition, log_density, lengths)
    path = np.empty(len(chain.log_density), dtype=np.int64)
    log_start, log_transition = _log(chain.start), chain.transition_for(True)
    total = _viterbi(log_start, log_transition, chain.log_density, chain.ends, path)
    if total == -math.inf:
        raise ValueError("the observations are impossible: every path has probability zero")
    return Decoded(total, path)


def log_likelihood(start, transition, log_density, lengths=None) -> float:
    """log p(y_1..y_T), summed over sequences."""
    return filtering(start, transition, log_density, lengths).log_likelihood


def _log(probabilities: np.ndarray) -> np.ndarray:
    return np.log(probabilities, out=np.full_like(probabilities, -np.inf), where=probabilities > 0)


class _Chain:
    """Checked arguments of a recursion, and the forward pass that all of them begin with."""

    def __init__(self, start, transition, log_density, lengths):
        self.start, self.transition = check_stochastic(start, transition)
        n = len(self.start)
        try:
            self.log_density = np.require(log_density, float, ["C", "W"])
        except (TypeError, ValueError):
            raise ValueError(
                f"log_density must be an array of numbers, not {log_density!r}"
            ) from None
        if self.log_density.ndim != 2 or self.log_density.shape[1] != n:
            raise ValueError(
                f"log_density must have shape (T, {n}) for {n} states, not {self.log_density.shape}"
            )
        if n > _MOST_STATES:
            raise ValueError(f"transition must have at most {_MOST_STATES} states, not {n}")
        self.ends = np.cumsum(check_lengths(lengths, len(self.log_density)))
        bad = _first_bad_row(self.log_density)
        if bad >= 0:
            raise ValueError(
                f"log_density[{bad}] must be below +inf in every state, and NaN in all or in none"
            )

    def transition_for(self, in_logs: bool) -> np.ndarray:
        return _log(self.transition) if in_logs else self.transition

    def forward(self) -> tuple[np.ndarray, bool, float]:
        """α, whether it is given as logarithms, and the log-likelihood."""
        density, shift = np.empty_like(self.log_density), np.empty(len(self.log_density))
        impossible = scale_rows(self.log_density, density, shift)
        if impossible >= 0:
            raise ValueError(f"log_density[{impossible}] must be above -inf in some state")
        np.exp(density, out=density)
        fragile = self.transition.min() < _UNLIKELY
        total = forward_pass(self.start, self.transition, density, shift, self.ends, fragile)
        if not math.isnan(total):
            return density, False, total
        total = _forward_logs(
            _log(self.start), self.transition_for(True), self.log_density, self.ends, density
        )
        if total == -math.inf:
            raise ValueError("the observations are impossible: every path has probability zero")
        return density, True, total


@kernel
def _first_bad_row(log_density):
    """The first row that holds +inf, or NaN beside a number; −1 if there is none."""
    size, n = log_density.shape
    for t in range(size):
        missing = math.isnan(log_density[t, 0])
        for i in range(n):
            if log_density[t, i] == math.inf or math.isnan(log_density[t, i]) != missing:
                return t
    return -1


@kernel
def scale_rows(log_density, scaled, shift):
    """Subtract the largest entry of each row; missing rows become zero. Returns a bad row or −1."""
    size, n = log_density.shape
    for t in range(size):
        largest = -math.inf
        missing = True
        for i in range(n):
            if not math.isnan(log_density[t, i]):
                missing = False
                largest = max(largest, log_density[t, i])
        if missing:
            largest = 0.0
        if math.isinf(largest):
            return t
        shift[t] = largest
        for i in range(n):
            scaled[t, i] = 0.0 if missing else log_density[t, i] - largest
    return -1


@kernel
def forward_pass(start, transition, density, shift, ends, fragile):
    """Turn scaled densities into filtered probabilities in place; returns the log-likelihood.

    Returns NaN as soon as an underflow could matter. If all transitions are possible, it never
    does: whatever was lost would have been at most 10⁻²⁰⁰ of what came to the same state otherwise.
    """
    n = len(start)
    predicted = np.empty(n)
    total = 0.0
    product = 1.0
    begin = 0
    for end in ends:
        for t in range(begin, end):
            if t == begin:
                predicted[:] = start
            else:
                for j in range(n):
                    mass = 0.0
                    for i in range(n):
                        mass += density[t - 1, i] * transition[i, j]
                    if fragile and mass < _TINY:
                        for i in range(n):
                            if density[t - 1, i] > 0.0 and transition[i, j] > 0.0:
                                return math.nan
                    predicted[j] = mass
            scale = 0.0
            for j in range(n):
                density[t, j] *= predicted[j]
                scale += density[t, j]
                if fragile and predicted[j] > 0.0 and density[t, j] < _TINY:
                    return math.nan
            if scale < _TINY:
                return math.nan
            for j in range(n):
                density[t, j] /= scale
            total += shift[t]
            product *= scale
            if product < _UNLIKELY:  # times the next scale it stays above 10⁻³⁰⁰
                total += math.log(product)
                product = 1.0
        begin = end
    return total + math.log(product)


@kernel
def _log_sum(terms):
    largest = terms.max()
    if largest == -math.inf:
        return largest
    total = 0.0
    for term in terms:
        total += math.exp(term - largest)
    return largest + math.log(total)


@kernel
def _forward_logs(log_start, log_transition, log_density, ends, log_alpha):
    """Logarithms of the filtered probabilities; returns the log-likelihood."""
    n = len(log_start)
    terms = np.empty(n)
    total = 0.0
    begin = 0
    for end in ends:
        for t in range(begin, end):
            for j in range(n):
                predicted = log_start[j]
                if t > begin:
                    for i in range(n):
                        terms[i] = log_alpha[t - 1, i] + log_transition[i, j]
                    predicted = _log_sum(terms)
                missing = math.isnan(log_density[t, j])
                log_alpha[t, j] = predicted if missing else predicted + log_density[t, j]
            scale = _log_sum(log_alpha[t])
            if scale == -math.inf:
                return scale
            for j in range(n):
                log_alpha[t, j] -= scale
            total += scale
        begin = end
    return total


@kernel
def _reverse(alpha, t, transition, in_logs, reversal):
    """``reversal[j, i]`` = P(s_t = i | s_{t+1} = j, y_1..y_t); zero where j cannot be reached."""
    n = len(transition)
    for j in range(n):
        total = 0.0
        if in_logs:
            largest = -math.inf
            for i in range(n):
                largest = max(largest, alpha[t, i] + transition[i, j])
            for i in range(n):
                excess = alpha[t, i] + transition[i, j] - largest
                reversal[j, i] = math.exp(excess) if largest > -math.inf else 0.0
                total += reversal[j, i]
        else:
            for i in range(n):
                reversal[j, i] = alpha[t, i] * transition[i, j]
                total += reversal[j, i]
        scale = 1.0 / total if total > 0.0 else 0.0
        for i in range(n):
            reversal[j, i] *= scale


@kernel
def _step_back(later, t, reversal, earlier, s):
    """γ in ``earlier[s]`` from γ one step later in ``later[t]``, free of the drift of rounding."""
    n = len(reversal)
    total = 0.0
    for i in range(n):
        mass = 0.0
        for j in range(n):
            mass += later[t, j] * reversal[j, i]
        earlier[s, i] = mass
        total += mass
    scale = 1.0 / total
    for i in range(n):
        earlier[s, i] *= scale


@kernel
def _to_probabilities(alpha, t, in_logs):
    if in_logs:
        for i in range(alpha.shape[1]):
            alpha[t, i] = math.exp(alpha[t, i])


@kernel
def smooth_pass(alpha, transition, ends, zeta_sum):
    """Overwrite α by γ and add up ζ.

    γ_t(i) = α_t(i) Σ_j A_ij r_j with r_j = γ_{t+1}(j) / Σ_i α_t(i) A_ij.
    """
    n = len(transition)
    ratio, later, outer = np.empty(n), np.empty(n), np.zeros((n, n))
    begin = 0
    for end in ends:
        later[:] = alpha[end - 1]
        for t in range(end - 2, begin - 1, -1):
            for j in range(n):
                predicted = 0.0
                for i in range(n):
                    predicted += alpha[t, i] * transition[i, j]
                ratio[j] = later[j] / predicted if predicted > 0.0 else 0.0
            total = 0.0
            for i in range(n):
                mass = 0.0
                for j in range(n):
                    mass += transition[i, j] * ratio[j]
                    outer[i, j] += alpha[t, i] * ratio[j]
                later[i] = alpha[t, i] * mass
                total += later[i]
            scale = 1.0 / total  # 1 but for the slow drift of rounding
            for i in range(n):
                later[i] *= scale
                alpha[t, i] = later[i]
        begin = end
    for i in range(n):
        for j in range(n):
            zeta_sum[i, j] += outer[i, j] * transition[i, j]


@kernel
def _smooth_logs(alpha, transition, ends, zeta_sum):
    """The same from logarithms, which become probabilities."""
    n = len(transition)
    reversal = np.empty((n, n))
    begin = 0
    for end in ends:
        _to_probabilities(alpha, end - 1, True)
        for t in range(end - 2, begin - 1, -1):
            _reverse(alpha, t, transition, True, reversal)
            _step_back(alpha, t + 1, reversal, alpha, t)
            for j in range(n):
                for i in range(n):
                    zeta_sum[i, j] += alpha[t + 1, j] * reversal[j, i]
        begin = end


@kernel
def _smooth_pairs(alpha, transition, in_logs, ends, zeta):
    """Overwrite α (or its logarithm) by γ and write down ζ of every time."""
    n = len(transition)
    reversal = np.empty((n, n))
    begin = 0
    for end in ends:
        _to_probabilities(alpha, end - 1, in_logs)
        for t in range(end - 2, begin - 1, -1):
            _reverse(alpha, t, transition, in_logs, reversal)
            _step_back(alpha, t + 1, reversal, alpha, t)
            for j in range(n):
                for i in range(n):
                    zeta[t, i, j] = alpha[t + 1, j] * reversal[j, i]
        begin = end


@kernel
def _fixed_lag(alpha, transition, in_logs, ends, lag, gamma):
    n = len(transition)
    reversal = np.empty((n, n))
    later = np.empty((1, n))
    begin = 0
    for end in ends:
        for t in range(begin, end):
            last = min(t + lag, end - 1)
            gamma[t] = alpha[last]
            _to_probabilities(gamma, t, in_logs)
            for s in range(last - 1, t - 1, -1):
                later[0] = gamma[t]
                _reverse(alpha, s, transition, in_logs, reversal)
                _step_back(later, 0, reversal, gamma, t)
        begin = end


@kernel
def _backward(log_transition, log_density, ends, log_beta):
    n = len(log_transition)
    terms = np.empty(n)
    begin = 0
    for end in ends:
        for t in range(end - 1, begin - 1, -1):
            for i in range(n):
                log_beta[t, i] = 0.0
                if t < end - 1:
                    for j in range(n):
                        density = log_density[t + 1, j]
                        terms[j] = log_transition[i, j] + log_beta[t + 1, j]
                        if not math.isnan(density):
                            terms[j] += density
                    log_beta[t, i] = _log_sum(terms)
        begin = end


@kernel
def _viterbi(log_start, log_transition, log_density, ends, path):
    size, n = log_density.shape
    came_from = np.empty((size, n), np.uint16)
    score, previous = np.empty(n), np.empty(n)
    total = 0.0
    begin = 0
    for end in ends:
        for t in range(begin, end):
            for j in range(n):
                previous[j] = score[j]
            for j in range(n):
                best, origin = log_start[j], 0
                if t > begin:
                    best = previous[0] + log_transition[0, j]
                    for i in range(1, n):
                        candidate = previous[i] + log_transition[i, j]
                        if candidate > best:
                            best, origin = candidate, i
                came_from[t, j] = origin
                density = log_density[t, j]
                score[j] = best if math.isnan(density) else best + density
        if end > begin:
            state = np.argmax(score)
            total += score[state]
            for t in range(end - 1, begin - 1, -1):
                path[t] = state
                state = came_from[t, state]
        begin = end
    return total
