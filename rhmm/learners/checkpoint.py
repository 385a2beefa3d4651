"""The state of a long fit on disk, written after each iteration: npz without pickles."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rhmm.emissions import check_law
from rhmm.learners.baum_welch import Iterate, Monitor
from rhmm.learners.part_sums import Sums
from rhmm.learners.passes import Print
from rhmm.manifolds import Manifold
from rhmm.parameters import Parameters
from rhmm.storage import parsed_json, read_npz, write_npz
from rhmm.validation import check_stochastic

_FORMAT = "rhmm fit 1"


class Saved(NamedTuple):
    monitor: Monitor
    present: Iterate
    sums: Sums
    share: float
    """Of Newton steps that the means take."""
    min_sigma: float
    prints: list[Print]
    """Of the pieces."""


class Checkpoint:
    """A file that a fit of n states on `manifold` goes on from if it was interrupted."""

    def __init__(self, path, manifold: Manifold, n: int):
        self.path, self.manifold, self.n = Path(path), manifold, n
        if self.path.suffix != ".npz":
            raise ValueError(f"checkpoint must end in .npz, not {self.path.name!r}")
        if not self.path.parent.is_dir():
            raise ValueError(f"checkpoint: there is no folder {str(self.path.parent)!r}")

    def write(
        self,
        monitor: Monitor,
        present: Iterate,
        sums: Sums,
        share: float,
        min_sigma: float,
        prints: list[Print],
    ) -> None:
        """Replace the file in one step: a kill leaves the old one or the new one."""
        head = {
            "format": _FORMAT,
            "manifold": [self.manifold.name, self.manifold.size],
            "n": self.n,
            "share": share,
            "min_sigma": min_sigma,
        }
        path = dict(
            zip(
                Parameters._fields,
                map(np.stack, zip(*monitor.parameters, strict=True)),
                strict=True,
            )
        )
        kept = {f"sums.{name}": value for name, value in sums._asdict().items()}
        write_npz(
            self.path,
            {
                "head": json.dumps(head),
                "log_likelihood": np.array(monitor.log_likelihood),
                "prints": np.array(prints, np.uint64),
                **path,
                **kept,
            },
        )

    def read(self) -> Saved | None:
        """What was written last; None if there is no file yet."""
        if not self.path.exists():
            return None
        try:
            content, is_sealed = read_npz(self.path)
            head = parsed_json(str(content["head"]))
            if head["format"] != _FORMAT or not is_sealed:
                raise ValueError("unknown format")
            if head["manifold"] != [self.manifold.name, self.manifold.size] or head["n"] != self.n:
                raise ValueError(
                    f"it is of {head['n']} states on {head['manifold'][0]}({head['manifold'][1]})"
                )
            return self._restored(head, content)
        except (ValueError, LookupError, TypeError) as error:
            raise ValueError(
                f"checkpoint {str(self.path)!r} is not of such a fit ({error}): "
                "remove it, or name another file"
            ) from None

    def _restored(self, head: dict, content: dict) -> Saved:
        names = Parameters._fields
        path = [Parameters(*row) for row in zip(*(content[name] for name in names), strict=True)]
        likelihood = content["log_likelihood"].tolist()
        monitor = Monitor(likelihood, [0.0] * len(likelihood), path)
        startprob, transmat = check_stochastic(*path[-1][:2], names=("startprob", "transmat"))
        law = check_law(self.manifold, "riemannian", self.n, *path[-1][2:], None)
        values = {name: content[f"sums.{name}"] for name in Sums._fields}
        values["log_likelihood"] = float(values["log_likelihood"])
        prints = [Print(*map(int, row)) for row in content["prints"]]
        share, floor = float(head["share"]), float(head["min_sigma"])
        if not 0.0 < share <= 1.0:  # a fit halves it until it is small
            raise ValueError(f"share must be above 0 and at most 1, not {share:g}")
        return Saved(
            monitor, Iterate(startprob, transmat, law), Sums(**values), share, floor, prints
        )
