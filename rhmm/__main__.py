"""``rhmm`` on the command line: learn from a file, decode it, and the experiments of the paper."""

import argparse
import sys
from contextlib import suppress

from rhmm.commands import decode, fit, select, sweep, table
from rhmm.commands.common import write
from rhmm.exceptions import RunFailedError

COMMANDS = (fit, decode, select, table, sweep)
"""Modules with a function `add` that adds a command to the parser."""


def main(arguments: list[str] | None = None) -> None:
    parser = _parser()
    try:
        options = parser.parse_args(arguments)
    except SystemExit:
        with suppress(OSError):
            write(end="")  # a reader that has closed the pipe must not cause a traceback
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
    for command in COMMANDS:
        command.add(commands)
    return parser


if __name__ == "__main__":
    main()
