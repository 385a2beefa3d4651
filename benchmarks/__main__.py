"""``python -m benchmarks``: one table of what takes how long, ours and theirs.

Targets are aims, not tests: a missed one is marked, and the run still ends well. It fails when two
sides that should agree do not.
"""

import argparse
import json
import os
import platform
from importlib.metadata import version

from benchmarks import learning, matrices, recursions, sampling, streams
from benchmarks.peers import geomstats_version
from benchmarks.timing import Comparison, Result, run

COMPARISONS = [
    *learning.COMPARISONS,
    *streams.COMPARISONS,
    *recursions.COMPARISONS,
    *matrices.COMPARISONS,
    *sampling.COMPARISONS,
]

_HEADER = """\
| what | ours | peer | ratio | target |
|---|---:|---:|---:|---:|"""

_FOOTER = """
Medians of alternating runs, after one run of each side that does not count (it compiles or loads
kernels and fills caches). The ratio is peer/ours: above 1 we are faster. Of several ways a peer
offers, the fastest is shown."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [comparison.name for comparison in COMPARISONS]
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help=f"run what has one of these names, or begins with it: {', '.join(names)}",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    chosen = _choose(options.only)
    if not chosen:
        parser.error(f"--only must begin one of: {', '.join(names)}")
    if options.json:
        results = [run(comparison)._asdict() for comparison in chosen]
        report = {"machine": _machine(), "results": results}
        print(json.dumps(report, indent=2, ensure_ascii=False))
        return
    print(_HEADER, flush=True)
    for comparison in chosen:
        print(_row(run(comparison)), flush=True)
    print(_FOOTER)
    print("\n" + ", ".join(f"{key} {value}" for key, value in _machine().items()) + ".")


def _choose(only: list[str] | None) -> list[Comparison]:
    if only is None:
        return COMPARISONS
    return [comparison for comparison in COMPARISONS if comparison.name.startswith(tuple(only))]


def _row(result: Result) -> str:
    target = "" if result.target is None else f"≥ {result.target:g}"
    if result.target is not None and result.ratio < result.target:
        target += " missed"
    peer = f"{_time(result.peer)} ({result.peer_name})"
    ratio = f"{result.ratio:.3g}" if result.ratio < 1000 else f"{result.ratio:.0f}"
    return f"| {result.what} | {_time(result.ours)} | {peer} | {ratio} | {target} |"


def _time(seconds: float) -> str:
    if seconds >= 1.0:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-3 else f"{1e6 * seconds:.3g} µs"


def _machine() -> dict[str, str]:
    """What the numbers depend on, and nothing that tells whose machine it is."""
    packages = ("numpy", "scipy", "numba", "hmmlearn", "pyriemann")
    return {
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        **{package: version(package) for package in packages},
        "geomstats": geomstats_version(),
    }


if __name__ == "__main__":
    main()
