"""An automatic memory as a learner: see `rhmm.streams.bank` for how it chooses."""

from collections.abc import Callable

import numpy as np

from rhmm.emissions import RIEMANNIAN, n_parameters
from rhmm.gaussian.table import radial_table
from rhmm.learners.learner import OnlineLearner
from rhmm.learners.shaped import EMISSION, ShapedFit
from rhmm.learners.streaming import INIT, StreamingHMM
from rhmm.manifolds import Manifold
from rhmm.search import Fit, Sample, climbed
from rhmm.streams import start
from rhmm.streams.bank import BANK, Bank, memory_of
from rhmm.streams.chunk import Present, begins_of
from rhmm.streams.ensemble import Ensemble, Runner
from rhmm.streams.rearranging import best_order, rearranged_state
from rhmm.streams.shaped_kernel import AnySettings, AnyState
from rhmm.streams.start import ENOUGH
from rhmm.streams.streaming_kernel import learn
from rhmm.streams.trace import empty_trace

_START, _LEAST_START = 20, 50
"""Observations for each state that it starts from, and the least of them in all."""
_LOST = 0.25
"""Nats for each observation that a newcomer explains them better than a leader that is lost. Fitted
to 200 observations, it is ahead of a good one by .05; after far jumps it was by .27 and more."""
_REFITTED, _THINNED = 100, 4
"""The latest observations that tell in which order the sensors are, and how many of them there are
for each that is looked at."""
_CLEARLY = 5.0
"""Nats for each of them that another order must explain them better: half of what one can tell."""


class AutoMemoryRiemannianHMM(StreamingHMM):
    """Streaming learners with the memories of `BANK` side by side: the one that has predicted best
    lately is followed, and a newcomer starts when all are lost, or when sensors were put on again
    in another order.

    Parameters
    ----------
    manifold, n_components
        As for `RiemannianHMM`.
    lag, init, emission, degrees, shrinkage, min_sigma, random_state, trace_every, callback
        As for `StreamingRiemannianHMM`.
    """

    def __init__(
        self,
        manifold: Manifold,
        n_components: int,
        *,
        lag: int = 8,
        init: str = "kmeans",
        emission: str = RIEMANNIAN,
        degrees: float | None = None,
        shrinkage: float | None = None,
        min_sigma: float | None = None,
        random_state=None,
        trace_every: int | None = None,
        callback: Callable[["AutoMemoryRiemannianHMM"], None] | None = None,
    ):
        self.manifold = manifold
        self.n_components = n_components
        self.lag = lag
        self.init = init
        self.emission = emission
        self.degrees = degrees
        self.shrinkage = shrinkage
        self.min_sigma = min_sigma
        self.random_state = random_state
        self.trace_every = trace_every
        self.callback = callback

    @property
    def start_size(self) -> int:
        """Observations that it starts from: 50, or 20 for each state if that is more; fewer if it
        starts cold, 60 for each state with shapes."""
        if self.init == "cold":
            return self._cold_start_size
        if self.emission != RIEMANNIAN:
            return ENOUGH * self.n_components
        return max(_LEAST_START, _START * self.n_components)

    @property
    def ensembles(self) -> tuple[type[Ensemble], ...]:
        """The kinds of ensembles that it runs."""
        return (Bank,)

    def _settled(self, state, first: Present) -> Ensemble:
        members = [Runner(self._settings_of(Bank, m), state).copy() for m in range(len(BANK))]
        return Bank(members, self.manifold, first)

    def _settings_of(self, kind: type[Ensemble], runner: int) -> AnySettings:
        return self._memory(memory_of(runner))

    def _decide(self, ensemble: Ensemble) -> Ensemble:
        if isinstance(ensemble, Bank):
            ensemble.decide(self._challenger, self._start_anew, self._refitted)
        return ensemble

    def _refitted(self, bank: Bank) -> AnyState | None:
        """What the bank knew some time ago, if the latest observations look like that with their
        sensors in another order. It then learns from these observations, too."""
        before, latest = bank.earlier[0], bank.latest.latest(_REFITTED)
        found = best_order(self.manifold, before, latest.points[::_THINNED])
        if found.gain < _CLEARLY:
            return None
        seen, settings = self.n_samples_seen_, self._memory("growing")._replace(trace_every=0)
        state = rearranged_state(self.manifold, before, found.order, settings, seen)
        learn(
            self.manifold.geometry, radial_table(self.manifold.gaussian), settings, latest.points,
            np.ones(latest.size, bool), begins_of(latest.sequence), state, np.empty((0, 0)),
            np.empty(0), empty_trace(0, state.means),
        )  # fmt: skip
        state.counters[0] = seen
        return state

    def _start_anew(self, bank: Bank) -> AnyState:
        """A state from the bank's recent observations alone, its states named as they were.

        Names are those of the leader, unless it is lost: what its states explain then says nothing.
        """
        recent, leader = bank.latest, bank.state
        found = self._best_start(recent, cold=False)
        led = self._explained(self._sample(recent), leader)
        ahead = found.log_likelihood - led.log_likelihood
        if self._shapes is not None:  # many parameters, fitted to few observations
            ahead -= n_parameters(self.manifold, self.emission, self.n_components)
        if ahead < _LOST * recent.size:
            found = start.in_agreement(led.gamma, found)
        else:
            found = start.recognised(self.manifold, bank.transmat, bank.means, bank.delta, found)
        return self._state_from(found, self.n_samples_seen_)

    def _explained(self, sample: Sample, state) -> Fit | ShapedFit:
        """The sample under what has been learned."""
        if self._shapes is not None:
            return self._shapes.explained(sample, state)
        prior = float(np.mean(state.delta))
        return climbed(sample, state.transmat, state.means, state.delta, prior, 0)

    @property
    def _bank(self) -> Bank:
        ensemble = self._known_stream.ensemble
        if not isinstance(ensemble, Bank):
            raise self._not_fitted("its memories begin after the start")
        return ensemble

    @property
    def memory_(self) -> int | str:
        """The memory of `BANK` that is followed: the growing one, unless another is ahead by 3 nats
        in `bank_`."""
        return self._bank.followed

    @property
    def bank_(self) -> dict[int | str, float]:
        """Each memory's recent predictive log density per observation.

        Recent means weighted by e^{−age/100}, so that 3 nats are .03 here.
        """
        return self._bank.recent_scores()

    @property
    def restarts_(self) -> list[int]:
        """After how many observations it started anew, or went on with its sensors in another
        order, the latest 100 times."""
        return self._bank.restarts.tolist()


class _AutoMemory(OnlineLearner):
    def effort(self, length: int, options) -> float:
        """About how long it takes: three recursions."""
        return 5.0 * length


LEARNER = _AutoMemory(
    key="auto",
    label="automatic memory",
    about="Streaming learners with several memories side by side: it follows the one that has "
    "predicted best of late.",
    estimator=AutoMemoryRiemannianHMM,
    options=(INIT, EMISSION),
    variants={"auto": {}},
)
