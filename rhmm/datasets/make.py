"""Make the files of the recordings anew: ``python -m rhmm.datasets.make --out FOLDER``.

Each public package is downloaded by pip and opened as the archive that it is: none of its code
runs. The result has the same bytes on every machine.
"""

import argparse
import csv
import hashlib
import io
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rhmm.datasets.dataset import Windows
from rhmm.datasets.recordings import (
    EMG_LABELS,
    EMG_LENGTH,
    EMG_SESSIONS,
    WATCH_LENGTH,
    WATCH_STEP,
    WEATHER_CHANNELS,
    WEATHER_LENGTH,
)
from rhmm.reading.windows import Window, most_frequent


class Package(NamedTuple):
    """A public package, and the file in it that we read."""

    requirement: str
    sha256: str
    """Of the wheel."""
    file: str

    def read(self) -> bytes:
        """Download the wheel and give the file in it."""
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
            subprocess.run(
                [*pip, "--only-binary", ":all:", "--dest", folder, self.requirement], check=True
            )
            (wheel,) = Path(folder).glob("*.whl")
            return self.unpack(wheel.read_bytes())

    def unpack(self, wheel: bytes) -> bytes:
        """The file in the wheel, if the wheel is the one that we know."""
        if hashlib.sha256(wheel).hexdigest() != self.sha256:
            raise ValueError(f"{self.requirement} is not the wheel that the recordings come from")
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            return archive.read(self.file)


EMG = Package(
    "geomstats==2.8.0",
    "bd167c944586cb822c4cd6466fd70fc0819f6eb9a8c0e3de4971de4033ff4276",
    "geomstats/datasets/data/emg/emg.csv",
)
WATCH = Package(
    "seglearn==1.2.5",
    "ec6b952c85c9627050102854b372d85951563d3b990df677d7c55547e87413dd",
    "seglearn/data/watch_dataset.npy",
)
WEATHER = Package(
    "pvlib==0.16.1",
    "4e61b5228a13f782413d7cf8cc48eb6e62e7bf55d155958fa9fd72420b63603d",
    "pvlib/data/723170TYA.CSV",
)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m rhmm.datasets.make", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="the folder for the files")
    folder = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    for name, windows in made():
        path = folder / f"{name}.npz"
        windows.save(path)
        print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path}")


def made() -> Iterator[tuple[str, Windows]]:
    """The windows of each file, by its name."""
    yield from emg(EMG.read()).items()
    yield "watch", watch(WATCH.read())
    yield "weather", weather(WEATHER.read())


def windows_of(signals: list[np.ndarray], labels: list[np.ndarray], length: int, times) -> Windows:
    """Windows side by side of several signals (T_s, m) of whole numbers.

    `labels` and `times`, in milliseconds, have shape (T_s,) each.
    """
    scatters, chosen, lengths, begins = [], [], [], []
    for signal, marks, clock in zip(signals, labels, times, strict=True):
        firsts = Window(length).firsts(0, len(signal))
        scatters.append(
            scatter(signal[: len(firsts) * length].reshape(-1, length, signal.shape[1]))
        )
        chosen.append(most_frequent(marks, firsts, length, int(marks.max()) + 1))
        lengths.append(len(firsts))
        begins.append(clock[firsts] - clock[0])
    return Windows(
        _small(np.concatenate(scatters)),
        np.concatenate(chosen).astype(np.uint8),
        np.array(lengths, np.int32),
        _small(np.concatenate(begins)),
    )


def scatter(pieces: np.ndarray) -> np.ndarray:
    """The upper triangles of n² times the covariances of whole numbers (W, n, m)."""
    n, m = pieces.shape[1:]
    # whole numbers near the mean: this changes no covariance, and keeps numbers small
    shifted = pieces - np.rint(pieces.mean(axis=1, keepdims=True)).astype(np.int64)
    if n * (shifted.astype(float) ** 2).sum(axis=1).max() >= 2.0**62:
        raise ValueError("the numbers are too large for exact covariances")
    sums = shifted.sum(axis=1)
    products = n * np.einsum("wti,wtj->wij", shifted, shifted) - sums[:, :, None] * sums[:, None, :]
    upper = np.triu_indices(m)
    return products[:, upper[0], upper[1]]


