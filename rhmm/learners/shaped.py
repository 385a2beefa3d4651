"""Streams with Gaussians and Student's laws of any shape: how they start, look back at their record
and start anew, all by EM with their own emission, and what one of their steps is made of.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm.emissions import (
    EMISSIONS,
    RIEMANNIAN,
    WrappedGaussians,
    WrappedStudents,
    check_degrees,
    n_parameters,
)
from rhmm.emissions import covariances as kinds
from rhmm.estimator import AUTO
from rhmm.gaussian.table import radial_table
from rhmm.learners.baum_welch import Iterate, climb
from rhmm.learners.learner import Option
from rhmm.learners.tangent_start import Emission, searched_start, wrapped_law
from rhmm.manifolds import Manifold
from rhmm.parameters import delta_of_floor, stationary_law
from rhmm.search import Sample
from rhmm.streams import start
from rhmm.streams.history import History
from rhmm.streams.review import LEAST_GAIN
from rhmm.streams.shaped_kernel import ShapedSettings, ShapedState, settle_all
from rhmm.streams.streaming_kernel import FLOOR, StreamingSettings
from rhmm.validation import check_number

_TRIED, _STEPS = 16, 30
"""Starts that are tried at the start, and EM steps from the best of them."""
_TRIED_LATER, _STEPS_LATER = 8, 15
"""The same of a review, whose record is longer."""
_TOL = 1e-2
"""The gain in log-likelihood that ends EM."""
_LEAST_VISITS = 1e-3
"""Expected visits of a state below which its points say nothing about its shape."""


EMISSION = Option(
    "emission",
    "emission",
    RIEMANNIAN,
    "Law of a state",
    "The paper's Gaussian, or one of the tangent space whose shape is learned; Student's has heavy "
    "tails.",
    choices={
        RIEMANNIAN: "The paper's",
        "isotropic": "Round",
        "diag": "Along the axes",
        "tied": "One shape for all",
        "full": "Own shapes",
        "student": "Round, heavy tails",
        "student-diag": "Along the axes, heavy tails",
        "student-tied": "One shape for all, heavy tails",
        "student-full": "Own shapes, heavy tails",
    },
    phrases={name: name for name in EMISSIONS if name != RIEMANNIAN},
)


def check_shapes(learner) -> None:
    """Refuse options of a streaming learner that shapes cannot go with."""
    if learner.init != "kmeans":
        raise ValueError(
            f"init must be 'kmeans' for emission={learner.emission!r}: a few random points say "
            "nothing about shapes"
        )
    if learner.n_components == AUTO:
        raise ValueError(
            f"n_components must be a number for emission={learner.emission!r}: states are counted "
            "with the paper's emission"
        )
    if learner.degrees is not None:
        check_degrees(learner.degrees)
    if learner.shrinkage is not None:
        check_number("shrinkage", learner.shrinkage, at_least=0.0)
    origin = learner.manifold.origin
    learner.manifold.normal_coordinates(origin, origin[None])  # refused by manifolds without them


class ShapedFit(NamedTuple):
    """A model as EM left it on a sample."""

    reached: Iterate
    scatter: np.ndarray
    """The mean of w u uᵀ of each state, see `rhmm.streams.shaped_kernel`; shape (N, D, D)."""
    gamma: np.ndarray
    """P(state | sample), shape (T, N)."""
    log_likelihood: float
    """Of the sample."""

    @property
    def law(self) -> WrappedGaussians:
        law = self.reached.law
        assert isinstance(law, WrappedGaussians)
        return law

    @property
    def transmat(self) -> np.ndarray:
        """A, without zeros."""
        transmat = np.maximum(self.reached.transmat, FLOOR)
        return transmat / transmat.sum(axis=1, keepdims=True)

    @property
    def means(self) -> np.ndarray:
        return self.law.means

    @property
    def delta(self) -> np.ndarray:
        """tr Σ_i, shape (N,)."""
        return self.law.manifold.dim * self.law.variances

    @property
    def visits(self) -> np.ndarray:
        """Expected visits of each state, shape (N,)."""
        return self.gamma.sum(axis=0)

    @property
    def latest(self) -> np.ndarray:
        """Filtered probabilities of the last point, shape (N,)."""
        return self.gamma[-1].copy()

    def permuted(self, order: np.ndarray) -> "ShapedFit":
        """The same fit with state ``order[i]`` renamed to i."""
        startprob, transmat, law = self.reached
        transmat = np.ascontiguousarray(transmat[np.ix_(order, order)])
        reached = Iterate(startprob[order], transmat, law.permuted(order))
        return ShapedFit(reached, self.scatter[order], self.gamma[:, order], self.log_likelihood)


class Found(NamedTuple):
    """What a review has found."""

    fit: ShapedFit
    gain: float
    """Nats that it explains the record better than the present model; ∞ where that is sure."""


class Shapes(NamedTuple):
    """What a streaming learner knows of an emission with shapes."""

    manifold: Manifold
    emission: Emission
    min_sigma: float

    @property
    def _shrinkage(self) -> float:
        return self.emission.prior(self.manifold, np.ones(1)).weight

    def settings(self, common: StreamingSettings) -> ShapedSettings:
        kind = kinds.KINDS.index(kinds.kind_of(self.emission.name))
        return ShapedSettings(*common, kind, self._shrinkage)

    # Fits

    def started(self, sample: Sample, n: int, rng, tried: int = _TRIED, steps: int = _STEPS):
        """What EM reaches on the sample from the best of many starts."""
        found = searched_start(
            self.emission, self.manifold, sample.points, np.ones(len(sample.points), bool),
            np.diff(sample.ends, prepend=0), n, rng, tried=tried, min_sigma=self.min_sigma,
        )  # fmt: skip
        return self.climbed(sample, found, steps)

    def climbed(self, sample: Sample, begin: Iterate, steps: int) -> ShapedFit:
        """What EM reaches on the sample in at most so many steps."""
        points, lengths = sample.points, np.diff(sample.ends, prepend=0)
        monitor, reached, posterior = climb(
            points, np.ones(len(points), bool), lengths, begin,
            n_iter=steps, tol=_TOL, min_sigma=self.min_sigma,
        )  # fmt: skip
        law, gamma = reached.law, posterior.gamma
        assert isinstance(law, WrappedGaussians)
        scatter = np.array(law.matrices)
        coordinates = law.view(points).coordinates
        for i in np.flatnonzero(gamma.sum(axis=0) > _LEAST_VISITS).tolist():
            u = coordinates[i]
            moments = (u * law.pulling(i, gamma[:, i], u)[:, None]).T @ u / gamma[:, i].sum()
            scatter[i] = 0.5 * (moments + moments.T)
        return ShapedFit(reached, scatter, gamma, monitor.log_likelihood[-1])

    def explained(self, sample: Sample, state: ShapedState, steps: int = 0) -> ShapedFit:
        """The sample under what a stream has learned, and so many steps of EM from there."""
        begin = Iterate(stationary_law(state.transmat), state.transmat, self.law(state))
        return self.climbed(sample, begin, steps)

    def review(
        self, history: History, state: ShapedState, least_delta: float, rng, *, to_rest: bool
    ) -> Found | None:
        """A model that explains the record better than the present one, if any does.

        A fit gains about half a nat for each parameter by chance, and shapes have hundreds of them.
        Another start must gain more than that over the present model after EM. This one must gain
        twice as much over the present model as it is. With `to_rest` it goes on from there in any
        case, as long as the record has all that was seen.
        """
        n = len(state.delta)
        sample = history.sample(self.manifold, least_delta)
        present = self.explained(sample, state)
        settled = self.explained(sample, state, _STEPS_LATER)
        afresh = self.started(sample, n, rng, _TRIED_LATER, _STEPS_LATER)
        by_chance = 0.5 * n_parameters(self.manifold, self.emission.name, n)
        gain = afresh.log_likelihood - settled.log_likelihood - by_chance
        if gain > LEAST_GAIN:
            return Found(afresh, gain)
        if to_rest and history.is_whole:
            return Found(settled, math.inf)
        gain = settled.log_likelihood - present.log_likelihood - 2.0 * by_chance
        return Found(settled, gain) if gain > LEAST_GAIN else None

    # States

    def state(self, fit: ShapedFit, lag: int, seen: int, settings: ShapedSettings) -> ShapedState:
        """Where the recursion goes on from a fit, after `seen` observations."""
        law, dim = fit.law, self.manifold.dim
        n, at_mean = len(fit.visits), float(law.log_radial(np.zeros(1))[0])
        inverse_degrees = 0.0 if law.degrees is None else 1.0 / law.degrees
        common = start.streaming_state(self.manifold, fit, lag, seen)._asdict()
        state = ShapedState(
            **{name: field.copy() for name, field in common.items()},
            scatter=np.ascontiguousarray(fit.scatter),
            whiteners=np.zeros((n, dim, dim)),
            log_det=np.zeros(n),
            prior_variance=np.array([law.prior.variance]),
            tail=np.array([inverse_degrees, at_mean]),
        )
        settle_all(state, radial_table(self.manifold.gaussian), settings)
        return state

    def law(self, state: ShapedState) -> WrappedGaussians:
        """The laws of the observations that a stream has learned."""
        n, dim = len(state.visits), self.manifold.dim
        emission = self.emission._replace(prior_variance=float(state.prior_variance[0]))
        law = wrapped_law(self.manifold, state.means.copy(), state.delta / dim, emission)
        covariances = kinds.estimated(
            law.kind, law.covariances, state.visits[:, None, None] * state.scatter, state.visits,
            np.ones(n, bool), *law.prior,
            least=delta_of_floor(self.manifold, self.min_sigma) / dim,
        )  # fmt: skip
        law = law.with_parameters(self.manifold, law.means, covariances)
        if isinstance(law, WrappedStudents):
            inverse = float(state.tail[0])
            law = law.with_degrees(1.0 / inverse if inverse > 0.0 else np.inf)
        return law

    def moved(self, state: ShapedState, points, weight, visits, tau, kappa):
        """The means, and E[d²] to them, after a step for points with these weights (L, N).

        The formulas at the top of `rhmm.streams.shaped_kernel`, as they read.
        """
        law, means, scatter = self.law(state), state.means.copy(), state.scatter.copy()
        for i in np.flatnonzero(tau > 0.0).tolist():
            u, _ = self.manifold.normal_coordinates(means[i], points)
            pull = law.pulling(i, weight[:, i], u) / weight[:, i].sum()
            step = tau[i] / kappa[i] * (pull @ u)
            left = u - step
            scatter[i] = (1.0 - tau[i]) * (scatter[i] + np.outer(step, step))
            scatter[i] += tau[i] * (left * pull[:, None]).T @ left
            means[i] = self.manifold.from_normal_coordinates(means[i], step[None])[0]
            if law.kind == "full":
                turn = self.manifold.frame_turn(state.means[i], means[i])
                scatter[i] = turn @ scatter[i] @ turn.T
        after = self.law(state._replace(means=means, scatter=scatter, visits=visits))
        return means, self.manifold.dim * after.variances
