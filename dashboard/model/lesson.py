"""Where a visitor is in the lesson: the screen, and the learner whose step is opened."""

from dataclasses import dataclass

from dashboard.model.fields import Settings, setting
from dashboard.model.kinds import Choice
from dashboard.model.methods import VARIANTS, Variant
from rhmm.learners.streaming import StreamingHMM
from rhmm.learners.windowed import WindowedRiemannianHMM

STEPS = (
    "distance", "circle", "gaussian", "centre", "chain", "step", "delta", "differ", "matrices",
)  # fmt: skip
"""The screens, in the order of the lesson."""

_EXPLAINED = (WindowedRiemannianHMM, StreamingHMM)

INSPECTED: dict[str, Variant] = {
    key: variant
    for key, variant in VARIANTS.items()
    if issubclass(variant.learner.estimator, _EXPLAINED)
}
"""The online learners whose formulas the lesson can write out, by their names in links."""


@dataclass(frozen=True)
class Lesson(Settings):
    """The screen, and the learner of the screen "step"; the moment k is that of the view."""

    step: str = setting(STEPS[0], "lesson", Choice("The screen of the lesson", STEPS))
    inspect: str = setting(
        next(iter(INSPECTED)), "inspect", Choice("The learner of the lesson", tuple(INSPECTED))
    )

    @property
    def number(self) -> int:
        """Of the screen, from 0."""
        return STEPS.index(self.step)

    @property
    def next(self) -> str | None:
        """The screen after this one; None at the end."""
        return STEPS[self.number + 1] if self.number + 1 < len(STEPS) else None

    @property
    def previous(self) -> str | None:
        """The screen before this one; None at the beginning."""
        return STEPS[self.number - 1] if self.number else None
