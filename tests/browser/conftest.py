import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
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


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """Address of the dashboard, served by a process of its own on a free loopback port."""
    port = _free_port()
    log = tmp_path_factory.mktemp("server") / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", "app.py"]
    options = ["--server.headless=true", f"--server.port={port}"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command + options, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        address = f"http://localhost:{port}"
        _wait_until_healthy(f"{address}/_stcore/health", process, log)
        yield address
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def browser():
    path = chromium.find()
    assert path, "no Chromium found: `make test` installs one"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, server):
    """Function that opens the dashboard in a fresh context, given that context's options.

    What the browser complains about is collected in the page's `complaints`.
    """
    contexts = []

    def open_page(path="/", **options):
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE * 1000)
        page = context.new_page()
        page.complaints = []
        page.on("console", lambda m: m.type == "error" and page.complaints.append(m.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(server + path)
        return page

    yield open_page
    for context in contexts:
        context.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return probe.getsockname()[1]


def _wait_until_healthy(url: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the server ended at once:\n{log.read_text()}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"the server did not answer within {PATIENCE:.0f} s:\n{log.read_text()}")
