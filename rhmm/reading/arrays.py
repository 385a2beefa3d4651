"""Arrays of NPY and NPZ files; nothing is unpickled."""

import io
import math
import re
import zipfile
from collections.abc import Mapping

import numpy as np

from rhmm.reading.content import LABEL, SEQUENCE, TIME, Asked, Content, check_size
from rhmm.reading.wrong import WrongFileError, listed

_POINTS = ("points", "x", "observations", "data", "covariances", "signal", "signals")
"""Names of arrays with observations, in lower case."""
_LENGTHS = "lengths"
_HEADER = re.compile(
    r"\{'descr': '(?P<kind>[^']{1,50})', 'fortran_order': (?P<order>True|False), "
    r"'shape': \((?P<shape>(\d{1,15},? ?){0,8})\), \} *\n?"
)
"""What numpy writes before the numbers of an array."""


def read_npy(data: bytes, asked: Asked) -> Content:
    """The one array of an NPY file."""
    return _content("npy", _as_rows(_array(data)), {}, asked)


def read_npz(data: bytes, asked: Asked) -> Content:
    """The arrays of an NPZ file."""
    arrays = _unpacked(data)
    name = _main(arrays, asked)
    others = {other: value for other, value in arrays.items() if other != name}
    content = _content("npz", _as_rows(arrays[name]), others, asked)
    content.found["array"] = name
    return content


def names_in_npz(data: bytes) -> list[str]:
    """The names of the arrays of an NPZ file."""
    return list(_unpacked(data))


def _unpacked(data: bytes) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            check_size(sum(entry.file_size for entry in entries) / 8)
            # reading ends at the size that the archive names, so a small claim is no way around
            return {e.filename.removesuffix(".npy"): _array(archive.read(e)) for e in entries}
    except WrongFileError:
        raise
    except Exception:  # a damaged archive makes zipfile, zlib and numpy raise errors of any kind
        raise WrongFileError("the NPZ file is damaged: save it again") from None


def _array(data: bytes) -> np.ndarray:
    """The array of an NPY file, if it holds plain numbers or text.

    The header is read here and not by numpy, which evaluates it and warns of damage.
    """
    wide = data[6:7] in (b"\x02", b"\x03")
    size = int.from_bytes(data[8 : 12 if wide else 10], "little")
    begin = 12 if wide else 10
    header = data[begin : begin + size].decode("latin-1")
    if re.match(r"\{'descr': \[", header):
        raise WrongFileError("the NPY file holds named fields: save plain numbers instead")
    found = _HEADER.fullmatch(header)
    if not data.startswith(b"\x93NUMPY") or found is None or len(data) < begin + size:
        raise WrongFileError("the NPY file is damaged: save it again")
    if found["kind"][1:] == "O":
        raise WrongFileError(
            "the NPY file holds Python objects, which could run code: save plain numbers instead"
        )
    try:
        kind = np.dtype(found["kind"])
    except (TypeError, ValueError):
        kind = np.dtype("V")
    if kind.kind not in "biufcUS" or kind.itemsize == 0:
        raise WrongFileError(
            f"the NPY file holds values of type {found['kind'][:20]!r}: save plain numbers instead"
        )
    shape = tuple(int(part) for part in re.findall(r"\d+", found["shape"]))
    count = math.prod(shape)
    check_size(count * kind.itemsize / 8)
    check_size(count)
    if len(data) < begin + size + count * kind.itemsize:
        raise WrongFileError("the NPY file ends too early: save it again")
    flat = np.frombuffer(data, kind, count, offset=begin + size)
    return flat.reshape(shape, order="F" if found["order"] == "True" else "C")


