"""The learners that can follow an endless stream: those of other pages, and one that counts."""

from typing import Any, NamedTuple

from dashboard.model.methods import VARIANTS, Variant, method_definition
from dashboard.model.model_checks import MOST_STATES
from rhmm import Manifold, StreamingRiemannianHMM
from rhmm.estimator import AUTO
from rhmm.learners import streaming

COUNTING = "counting"
"""The learner that is not told the number of states."""


class Follower(NamedTuple):
    """A learner that follows a stream."""

    key: str
    """In links."""
    name: str
    about: str
    variant: Variant

    @property
    def counts(self) -> bool:
        """Whether it finds the number of states by itself."""
        return self.key == COUNTING

    def make(self, manifold: Manifold, n_states: int, seed: int, window: int) -> Any:
        """One that has seen nothing."""
        if self.counts:
            return StreamingRiemannianHMM(
                manifold, AUTO, max_components=MOST_STATES, window=window, random_state=seed
            )
        options = dict(self.variant.options)
        if self.variant.has_window:
            options["window"] = window
        return self.variant.learner.make(manifold, n_states, seed, options)


FOLLOWERS = {
    key: Follower(key, variant.name, method_definition(variant.learner.key), variant)
    for key, variant in VARIANTS.items()
} | {
    COUNTING: Follower(
        COUNTING,
        "streaming, counts states",
        "Our online algorithm without being told the number of states: they are born and die as "
        "the stream asks for it.",
        VARIANTS[next(iter(streaming.LEARNER.variants))],
    )
}
