"""The row of links that hand out what is on screen, and the address where the files are made.

Streamlit's own download button will not do: it wants the file before anybody has asked for it, and
its page then fetches it at once, wanted or not: half a megabyte for ten thousand observations.
"""

import secrets
from collections import deque
from collections.abc import Callable
from html import escape
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dashboard import downloads
from dashboard.chain_diagram import chain_svg
from dashboard.experiment import Experiment
from dashboard.routes import route as route_to
from dashboard.runs import Run

_ADDRESS = "take"


class File(NamedTuple):
    """What is handed out as ``make(shown)``, under this name, once it is ready."""

    label: str
    name: str
    mime: str
    make: Callable[[Any], str | bytes]
    shown: Any
    ready: bool = True


class _Offer:
    """A file that a page shows a link to. It is there as long as the visitor's session keeps it."""

    def __init__(self, file: File):
        self.file = file
        self.address = secrets.token_urlsafe(12)
        _offers[self.address] = self


_offers: WeakValueDictionary[str, _Offer] = WeakValueDictionary()


def run_files(run: Run, *, ended: bool) -> None:
    """What there is of a run once it has ended, be it stopped; its script at any time."""
    ready = ended and len(run.points) > 0
    row(
        File("Data (CSV)", "data.csv", "text/csv", downloads.data_csv, run, ready),
        File("Arrays (NPZ)", "run.npz", "application/zip", downloads.arrays_npz, run, ready),
        File(
            "Results (JSON)", "results.json", "application/json", downloads.results_json, run, ready
        ),
        _script(run.experiment),
    )


def truth_files(experiment: Experiment) -> None:
    row(
        File(
            "Parameters (JSON)", "parameters.json", "application/json", downloads.experiment_json,
            experiment,
        ),
        _script(experiment),
        File("Chain (SVG)", "chain.svg", "image/svg+xml", chain_svg, experiment.transmat),
    )  # fmt: skip


def _script(experiment: Experiment) -> File:
    return File("Script (Python)", "run.py", "text/x-python", downloads.script, experiment)


def row(*files: File) -> None:
    st.html(f'<div class="takeaway">{"".join(map(_link, files))}</div>')


def _link(file: File) -> str:
    label = escape(file.label)
    if not file.ready:
        return f'<a role="link" aria-disabled="true">{label}</a>'
    # seen from the page
    address = f"./{_ADDRESS}/{_offer(file).address}/{file.name}"
    return f'<a href="{address}" download="{file.name}">{label}</a>'


def _offer(file: File) -> _Offer:
    """Of each name the latest two stay: the link in the browser may be one answer behind."""
    kept = st.session_state.setdefault("offers", {}).setdefault(file.name, deque(maxlen=2))
    if not kept or kept[-1].file.shown is not file.shown:
        kept.append(_Offer(file))
    return kept[-1]


def route() -> Route:
    """Where files are made for whoever clicks, in a thread of its own: no page waits for it."""

    async def serve(request: Request) -> Response:
        offer = _offers.get(request.path_params["offer"])
        if offer is None:
            return PlainTextResponse("This file is gone: open its page again.", status_code=404)
        file = offer.file
        content = await run_in_threadpool(file.make, file.shown)
        headers = {
            "Content-Disposition": f'attachment; filename="{file.name}"',
            "Cache-Control": "no-store",
        }
        return Response(content, media_type=file.mime, headers=headers)

    return route_to(f"{_ADDRESS}/{{offer}}/{{name}}", serve)
