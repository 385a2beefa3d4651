"""Loops that must end whatever they are given: each runs in a process that is killed if it does
not, so that the test fails and the others go on."""

import os
import subprocess
import sys

_PATIENCE = 300
"""Seconds after which a loop counts as endless; compilation may come first."""


def printed_in_time(script: str) -> str:
    """What a process prints that runs this script and must end by itself."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", script]
    done = subprocess.run(
        arguments, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=True
    )
    return done.stdout.strip()
