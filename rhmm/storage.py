"""Models on disk: JSON that people can read, or npz; both keep every digit, neither runs code.

Every file carries a checksum of all its bytes, so that damage is noticed before anything is read
from it. An npz file is a zip archive without compression; its checksum is the comment at its end.
"""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from rhmm.emissions import RIEMANNIAN, Law
from rhmm.manifolds import manifold_named
from rhmm.parameters import Parameters
from rhmm.validation import check_integer

_FORMAT = "rhmm model 2"
_FORMAT_WITH_EMISSION = "rhmm model 3"
"""Of another emission than the paper's: its name and its covariances are there instead of σ, and
the degrees of freedom of heavy tails."""
_FORMAT_WITHOUT_CHECKSUM = "rhmm model 1"
_ADVICE = "restore it from a copy, or save it again"
_NO_CHECKSUM = "0" * 64


def save(path, parameters: Parameters, law: Law) -> None:
    path, manifold = model_path(path), law.manifold
    head: dict[str, Any] = {"format": _FORMAT, "manifold": manifold.name, "size": manifold.size}
    values = parameters._asdict()
    if law.covariances is not None:
        head |= {"format": _FORMAT_WITH_EMISSION, "emission": law.emission}
        values = {**values, "covariances": law.covariances}
        del values["sigmas"]
    if law.degrees is not None:
        values["degrees"] = np.array(law.degrees)
    if path.suffix == ".npz":
        write_npz(path, head | values)
        return
    arrays = {name: value.tolist() for name, value in values.items()}
    text = json.dumps(head | arrays | {"checksum": _NO_CHECKSUM}, indent=1) + "\n"
    with replacing(path) as whole:
        whole.write_text(text.replace(_NO_CHECKSUM, checksum(text.encode())), encoding="utf-8")


def load(path) -> dict[str, Any]:
    """Arguments of `HiddenMarkovModel.from_parameters`, not yet checked."""
    path = model_path(path)
    try:
        content, is_sealed = read_npz(path) if path.suffix == ".npz" else _read_json(path)
        version = str(content["format"])
        if version not in (_FORMAT, _FORMAT_WITH_EMISSION, _FORMAT_WITHOUT_CHECKSUM):
            raise ValueError("unknown format")
        if is_sealed != (version != _FORMAT_WITHOUT_CHECKSUM):
            raise ValueError("its checksum is missing, or its format was changed")
        size = check_integer("size", content["size"], at_least=1)
        manifold = manifold_named(str(content["manifold"]), size)
        names = set(Parameters._fields)
        if "emission" in content:
            names = names - {"sigmas"} | {"covariances"} | ({"degrees"} & content.keys())
        emission = str(content.get("emission", RIEMANNIAN))
        arrays = {name: content[name] for name in names}
        return {"manifold": manifold, "emission": emission} | arrays
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"path {str(path)!r} is not a model that rhmm saved ({error}): {_ADVICE}"
        ) from None


def checksum(content: bytes) -> str:
    """64 letters that differ when any bit of `content` does."""
    return hashlib.sha256(content).hexdigest()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place once it is whole."""
    whole = path.with_name(path.name + ".new" + path.suffix)
    try:
        yield whole
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


# JSON


def parsed_json(text: str) -> Any:
    """What `text` says; a ValueError if it is not JSON, or nested too deeply to be ours."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its lists are nested too deeply") from None


def _read_json(path: Path) -> tuple[dict[str, Any], bool]:
    """What the file says, and whether it has a checksum, which then is right."""
    text = path.read_text(encoding="utf-8")
    content = parsed_json(text)
    found = re.search(r'"checksum": "([0-9a-f]{64})"', text)
    if found is None:
        return content, False
    blank = text[: found.start(1)] + _NO_CHECKSUM + text[found.end(1) :]
    if found[1] != checksum(blank.encode()):
        raise ValueError(
            "it was damaged or edited, its checksum differs; to edit a model by hand, remove its "
            f"checksum and name {_FORMAT_WITHOUT_CHECKSUM!r} as its format"
        )
    return content, True


# npz

_SEAL = b"rhmm sha256 "
_LETTERS = len(_NO_CHECKSUM)


def write_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write the arrays and the checksum of it all; a file at `path` is replaced in one step."""
    with replacing(path) as whole:
        np.savez(whole, **arrays)
        with zipfile.ZipFile(whole, "a") as archive:
            archive.comment = _SEAL + _NO_CHECKSUM.encode()
        content = whole.read_bytes()[:-_LETTERS]
        whole.write_bytes(content + checksum(content).encode())


def read_npz(path: Path) -> tuple[dict[str, np.ndarray], bool]:
    """The arrays of a file, and whether it has a checksum, which then is right.

    A damaged file is a ValueError.
    """
    whole = path.read_bytes()  # an unreadable disk is an OSError, not damage
    content, found = whole[:-_LETTERS], whole[-_LETTERS:]
    is_sealed = content.endswith(_SEAL)
    if is_sealed and found != checksum(content).encode():
        raise ValueError("damaged: its checksum differs")
    try:
        _check_unpacked_size(whole)
        with np.load(io.BytesIO(whole), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}, is_sealed
    except Exception as error:  # zipfile has many names for damage, NotImplementedError among them
        raise ValueError(f"damaged: {error}") from None


def _check_unpacked_size(whole: bytes) -> None:
    """Refuse a small file that would fill the memory: ours are not compressed."""
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    if unpacked > len(whole):
        raise ValueError(
            f"its {len(whole):,} bytes claim to unpack to {unpacked:,}, and rhmm compresses nothing"
        )


def model_path(path) -> Path:
    """`path`, if a model can be kept there; otherwise a ValueError."""
    path = Path(path)
    if path.suffix not in (".json", ".npz"):
        raise ValueError(f"path must end in .json or .npz, not {path.name!r}")
    return path


# Parquet


def import_pyarrow():
    """The packages pyarrow and pyarrow.parquet, which only Parquet files need."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "a .parquet file needs the package pyarrow; a .csv file needs nothing"
        ) from None
    return pyarrow, parquet
