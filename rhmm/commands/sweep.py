"""``rhmm sweep``: accuracy, errors, time and memory against Δ, of any model."""

import argparse
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager

from rich.table import Table

from rhmm import RiemannianHMM, Run, open_executor, sweep, sweeping, table
from rhmm.commands.common import (
    bar_of_runs,
    columns,
    integers,
    memory,
    positive,
    some_of,
    spread,
    write,
)
from rhmm.exceptions import NotRecordedWarning
from rhmm.learners import streaming
from rhmm.learners.registry import LEARNERS
from rhmm.paper import paper_model
from rhmm.sweeping.configuration import all_options
from rhmm.sweeping.schedule import NothingRecordedWarning


def add(commands) -> None:
    """Say which arguments it takes."""
    command = commands.add_parser("sweep", help="accuracy, errors, time and memory against Δ")
    command.set_defaults(command=run)
    command.add_argument(
        "--algorithm",
        type=some_of(LEARNERS),
        default=[streaming.LEARNER.key],
        help=f"of {','.join(LEARNERS)}",
    )
    for option in all_options():
        flags = dict.fromkeys((f"--{option.key}", f"--{option.name.replace('_', '-')}"))
        users = [key for key, learner in LEARNERS.items() if option.name in _names(learner)]
        known = f"of {','.join(option.choices)}" if option.choices else "whole numbers: 40,60,200"
        command.add_argument(
            *flags,
            dest=option.name,
            type=some_of(option.choices) if option.choices else integers,
            help=f"{known} ({', '.join(users)})",
        )
    command.add_argument("--runs", type=positive, default=20, help="seeds (20)")
    command.add_argument("--length", type=positive, default=10_000, help="T (10000)")
    command.add_argument("--truth", help="a model file, .json or .npz (the paper's model)")
    command.add_argument(
        "--out", required=True, help="a .csv or .parquet file; what it already holds is kept"
    )
    command.add_argument("--workers", type=positive, help="processes (as many as cores)")
    command.add_argument("--scheduler", help="compute on a Dask cluster: tcp://host:8786")
    command.add_argument(
        "--fall-back", action="store_true", help="on this machine if no scheduler answers"
    )


def _names(learner) -> list[str]:
    return [option.name for option in learner.options]


def run(options: argparse.Namespace) -> None:
    truth = RiemannianHMM.load(options.truth) if options.truth else paper_model()
    given = {option.name: getattr(options, option.name) for option in all_options()}
    chosen = {name: values for name, values in given.items() if values is not None}
    grid = sweeping.grid(options.algorithm, length=options.length, **chosen)
    try:
        with (
            _executor(options) as executor,
            bar_of_runs(len(set(grid)) * options.runs) as advance,
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always", NotRecordedWarning)
            warnings.simplefilter("error", NothingRecordedWarning)
            runs = sweep(truth, grid, options.runs, executor, advance, options.out)
    except NothingRecordedWarning as nothing:
        raise nothing.why from None
    except KeyboardInterrupt:
        print(f"\nstopped; the same command goes on from what {options.out} holds", file=sys.stderr)
        raise
    write(_sweep_table(truth, runs))
    write("\n".join(_enough(runs)))
    for warning in caught:
        if issubclass(warning.category, NotRecordedWarning):
            raise OSError(str(warning.message))
        print(f"{warning.category.__name__}: {warning.message}", file=sys.stderr)


@contextmanager
def _executor(options) -> Iterator[Executor]:
    with ExitStack() as stack:
        try:
            executor = stack.enter_context(open_executor(options.scheduler, options.workers))
        except ConnectionError as error:
            if not options.fall_back:
                raise ConnectionError(f"{error}; --fall-back would use this machine") from None
            print(f"{error}; using this machine", file=sys.stderr)
            executor = stack.enter_context(open_executor(workers=options.workers))
        yield executor


def _sweep_table(truth: RiemannianHMM, runs: list[Run]) -> Table:
    content = columns(
        "runs", "accuracy", "ceiling", "seconds", "‖A−Â‖", "noise floor", "mean error", "σ error",
        "memory",
    )  # fmt: skip
    for s in sweeping.summarise(runs):
        has_floor = s.configuration.learner == table.WINDOWED
        content.add_row(
            s.configuration.name,
            str(s.runs),
            spread(s.accuracy, 4),
            f"{s.ceiling.mean:.4f}",
            spread(s.seconds, 4),
            spread(s.transition_error, 3),
            f"{sweeping.noise_floor(truth, s.configuration.settings['window']):.3f}"
            if has_floor
            else "",
            spread(s.mean_error, 3),
            f"{s.sigma_error.mean:.3f}",
            memory(s.nbytes),
        )
    return content


def _enough(runs: list[Run]) -> Iterator[str]:
    """For each learner that has a window, which Δ is enough."""
    families: dict[tuple, list[Run]] = {}
    for run in runs:
        if run.configuration.window is not None:
            families.setdefault(run.configuration.family, []).append(run)
    for family in families.values():
        enough = sweeping.enough_window(family)
        found = "no Δ of these is" if enough is None else f"Δ = {enough} is"
        name = family[0].configuration.family_name
        yield f"{name}: {found} enough to be within 1% of the ceiling."
