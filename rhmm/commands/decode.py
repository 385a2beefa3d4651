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
from rhmm.recording import Recording
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
    table = decoded(model, recording)
    with replacing(path) as whole:
        (_write_csv if path.suffix == ".csv" else _write_parquet)(whole, table)
    write(f"{len(recording.points):,} states are in {path}.")


def _space_of(model: RiemannianHMM) -> str | None:
    """The name under which a file can hold points of the model's manifold."""
    kinds = {kind: name for name, kind in SPACES.items()}
    return kinds.get(type(model.manifold))


def decoded(model: RiemannianHMM, recording: Recording) -> dict[str, Any]:
    """Columns of the file: each observation with its state, counted from 1, and probabilities."""
    gamma = model.predict_proba(recording.points, lengths=recording.lengths)
    table: dict[str, Any] = {"observation": np.arange(1, len(gamma) + 1)}
    if len(recording.lengths) > 1:
        table["sequence"] = np.repeat(recording.sequence_names, recording.lengths)
    if recording.times is not None:
        table["time"] = recording.times
    if recording.labels is not None:
        names = np.array([*recording.label_names, ""])  # an unknown label is -1, the last
        table["label"] = names[recording.labels]
    table["state"] = gamma.argmax(axis=1) + 1
    for i in range(gamma.shape[1]):
        table[f"probability_{i + 1}"] = gamma[:, i]
    return table


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
