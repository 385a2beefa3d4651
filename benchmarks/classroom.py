"""``python -m benchmarks.classroom``: thirty visitors on one small server.

Visitors are raw websocket sessions on the same machine (see `visitor`). The same load on a bare
Streamlit page, in the same run, says what part of a time is Streamlit's own and the machine's.
``--soak 20`` lets visitors come and go for twenty minutes instead, and prints what the server
holds.
"""

import argparse
import asyncio
import http.client
import os
import random
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from benchmarks.visitor import PAGES, Visitor
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.space import ring
from tests.browser.serving import Server, started_server

CLASS = 30
ARRIVING = 5.0
"""Seconds within which all of them open the link."""
PAUSE = 3.0
"""Seconds between two acts of a visitor, on average."""
ACTING = 45.0
"""Seconds that they act."""
HEAVY_BESIDE_RUN, HEAVY_BESIDE_HEALTH = 20, 40
UPLOADS, UPLOAD_BYTES = 100, 190_000_000


class Times(NamedTuple):
    """Seconds that something took, each time."""

    seconds: list[float]

    def __str__(self) -> str:
        if not self.seconds:
            return "–"
        p95 = statistics.quantiles(self.seconds, n=20, method="inclusive")[-1]
        return f"{statistics.median(self.seconds):6.2f} {p95:6.2f} {max(self.seconds):6.2f}"


def heavy_query(seed: int) -> str:
    """A link to a run of minutes: T = 100,000, eight states, Δ = 5,000."""
    even = tuple(8 * [1 / 8])
    experiment = Experiment(
        transmat=tuple(8 * [even]), means=tuple(ring(8, 0.7)), sigmas=tuple(8 * [0.3]),
        startprob=even, length=100_000, window=5_000, algorithms=("windowed",), seed=seed,
    )  # fmt: skip
    return urlencode(experiment.to_query())


# The scenes


async def opening(address: str) -> Times:
    """All open the link within a few seconds."""

    async def arrive() -> float:
        await asyncio.sleep(random.uniform(0.0, ARRIVING))
        begin = time.perf_counter()
        visitor = await Visitor.arrive(address)
        elapsed = time.perf_counter() - begin
        await visitor.leave()
        return elapsed

    return Times(await asyncio.gather(*(arrive() for _ in range(CLASS))))


async def acting(address: str, pages: tuple[str, ...]) -> tuple[Times, Times]:
    """All act on their pages: times of plain reruns, and of new data until the result is there."""
    plain, anew = Times([]), Times([])
    end = time.perf_counter() + ACTING

    async def act(number: int) -> None:
        visitor = await Visitor.arrive(address, pages[number % len(pages)])
        await visitor.settle()
        while time.perf_counter() < end:
            await asyncio.sleep(random.uniform(0.5, 1.5) * PAUSE)
            if random.random() < 0.5:
                plain.seconds.append(await visitor.rerun())
            else:
                clicked = await visitor.click("New data")
                anew.seconds.append(clicked + await visitor.settle())
        await visitor.leave()

    await asyncio.gather(*(act(number) for number in range(CLASS)))
    return plain, anew


async def beside_heavy(
    address: str, count: int, measure: Callable[[str], Awaitable[list[float]]]
) -> Times:
    """What `measure` says while so many visitors wait for runs of minutes."""

    async def wait_for_it(seed: int) -> None:
        visitor = await Visitor.arrive(address, "", heavy_query(seed))
        await visitor.settle(3600.0)

    waiting = [asyncio.create_task(wait_for_it(random.randrange(10**6))) for _ in range(count)]
    await asyncio.sleep(10.0)  # all of them are there, and the first have begun
    try:
        return Times(await measure(address))
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def default_runs(address: str) -> list[float]:
    """A visitor who asks for new data of the default size, five times."""
    visitor = await Visitor.arrive(address, "")
    await visitor.settle()
    times = []
    for _ in range(5):
        times.append(await visitor.click("New data") + await visitor.settle())
        await asyncio.sleep(1.0)
    await visitor.leave()
    return times


async def health(address: str) -> list[float]:
    """How long the server takes to say that it is well, twenty times."""

    def ask() -> float:
        begin = time.perf_counter()
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=120) as answer:
            answer.read()
        return time.perf_counter() - begin

    times = []
    for _ in range(20):
        times.append(await asyncio.to_thread(ask))
        await asyncio.sleep(0.25)
    return times


async def uploading(server: Server, count: int) -> tuple[int, int]:
    """Send large files to Streamlit's own address: how many are taken, and the bytes that cost."""
    visitor = await Visitor.arrive(server.address)
    before = _memory(server.pid)
    taken = 0
    for number in range(count):
        status = await asyncio.to_thread(_put, server.address, visitor.session, str(number))
        taken += status < 300
    grown = _memory(server.pid) - before
    await visitor.leave()
    return taken, grown


