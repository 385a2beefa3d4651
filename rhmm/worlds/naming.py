"""A learner's names of states beside the true ones: which name means which state.

They are matched by the assignment that agrees most on a confusion matrix that fades.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from rhmm._jit import kernel
from rhmm.worlds.event import BLOCK


class Naming:
    """The confusion matrix of true states and names, and the matching that follows from it.

    `fading` is what is left of the matrix after a block of 50 observations.
    """

    def __init__(self, fading: float):
        self._fading = fading
        self._agreement = np.zeros((1, 1))
        self.matching = np.zeros(1, np.int64)
        """``matching[i]`` is the name of the true state i, shape (N,); −1 if it has none."""

    def judge(self, states: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Which labels are right, shape (n,), of some blocks: each is counted, then names are
        matched, then it is judged. −1 is no label."""
        right = np.empty(len(states), bool)
        done = 0
        while done < len(states):
            end = done + self._until_growth(states[done:], labels[done:])
            is_known = end > done
            if not is_known:
                end = done + BLOCK
                self._grow(states[done:end], labels[done:end])
            done += _judge_blocks(
                states[done:end], labels[done:end], self._fading, self._agreement, self.matching,
                is_known, right[done:end],
            )  # fmt: skip
            if done < end:  # the block is counted
                self._match()
                block = slice(done, done + BLOCK)
                right[block] = self.matching[states[block]] == labels[block]
                right[block] &= labels[block] >= 0
                done += BLOCK
        return right

    def _until_growth(self, states: np.ndarray, labels: np.ndarray) -> int:
        """How many observations come before the first block with a state or a label that is new."""
        rows, columns = self._agreement.shape
        new = (states >= rows) | (labels >= columns)
        return int(new.argmax()) // BLOCK * BLOCK if new.any() else len(new)

    def _grow(self, states: np.ndarray, labels: np.ndarray) -> None:
        rows, columns = self._agreement.shape
        grown = np.zeros((max(rows, int(states.max()) + 1), max(columns, int(labels.max()) + 1)))
        grown[:rows, :columns] = self._agreement
        self._agreement = grown

    def _match(self) -> None:
        matched, names = linear_sum_assignment(self._agreement, maximize=True)
        self.matching = np.full(len(self._agreement), -1)
        self.matching[matched] = names


@kernel
def _judge_blocks(states, labels, fading, agreement, matching, is_known, right):
    """Count and judge blocks for as long as the matching is plain to see; returns how many
    observations were judged. The block after them, if there is one, is counted.

    `is_known` says whether `matching` is that of `agreement` as it is.
    """
    rows, columns = agreement.shape
    counts, best = np.empty((rows, columns)), np.empty(rows, np.int64)
    for begin in range(0, len(states), BLOCK):
        counts[:] = 0.0
        for t in range(begin, begin + BLOCK):
            if labels[t] >= 0:
                counts[states[t], labels[t]] += 1.0
        total = 0.0
        for i in range(rows):
            for j in range(columns):
                agreement[i, j] = counts[i, j] + fading * agreement[i, j]
                total += agreement[i, j]
        if not is_known:
            return begin
        if total > 0.0:  # else there has been no label
            if not _is_plain(agreement, best):
                return begin
            for i in range(rows):
                matching[i] = best[i]
        for t in range(begin, begin + BLOCK):
            right[t] = labels[t] >= 0 and matching[states[t]] == labels[t]
    return len(states)


@kernel
def _is_plain(agreement, best):
    """Whether every state agrees most with a name of its own, which then goes to `best`; where
    there are fewer names than states, whether every name does, and −1 for the other states.

    No other assignment agrees as much then.
    """
    rows, columns = agreement.shape
    best[:] = -1
    if rows <= columns:
        for i in range(rows):
            largest, second = 0, -1.0
            for j in range(1, columns):
                if agreement[i, j] > agreement[i, largest]:
                    largest, second = j, agreement[i, largest]
                else:
                    second = max(second, agreement[i, j])
            if second == agreement[i, largest]:
                return False
            for other in range(i):
                if best[other] == largest:
                    return False
            best[i] = largest
        return True
    for j in range(columns):
        largest, second = 0, -1.0
        for i in range(1, rows):
            if agreement[i, j] > agreement[largest, j]:
                largest, second = i, agreement[largest, j]
            else:
                second = max(second, agreement[i, j])
        if second == agreement[largest, j] or best[largest] >= 0:
            return False
        best[largest] = j
    return True
