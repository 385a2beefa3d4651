"""The controls that say how a visitor's file is to be read, where the detection is wrong."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from dashboard.text.fitted import LAYOUT_NAMES, SHRINKAGE_NAMES, SPACE_NAMES
from dashboard.ui import sync
from dashboard.ui.own_data import OwnData
from dashboard.ui.session import visitor
from rhmm.reading import Window
from rhmm.reading.spaces import SIGNAL
from rhmm.reading.text import SEPARATORS

_DETECT = "\0"
"""The choice to detect a value; no column is called so."""
_NONE = ""
_MOST_SAMPLES = 1_000_000


def read_controls() -> None:
    """All that can be said of the file, beside what was detected."""
    data = visitor().data
    report = data.report
    kind = "" if data.file is None else data.file.name.rpartition(".")[2].lower()
    with st.container(key="read-controls"):
        _choice(data, "space", "Space", SPACE_NAMES)
        _choose_layout(data)
        if kind in ("csv", "tsv", "txt"):
            names = {key: name.capitalize() for key, name in SEPARATORS.items()}
            _choice(data, "separator", "Separator", names)
        if kind == "npz":
            _choice(data, "array", "Array with the observations", {n: n for n in data.names})
        if data.names:
            for role in ("label", "sequence", "time"):
                columns = {_NONE: "None"} | {name: name for name in data.names}
                _choice(data, role, f"{role.capitalize()} of each row", columns)
        if report is not None and report.layout == SIGNAL and report.window is not None:
            _choose_window(data, report.window)
    if data.names and kind != "npz":
        _choose_columns(data)


def _choice(data: OwnData, option: str, label: str, names: Mapping[str, str], **others) -> None:
    """A box with the values of one option, the first of them to detect it."""

    def keep(value: str) -> None:
        data.say(**{option: None if value == _DETECT else value}, **others)

    found = None if data.report is None else getattr(data.report, option)
    detected = (
        "Detect it" if data.report is None else f"Detected: {names.get(found or _NONE, 'none')}"
    )
    given = getattr(data.options, option)
    _mount(
        st.selectbox,
        data,
        option,
        label,
        _DETECT if given is None else given,
        keep,
        options=[_DETECT, *names],
        format_func=({_DETECT: detected} | dict(names)).get,
    )


def _choose_layout(data: OwnData) -> None:
    """Windows are for signals alone."""
    _choice(data, "layout", "A row holds", LAYOUT_NAMES, window=None)


def _choose_window(data: OwnData, window: Window) -> None:
    def say(**changes) -> None:
        data.say(window=window._replace(**changes), layout=None)

    def whole(name: str) -> Callable[[Any], None]:
        return lambda value: say(**{name: value}) if value else None

    for name, label, least in (
        ("length", "Window, in samples", 2),
        ("step", "Step, in samples", 1),
    ):
        _mount(
            st.number_input, data, name, label, getattr(window, name), whole(name),
            min_value=least, max_value=_MOST_SAMPLES, step=1,
        )  # fmt: skip
    _mount(
        st.selectbox, data, "shrinkage", "Shrinkage", window.shrinkage,
        lambda value: say(shrinkage=value), options=list(SHRINKAGE_NAMES),
        format_func=SHRINKAGE_NAMES.get,
        help="Pulls each covariance towards a multiple of the identity, so that short windows give "
        "matrices that can be inverted.",
    )  # fmt: skip


def _choose_columns(data: OwnData) -> None:
    used = list(data.options.columns or ())
    _mount(
        st.multiselect, data, "columns", "Columns with the numbers", used,
        lambda chosen: data.say(columns=tuple(chosen) or None), options=list(data.names),
        placeholder="All others",
    )  # fmt: skip


def _mount(mount: Callable, data: OwnData, name: str, label: str, value, keep, **options) -> None:
    """A control of this very file: the next one gets new controls."""
    sync.widget(mount, f"read-{name}-{data.uploads}", label, value, keep, **options)
