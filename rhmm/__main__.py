"""``rhmm`` on the command line: the paper's Table 2 beside ours, and sweeps over Δ of any model."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from rhmm import RiemannianHMM, Run, open_executor, sweep, sweeping, table
from rhmm.exceptions import NotRecordedWarning, RunFailedError
from rhmm.learners import streaming
from rhmm.learners.registry import LEARNERS
from rhmm.paper import LENGTH, paper_model
from rhmm.sweeping.configuration import all_options
from rhmm.sweeping.schedule import NothingRecordedWarning

_WIDE = 400
"""Columns of a table that goes to a file: none of its lines may be broken."""


def main(arguments: list[str] | None = None) -> None:
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit:
        with suppress(OSError):
            _print(end="")  # a reader that has closed the pipe must not cause a traceback
        raise
    try:
        options.command(options)
    except (ValueError, OSError, ModuleNotFoundError, RunFailedError) as error:
        print(f"{parser.prog} {options.name}: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ValueError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rhmm", description=__doc__)
    commands = parser.add_subparsers(dest="name", metavar="command", required=True)

    command = commands.add_parser("table", help="the paper's Table 2 beside ours")
    command.set_defaults(command=_table)
    command.add_argument("--runs", type=_positive, default=20, help="seeds of each row (20)")
    command.add_argument("--length", type=_positive, default=LENGTH, help=f"T ({LENGTH})")
    command.add_argument("--workers", type=_positive, help="processes (as many as cores)")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")

    command = commands.add_parser("sweep", help="accuracy, errors, time and memory against Δ")
    command.set_defaults(command=_sweep)
    command.add_argument(
        "--algorithm",
        type=_some_of(LEARNERS),
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
            type=_some_of(option.choices) if option.choices else _integers,
            help=f"{known} ({', '.join(users)})",
        )
    command.add_argument("--runs", type=_positive, default=20, help="seeds (20)")
    command.add_argument("--length", type=_positive, default=10_000, help="T (10000)")
    command.add_argument("--truth", help="a model file, .json or .npz (the paper's model)")
    command.add_argument(
        "--out", required=True, help="a .csv or .parquet file; what it already holds is kept"
    )
    command.add_argument("--workers", type=_positive, help="processes (as many as cores)")
    command.add_argument("--scheduler", help="compute on a Dask cluster: tcp://host:8786")
    command.add_argument(
        "--fall-back", action="store_true", help="on this machine if no scheduler answers"
    )
    return parser


def _names(learner) -> list[str]:
    return [option.name for option in learner.options]


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError("must be a whole number, at least 1")
    return value


def _some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """What `choices` of argparse does, for words between commas."""

    def words(text: str) -> list[str]:
        given = [word.strip() for word in text.split(",")]
        for word in given:
            if word not in known:
                several = ",".join(known)
                raise argparse.ArgumentTypeError(f"must be of {several}, not {word!r}")
        return given

    return words


def _integers(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("must be whole numbers: 40,60,200") from None


def _print(content: str | Table = "", end: str = "\n") -> None:
    """To standard output; a reader that has closed the pipe (``| head``) is no error."""
    if isinstance(content, Table):
        console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else _WIDE)
        with console.capture() as drawn:  # rich itself would end the program at a closed pipe
            console.print(content)
        content, end = drawn.get(), ""
    try:
        print(content, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# rhmm table


def _table(options) -> None:
    grid = table.configurations(options.length)
    with (
        open_executor(workers=options.workers) as executor,
        _bar(len(set(grid)) * options.runs) as advance,
    ):
        runs = sweep(paper_model(), grid, options.runs, executor, advance)
    rows = table.rows(runs)
    if options.json:
        content = {"rows": [_row_json(row) for row in rows], "runs": [_run_json(r) for r in runs]}
        _print(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        _print(_paper_table(rows))
        _print(_remarks(rows))


def _row_json(row: table.Row) -> dict:
    fields = vars(row.summary)
    bands = {
        name: value._asdict() for name, value in fields.items() if isinstance(value, sweeping.Band)
    }
    return {
        "name": row.summary.configuration.name,
        **fields,
        **bands,
        "configuration": _configuration_json(row.summary.configuration),
        "paper": row.paper._asdict() if row.paper else None,
        "remarks": row.remarks,
    }


def _run_json(run: Run) -> dict:
    configuration = _configuration_json(run.configuration)
    return asdict(run) | {"configuration": configuration, "diagonal": run.diagonal}


def _configuration_json(configuration: sweeping.Configuration) -> dict:
    return {
        "learner": configuration.learner,
        "length": configuration.length,
        **configuration.settings,
    }


def _columns(*titles: str) -> Table:
    """A table of a name and numbers."""
    content = Table(box=SIMPLE_HEAD, pad_edge=False)
    content.add_column("", no_wrap=True)
    for title in titles:
        content.add_column(title, justify="right", no_wrap=True)
    return content


def _paper_table(rows: list[table.Row]) -> Table:
    content = _columns(
        "accuracy", "paper", "seconds", "paper", "A11  A22  A33", "‖A−Â‖", "paper", "mean error",
        "memory",
    )  # fmt: skip
    for s, paper, _ in rows:
        content.add_row(
            s.configuration.name,
            _spread(s.accuracy, 4),
            f"{paper.accuracy:.2f}" if paper else "",
            _spread(s.seconds, 4),
            f"{paper.seconds:.2f}" if paper else "",
            " ".join(f"{a:.2f}" for a in s.diagonal),
            _spread(s.transition_error, 3),
            f"{paper.rmse:.2f}" if paper else "",
            _spread(s.mean_error, 3),
            _memory(s.nbytes),
        )
    return content


def _remarks(rows: list[table.Row]) -> str:
    """Under the table: what its numbers are, and why ours and the paper's differ."""
    if any(row.paper for row in rows):
        theirs = "the paper's are of its authors' laptop."
    else:
        theirs = f"the paper's numbers are of {LENGTH:,} observations and not shown."
    lines = [
        f"{rows[0].summary.runs} runs; mean ± standard deviation. Our times are of learning, on "
        f"this machine, without sampling, compiling and scoring; {theirs} "
        "Memory is the most that a method holds at once.",
    ]
    for row in rows:
        if row.remarks:
            remarks = (f"  {remark}" for remark in row.remarks)
            lines += ["", row.summary.configuration.name, *remarks]
    return "\n".join(lines)


