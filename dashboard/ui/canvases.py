"""Mounts the canvases on a page and hands on what they send. `canvas.protocol` says how they talk.

What a session knows of a canvas is one `Channel` of the visitor.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from dashboard.canvas import messages
from dashboard.canvas.program import loader
from dashboard.canvas.protocol import Channel, ViewReport, read_moved, read_view
from dashboard.compute.runs import ExperimentRun
from dashboard.model.experiment import Experiment
from dashboard.model.spaces.chart import Chart
from dashboard.model.truth import Placed
from dashboard.model.view import View
from dashboard.ui.session import visitor

OnMoved = Callable[[list[Placed]], None]
OnView = Callable[[ViewReport], None]

# its room is kept while the modules are fetched, else what is below would move
_lab = st.components.v2.component(
    "rhmm_lab", css=":host { display: block; min-height: 36rem; }", js=loader("lab")
)
_feed = st.components.v2.component("rhmm_feed", js=loader("feed"))
_sketch = st.components.v2.component("rhmm_sketch", js=loader("sketch"))


def lab(
    run: ExperimentRun,
    over: bool,
    view: View,
    links: int,
    *,
    doing: str,
    key: str,
    on_moved: OnMoved,
    on_view: OnView,
) -> None:
    """Mount the Live lab with what is known of the run; `over` says that no more of it will come.

    `doing` is what the server is doing for it.

    `links` counts the links that were opened: the canvas shows `view` when it has risen. The
    callbacks get what the visitor has dropped, and what is on screen.
    """
    channel, chart = _channel(key), run.chart
    channel.drew(chart)
    message = messages.run_message(
        run,
        over,
        view,
        chart,
        doing=doing,
        view_version=links,
        acknowledged=channel.acknowledged,
        version=channel.version + 1,
        before=channel.known,
    )
    _lab(
        key=key,
        data=message,
        on_moved_change=_moved(key, on_moved),
        on_view_change=_viewed(key, on_view),
        on_missing_change=channel.send_all,
    )
    channel.sent(run)  # not before: Streamlit may end this run in place of the mount


def feed(run: ExperimentRun, *, key: str) -> None:
    """Send the run's observations to the lab, once; this takes no room on the page."""
    channel, version = _channel(key), messages.cloud_version(run)
    message = messages.cloud_message(run, run.chart, channel.known, sent=channel.version)
    _feed(key=key, data=message, on_missing_change=channel.send_all)
    if channel.known != version:
        channel.sent(version)


def sketch(
    experiment: Experiment,
    means: Sequence,
    sigmas: Sequence,
    chart: Chart,
    *,
    key: str,
    on_moved: OnMoved,
) -> None:
    """Mount the map of a true model: the experiment's data, and these means and σ.

    The callback gets what the visitor has dropped.
    """
    channel = _channel(key)
    channel.drew(chart)
    message = messages.sketch_message(experiment, means, sigmas, chart, channel.acknowledged)
    _sketch(key=key, data=message, on_moved_change=_moved(key, on_moved))


def send_all(key: str) -> None:
    """Let the next message to this canvas be whole: the browser may have nothing."""
    _channel(key).send_all()


def _channel(key: str) -> Channel:
    return visitor().channels.setdefault(key, Channel())


def _moved(key: str, on_moved: OnMoved) -> Callable[[], None]:
    def moved() -> None:
        sent = read_moved(st.session_state[key].moved)
        if sent:
            channel = _channel(key)
            channel.acknowledge(sent)
            on_moved(
                [
                    Placed(drop["state"], channel.charts[chart], drop["x"], drop["y"])
                    for drop in sent.pending
                    if (chart := drop.get("chart", "")) in channel.charts
                ]
            )

    return moved


def _viewed(key: str, on_view: OnView) -> Callable[[], None]:
    def viewed() -> None:
        sent = read_view(st.session_state[key].view)
        if sent:
            on_view(sent)

    return viewed
