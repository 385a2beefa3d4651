"""``python -m rhmm``: the paper's Table 2 beside ours, and sweeps over Δ of any model."""

import argparse
import json
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict

from rhmm import RiemannianHMM, Run, open_executor, sweep, sweeping, table
from rhmm.exceptions import NotRecordedWarning, RunFailedError
from rhmm.paper import paper_model
from rhmm.sweeping.configuration import CHOICES, METHODS
from rhmm.sweeping.schedule import NothingRecordedWarning


def main(arguments: list[str] | None = None) -> None:
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit:
        with suppress(OSError):
            _print(end="")  # the end of --help, which nobody may read either
        raise
    try:
        options.command(options)
    except (ValueError, OSError, ModuleNotFoundError, RunFailedError) as error:
        print(f"{parser.prog} {options.name}: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ValueError) else 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rhmm", description=__doc__)
    commands = parser.add_subparsers(dest="name", metavar="command", required=True)

    command = commands.add_parser("table", help="the paper's Table 2 beside ours")
    command.set_defaults(command=_table)
    command.add_argument("--runs", type=_positive, default=20, help="seeds of each row (20)")
    command.add_argument("--length", type=_positive, default=table.LENGTH, help="T (10000)")
    command.add_argument("--workers", type=_positive, help="processes (as many as cores)")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")

    command = commands.add_parser("sweep", help="accuracy, errors, time and memory against Δ")
    command.set_defaults(command=_sweep)
    command.add_argument("--delta", type=_integers, default=[200], help="windows Δ: 40,60,200")
    for option, default, known, whose in (
        ("--algorithm", "streaming", METHODS, ""),
        ("--transition-update", "convex", CHOICES["transition_update"], " (windowed)"),
        ("--memory", "growing", CHOICES["memory"], " (streaming)"),
        ("--init", "kmeans", CHOICES["init"], " (streaming)"),
    ):
        command.add_argument(
            option, type=_some_of(known), default=[default], help=f"of {','.join(known)}{whose}"
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


def _print(text: str = "", end: str = "\n") -> None:
    """To whoever reads it; if they have gone (``| head``), to nobody."""
    try:
        print(text, end=end, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# python -m rhmm table


def _table(options) -> None:
    grid = table.configurations(options.length)
    with open_executor(workers=options.workers) as executor:
        progress = _progress(len(set(grid)) * options.runs)
        runs = sweep(paper_model(), grid, options.runs, executor, progress)
    rows = table.rows(runs)
    if options.json:
        content = {"rows": [_row_json(row) for row in rows], "runs": [_run_json(r) for r in runs]}
        _print(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        _print(_table_text(rows))


def _row_json(row: table.Row) -> dict:
    fields = row.summary._asdict()
    bands = {
        name: value._asdict() for name, value in fields.items() if isinstance(value, sweeping.Band)
    }
    return {
        "name": row.summary.configuration.name,
        **fields,
        **bands,
        "configuration": asdict(row.summary.configuration),
        "paper": row.paper._asdict() if row.paper else None,
        "remarks": row.remarks,
    }


def _run_json(run: Run) -> dict:
    return run._asdict() | {"configuration": asdict(run.configuration), "diagonal": run.diagonal}


def _table_text(rows: list[table.Row]) -> str:
    head = (
        f"{'':34}{'accuracy':>16}{'paper':>7}{'seconds':>17}{'paper':>9}"
        f"{'A11  A22  A33':>17}{'‖A−Â‖':>14}{'paper':>7}{'mean error':>15}{'memory':>10}"
    )
    lines = [head, "─" * len(head)]
    for s, paper, _ in rows:
        diagonal = " ".join(f"{a:.2f}" for a in s.diagonal)
        lines.append(
            f"{s.configuration.name:34}{_spread(s.accuracy, 4):>16}"
            f"{f'{paper.accuracy:.2f}' if paper else '':>7}{_spread(s.seconds, 4):>17}"
            f"{f'{paper.seconds:.2f}' if paper else '':>9}{diagonal:>17}"
            f"{_spread(s.transition_error, 3):>14}{f'{paper.rmse:.2f}' if paper else '':>7}"
            f"{_spread(s.mean_error, 3):>15}{_memory(s.nbytes):>10}"
        )
    if any(row.paper for row in rows):
        theirs = "the paper's are of its authors' laptop."
    else:
        theirs = f"the paper's numbers are of {table.LENGTH:,} observations and not shown."
    lines += [
        "",
        f"{rows[0].summary.runs} runs; mean ± standard deviation. Our times are of learning, on "
        f"this machine, without sampling, compiling and scoring; {theirs} "
        "Memory is the most that a method holds at once.",
    ]
    for row in rows:
        if row.remarks:
            lines += [
                "",
                row.summary.configuration.name,
                *(f"  {remark}" for remark in row.remarks),
            ]
    return "\n".join(lines)


def _spread(band: sweeping.Band, digits: int) -> str:
    return f"{band.mean:.{digits}f} ±{band.spread:.{digits}f}"


def _memory(nbytes: int) -> str:
    return f"{nbytes / 1024:.0f} KB" if nbytes else ""


# python -m rhmm sweep


def _sweep(options) -> None:
    truth = RiemannianHMM.load(options.truth) if options.truth else paper_model()
    grid = sweeping.grid(
        options.algorithm,
        options.delta,
        length=options.length,
        transition_updates=options.transition_update,
        memories=options.memory,
        inits=options.init,
    )
    try:
        with _executor(options) as executor, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", NotRecordedWarning)
            warnings.simplefilter("error", NothingRecordedWarning)
            progress = _progress(len(set(grid)) * options.runs)
            runs = sweep(truth, grid, options.runs, executor, progress, options.out)
    except NothingRecordedWarning as warning:
        raise warning.why from None
    except KeyboardInterrupt:
        print(f"\nstopped; the same command goes on from what {options.out} holds", file=sys.stderr)
        raise
    _print(_sweep_text(truth, runs))
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


def _sweep_text(truth: RiemannianHMM, runs: list[Run]) -> str:
    head = (
        f"{'':34}{'runs':>5}{'accuracy':>16}{'ceiling':>9}{'seconds':>17}{'‖A−Â‖':>14}"
        f"{'noise floor':>13}{'mean error':>15}{'σ error':>9}{'memory':>10}"
    )
    lines = [head, "─" * len(head)]
    families: dict[tuple, list[Run]] = {}
    for run in runs:
        if run.configuration.window is not None:
            families.setdefault(run.configuration.family, []).append(run)
    for s in sweeping.summarise(runs):
        window = s.configuration.window
        windowed = s.configuration.method == "windowed"
        floor = f"{sweeping.noise_floor(truth, window):.3f}" if windowed else ""
        lines.append(
            f"{s.configuration.name:34}{s.runs:>5}{_spread(s.accuracy, 4):>16}"
            f"{s.ceiling.mean:>9.4f}{_spread(s.seconds, 4):>17}{_spread(s.transition_error, 3):>14}"
            f"{floor:>13}{_spread(s.mean_error, 3):>15}{s.sigma_error.mean:>9.3f}"
            f"{_memory(s.nbytes):>10}"
        )
    lines.append("")
    for family in families.values():
        enough = sweeping.enough_window(family)
        found = "no Δ of these is" if enough is None else f"Δ = {enough} is"
        name = family[0].configuration.name.rpartition(", ")[0]
        lines.append(f"{name}: {found} enough to be within 1% of the ceiling.")
    return "\n".join(lines)


def _progress(total: int) -> Callable[[Run], None]:
    """Draws a bar if somebody is looking."""
    done = 0

    def draw(run: Run) -> None:
        nonlocal done
        done += 1
        if sys.stderr.isatty():
            bar = ("█" * (30 * done // total)).ljust(30)
            name = f"{run.configuration.name:<34}"
            end = "\n" if done == total else ""
            print(f"\r{bar} {done}/{total}  {name}", end=end, file=sys.stderr, flush=True)

    return draw


if __name__ == "__main__":
    main()
