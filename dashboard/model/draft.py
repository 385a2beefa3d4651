"""Valid settings, and changes to them that cannot be accepted yet."""

from dataclasses import replace
from typing import Any, Generic, TypeVar

from dashboard.model.fields import Settings
from dashboard.model.kinds import Invalid

Kind = TypeVar("Kind", bound=Settings)


class Draft(Generic[Kind]):
    """What a visitor has set (`valid`), and what they have typed beyond it (`typed`).

    Changes that are not valid stay as they were typed until further changes make them so.
    """

    def __init__(self, valid: Kind):
        self.valid = valid
        self.typed: dict[str, Any] = {}

    def propose(self, **changes) -> bool:
        """Accept these changes together with those typed before, or keep all of them as typed."""
        typed = self.typed | changes
        try:
            self.valid = replace(self.valid, **typed)
        except Invalid:
            self.typed = typed
            return False
        self.typed = {}
        return True

    def reset(self, valid: Kind) -> None:
        """Other settings, with nothing typed beyond them."""
        self.valid = valid
        self.typed = {}

    def discard(self) -> None:
        """Forget what was typed; the valid settings stay."""
        self.typed = {}

    def __getitem__(self, name: str) -> Any:
        """The value of a setting as it stands in its control: as typed, even if it is not valid."""
        return self.typed.get(name, getattr(self.valid, name))

    def together(self) -> dict[str, Any]:
        """The settings that belong together (of an experiment: the truth), as they stand."""
        return {name: self[name] for name in self.valid.TOGETHER}

    def problems(self) -> list[Invalid]:
        """Why what was typed is not accepted: a sentence for each setting that is to blame."""
        return self.valid.accepting(self.typed)[1]

    def problem_with(self, name: str) -> Invalid | None:
        """What is wrong with this setting, if it is to blame."""
        return next((problem for problem in self.problems() if problem.field == name), None)
