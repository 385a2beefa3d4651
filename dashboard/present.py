"""Numbers and tables as people read them."""

from dashboard.runs import CEILING, EM, KMEANS, ONLINE, Method, Run

ORDER = (ONLINE, EM, KMEANS, CEILING)
MISSING = "…"


def seconds(value: float | None) -> str:
    if value is None:
        return "–"
    if value < 0.1:
        return f"{1000 * value:.1f} ms"
    return f"{value:.2f} s"


def microseconds(value: float) -> str:
    return f"{value:.3g} µs" if value < 100 else f"{value:,.0f} µs"


def size(nbytes: int | None) -> str:
    if nbytes is None:
        return "–"
    for unit, divisor in (("MB", 1e6), ("KB", 1e3)):
        if nbytes >= divisor:
            return f"{nbytes / divisor:.1f} {unit}"
    return f"{nbytes} bytes"


def percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def methods_table(run: Run) -> dict[str, list[str]]:
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
    for name in ORDER:
        method = run.method(name)
        cells = [MISSING] * 7 if method is None else _cells(method)
        for column, cell in zip(columns.values(), (_title(name, method), *cells), strict=True):
            column.append(cell)
    return columns


def _title(name: str, method: Method | None) -> str:
    title = "True parameters (the ceiling)" if name == CEILING else name
    return f"{title} ({method.remark})" if method and method.remark else title


def _cells(method: Method) -> list[str]:
    exact = method.name == CEILING
    return [
        percent(method.accuracy),
        "0" if exact else f"{method.transition_error:.4f}",
        "0" if exact else f"{method.mean_error:.4f}",
        "0" if exact else percent(method.sigma_error),
        f"{method.log_likelihood:.4f}",
        seconds(method.seconds),
        size(method.nbytes),
    ]
