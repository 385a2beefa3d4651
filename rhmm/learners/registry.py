"""All learners, one line for each: what is listed here appears in sweeps, on the command line, in
the paper's table, on the pages of the dashboard and in the scripts that it writes.
"""

from rhmm.learners import auto, ceiling, em, kmeans, streaming, windowed
from rhmm.learners.learner import Learner

LEARNERS: dict[str, Learner] = {
    learner.key: learner
    for learner in (
        windowed.LEARNER,
        streaming.LEARNER,
        auto.LEARNER,
        kmeans.LEARNER,
        em.LEARNER,
        ceiling.LEARNER,
    )
}
"""By their keys, in the order in which they are listed everywhere."""


def learner_named(key: str) -> Learner:
    """The learner with this key."""
    try:
        return LEARNERS[key]
    except (KeyError, TypeError):
        known = ", ".join(map(repr, LEARNERS))
        raise ValueError(
            f"learner must be one of {known}, not {key!r}; register_learner adds another"
        ) from None


def register_learner(learner: Learner) -> Learner:
    """Add a learner of your own. Call it in the module that defines the estimator.

    Other processes of a sweep then find it, because they import that module.
    """
    if not isinstance(learner, Learner):
        raise ValueError(f"learner must be a Learner, not {learner!r}")
    if LEARNERS.setdefault(learner.key, learner) is not learner:
        raise ValueError(f"learner {learner.key!r} is registered already")
    return learner
