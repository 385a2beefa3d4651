"""What the commands share: words of the command line, tables and the progress bar."""

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from rhmm import Run, sweeping

_WIDE = 400
"""Columns of a table that goes to a file: none of its lines may be broken."""


# Words of the command line


def positive(text: str) -> int:
    """A whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError("must be a whole number, at least 1")
    return value


def some_of(known: Collection[str]) -> Callable[[str], list[str]]:
    """What `choices` of argparse does, for words between commas."""

    def words(text: str) -> list[str]:
        given = [word.strip() for word in text.split(",")]
        for word in given:
            if word not in known:
                several = ",".join(known)
                raise argparse.ArgumentTypeError(f"must be of {several}, not {word!r}")
        return given

    return words


def integers(text: str) -> list[int]:
    """Whole numbers between commas."""
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError("must be whole numbers: 40,60,200") from None


# Output


def write(content: str | Table = "", end: str = "\n") -> None:
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


def columns(*titles: str) -> Table:
    """A table of a name and numbers."""
    content = Table(box=SIMPLE_HEAD, pad_edge=False)
    content.add_column("", no_wrap=True)
    for title in titles:
        content.add_column(title, justify="right", no_wrap=True)
    return content


def spread(band: sweeping.Band, digits: int) -> str:
    """A mean with its standard deviation."""
    return f"{band.mean:.{digits}f} ±{band.spread:.{digits}f}"


def memory(nbytes: sweeping.Band) -> str:
    """The most of it, for people."""
    return f"{nbytes.most / 1024:.0f} KB" if nbytes.most else ""


@contextmanager
def progress_bar(total: float, *, counts: bool = True) -> Iterator[Callable[[float, str], None]]:
    """A progress bar on a terminal; what it yields is told how much is done, and what.

    With `counts` the bar says the numbers; otherwise they are only a guess.
    """
    numbers = (MofNCompleteColumn(),) if counts else ()
    columns = (BarColumn(), *numbers, TextColumn("{task.description}"))
    console = Console(stderr=True)
    if not console.is_terminal:  # where some versions of rich write an empty line
        yield lambda done, doing: None
        return
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("", total=total)
        yield lambda done, doing: progress.update(bar, completed=done, description=doing)


@contextmanager
def bar_of_runs(total: int) -> Iterator[Callable[[Run], None]]:
    """A progress bar for a sweep; what it yields is called with each run."""
    count = itertools.count(1)
    with progress_bar(total) as update:
        yield lambda run: update(next(count), run.configuration.name)
