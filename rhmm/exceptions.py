"""What the engine says when a result deserves a second look, or a run of a sweep has none."""

import warnings


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it converged; the result is the last iterate."""


class DegenerateWarning(UserWarning):
    """The data cannot support what was asked; the documented fallback was used.

    `state` is the number of the state that `problem` is about, from 0; None if it is about none.
    """

    def __init__(self, problem: str, state: int | None = None):
        super().__init__(problem if state is None else f"state {state} {problem}")
        self.problem = problem
        self.state = state


class NotRecordedWarning(UserWarning):
    """Results could not be written to their file; the caller has them."""


class RunFailedError(Exception):
    """A run of a sweep came to nothing; the message names it, the cause says why."""


def warn_not_converged(what: str) -> None:
    warnings.warn(f"{what} did not converge", ConvergenceWarning, stacklevel=3)


def warn_degenerate(problem: str, state: int | None = None) -> None:
    warnings.warn(DegenerateWarning(problem, state), stacklevel=3)
