"""Starts the dashboard as people do, and the browser that looks at it."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import sync_playwright

from tests.browser import chromium

ROOT = Path(__file__).parents[2]

# Long enough for any machine: a test fails because something is wrong, not because it is slow.
PATIENCE = 180.0

FLAGS = [
    "--no-sandbox",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Server(NamedTuple):
    """The dashboard, served by a process of its own on a free loopback port."""

    address: str
    log: Path
    pid: int

    def complaints(self) -> list[str]:
        """Lines of the log beyond the greeting: there should be none."""
        greeting = ("Uvicorn server started", "You can now view", "URL:")
        lines = self.log.read_text().splitlines()
        return [line for line in lines if line.strip() and not any(g in line for g in greeting)]


@contextmanager
def started_server(folder: Path, script: str = "app.py"):
    port = _free_port()
    log = folder / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", script]
    options = ["--server.headless=true", f"--server.port={port}"]
    # runs of sweeps go to a folder of the server's own, unless the environment says where
    environment = {"RHMM_CACHE": str(folder / "cache"), **os.environ}
    with log.open("w") as output:
        process = subprocess.Popen(
            command + options, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        address = f"http://localhost:{port}"
        _wait_until_healthy(f"{address}/_stcore/health", process, log)
        yield Server(address, log, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def started_browser():
    path = chromium.find()
    if not path:
        raise RuntimeError("no Chromium found: `make test` installs one")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended at once:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not answer within {PATIENCE:.0f} s:\n{log.read_text()}")