def _small(numbers: np.ndarray) -> np.ndarray:
    """The same whole numbers in 4 bytes each if they fit."""
    fits = np.abs(numbers).max() < 2**31
    return numbers.astype("<i4" if fits else "<i8")


def emg(content: bytes) -> dict[str, Windows]:
    """The four sessions; a recording ends where the clock starts anew."""
    header, *rows = csv.reader(io.StringIO(content.decode()))
    if header != ["time", *(f"c{number}" for number in range(8)), "label", "exp"]:
        raise ValueError(f"emg.csv has other columns: {header}")
    exp = np.array([row[-1] for row in rows])
    label = np.array([EMG_LABELS.index(row[-2]) for row in rows])
    numbers = np.array([row[:-2] for row in rows]).astype(np.int64)
    sessions = {}
    for session in EMG_SESSIONS:
        times, signal = numbers[exp == session, 0], numbers[exp == session, 1:]
        # the clock also goes back by some milliseconds now and then
        cuts = np.flatnonzero(np.diff(times) < -1000) + 1
        parts = (np.split(array, cuts) for array in (signal, label[exp == session], times))
        signals, labels, clocks = parts
        sessions[f"emg_{session}"] = windows_of(signals, labels, EMG_LENGTH, clocks)
    return sessions


def watch(content: bytes) -> Windows:
    """All exercises; the file is a pickle, of which only arrays and lists are accepted."""
    data = _arrays_of(content)
    signals = [np.rint(x / WATCH_STEP).astype(np.int64) for x in data["X"]]
    for signal, x in zip(signals, data["X"], strict=True):
        if np.abs(signal * WATCH_STEP - x).max() > 1e-12:
            raise ValueError("watch_dataset.npy has more than six digits behind the point")
    labels = [np.full(len(x), label) for x, label in zip(signals, data["y"], strict=True)]
    clocks = [20 * np.arange(len(x)) for x in signals]
    return windows_of(signals, labels, WATCH_LENGTH, clocks)


def _arrays_of(content: bytes) -> dict[str, Any]:
    """What an NPY file with one pickled dictionary holds."""
    file = io.BytesIO(content)
    np.lib.format.read_magic(file)
    np.lib.format.read_array_header_1_0(file)
    return _ArraysOnly(file, encoding="latin1").load().item()


class _ArraysOnly(pickle.Unpickler):
    """Refuses everything in a pickle but numpy's arrays."""

    def find_class(self, module: str, name: str) -> Any:
        known = {
            ("numpy", "ndarray"): np.ndarray,
            ("numpy", "dtype"): np.dtype,
            ("numpy.core.multiarray", "_reconstruct"): np.ndarray.__new__,
            ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
        }
        if (module, name) not in known:
            raise pickle.UnpicklingError(f"{module}.{name} is not part of an array")
        return known[module, name]


def weather(content: bytes) -> Windows:
    """A typical year, each month of a year of its own."""
    _, header, *rows = csv.reader(io.StringIO(content.decode()))
    columns = [(header.index(column), step) for column, step, _ in WEATHER_CHANNELS.values()]
    signal = np.array(
        [[round(float(row[place]) / step) for place, step in columns] for row in rows], np.int64
    )
    month = np.array([int(row[0][:2]) for row in rows])
    cuts = np.flatnonzero(np.diff(month)) + 1
    season = month % 12 // 3
    signals, seasons = np.split(signal, cuts), np.split(season, cuts)
    clocks = [3_600_000 * np.arange(len(part)) for part in signals]
    return windows_of(signals, seasons, WEATHER_LENGTH, clocks)


if __name__ == "__main__":
    main()