def _spread(band: sweeping.Band, digits: int) -> str:
    return f"{band.mean:.{digits}f} ±{band.spread:.{digits}f}"


def _memory(nbytes: sweeping.Band) -> str:
    return f"{nbytes.most / 1024:.0f} KB" if nbytes.most else ""


# rhmm sweep


def _sweep(options) -> None:
    truth = RiemannianHMM.load(options.truth) if options.truth else paper_model()
    given = {option.name: getattr(options, option.name) for option in all_options()}
    chosen = {name: values for name, values in given.items() if values is not None}
    grid = sweeping.grid(options.algorithm, length=options.length, **chosen)
    try:
        with (
            _executor(options) as executor,
            _bar(len(set(grid)) * options.runs) as advance,
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
    _print(_sweep_table(truth, runs))
    _print("\n".join(_enough(runs)))
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
    content = _columns(
        "runs", "accuracy", "ceiling", "seconds", "‖A−Â‖", "noise floor", "mean error", "σ error",
        "memory",
    )  # fmt: skip
    for s in sweeping.summarise(runs):
        has_floor = s.configuration.learner == table.WINDOWED
        content.add_row(
            s.configuration.name,
            str(s.runs),
            _spread(s.accuracy, 4),
            f"{s.ceiling.mean:.4f}",
            _spread(s.seconds, 4),
            _spread(s.transition_error, 3),
            f"{sweeping.noise_floor(truth, s.configuration.settings['window']):.3f}"
            if has_floor
            else "",
            _spread(s.mean_error, 3),
            f"{s.sigma_error.mean:.3f}",
            _memory(s.nbytes),
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
        name = family[0].configuration.name.rpartition(", ")[0]
        yield f"{name}: {found} enough to be within 1% of the ceiling."


@contextmanager
def _bar(total: int) -> Iterator[Callable[[Run], None]]:
    """A progress bar on a terminal; what it yields is called with each run."""
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        bar = progress.add_task("", total=total)

        def advance(run: Run) -> None:
            progress.update(bar, advance=1, description=run.configuration.name)

        yield advance


if __name__ == "__main__":
    main()
