import asyncio
import re

import pytest
from starlette.requests import Request
from starlette.responses import Response

from dashboard.canvas import program


def answer(version: str, file: str):
    scope = {"type": "http", "path_params": {"version": version, "file": file}}
    return asyncio.run(program.serve(Request(scope)))


def test_a_module_is_served_under_its_version_and_may_be_kept():
    response = answer(program.version(), "charts/disk.js")

    assert response.body.decode() == program.modules()["charts/disk.js"]
    assert response.media_type == "text/javascript"
    assert "immutable" in response.headers["Cache-Control"]


@pytest.mark.parametrize("file", ["lab.html", "protocol.py", "../model/view.py", "nothing.js"])
def test_only_modules_are_served(file):
    assert answer(program.version(), file).status_code == 404


def test_modules_of_another_version_are_not_served():
    assert answer("000000000000", "lab.js").status_code == 404


FOLDERS = ("lesson/", "stream/")
"""Those with the modules of one page."""


def is_of_one_page(file: str) -> bool:
    return file.startswith(FOLDERS)


def test_the_loader_asks_for_every_module_at_once_but_those_of_other_pages():
    source = program.loader("lab")

    for file in program.modules():
        assert (f'"{file.removesuffix(".js")}"' in source) == (not is_of_one_page(file))
    assert program.version() in source


@pytest.mark.parametrize("page", ["lesson", "stream"])
def test_a_page_with_a_folder_asks_for_its_modules_too_and_begins_there(page):
    source = program.loader(f"{page}/{page}")

    for file in program.modules():
        asked_for = not is_of_one_page(file) or file.startswith(f"{page}/")
        assert (f'"{file.removesuffix(".js")}"' in source) == asked_for
    assert f'(await load("{page}/{page}")).{page}(component)' in source


@pytest.mark.parametrize(
    ("kind", "named"), [("text/html; charset=utf-8", True), ("text/css", False)]
)
def test_a_page_names_the_modules_and_other_files_do_not(kind, named):
    sent = []

    async def send(message):
        sent.append(message)

    app = program.Preload(Response("", media_type=kind))
    asyncio.run(app({"type": "http"}, None, send))

    links = dict(sent[0]["headers"]).get(b"link", b"").decode()
    for file in program.modules():
        is_named = f"<./canvas/{program.version()}/{file}>; rel=modulepreload" in links
        assert is_named == (named and not is_of_one_page(file))


def test_no_module_but_the_disk_s_knows_the_disk():
    # the lesson teaches the geometry of the disk itself; all else shows whatever space there is
    others = {f: s for f, s in program.modules().items() if not f.startswith("lesson/")}
    for file, source in others.items():
        if file not in ("charts/disk.js", "charts/chart.js", "shared.js"):
            assert not re.search(r"Poincaré|geodesic|hyperbolic|\bdisk\b", source, re.I), file
