"""``rhmm decode``: the states behind a file of observations, under a model."""

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from rhmm import RiemannianHMM
from rhmm.commands.common import write
from rhmm.commands.data import add_data_arguments, read_data
from rhmm.reading import SPACES
from rhmm.storage import import_pyarrow, replacing

_ENDINGS = (".csv", ".parquet")


def add(commands) -> None:
    """Say which arguments it takes."""
    command = commands.add_parser("decode", help="the states behind a file of observations")
    command.set_defaults(command=run)
    command.add_argument("model", help="a .json or .npz file that `rhmm fit` wrote")
    add_data_arguments(command)
    command.add_argument(
        "--out", required=True, help="states with probabilities, a .csv or .parquet file"
    )


def run(options: argparse.Namespace) -> None:
    path = Path(options.out)
    if path.suffix not in _ENDINGS:
        raise ValueError(f"--out must end in {' or '.join(_ENDINGS)}, not {path.name!r}")
    if path.suffix == ".parquet":
        import_pyarrow()  # now, and not when all is computed
    model = RiemannianHMM.load(options.model)
    recording, _ = read_data(options, _space_of(model))
    if recording.manifold != model.manifold:
        raise ValueError(
            f"the observations are on {recording.manifold!r} and the model on {model.manifold!r}: "
            "give the file and options that it was learned from"
        )
    gamma = model.predict_proba(recording.points, lengths=recording.lengths)
    table = recording.states_table(gamma)
    with replacing(path) as whole:
        (_write_csv if path.suffix == ".csv" else _write_parquet)(whole, table)
    write(f"{len(recording.points):,} states are in {path}.")


def _space_of(model: RiemannianHMM) -> str | None:
    """The name under which a file can hold points of the model's manifold."""
    kinds = {kind: name for name, kind in SPACES.items()}
    return kinds.get(type(model.manifold))


def _write_csv(path: Path, table: dict[str, Any]) -> None:
    columns = [np.asarray(column).tolist() for column in table.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(table)
        writer.writerows(zip(*columns, strict=True))


def _write_parquet(path: Path, table: dict[str, Any]) -> None:
    pyarrow, parquet = import_pyarrow()
    content = pyarrow.table({name: np.asarray(column).tolist() for name, column in table.items()})
    parquet.write_table(content, path)
