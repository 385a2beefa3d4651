"""The canvas components: what moves on a page is drawn in the browser, sixty times a second.

A finished run travels once as one compact message; playing, stepping and zooming need no server.
"""

import hashlib
import json
from collections.abc import Callable

import numpy as np
import streamlit as st

from dashboard.canvas.program import loader
from dashboard.compute.runs import ExperimentRun as Run
from dashboard.compute.runs import observations_held, trace_stride
from dashboard.figures.states import STATE_COLOURS
from dashboard.model.methods import EM, KMEANS, ONLINE
from dashboard.model.view import View
from rhmm.scoring import path_errors

MOST_POINTS = 15_000
"""Of longer chains every second, third, … point is drawn."""

# its room is kept while the program is fetched, else what is below would move
_lab = st.components.v2.component(
    "rhmm_lab", css=":host { display: block; min-height: 36rem; }", js=loader("lab")
)
_feed = st.components.v2.component("rhmm_feed", js=loader("feed"))


def lab(run: Run, over: bool, view: View, links: int, *, key: str, on_moved, on_view) -> None:
    """Mount the Live lab with what a `run_message` says that goes on from the last one.

    A browser that has missed the last one asks for all of it. The callbacks find what was sent in
    ``st.session_state[key]``.
    """
    number, before = _last_message(key)
    st.session_state[f"message-{key}"] = number + 1, run
    _lab(
        key=key,
        data=run_message(run, over, view, links, heard(key), number + 1, before),
        on_moved_change=hearing(key, on_moved),
        on_view_change=on_view,
        on_missing_change=lambda: send_all(key),
    )


def send_all(key: str) -> None:
    """Let the next message to this canvas say all that is known: the browser may have nothing."""
    number, _ = _last_message(key)
    st.session_state[f"message-{key}"] = number, None


def _last_message(key: str) -> tuple[int, Run | None]:
    """Its number, and what of the run was known then; None if the next is not to go on from it."""
    return st.session_state.get(f"message-{key}", (0, None))


def heard(key: str) -> int:
    """The number of the last drop that has come from this canvas, or one before it in its place.

    Until a message says so the canvas takes what it has dropped for the truth, and repeats it with
    the next drop.
    """
    return st.session_state.get(f"heard-{key}", 0)


def hearing(key: str, on_moved: Callable[[], None]) -> Callable[[], None]:
    """The callback, after a note of what was `heard`."""

    def moved() -> None:
        drops = st.session_state[key].moved
        if drops:
            st.session_state[f"heard-{key}"] = drops[-1]["number"]
        on_moved()

    return moved


def feed(run: Run, *, key: str) -> None:
    """Send the cloud of points, once; it takes no room on the page.

    Later only its name is sent. A browser that does not know it asks for the cloud.
    """
    sent, name = f"sent-{key}", _cloud_name(run)

    def asked() -> None:
        st.session_state[sent] = None

    known = st.session_state.get(sent) == name
    st.session_state[sent] = name
    data = pack({"name": name}, {}) if known else cloud_message(run)
    _feed(key=key, data=data, on_missing_change=asked)


def pack(about: dict, arrays: dict[str, np.ndarray]) -> bytes:
    """The length of a JSON text, the text that says what follows, and the arrays.

    Each array begins at a multiple of eight bytes, as typed arrays in JavaScript want it; offsets
    are counted from the first. payload.js reads this.
    """
    table, body = [], bytearray()
    for name, array in arrays.items():
        table.append(
            {"name": name, "type": array.dtype.name, "count": array.size, "offset": len(body)}
        )
        body += np.ascontiguousarray(array).tobytes()
        body += bytes(-len(body) % 8)
    text = json.dumps({"about": about, "arrays": table}).encode()
    head = len(text).to_bytes(4, "little") + text
    return head + bytes(-len(head) % 8) + bytes(body)


def run_id(run: Run) -> str:
    """The same for the same experiment, wherever and whenever it is computed."""
    return hashlib.sha256(repr(run.experiment).encode()).hexdigest()[:12]


def _cloud_name(run: Run) -> str:
    """The same for the same cloud: what of it is known is all that can differ."""
    return f"{run_id(run)} {len(run.points)} {run.method(ONLINE) is not None}"


