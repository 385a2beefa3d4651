"""Opens the visitor's endless stream, mounts its canvas, and keeps the link in step with it."""

import streamlit as st

from dashboard.canvas.program import loader
from dashboard.canvas.stream_messages import opening_message
from dashboard.compute.stream_workers import LiveStream, workers
from dashboard.model.endless import Chain, Endless, Setup
from dashboard.model.kinds import Invalid
from dashboard.server.flows import address_of
from dashboard.text import stream as words
from dashboard.ui.session import visitor, write_link

# its room is kept while the modules are fetched, else what is below would move
_canvas = st.components.v2.component(
    "rhmm_stream", css=":host { display: block; min-height: 44rem; }", js=loader("stream/stream")
)


def current_stream() -> tuple[LiveStream, Invalid | None]:
    """The stream that the settings ask for, and what is wrong with it, if anything is.

    A stream goes on when the visitor has added events to it: the settings take its script over. It
    begins anew when anything else has changed, or when it has ended.
    """
    me = visitor()
    _take_script_over()
    wanted, problem = _wanted()
    stream = me.stream
    if stream is not None and not stream.failed and wanted == _setup_now(stream):
        return stream, problem
    try:
        wanted.opened()
    except Invalid as refusal:
        problem = refusal
        me.endless.propose(events=())
        wanted = wanted._replace(events=())
    if stream is not None:
        stream.close()
    me.stream = workers().open(wanted, me.endless.valid.pace)
    me.stream_script = wanted.events
    return me.stream, problem


def _wanted() -> tuple[Setup, Invalid | None]:
    """What the settings ask for; the beginning of the visitor's file if it is too large."""
    me = visitor()
    whole = me.data.held if me.experiment.valid.own is not None else None
    try:
        return Setup.of(me.experiment.valid, me.endless.valid, whole), None
    except Invalid as refusal:
        return Setup.of(me.experiment.valid, me.endless.valid), refusal


def _setup_now(stream: LiveStream) -> Setup:
    return stream.setup._replace(events=visitor().stream_script)


def _take_script_over() -> None:
    """Let the settings have the events that were added since, unless they ask for others."""
    me = visitor()
    if me.stream is not None and me.endless.valid.events == me.stream_script:
        me.stream_script = me.stream.script
        me.endless.propose(events=me.stream.script)


def mount(stream: LiveStream, endless: Endless) -> None:
    """Mount the canvas that reads this stream."""
    _canvas(
        key="stream",
        data=opening_message(stream.setup, address_of(stream), endless.pace),
        on_changed_change=_changed,
        on_missing_change=_missing,
    )


def caption(stream: LiveStream) -> str:
    """What there is to know about this stream."""
    source = stream.setup.source
    if isinstance(source, Chain):
        return words.caption(True, True, False)
    is_own = visitor().experiment.valid.own is not None
    return words.caption(False, source.has_labels, is_own)


def _changed() -> None:
    """Another script or pace, as the browser says: the link keeps both."""
    sent = st.session_state["stream"].changed
    _take_script_over()
    if isinstance(sent, dict):
        me = visitor()
        me.endless.propose(pace=sent.get("pace"))
        me.endless.discard()  # one that cannot be was not typed by the visitor
    write_link()


def _missing() -> None:
    """The browser's stream has ended: the page opens another one."""
    me = visitor()
    if me.stream is not None:
        me.stream.close()
        me.stream = None