def _put(address: str, session: str, name: str) -> int:
    """The status of the answer to a file, sent as a browser does, or 499 if it was cut off."""
    with urllib.request.urlopen(f"{address}/_stcore/health") as answer:
        cookie = (answer.headers["Set-Cookie"] or "").partition(";")[0]
    head = (
        b'--edge\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n'
        b"Content-Type: application/octet-stream\r\n\r\n"
    )
    foot = b"\r\n--edge--\r\n"
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    connection.putrequest("PUT", f"/_stcore/upload_file/{session}/{name}")
    connection.putheader("Content-Type", "multipart/form-data; boundary=edge")
    connection.putheader("Content-Length", str(len(head) + UPLOAD_BYTES + len(foot)))
    connection.putheader("Cookie", cookie)
    connection.putheader("X-Xsrftoken", cookie.partition("=")[2])
    connection.endheaders()
    block = bytes(1_000_000)
    try:
        connection.send(head)
        for _ in range(UPLOAD_BYTES // len(block)):
            connection.send(block)
        connection.send(foot)
        return connection.getresponse().status
    except (ConnectionError, http.client.HTTPException):
        return 499
    finally:
        connection.close()


# What the server holds


def _memory(pid: int) -> int:
    """Bytes of memory that the process and those that it has started have."""
    status = Path(f"/proc/{pid}/status").read_text()
    own = 1024 * int(status.partition("VmRSS:")[2].split()[0])
    started = Path(f"/proc/{pid}/task").glob("*/children")
    return own + sum(_memory(int(child)) for file in started for child in file.read_text().split())


def _descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def soak(server: Server, minutes: float) -> None:
    """Visitors come, look around and go; about fifteen a minute."""
    end = time.perf_counter() + 60 * minutes
    visits = 0

    async def visit() -> None:
        visitor = await Visitor.arrive(server.address, random.choice(PAGES))
        for _ in range(random.randint(1, 6)):
            await asyncio.sleep(random.uniform(0.5, 1.5) * PAUSE)
            await visitor.click("New data")
        await visitor.leave()

    visiting: set[asyncio.Task] = set()
    report_at = 0.0
    while time.perf_counter() < end:
        if time.perf_counter() >= report_at:
            report_at = time.perf_counter() + 60
            _say_what_is_held(server, f"{visits} visits")
        task = asyncio.create_task(visit())
        visiting.add(task)
        task.add_done_callback(visiting.discard)
        visits += 1
        await asyncio.sleep(random.uniform(0.0, 8.0))
    await asyncio.gather(*visiting)
    await asyncio.sleep(150.0)  # Streamlit keeps sessions for two minutes after a visit
    _say_what_is_held(server, f"two minutes after the last of {visits}")


def _say_what_is_held(server: Server, when: str) -> None:
    memory, files = _memory(server.pid) / 1e6, _descriptors(server.pid)
    print(f"{when:40}{memory:8.0f} MB{files:6} descriptors", flush=True)


# The table


def _say(what: str, ours: object, bare: object, goal: str) -> None:
    print(f"{what:52}{ours!s:>22}{bare!s:>24}   {goal}", flush=True)


async def measure(server: Server, bare: Server) -> None:
    _say("seconds: median, p95, longest", "dashboard", "bare page", "goal")
    for page in PAGES:  # kernels, caches and the default sweep are there
        visitor = await Visitor.arrive(server.address, page)
        await visitor.settle()
        await visitor.leave()
    _say(
        f"{CLASS} open the link within {ARRIVING:.0f} s",
        await opening(server.address), await opening(bare.address), "p95 ≤ 0.3",
    )  # fmt: skip
    ours, theirs = await acting(server.address, PAGES), await acting(bare.address, ("",))
    _say(f"{CLASS} on all pages: plain rerun", ours[0], theirs[0], "p95 ≤ 0.2")
    _say("  the same: new data, result on screen", ours[1], theirs[1], "p95 ≤ 0.8")
    beside = await beside_heavy(server.address, HEAVY_BESIDE_RUN, default_runs)
    _say(f"a default run beside {HEAVY_BESIDE_RUN} heavy clients", beside, "–", "≤ 5")
    beside = await beside_heavy(server.address, HEAVY_BESIDE_HEALTH, health)
    _say(
        f"/_stcore/health beside {HEAVY_BESIDE_HEALTH} heavy clients",
        beside, Times(await health(bare.address)), "≤ 1",
    )  # fmt: skip
    taken, grown = await uploading(server, UPLOADS)
    bare_taken, bare_grown = await uploading(bare, 2)
    _say(
        f"{UPLOADS} uploads of 190 MB ({2} to the bare page)",
        f"{taken} taken, {grown / 1e6:+.0f} MB", f"{bare_taken} taken, {bare_grown / 1e6:+.0f} MB",
        "refused, < 20 MB",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soak", type=float, metavar="MINUTES", help="let visitors come and go")
    minutes = parser.parse_args().soak
    random.seed(0)
    with (
        tempfile.TemporaryDirectory() as first,
        tempfile.TemporaryDirectory() as second,
        started_server(Path(first)) as server,
    ):
        if minutes:
            asyncio.run(soak(server, minutes))
            return
        os.environ["STREAMLIT_SERVER_MAX_UPLOAD_SIZE"] = "200"  # as Streamlit has it by default
        with started_server(Path(second), "benchmarks/bare_page.py") as bare:
            asyncio.run(measure(server, bare))


if __name__ == "__main__":
    main()
