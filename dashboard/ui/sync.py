"""Keeps a widget in the browser and its value on the server in step, wherever it changes.

The server holds for each widget the value that it has given, and a version. The version is part of
the widget's key, so each change from the browser says which version it answers.

- A change under the current version is acknowledged: the owner of the value gets it, and the
  version stays, so that the visitor is not disturbed in typing.
- A change under an older version is dropped. While a job runs, the page looks at it again and
  again, and each look brings the values of all widgets from the browser: some may be older than the
  value shown here, and must not pass for a change by the visitor.
- The version rises when the value was changed elsewhere (by a link, another control, a drag on the
  canvas) and when the widget comes onto another page or back onto this one. The browser then gets
  a new widget.

A given value is pending until the first change under its version. A pending value is given again at
every run: Streamlit may discard what it has not sent yet, and a widget that never got its value
would begin at its first choice. After that it is not given again: it would undo the visitor's
second change while the first is being answered. A widget that was not on the page for a while is
given its value anew, because Streamlit has forgotten it.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.model.truth import Rows, edited
from dashboard.ui import session
from dashboard.ui.session import Synced

ROW_HEIGHT = 38
"""Of a table, in pixels."""
_COLUMN_WIDTH = 62
_MOST_ENTRIES = 200
"""Widgets that a session remembers: more than all pages have, and a limit to its memory."""


def widget(mount: Callable, name: str, label: str, value, keep: Callable, /, **options) -> None:
    """Mount a Streamlit widget that shows `value`; `keep` gets what the visitor makes of it."""
    entry = _current(name, value, lambda given, sent: sent)
    key = _key(name, entry)
    if not entry.answered or key not in st.session_state:
        st.session_state[key] = value
    mount(label, key=key, on_change=_acknowledge(name, keep), **options)


def hide(name: str) -> None:
    """Note that this widget is not on the page: when it comes back it will be a new one.

    If the run that hides it is cut short, the server still knows the widget's value, but the
    browser may not: it would begin at its first choice.
    """
    entry = session.visitor().synced.get(name)
    if entry is not None:
        entry.page = ""


def table(
    name: str,
    rows: Rows,
    row_names: Sequence[str],
    columns: Mapping[str, str],
    keep: Callable,
    alt: str,
) -> None:
    """Mount a table to type in that shows `rows`; `keep` gets them as the visitor changes them.

    `columns` are the headings, each with a definition that is shown on hover.

    The browser keeps what is typed as changes to the table that it was given: as long as these
    changes explain `rows`, it is given the same table again.
    """

    def said(given: Rows, sent: Mapping) -> Rows | None:
        if len(given) != len(rows):  # the changes may be to columns that are no more
            return None
        return edited(given, sent.get("edited_rows", {}), list(columns))

    entry = _current(name, rows, said)
    st.data_editor(
        pd.DataFrame(np.array(entry.given, dtype=float), index=row_names, columns=list(columns)),
        key=_key(name, entry),
        on_change=_acknowledge(name, lambda sent: keep(said(entry.given, sent))),
        disabled=["_index"],
        row_height=ROW_HEIGHT,
        column_config={
            column: st.column_config.NumberColumn(width=_COLUMN_WIDTH, help=definition)
            for column, definition in columns.items()
        },
        alt=alt,
    )


def _current(name: str, value, said: Callable) -> Synced:
    """The entry of this widget, of a new version if the browser does not show `value`.

    `said(given, sent)` is the value that the browser means by what it has sent.
    """
    here = session.script_context().page_script_hash
    entries = session.visitor().synced
    entry = entries.pop(name, None)  # what was on a page last stands last
    if entry is None:
        entry = Synced(value, 0, here)
    elif entry.page != here or not _alike(_shown(name, entry, said), value):
        entry = Synced(value, entry.version + 1, here)
    entries[name] = entry
    while len(entries) > _MOST_ENTRIES:
        del entries[next(iter(entries))]
    return entry


def _shown(name: str, entry: Synced, said: Callable):
    """What the browser shows, as far as the server knows."""
    key = _key(name, entry)
    return said(entry.given, st.session_state[key]) if key in st.session_state else entry.given


def _acknowledge(name: str, keep: Callable) -> Callable[[], None]:
    """The callback of a widget: `keep` gets what was sent, if it answers the current version."""
    entry = session.visitor().synced[name]

    def changed() -> None:
        if session.visitor().synced.get(name) is entry:
            entry.answered = True
            keep(st.session_state[_key(name, entry)])

    return changed


def _key(name: str, entry: Synced) -> str:
    return f"control-{name}-{entry.version}"


def _alike(shown, value) -> bool:
    """Whether both are the same value; the order of several choices does not matter."""
    if isinstance(shown, list) and isinstance(value, list):
        return sorted(shown) == sorted(value)
    return shown == value
