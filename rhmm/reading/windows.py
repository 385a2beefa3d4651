"""Raw signals cut into windows, whose covariances are the observations."""

from typing import NamedTuple

import numpy as np

from rhmm.validation import check_choice, check_integer, check_number

SHRINKAGES = ("oas", "ledoit-wolf", "none")
"""Ways to pull a covariance towards a multiple of the identity, named as in scikit-learn."""

LARGEST_CONDITION = 1e12
"""No covariance is given with a larger ratio of eigenvalues, whatever the shrinkage."""


class Window(NamedTuple):
    """How a signal is cut, and what is made of each piece."""

    length: int = 100
    """Samples in a window."""
    step: int | None = None
    """Samples from one window's first to the next one's; None for windows side by side."""
    shrinkage: str = "oas"
    """One of `SHRINKAGES`."""
    floor: float = 1e-6
    """The least eigenvalue of a covariance, as a share of their mean."""

    def checked(self) -> "Window":
        """The same with `step` filled in; a ValueError names what is wrong."""
        length = check_integer("length", self.length, at_least=2)
        step = length if self.step is None else check_integer("step", self.step, at_least=1)
        check_choice("shrinkage", self.shrinkage, SHRINKAGES)
        floor = check_number("floor", self.floor, at_least=1.0 / LARGEST_CONDITION)
        if floor > 1.0:
            raise ValueError(f"floor must be at most 1, not {self.floor!r}")
        return Window(length, step, self.shrinkage, floor)

    def firsts(self, begin: int, end: int) -> np.ndarray:
        """Where windows begin in the samples from `begin` up to `end`; each is whole."""
        step = self.length if self.step is None else self.step
        return np.arange(begin, end - self.length + 1, step)


def window_covariances(signal: np.ndarray, firsts: np.ndarray, window: Window) -> np.ndarray:
    """Covariances of the windows of a signal (T, m) that begin at `firsts` (W,).

    Returns shape (W, m, m). A window with NaN in it, or whose channels are all constant, is NaN.
    """
    window = window.checked()
    length, m = window.length, signal.shape[1]
    covariances = np.empty((len(firsts), m, m))
    block = max(1, 4_000_000 // (length * m))  # so that copies of windows stay below 32 MB
    for begin in range(0, len(firsts), block):
        some = firsts[begin : begin + block]
        pieces = signal[some[:, None] + np.arange(length)]
        pieces = pieces - pieces.mean(axis=1, keepdims=True)
        empirical = np.swapaxes(pieces, 1, 2) @ pieces / length
        shares = _shares(window.shrinkage, empirical, length, pieces)
        covariances[begin : begin + block] = shrunk(empirical, shares)
    return floored(covariances, window.floor)


def _shares(shrinkage: str, empirical, length: int, pieces) -> np.ndarray:
    if shrinkage == "oas":
        return oas_share(empirical, length)
    if shrinkage == "ledoit-wolf":
        return _ledoit_wolf_share(empirical, pieces)
    return np.zeros(len(empirical))


def oas_share(empirical: np.ndarray, length: int) -> np.ndarray:
    """How far oracle approximating shrinkage moves each covariance to the identity, shape (W,).

    `empirical` (W, m, m) are covariances of `length` samples. The formula is scikit-learn's `oas`,
    for many matrices at once and from the covariances alone.
    """
    m = empirical.shape[-1]
    mean_square = np.mean(empirical**2, axis=(1, 2))
    mu2 = (np.trace(empirical, axis1=1, axis2=2) / m) ** 2
    needed = (length + 1) * (mean_square - mu2 / m)
    return _capped(mean_square + mu2, needed)


def _ledoit_wolf_share(empirical: np.ndarray, pieces: np.ndarray) -> np.ndarray:
    """Scikit-learn's `ledoit_wolf_shrinkage` for many windows (W, L, m) at once, shape (W,)."""
    _, length, m = pieces.shape
    mu = np.trace(empirical, axis1=1, axis2=2) / m
    squares = (pieces**2).sum(axis=2)
    energy = (empirical**2).sum(axis=(1, 2))
    spread = (np.mean(squares**2, axis=1) - energy) / (m * length)
    distance = (energy - m * mu**2) / m
    return _capped(np.minimum(spread, distance), distance)


def _capped(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Their ratio, at most 1; 1 where the denominator is not positive."""
    positive = denominator > 0
    ratio = np.divide(numerator, denominator, out=np.ones_like(numerator), where=positive)
    return np.clip(ratio, 0.0, 1.0)


def shrunk(empirical: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Covariances (W, m, m), each moved to the multiple of the identity with the same trace."""
    m = empirical.shape[-1]
    mu = np.trace(empirical, axis1=1, axis2=2) / m
    moved = (1.0 - shares)[:, None, None] * empirical
    return moved + (shares * mu)[:, None, None] * np.eye(m)


def floored(covariances: np.ndarray, floor: float) -> np.ndarray:
    """Covariances (W, m, m) without eigenvalues below `floor` times their mean.

    A matrix of zeros has no such mean: it becomes NaN.
    """
    finite = np.isfinite(covariances).all(axis=(1, 2))
    mean = np.trace(covariances, axis1=1, axis2=2) / covariances.shape[-1]
    usable = finite & (mean > 0)
    out = np.full_like(covariances, np.nan)
    values, vectors = np.linalg.eigh(covariances[usable])
    least = floor * mean[usable]
    raised = np.maximum(values, least[:, None])
    low = values[:, 0] < least  # all others keep their digits
    kept = covariances[usable]
    rebuilt = (vectors[low] * raised[low, None, :]) @ np.swapaxes(vectors[low], 1, 2)
    kept[low] = 0.5 * (rebuilt + np.swapaxes(rebuilt, 1, 2))
    out[usable] = 0.5 * (kept + np.swapaxes(kept, 1, 2))
    return out


def most_frequent(labels: np.ndarray, firsts: np.ndarray, length: int, count: int) -> np.ndarray:
    """The most frequent label of each window, the lowest of several; shape (W,).

    `labels` (T,) are below `count`; -1 is an unknown one, which counts only if there is no other.
    """
    found = np.empty((count, len(firsts)), int)
    for label in range(count):
        so_far = np.concatenate([[0], np.cumsum(labels == label)])
        found[label] = so_far[firsts + length] - so_far[firsts]
    return np.where(found.max(axis=0) > 0, found.argmax(axis=0), -1)
