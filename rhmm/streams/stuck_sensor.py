"""A stuck sensor repeats itself; on a grid honest data do too."""

import numpy as np

from rhmm._jit import kernel, lean_kernel

_FIRST_LIMIT = 8


class StuckSensor:
    """Remembers the run of equal observations that a stream is in.

    What a run repeats beyond a limit counts as missing: it would shrink a state to a point. Where
    long runs keep coming back they are how the stream is, a grid of values for example: each one
    that reached the limit doubles it.
    """

    def __init__(self, size: int):
        self.last = np.full(size, np.nan)
        self.run = np.array([0, _FIRST_LIMIT])
        """Repetitions so far, and the limit."""

    def copy(self) -> "StuckSensor":
        """A sensor in the same state."""
        sensor = StuckSensor(len(self.last))
        sensor.last, sensor.run = self.last.copy(), self.run.copy()
        return sensor

    def drop(self, X: np.ndarray, observed: np.ndarray) -> bool:
        """Clear the entries of `observed` where X only repeats what a stuck sensor says.

        Returns True only if none is missing then; False if some may be.
        """
        return _drop(X.reshape(len(X), -1), observed, self.last, self.run)

    def would_drop(self, y: np.ndarray) -> bool:
        """Whether `y`, a stream of one, would be dropped if it came next; nothing changes."""
        observed = np.ones(1, np.bool_)
        _drop(y.reshape(1, -1), observed, self.last.copy(), self.run.copy())
        return not observed[0]


@kernel
def _drop(X, observed, last, run):
    if _never_repeats(X, observed, last):  # in nearly every stream: this is over sooner
        if run[0] >= run[1]:
            run[1] *= 2
        run[0] = 0
        for q in range(len(last)):
            last[q] = X[len(X) - 1, q]
        return True
    for t in range(len(X)):
        if not observed[t]:
            continue
        same = True
        for q in range(X.shape[1]):
            same &= X[t, q] == last[q]
            last[q] = X[t, q]
        if same:
            run[0] += 1
        else:
            if run[0] >= run[1]:
                run[1] *= 2
            run[0] = 0
        observed[t] = run[0] < run[1]
    return False


@lean_kernel
def _never_repeats(X, observed, last):
    """Whether all are there and no first coordinate equals the one before."""
    if len(X) == 0 or X[0, 0] == last[0] or not observed[0]:
        return False
    repeats = 0
    for t in range(1, len(X)):
        repeats += (X[t, 0] == X[t - 1, 0]) | (not observed[t])
    return repeats == 0
