"""Finds the Chromium the browser tests drive; as a program, installs one where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
"""Chromium without the windows and menus that no test looks at: a page takes a third less time."""

NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find() -> str | None:
    """Path of a Chromium that starts: one on the PATH, else the one Playwright installed."""
    on_path = (shutil.which(name) for name in NAMES)
    return next((path for path in on_path if path and _starts(path)), None) or _playwrights_own()


def install() -> None:
    """Install Debian's package where that is possible, else Playwright's own build."""
    if _is_root() and shutil.which("apt-get"):
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update"], env=quiet)
        subprocess.run(["apt-get", "install", "--yes", SHELL], env=quiet)
        if find():
            return
    with_libraries = ["--with-deps"] if _is_root() else []
    subprocess.run([sys.executable, "-m", "playwright", "install", *with_libraries, "chromium"])


def _starts(path: str) -> bool:
    # Some distributions ship a placeholder that only says what to install.
    return subprocess.run([path, "--version"], capture_output=True).returncode == 0


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


if __name__ == "__main__":
    if find() is None:
        print("Installing Chromium for the browser tests")
        install()
    if find() is None:
        sys.exit("The browser tests need Chromium. Please install it and make sure it starts.")
