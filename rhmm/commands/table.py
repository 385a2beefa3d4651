"""``rhmm table``: the paper's Table 2 beside ours."""

import argparse
import json
from dataclasses import asdict

from rich.table import Table

from rhmm import Run, open_executor, sweep, sweeping, table
from rhmm.commands.common import bar_of_runs, columns, memory, positive, spread, write
from rhmm.paper import LENGTH, paper_model


def add(commands) -> None:
    """Say which arguments it takes."""
    command = commands.add_parser("table", help="the paper's Table 2 beside ours")
    command.set_defaults(command=run)
    command.add_argument("--runs", type=positive, default=20, help="seeds of each row (20)")
    command.add_argument("--length", type=positive, default=LENGTH, help=f"T ({LENGTH})")
    command.add_argument("--workers", type=positive, help="processes (as many as cores)")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(options: argparse.Namespace) -> None:
    grid = table.configurations(options.length)
    with (
        open_executor(workers=options.workers) as executor,
        bar_of_runs(len(set(grid)) * options.runs) as advance,
    ):
        runs = sweep(paper_model(), grid, options.runs, executor, advance)
    rows = table.rows(runs)
    if options.json:
        content = {"rows": [_row_json(row) for row in rows], "runs": [_run_json(r) for r in runs]}
        write(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        write(_paper_table(rows))
        write(_remarks(rows))


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


def _paper_table(rows: list[table.Row]) -> Table:
    content = columns(
        "accuracy", "paper", "seconds", "paper", "A11  A22  A33", "‖A−Â‖", "paper", "mean error",
        "memory",
    )  # fmt: skip
    for s, paper, _ in rows:
        content.add_row(
            s.configuration.name,
            spread(s.accuracy, 4),
            f"{paper.accuracy:.2f}" if paper else "",
            spread(s.seconds, 4),
            f"{paper.seconds:.2f}" if paper else "",
            " ".join(f"{a:.2f}" for a in s.diagonal),
            spread(s.transition_error, 3),
            f"{paper.rmse:.2f}" if paper else "",
            spread(s.mean_error, 3),
            memory(s.nbytes),
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
