"""What EM needs of observations, as sums to which each part of them contributes by itself."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from rhmm.emissions import SummedLaw
from rhmm.inference import Smoothed, smoothing
from rhmm.inference.chain import log_of
from rhmm.inference.forward import is_fragile
from rhmm.inference.forward_backward import smoothing_scaled
from rhmm.inference.parts import Forgotten, forget_future, forget_past
from rhmm.learners.baum_welch import Iterate, at_observed

_LEAST_LOG = -700.0
"""Of a density relative to the largest one of its time: scaled densities stop there, too."""
_SHORT = 256
"""Observations after which chains nearly always have forgotten; if not, all are looked at."""


class Sums(NamedTuple):
    """Sufficient statistics of EM; those of parts add up."""

    log_likelihood: float
    starts: np.ndarray
    """γ at the first times of sequences, shape (N,)."""
    transitions: np.ndarray
    """ζ, shape (N, N)."""
    occupied: np.ndarray
    """γ where something was observed, shape (N,)."""
    of_law: np.ndarray
    """What the emission makes its M-step of, shape (N, K)."""

    def plus(self, other: "Sums") -> "Sums":
        return Sums(
            self.log_likelihood + other.log_likelihood,
            self.starts + other.starts,
            self.transitions + other.transitions,
            self.occupied + other.occupied,
            self.of_law + other.of_law,
        )


class Tree:
    """Adds up sums in pairs, pairs of pairs and so on, in the order in which they are given.

    The last digits depend on the order of the sums, and must not depend on which piece is finished
    first. Besides, a tree loses fewer digits than a running total. It holds one sum for each level.
    """

    def __init__(self) -> None:
        self._levels: list[Sums | None] = []

    def add(self, sums: Sums) -> None:
        for level, held in enumerate(self._levels):
            if held is None:
                self._levels[level] = sums
                return
            self._levels[level] = None
            sums = held.plus(sums)
        self._levels.append(sums)

    def total(self) -> Sums | None:
        """The sum of all; None if there is none."""
        total = None
        for held in self._levels:  # what came last is on the lowest level
            if held is not None:
                total = held if total is None else held.plus(total)
        return total


class Contribution(NamedTuple):
    """What a piece says by itself, and the observations at its ends that need its neighbours.

    At an end where the sequence goes on in another piece, posteriors depend on that piece until
    the chain has forgotten it. These observations are kept back, to be joined with those of the
    neighbour.
    """

    sums: Any
    """Of the middle, see `Part._summed`; None if the chain forgets too slowly, and all is in
    `head`."""
    head: np.ndarray
    """What comes before the middle, shape (T, *point_shape)."""
    later: np.ndarray | None
    """log p(middle and all after it | s = i) at the first time of the middle, less a number that
    makes Σ P(s = i | all before) p = 1."""
    tail: np.ndarray
    """What comes after the middle."""
    start: np.ndarray | None
    """P(s = i | all before) at the first time of the tail."""


class Part:
    """Observations X (T, *point_shape) as the states of a model see them."""

    def __init__(self, model: Iterate, X: np.ndarray, observed: np.ndarray):
        self.model, self.X, self.observed = model, X, observed
        self.is_whole = bool(observed.all())
        self.points = X if self.is_whole else X[observed]
        self._view = model.law.view(self.points)
        density, shift = model.law.scaled_densities(self._view)
        if not self.is_whole:
            density, shift = at_observed(observed, density, 1.0), at_observed(observed, shift, 0.0)
        self._density, self._shift = density, shift

    @cached_property
    def _log_density(self) -> np.ndarray:
        """Shape (T, N); exact, where the scaled densities stop at e^{−700}."""
        log_density = self.model.law.log_densities(self._view)
        return np.ascontiguousarray(at_observed(self.observed, log_density.T, np.nan).T)

    def sums(self, lengths: np.ndarray) -> Any:
        """Of whole sequences."""
        posterior, _ = self._smoothed(self.model.startprob, 0, len(self.X), None, lengths)
        firsts = np.cumsum(lengths) - lengths
        return self._summed(posterior, 0, len(self.X), posterior.gamma[firsts].sum(axis=0))

    def joined(self, start: np.ndarray, later: np.ndarray | None, begins: bool) -> Any:
        """Of observations whose first state has the law `start` (N,).

        `later` (N,) is the log-likelihood of the state after them, as a `Contribution` has it; None
        if the sequence ends. `begins` says whether it begins with them.
        """
        posterior, _ = self._smoothed(start, 0, len(self.X), later)
        starts = posterior.gamma[0] if begins else np.zeros(len(start))
        return self._summed(posterior, 0, len(self.X), starts)

    def contribution(self, begins: bool, ends: bool) -> Contribution:
        """Of a part of one sequence, without its neighbours."""
        past = None if begins else self._forget_past()
        first = 0 if past is None else past.time
        future = None if ends else self._forget_future(first)
        if (past is None and not begins) or (future is None and not ends):
            return Contribution(None, self.X, None, self.X[:0], None)
        last = len(self.X) if future is None else future.time
        start = self.model.startprob if past is None else past.law
        posterior, used = self._smoothed(start, first, last, None if future is None else future.law)
        gamma = posterior.gamma
        starts = gamma[0] if begins else np.zeros(len(start))
        later, following, lost = None, None, 0.0
        if past is not None:  # γ is P(s = i | all before) times the likelihood of all from here on
            later = log_of(gamma[0]) - np.log(np.where(past.law > 0.0, past.law, 1.0))
        if used is not None:  # its row stands for all that is beyond the middle
            logs = log_of(gamma[last - first]) - np.where(np.isfinite(used), used, 0.0)
            lost = -float(logsumexp(logs))
            following = np.exp(logs + lost)
            following /= following.sum()
        sums = self._summed(posterior, first, last, starts)
        sums = sums._replace(log_likelihood=sums.log_likelihood - lost)
        # Copies: a piece is given up, and with it what these would be views of.
        return Contribution(sums, self.X[:first].copy(), later, self.X[last:].copy(), following)

    def _forget_past(self) -> Forgotten | None:
        for size in (_SHORT, len(self.X)):
            found = forget_past(self.model.transmat, self._logs(0, size))
            if found is not None and found.time < len(self.X):
                return found
        return None

    def _forget_future(self, first: int) -> Forgotten | None:
        for size in (_SHORT, len(self.X)):
            begin = max(len(self.X) - size, first)
            found = forget_future(self.model.transmat, self._logs(begin, len(self.X)))
            if found is not None:
                return found._replace(time=begin + found.time)
        return None

    def _logs(self, first: int, last: int) -> np.ndarray:
        """Logarithms of densities up to a number for each time, shape (T, N)."""
        if is_fragile(self.model.transmat):
            return self._log_density[first:last]
        return np.log(np.ascontiguousarray(self._density[:, first:last].T))

    def _smoothed(
        self, start, first: int, last: int, later, lengths=None
    ) -> tuple[Smoothed, np.ndarray | None]:
        """Posteriors from `first` to before `last`, and at the time after if its log-likelihoods
        `later` are given; these are also returned, as they were used.
        """
        stop = last if later is None else last + 1
        lengths = np.array([stop - first]) if lengths is None else lengths
        row, top, used = None, None, None
        if later is not None:
            top = later.max()
            used = np.maximum(later, top + _LEAST_LOG)
            row = np.exp(used - top)
        density = np.ascontiguousarray(_with_time(self._density, last, row)[:, first:stop])
        shift = _with_time(self._shift, last, top)[first:stop]
        transmat = self.model.transmat
        posterior = smoothing_scaled(start, transmat, density, shift, np.cumsum(lengths))
        if posterior is None:
            log_density = _with_time(self._log_density.T, last, later).T[first:stop]
            return smoothing(start, transmat, log_density, lengths), later
        return posterior, used

    def _summed(self, posterior: Smoothed, first: int, last: int, starts: np.ndarray) -> Any:
        """What is wanted of the observations from `first` to before `last`: a named tuple with
        their `log_likelihood`. `starts` (N,) is γ at the first times of sequences."""
        gamma, here = posterior.gamma[: last - first], self.observed[first:last]
        if self.is_whole:
            points = self.points[first:last]
        else:
            points, gamma = self.X[first:last][here], gamma[here]
        weights = np.ascontiguousarray(gamma.T)
        law = self.model.law
        of_law = np.zeros((len(weights), law.manifold.n_centre_sums))
        if len(points):
            assert isinstance(law, SummedLaw)  # `fit` refuses all others
            of_law = law.sums(points, weights)
        return Sums(
            posterior.log_likelihood, starts, posterior.zeta_sum, weights.sum(axis=1), of_law
        )


def _with_time(values: np.ndarray, time: int, value) -> np.ndarray:
    """`values` (…, T) with those of a time replaced, or added at their end; as they are if `value`
    is None."""
    if value is None:
        return values
    if time == values.shape[-1]:
        return np.concatenate([values, np.asarray(value)[..., None]], axis=-1)
    values[..., time] = value
    return values
