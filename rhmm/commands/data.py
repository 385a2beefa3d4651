"""Arguments of all commands that read a file of observations."""

import argparse
import sys
from dataclasses import replace

from rhmm.commands.common import positive
from rhmm.emissions import EMISSIONS, RIEMANNIAN
from rhmm.reading import LAYOUTS, SHRINKAGES, SPACES, Reading, Window, read
from rhmm.recentring import recentred


def add_data_arguments(command: argparse.ArgumentParser) -> None:
    """The file, and what to say where the detection is wrong."""
    command.add_argument("data", help="a .csv, .npy, .npz or .parquet file")
    command.add_argument("--layout", choices=LAYOUTS, help="what the numbers of a row are")
    command.add_argument("--columns", help="names of the columns with numbers, between commas")
    command.add_argument("--label", help="the column with labels; '' for none")
    command.add_argument("--sequence", help="the column that names sequences; '' for none")
    command.add_argument("--time", help="the column with times; '' for none")
    command.add_argument("--array", help="the array of an .npz file with the observations")
    command.add_argument("--separator", help="of a .csv file")
    command.add_argument(
        "--window", type=positive, metavar="SAMPLES", help="cut a raw signal into such windows"
    )
    command.add_argument(
        "--step", type=positive, metavar="SAMPLES", help="from one window to the next (a window)"
    )
    command.add_argument(
        "--shrinkage", choices=SHRINKAGES, help=f"of covariances ({Window().shrinkage})"
    )
    command.add_argument(
        "--recentre",
        action="store_true",
        help="move each sequence so that its centre of mass is the origin",
    )


def add_search_arguments(command: argparse.ArgumentParser) -> None:
    """What commands that learn from a file take besides."""
    add_data_arguments(command)
    command.add_argument("--space", choices=SPACES, help="where the observations live")
    command.add_argument(
        "--emission", choices=EMISSIONS, default=RIEMANNIAN, help=f"shape of states ({RIEMANNIAN})"
    )
    command.add_argument("--seed", type=int, default=0, help="of the search for a start (0)")


def read_data(options: argparse.Namespace, space: str | None) -> Reading:
    """Read the file of a command, and say on standard error what was found in it."""
    window = None
    if options.window is not None:
        shrinkage = options.shrinkage or Window().shrinkage
        window = Window(options.window, options.step, shrinkage)
    for flag in ("step", "shrinkage"):
        if window is None and getattr(options, flag) is not None:
            raise ValueError(f"--{flag} needs --window: say how long the windows are")
    reading = read(
        options.data,
        space=space,
        layout=options.layout,
        window=window,
        columns=None if options.columns is None else options.columns.split(","),
        label=options.label,
        sequence=options.sequence,
        time=options.time,
        array=options.array,
        separator=options.separator,
    )
    recording, report = reading
    several = "" if len(recording.lengths) == 1 else f" in {len(recording.lengths):,} sequences"
    found = f"{len(recording.points):,} observations on {recording.manifold!r}{several}: each row"
    lines = [f"{found} holds {LAYOUTS[report.layout]}.", *report.notes]
    print("\n".join(lines), file=sys.stderr)
    if options.recentre:
        points, _ = recentred(recording.manifold, recording.points, lengths=recording.lengths)
        reading = reading._replace(recording=replace(recording, points=points))
    return reading