def _main(arrays: Mapping[str, np.ndarray], asked: Asked) -> str:
    """The array that holds the observations."""
    if not arrays:
        raise WrongFileError("the NPZ file holds no array: save the observations in it")
    if asked.array is not None:
        if asked.array not in arrays:
            raise WrongFileError(
                f"there is no array {asked.array!r}: choose one of {listed(list(arrays))}"
            )
        return asked.array
    known = [name for name in arrays if name.lower() in _POINTS]
    large = [name for name, value in arrays.items() if value.ndim >= 2 or value.dtype.kind == "c"]
    for names in (known, large, list(arrays)):
        if len(names) == 1:
            return names[0]
    raise WrongFileError(
        f"the NPZ file holds several arrays, {listed(list(arrays))}: say which holds the "
        "observations, or call it 'points'"
    )


def _as_rows(values: np.ndarray) -> np.ndarray:
    """Observations in rows, shape (T, k) or (T, m, m)."""
    if values.dtype.kind in "US":
        raise WrongFileError("the array holds text: save the observations as numbers")
    if values.dtype.kind == "c":
        if values.ndim != 1:
            raise WrongFileError(
                f"complex numbers must be one array of shape (T,), not {values.shape}: each is a "
                "point of the disk"
            )
        values = np.stack([values.real, values.imag], axis=1)
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim not in (2, 3) or (values.ndim == 3 and values.shape[1] != values.shape[2]):
        raise WrongFileError(
            f"the array has shape {values.shape}: give points as (T, d), matrices as (T, m, m), or "
            "channels of a signal as (T, m)"
        )
    if values.ndim == 2 and values.shape[1] > 5_000:
        raise WrongFileError(
            f"the array has {values.shape[0]:,} rows of {values.shape[1]:,} numbers: transpose it, "
            "each row is one observation"
        )
    if values.shape[-1] == 0:
        raise WrongFileError("the rows of the array hold no numbers: save the observations in it")
    return values.astype(float, copy=False)


def _content(
    kind: str, numbers: np.ndarray, others: Mapping[str, np.ndarray], asked: Asked
) -> Content:
    content = Content(kind, "row", numbers, np.arange(1, len(numbers) + 1))
    names = list(others)
    roles = {role: asked.role(role, names) for role in (LABEL, SEQUENCE, TIME)}
    for role, name in roles.items():
        if name is not None and others[name].shape != (len(numbers),):
            raise WrongFileError(
                f"the array {name!r} has shape {others[name].shape} for {len(numbers):,} "
                f"observations: give one {role} for each"
            )
    label, sequence, time = roles.values()
    if label is not None:
        content.labels = ["" if text in ("nan", "-1") else text for text in _texts(others[label])]
    if sequence is not None:
        content.sequences = _texts(others[sequence])
    elif _LENGTHS in others:
        content.sequences, roles[SEQUENCE] = _by_lengths(others[_LENGTHS], len(numbers)), _LENGTHS
    if time is not None:
        if others[time].dtype.kind not in "iuf":
            raise WrongFileError(f"the array {time!r} must hold numbers: give times in seconds")
        content.times = others[time].astype(float)
    content.found = dict(roles)
    ignored = [name for name in names if name not in roles.values()]
    if ignored:
        content.notes.append(f"The arrays {', '.join(ignored)} were left out.")
    return content


def _texts(values: np.ndarray) -> list[str]:
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8", "replace")
    elif values.dtype.kind == "f" and np.array_equal(values, np.rint(values), equal_nan=True):
        return ["nan" if np.isnan(value) else str(int(value)) for value in values]
    return [str(value) for value in values.tolist()]


def _by_lengths(lengths: np.ndarray, total: int) -> list[str]:
    good = lengths.ndim == 1 and lengths.dtype.kind in "iu" and (lengths > 0).all()
    if not good or sum(lengths.tolist()) != total:
        raise WrongFileError(
            f"the array {_LENGTHS!r} must hold whole numbers that add up to the {total:,} "
            "observations: correct it"
        )
    return [str(s) for s in np.repeat(np.arange(1, len(lengths) + 1), lengths)]
