"""What the engine says when a result deserves a second look, or a run of a sweep has none."""

import warnings


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it converged; the result is the last iterate."""


class DegenerateWarning(UserWarning):
    """The data cannot support what was asked; the documented fallback was used."""


class NotRecordedWarning(UserWarning):
    """Results could not be written to their file; the caller has them."""


class RunFailedError(Exception):
    """A run of a sweep came to nothing; the message names it, the cause says why."""


def warn_not_converged(what: str) -> None:
    warnings.warn(f"{what} did not converge", ConvergenceWarning, stacklevel=3)


def warn_degenerate(message: str) -> None:
    warnings.warn(message, DegenerateWarning, stacklevel=3)
