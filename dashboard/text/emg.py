"""What is reached on the recording of hand signs, as `python -m benchmarks.emg` has printed it."""

import json
from functools import cache
from pathlib import Path

from dashboard.text import formatting

_FILE = Path(__file__).parent / "emg.json"
"""Written by ``python -m benchmarks.emg --out dashboard/text/emg.json``."""
_RAW = "ours, riemannian, not re-centred"
_METHODS = {
    _RAW: "Round Gaussians, windows as they are",
    "ours, riemannian": "Round Gaussians, each cycle re-centred",
    "ours, tied": "One shape for all states, re-centred",
    "hmmlearn tied, best of 5": "hmmlearn on the tangent space, tied, re-centred",
}
"""By their names in the benchmark."""
_SESSIONS = {
    "rr_s1": "rr, session 1 (%)", "rr_s2": "rr, session 2 (%)",
    "mg_s2": "mg, session 2 (%)", "mg_s1": "mg, session 1 (%)",
}  # fmt: skip
TITLE = "What is reached without labels, and what did not work"


@cache
def _figures() -> dict[str, dict[str, float]]:
    return json.loads(_FILE.read_text(encoding="utf-8"))


def table() -> dict[str, list[str]]:
    """The share of windows whose sign is found, for each way to learn and each session."""
    rows = [_figures()[name] for name in _METHODS]
    return {"Five states": list(_METHODS.values())} | {
        title: [f"{100 * row[session]:.1f}" for row in rows] for session, title in _SESSIONS.items()
    }


def words() -> str:
    """What did not work, and why."""
    raw = [_figures()[_RAW][session] for session in _SESSIONS]
    seeds = {int(_figures()[name]["seeds"]) for name in _METHODS}
    return (
        "**Round Gaussians on the windows as they are did not work:** they find "
        f"{100 * min(raw):.0f} to {100 * max(raw):.0f} % of the signs. A round Gaussian has one "
        "width for all 36 directions of these matrices, and muscles do not vary alike in all of "
        "them: a sign that varies much along one direction is cut into two states, and two others "
        "must share one. And the six cycles of a session differ as a whole, because electrodes "
        "move and skin changes, so that a state may stand for a cycle instead of a sign. "
        "Re-centring each cycle takes the second reason away, one learned shape for all states "
        "the first; re-centring alone does not help in every session.\n\n"
        "Accuracy after matching states with signs, median over "
        f"{formatting.listed([str(n) for n in sorted(seeds)])} seeds of the search. In session 1 "
        "of mg the electrodes were shifted by one after the fourth cycle; that is undone here for "
        "all of them. `python -m benchmarks.emg` prints this table."
    )