def cloud_message(run: Run) -> bytes:
    stride = max(1, -(-len(run.points) // MOST_POINTS))  # a queued run has no points yet
    arrays = {
        "xy": run.points[::stride].astype(np.float32),
        "states": run.true_states[::stride].astype(np.int8),
    }
    online = run.method(ONLINE)
    if online is not None:
        arrays["decoded"] = online.states[::stride].astype(np.int8)
    return pack({"id": run_id(run), "name": _cloud_name(run), "stride": stride}, arrays)


def run_message(
    run: Run,
    over: bool,
    view: View,
    links: int = 0,
    drops: int = 0,
    number: int = 1,
    before: Run | None = None,
) -> bytes:
    """What is known of the run so far; `over` says that no more of it will come.

    Messages have a `number`. To a browser that has the last one it is enough to send what has come
    since `before`.

    The canvas keeps what people do with it until one of the counts rises: they have opened another
    link, which is seen as `view` says, or what they dropped was heard, be it accepted or not.
    """
    experiment, n = run.experiment, run.experiment.n_states
    held = observations_held(experiment)
    stride = trace_stride(experiment)
    truth = experiment.source.true_model()
    known = _known_rows(before, run)
    if run.trace is None:
        steps, means, transmats, sigmas = np.zeros(0), *np.zeros((3, 0))
        errors, frames = np.zeros(0), 1
    else:
        steps, means, transmats, sigmas = (field[known:] for field in _path(run))
        errors = np.stack(path_errors(run.trace.transmat, run.trace.means, truth), axis=1)[known:]
        frames = (experiment.length - int(run.trace.step[0])) // stride + 1
    arrays = {
        "steps": steps.astype(np.int32),
        "means": means.astype(np.float32),
        "transmat": transmats.astype(np.float32),
        "sigmas": sigmas.astype(np.float32),
        "errors": errors.astype(np.float32),
    }
    em, kmeans = (
        None if known and before.method(name) else run.method(name) for name in (EM, KMEANS)
    )
    if kmeans is not None:
        arrays |= _rival("kmeans", kmeans, [kmeans.model.means_])
    if em is not None:
        arrays |= _rival("em", em, [parameters.means for parameters in run.em_path])
    about = {
        "id": run_id(run),
        "number": number,
        "after": number - 1 if known else None,
        "truth": {
            "means": experiment.means,
            "sigmas": experiment.sigmas,
            "transmat": experiment.transmat,
            "colours": STATE_COLOURS[:n],
        },
        "length": experiment.length,
        "frames": frames,
        "held": held,
        "heldName": f"the {held:,} observations it holds",
        "over": over,
        "withoutPath": _without_path(run, over),
        "view": view.for_browser(),
        "links": links,
        "heard": drops,
    }
    return pack(about, arrays)


def _path(run: Run) -> tuple[np.ndarray, ...]:
    """What is drawn of the online learner's path, a row for each frame."""
    return run.trace.step, run.trace.means, run.trace.transmat, run.trace.sigmas


def _known_rows(before: Run | None, run: Run) -> int:
    """How many rows of the path were known before: none if one of them was another.

    While the learner goes on, its states may turn out to be in another order.
    """
    if before is None or before.experiment != run.experiment or before.trace is None:
        return 0
    known = len(before.trace.step)
    pairs = zip(_path(before), _path(run), strict=True)
    return known if all(np.array_equal(old, new[:known]) for old, new in pairs) else 0


def _without_path(run: Run, over: bool) -> str:
    """What to say in place of errors while the online learner has no path to show."""
    if run.method(ONLINE) is not None:
        return "Δ is the whole chain, or nearly: no online step to show"
    return "it ended before its first estimate" if over else "collecting its first observations"


def _rival(name: str, method, path: list[np.ndarray]) -> dict[str, np.ndarray]:
    return {
        f"{name}Means": np.stack(path).astype(np.float32),
        f"{name}Transmat": method.model.transmat_.astype(np.float32),
        f"{name}Errors": np.array([method.transition_error, method.mean_error], np.float32),
    }
