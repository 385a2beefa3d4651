"""``python -m benchmarks.sweep``: the paper's whole table with one process and with two."""

import argparse
import time

from rhmm import open_executor, sweep
from rhmm.paper import paper_model
from rhmm.table import configurations


def table_seconds(workers: int, runs: int) -> float:
    """What ``rhmm table`` computes, its processes started and warm kernels loaded."""
    begin = time.perf_counter()
    with open_executor(workers=workers) as executor:
        sweep(paper_model(), configurations(), runs, executor)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__)
    parser.add_argument("--runs", type=int, default=20, help="seeds of each row (20)")
    runs = parser.parse_args().runs
    table_seconds(2, 1)  # compiles what is not on disk yet
    rounds = [[table_seconds(workers, runs) for workers in (1, 2)] for _ in range(2)]
    one, two = map(min, zip(*rounds, strict=True))  # the least disturbed
    print(f"the paper's table, {runs} runs a row: {one:.1f} s with one process, {two:.1f} with two")
    print(f"two are {one / two:.2f} times faster (aim: at least 1.7, and under 180 s)")


if __name__ == "__main__":
    main()
