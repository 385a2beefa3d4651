"""Models on disk: JSON that people can read, or npz; both keep every digit, neither runs code."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from rhmm.manifolds import Manifold, manifold_named
from rhmm.parameters import Parameters

_FORMAT = "rhmm model 1"


def save(path, manifold: Manifold, parameters: Parameters) -> None:
    path = _checked(path)
    head: dict[str, Any] = {"format": _FORMAT, "manifold": manifold.name, "size": manifold.size}
    if path.suffix == ".npz":
        np.savez(path, **head, **parameters._asdict())
    else:
        arrays = {name: value.tolist() for name, value in parameters._asdict().items()}
        path.write_text(json.dumps(head | arrays, indent=1) + "\n", encoding="utf-8")


def load(path) -> tuple:
    """``(manifold, startprob, transmat, means, sigmas)``, not yet checked."""
    path = _checked(path)
    try:
        if path.suffix == ".npz":
            content = read_npz(path)
        else:
            content = json.loads(path.read_text(encoding="utf-8"))
        if str(content["format"]) != _FORMAT:
            raise ValueError("unknown format")
        manifold = manifold_named(str(content["manifold"]), int(content["size"]))
        return manifold, *(content[name] for name in Parameters._fields)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"path {str(path)!r} is not a model that rhmm saved ({error})") from None


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a file, which a ValueError says is damaged if it is."""
    whole = io.BytesIO(path.read_bytes())  # a fault of the disk is not one of the content
    try:
        with np.load(whole, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception as error:  # zipfile has many names for damage, NotImplementedError among them
        raise ValueError(f"damaged: {error}") from None


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix not in (".json", ".npz"):
        raise ValueError(f"path must end in .json or .npz, not {path.name!r}")
    return path
