"""``python -m benchmarks.fuzz``: damaged and forged files, and streams that are hard on arithmetic.

Cases run one after another in a process of their own: one that aborts or hangs costs that process,
is counted, and the next case begins in a new one. Ends with status 1 if anything went wrong.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import degenerate, mutations

_PATIENCE = 600.0
"""Seconds without an answer after which a case has hung; compilation may come first."""
_OFTEN = 5_000
"""Cases between two lines about how it goes."""
_GOOD = ("finite", "refused", "refused later", "unchanged", "works")


def is_good(verdict: str) -> bool:
    """Whether nothing went wrong."""
    return verdict.partition(":")[0] in _GOOD


def files(seeds: range) -> Iterator[tuple[str, str]]:
    """What is changed, and the verdict, for each seed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "samples").mkdir()
        samples = mutations.make_samples(folder / "samples")
        for seed in seeds:
            case = mutations.draw_case(samples, seed, folder)
            yield f"{case.sample.path.name}, {case.how}", mutations.verdict(case, folder)


def streams(seeds: range) -> Iterator[tuple[str, str]]:
    """The stream and the learner, and the verdict, for each seed."""
    for seed in seeds:
        case = degenerate.draw_case(seed)
        estimator = case.estimator
        what = f"{estimator.manifold!r}, {case.kind}, {type(estimator).__name__}"
        yield what, degenerate.verdict(case)


KINDS: dict[str, Callable[[range], Iterator[tuple[str, str]]]] = {
    "files": files,
    "streams": streams,
}


def _work(kind: str, seeds: range, answers) -> None:
    for answer in KINDS[kind](seeds):
        answers.send(answer)


def isolated(kind: str, seeds: range) -> Iterator[tuple[str, str]]:
    """`KINDS[kind]` in a process of its own, which is replaced if a case ends it."""
    context = multiprocessing.get_context("spawn")
    while seeds:
        receiver, sender = context.Pipe(duplex=False)
        worker = context.Process(target=_work, args=(kind, seeds, sender), daemon=True)
        worker.start()
        sender.close()
        try:
            while seeds:
                if not receiver.poll(_PATIENCE):
                    yield f"seed {seeds[0]}", "hang"
                    break
                yield receiver.recv()
                seeds = seeds[1:]
        except EOFError:
            worker.join()
            yield f"seed {seeds[0]}", f"abort: exit code {worker.exitcode}"
        worker.kill()
        worker.join()
        seeds = seeds[1:]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--files", type=int, default=1_000, help="changed files (1000)")
    parser.add_argument("--streams", type=int, default=1_000, help="streams (1000)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.files)
    wrong = _report("files", seeds)
    seeds = range(options.first, options.first + options.streams)
    wrong += _report("streams", seeds)
    sys.exit(wrong > 0)


def _report(kind: str, seeds: range) -> int:
    """Run the cases and print what comes of them; returns how many went wrong."""
    begin, verdicts, wrong = time.perf_counter(), Counter[str](), 0
    for done, (what, verdict) in enumerate(isolated(kind, seeds), start=1):
        verdicts[verdict.partition(":")[0]] += 1
        if not is_good(verdict):
            wrong += 1
            print(f"  {kind}, seed {seeds[done - 1]}: {what}: {verdict}", flush=True)
        if done % _OFTEN == 0 or done == len(seeds):
            counts = ", ".join(f"{number} {name}" for name, number in verdicts.most_common())
            seconds = time.perf_counter() - begin
            print(f"{done} {kind} in {seconds:.0f} s: {counts}", flush=True)
    return wrong


if __name__ == "__main__":
    main()
