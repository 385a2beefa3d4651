"""A recording with its story, and how its files are kept.

A file holds the covariances of all windows as whole numbers: nothing is rounded, and every machine
makes the same bytes. A window of n samples x with whole numbers has the scatter
n Σ xxᵀ − Σx Σxᵀ, which is n² times its covariance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rhmm import storage
from rhmm.manifolds import SPD
from rhmm.reading.windows import oas_share, shrunk
from rhmm.recording import Recording

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset(Recording):
    """A recording that others have published, and what there is to say about it."""

    name: str
    channels: tuple[str, ...]
    """What the rows and columns of each matrix are."""
    description: str
    """What was recorded and how it was processed."""
    source: str
    """Who made it, and the package that its numbers are taken from."""
    licence: str


class Windows(NamedTuple):
    """What a file holds: the windows of sequences one after another."""

    scatter: np.ndarray
    """The upper triangle of n² times each covariance, row by row; whole numbers, shape
    (T, m(m+1)/2)."""
    labels: np.ndarray
    """Shape (T,)."""
    lengths: np.ndarray
    """Windows of each sequence, shape (S,)."""
    milliseconds: np.ndarray
    """When each window begins, from the beginning of its sequence; shape (T,)."""

    def save(self, path: Path) -> None:
        storage.write_npz(path, self._asdict())


def load(names: Sequence[str]) -> Windows:
    """The windows of these files, one after another; each file has a checksum, which is tested."""
    contents = [storage.read_npz(DATA / f"{name}.npz")[0] for name in names]
    return Windows(*(np.concatenate([one[field] for one in contents]) for field in Windows._fields))


def covariances(scatter: np.ndarray, length: int, scales: Sequence[float]) -> np.ndarray:
    """Covariances (T, m, m) with OAS shrinkage, from scatters of windows of `length` samples.

    `scales` (m,) is the unit of each channel: how much a step of one whole number is.
    """
    m = len(scales)
    upper, full = np.triu_indices(m), np.empty((len(scatter), m, m))
    full[:, upper[0], upper[1]] = full[:, upper[1], upper[0]] = scatter / length**2
    full *= np.outer(scales, scales)
    return shrunk(full, oas_share(full, length))


def spd(windows: Windows, length: int, scales: Sequence[float]) -> dict:
    """The fields of a `Dataset` that the files give."""
    return {
        "manifold": SPD(len(scales)),
        "points": covariances(windows.scatter, length, scales),
        "lengths": windows.lengths.astype(int),
        "labels": windows.labels.astype(int),
        "times": windows.milliseconds / 1000.0,
    }
