"""``python -m benchmarks.compiling``: how long a new process without a cache compiles until its
first result.

In units of a Python loop of 10⁷ sums in the same run, so that machines can be compared. Processor
time, best of three; what a process with a cache needs for the same is taken off.
"""

import os
import subprocess
import sys
import tempfile
import time

_LOOP = """
total = 0
for k in range(10_000_000):
    total += k
"""

_WORK = """
import numpy as np
from rhmm import Hyperbolic, RiemannianHMM, StreamingRiemannianHMM
X = 0.5 * np.random.default_rng(0).uniform(-1.0, 1.0, (1000, 2))
{learner}(Hyperbolic(2), 3, random_state=0).fit(X)
"""

LEARNERS = ("StreamingRiemannianHMM", "RiemannianHMM")


def seconds(script: str, cache: str = "") -> float:
    """Processor seconds of a process that runs the script."""
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    before = os.times()
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], env=environment, check=True)
    after = os.times()
    return after.children_user - before.children_user


def compiling(learner: str) -> float:
    """Seconds that the compiler takes until this learner's first result."""
    work = _WORK.format(learner=learner)
    with tempfile.TemporaryDirectory() as cache:
        return seconds(work, cache) - seconds(work, cache)


def main() -> None:
    began = time.perf_counter()
    loop = min(seconds(_LOOP) for _ in range(3))
    print("| first result of | compiler, s | Python loops of 10⁷ sums |")
    print("|---|---:|---:|")
    for learner in LEARNERS:
        found = min(compiling(learner) for _ in range(3))
        print(f"| `{learner}` on the disk | {found:.1f} | {found / loop:.0f} |", flush=True)
    print(f"\nOne loop: {loop:.2f} s. All of it took {time.perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
