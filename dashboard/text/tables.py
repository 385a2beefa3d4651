"""The tables of the pages: cells by the headings of their columns."""

from collections.abc import Iterable, Sequence

from dashboard.compute.runs import ExperimentRun, MethodResult
from dashboard.compute.shared_cache import shared
from dashboard.model.methods import CEILING, capitalised, method_name
from dashboard.text import columns, formatting
from dashboard.text.columns import Column
from rhmm import Run
from rhmm.learners.registry import LEARNERS
from rhmm.sweeping import Summary
from rhmm.table import PaperRow, Row, rows

ONE_SEED = "one seed"

_OF_METHODS = (
    columns.METHOD, columns.ACCURACY, columns.TRANSITION_ERROR, columns.MEAN_ERROR,
    columns.SIGMA_ERROR, columns.LOG_LIKELIHOOD, columns.TIME, columns.MEMORY,
)  # fmt: skip
_OF_RUNS = (
    columns.SEED, columns.ACCURACY, columns.CEILING, columns.TRANSITION_ERROR, columns.MEAN_ERROR,
    columns.SIGMA_ERROR, columns.LOG_LIKELIHOOD, columns.TIME,
)  # fmt: skip
_OF_THE_PAPER = (
    columns.METHOD, columns.ACCURACY, columns.PAPERS_ACCURACY, columns.LONG_TIME,
    columns.PAPERS_TIME, columns.DIAGONAL, columns.PAPERS_DIAGONAL, columns.TRANSITION_ERROR,
    columns.RMSE,
)  # fmt: skip


def in_columns(of: Iterable[Column], lines: Iterable[Sequence[str]]) -> dict[str, list[str]]:
    """Lines of cells as columns, by their headings."""
    table: dict[str, list[str]] = {column.heading: [] for column in of}
    for line in lines:
        for column, cell in zip(table.values(), line, strict=True):
            column.append(cell)
    return table


def methods_table(run: ExperimentRun) -> dict[str, list[str]]:
    """One row for each method, in the same order everywhere; dots where the result is to come."""
    shown = _columns_of(run)
    lines = (_line(key, run.method(key), shown) for key in run.experiment.methods)
    return in_columns(shown, lines)


def _columns_of(run: ExperimentRun) -> tuple[Column, ...]:
    """What is known of each method: errors only beside a truth, agreement only with labels."""
    if not run.experiment.is_recorded:
        return _OF_METHODS
    agreement = (columns.AGREEMENT,) if run.experiment.label_names else ()
    return (columns.METHOD, *agreement, columns.LOG_LIKELIHOOD, columns.TIME, columns.MEMORY)


def _line(key: str, method: MethodResult | None, shown: Sequence[Column]) -> list[str]:
    title = capitalised(LEARNERS[key].label) if key == CEILING else method_name(key)
    if method is None:
        return [title, *[formatting.MISSING] * (len(shown) - 1)]
    exact = key == CEILING
    cells = {
        columns.METHOD: f"{title} ({method.remark})" if method.remark else title,
        columns.ACCURACY: formatting.hundredths(method.accuracy),
        columns.AGREEMENT: formatting.hundredths(method.accuracy),
        columns.TRANSITION_ERROR: "0" if exact else f"{method.transition_error:.4f}",
        columns.MEAN_ERROR: "0" if exact else f"{method.mean_error:.4f}",
        columns.SIGMA_ERROR: "0" if exact else formatting.hundredths(method.sigma_error),
        columns.LOG_LIKELIHOOD: f"{method.log_likelihood:.4f}",
        columns.TIME: formatting.milliseconds(method.seconds),
        columns.MEMORY: formatting.kilobytes(method.nbytes),
    }
    return [cells[column] for column in shown]


def recorded_runs_table(runs: Iterable[Run], has_labels: bool) -> dict[str, list[str]]:
    """The runs behind one point of a sweep over a recording."""
    agreement = [columns.AGREEMENT] if has_labels else []
    return in_columns(
        [columns.SEED, *agreement, columns.PREDICTIVE, columns.TIME],
        (
            (
                str(run.seed),
                *([formatting.hundredths(run.accuracy)] if has_labels else []),
                f"{run.log_likelihood:.4f}",
                formatting.milliseconds(run.seconds),
            )
            for run in runs
        ),
    )


def runs_table(runs: Iterable[Run]) -> dict[str, list[str]]:
    """The runs behind one point."""
    return in_columns(
        _OF_RUNS,
        (
            (
                str(run.seed),
                formatting.hundredths(run.accuracy),
                formatting.hundredths(run.ceiling),
                f"{run.transition_error:.4f}",
                f"{run.mean_error:.4f}",
                formatting.hundredths(run.sigma_error),
                f"{run.log_likelihood:.4f}",
                formatting.milliseconds(run.seconds),
            )
            for run in runs
        ),
    )


@shared(16)
def paper_rows(runs: Iterable[Run]) -> list[Row]:
    """Rows of Table 2 and what else was run, in the order of the table."""
    return sorted(rows(runs), key=lambda row: (row.paper is None, _place(row.summary)))


def _place(summary: Summary) -> tuple:
    way = summary.configuration
    return list(LEARNERS).index(way.learner), way.window or 0


def paper_table(table: Iterable[Row]) -> dict[str, list[str]]:
    """Our numbers beside those that the paper prints; a blank where it prints none."""
    return in_columns(_OF_THE_PAPER, (_paper_line(row.summary, row.paper) for row in table))


def _paper_line(summary: Summary, paper: PaperRow | None) -> list[str]:
    accuracy, error, runs = summary.accuracy, summary.transition_error, summary.runs
    return [
        summary.configuration.name,
        formatting.spread(100 * accuracy.mean, 100 * accuracy.spread, runs, 2),
        _printed(paper, lambda p: f"{100 * p.accuracy:.0f}"),
        f"{summary.seconds.mean:.3f}" if summary.nbytes.most else "–",
        _printed(paper, lambda p: f"{p.seconds:,.2f}"),
        " ".join(f"{a:.2f}" for a in summary.diagonal),
        _printed(paper, lambda p: " ".join(f"{a:.2f}" for a in p.diagonal)),
        formatting.spread(error.mean, error.spread, runs, 3),
        _printed(paper, lambda p: f"{p.rmse:.2f}"),
    ]


def seeds_in_words(table: Iterable[Row]) -> str:
    """Over how many seeds the rows are: not all have as many while a sweep goes on."""
    counts = {row.summary.runs for row in table}
    least, most = min(counts), max(counts)
    if least < most:
        return f"{least} to {most} seeds"
    return seeds(most)


def seeds(count: int) -> str:
    """So many seeds, in words."""
    return ONE_SEED if count == 1 else f"{count} seeds"


def _printed(paper: PaperRow | None, text) -> str:
    return "" if paper is None else text(paper)
