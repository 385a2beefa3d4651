"""``python -m rhmm table``: the paper's Table 2 beside ours."""

import argparse
import json
import sys

from rhmm import table


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m rhmm", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("table", help="the paper's Table 2 beside ours")
    command.add_argument("--runs", type=_positive, default=20, help="seeds of each row (20)")
    command.add_argument("--length", type=_positive, default=table.LENGTH, help="T (10000)")
    command.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    if options.length < max(table.WINDOWS) + 1:
        parser.error(f"--length must be more than the largest Δ, {max(table.WINDOWS)}")
    results = []
    total = options.runs * len(table.rows())
    for result in table.run(options.runs, options.length):
        results.append(result)
        _progress(len(results), total, result)
    summaries = table.summarise(results)
    if options.json:
        content = {
            "length": options.length,
            "rows": [
                s._asdict() | {"paper": s.paper._asdict() if s.paper else None} for s in summaries
            ],
            "runs": [r._asdict() for r in results],
        }
        print(json.dumps(content, indent=1, ensure_ascii=False))
    else:
        print(_text(summaries))


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def _progress(done: int, total: int, result: table.Result) -> None:
    if sys.stderr.isatty():
        bar = ("█" * (30 * done // total)).ljust(30)
        end = "\n" if done == total else ""
        print(f"\r{bar} {done}/{total}  {result.row:<34}", end=end, file=sys.stderr, flush=True)


def _text(summaries: list[table.Summary]) -> str:
    head = (
        f"{'':34}{'accuracy':>16}{'paper':>7}{'seconds':>17}{'paper':>9}"
        f"{'A11  A22  A33':>17}{'‖A−Â‖':>14}{'paper':>7}{'mean error':>15}{'memory':>10}"
    )
    lines = [head, "─" * len(head)]
    for s in summaries:
        accuracy = f"{s.accuracy[0]:.4f} ±{s.accuracy[1]:.4f}"
        seconds = f"{s.seconds[0]:.4f} ±{s.seconds[1]:.4f}"
        diagonal = " ".join(f"{a:.2f}" for a in s.diagonal)
        error = f"{s.transition_error[0]:.3f} ±{s.transition_error[1]:.3f}"
        mean = f"{s.mean_error[0]:.3f} ±{s.mean_error[1]:.3f}"
        paper = s.paper
        lines.append(
            f"{s.row:34}{accuracy:>16}{f'{paper.accuracy:.2f}' if paper else '':>7}"
            f"{seconds:>17}{f'{paper.seconds:.2f}' if paper else '':>9}{diagonal:>17}"
            f"{error:>14}{f'{paper.rmse:.2f}' if paper else '':>7}{mean:>15}"
            f"{f'{s.nbytes / 1024:.0f} KB' if s.nbytes else '':>10}"
        )
    lines += [
        "",
        f"{summaries[0].runs} runs; mean ± standard deviation. Times are of compiled code on this "
        "machine, the paper's of its authors' laptop; memory is what a method must hold at once.",
        "",
    ]
    lines += [f"{s.row}: {s.remark}." for s in summaries if s.remark]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
