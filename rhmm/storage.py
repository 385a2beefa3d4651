"""Models on disk: JSON that people can read, or npz; both keep every digit, neither runs code."""

import json
import zipfile
from pathlib import Path

import numpy as np

from rhmm.manifolds import Manifold, manifold_named
from rhmm.parameters import Parameters

_FORMAT = "rhmm model 1"


def save(path, manifold: Manifold, parameters: Parameters) -> None:
    path = _checked(path)
    head = {"format": _FORMAT, "manifold": manifold.name, "size": manifold.size}
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
            with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                content = {name: file[name] for name in file.files}
        else:
            content = json.loads(path.read_text(encoding="utf-8"))
        if str(content["format"]) != _FORMAT:
            raise ValueError("unknown format")
        manifold = manifold_named(str(content["manifold"]), int(content["size"]))
        return manifold, *(content[name] for name in Parameters._fields)
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"path {str(path)!r} is not a model that rhmm saved ({error})") from None


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix not in (".json", ".npz"):
        raise ValueError(f"path must end in .json or .npz, not {path.name!r}")
    return path
