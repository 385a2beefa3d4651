"""The tables of the pages, as columns of text."""

from collections.abc import Iterable

from dashboard.compute.runs import ExperimentRun, MethodResult
from dashboard.model.methods import CEILING, capitalised, method_name
from dashboard.text import formatting
from rhmm import Run
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping import Summary
from rhmm.table import PaperRow, Row, rows


def methods_table(run: ExperimentRun) -> dict[str, list[str]]:
    """One row for each method, in the same order everywhere; dots where the result is to come."""
    columns: dict[str, list[str]] = {
        "Method": [],
        "Accuracy": [],
        "‖A − Â‖": [],
        "Distance of means": [],
        "Error of σ": [],
        "Log-likelihood": [],
        "Time": [],
        "Memory": [],
    }
    for key in run.experiment.methods:
        method = run.method(key)
        cells = [formatting.MISSING] * 7 if method is None else _cells(method)
        for column, cell in zip(columns.values(), (_title(key, method), *cells), strict=True):
            column.append(cell)
    return columns


def _title(key: str, method: MethodResult | None) -> str:
    title = capitalised(LEARNERS[key].label) if key == CEILING else method_name(key)
    return f"{title} ({method.remark})" if method and method.remark else title


def _cells(method: MethodResult) -> list[str]:
    exact = method.key == CEILING
    return [
        formatting.percent(method.accuracy),
        "0" if exact else f"{method.transition_error:.4f}",
        "0" if exact else f"{method.mean_error:.4f}",
        "0" if exact else formatting.percent(method.sigma_error),
        f"{method.log_likelihood:.4f}",
        formatting.seconds(method.seconds),
        formatting.size(method.nbytes),
    ]


def runs_table(runs: Iterable[Run]) -> dict[str, list[str]]:
    """The runs behind one point."""
    table: dict[str, list[str]] = {
        "Seed": [], "Accuracy": [], "Ceiling": [], "‖A − Â‖": [], "Distance of means": [],
        "Error of σ": [], "Log-likelihood": [], "Time": [],
    }  # fmt: skip
    for run in runs:
        cells = (
            str(run.seed),
            formatting.percent(run.accuracy),
            formatting.percent(run.ceiling),
            f"{run.transition_error:.4f}",
            f"{run.mean_error:.4f}",
            formatting.percent(run.sigma_error),
            f"{run.log_likelihood:.4f}",
            formatting.seconds(run.seconds),
        )
        for column, cell in zip(table.values(), cells, strict=True):
            column.append(cell)
    return table


def paper_rows(runs: Iterable[Run]) -> list[Row]:
    """Rows of Table 2 and what else was run, in the order of the table."""
    return sorted(rows(runs), key=lambda row: (row.paper is None, _place(row.summary)))


def _place(summary: Summary) -> tuple:
    way = summary.configuration
    return list(LEARNERS).index(way.learner), way.window or 0


def paper_table(table: Iterable[Row]) -> dict[str, list[str]]:
    columns: dict[str, list[str]] = {
        "": [], "Accuracy": [], "Paper’s accuracy": [], "Time": [], "Paper’s time": [],
        "Diagonal of Â": [], "Paper’s diagonal": [], "‖A − Â‖": [], "Paper’s RMSE": [],
    }  # fmt: skip
    for summary, paper, _ in table:
        cells = (
            summary.configuration.name,
            f"{summary.accuracy.mean:.4f} ± {summary.accuracy.spread:.4f}",
            _printed(paper, lambda p: f"{p.accuracy:.2f}"),
            formatting.seconds(summary.seconds.mean) if summary.nbytes.most else "–",
            _printed(paper, lambda p: f"{p.seconds:,.2f} s"),
            " ".join(f"{a:.2f}" for a in summary.diagonal),
            _printed(paper, lambda p: " ".join(f"{a:.2f}" for a in p.diagonal)),
            f"{summary.transition_error.mean:.3f} ± {summary.transition_error.spread:.3f}",
            _printed(paper, lambda p: f"{p.rmse:.2f}"),
        )
        for column, cell in zip(columns.values(), cells, strict=True):
            column.append(cell)
    return columns


def seeds_in_words(table: Iterable[Row]) -> str:
    """Over how many seeds the rows are: not all have as many while a sweep goes on."""
    counts = {row.summary.runs for row in table}
    least, most = min(counts), max(counts)
    if least < most:
        return f"{least} to {most} seeds"
    return "one seed" if most == 1 else f"{most} seeds"


def _printed(paper: PaperRow | None, text) -> str:
    return "" if paper is None else text(paper)
