"""From a file that is dropped on the Data page to the states on the visitor's disk."""

import csv
import io
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest

from dashboard.model.analysis import SHIPPED
from rhmm.paper import paper_model
from tests.browser.serving import ROOT
from tests.browser.stillness import barriers_in_light_and_dark, wait_until_still
from tests.reading.files import csv_bytes, named, npy_bytes, npz_bytes, parquet_bytes

POINTS, STATES = paper_model().sample(200, random_state=2)
SIGNAL = np.random.default_rng(0).standard_normal((3_000, 5)).round(6)
SIGNAL[1_000:2_000] *= 3.0
SIGNAL[2_000:, 1] += SIGNAL[2_000:, 0]
FORMATS = {
    "walk.csv": csv_bytes(named(POINTS) | {"label": STATES}),
    "walk.npy": npy_bytes(POINTS),
    "walk.npz": npz_bytes(points=POINTS, label=STATES),
    "walk.parquet": parquet_bytes(named(POINTS) | {"label": STATES}),
    "raw signal.csv": csv_bytes(named(SIGNAL)),  # 30 windows
}
_RUN_ALL = (
    "import os, runpy, sys\n"
    "for folder in sys.argv[1:]:\n"
    "    os.chdir(folder)\n"
    "    runpy.run_path('fit.py', run_name='__main__')\n"
)
"""One process runs the scripts of several folders: importing the engine takes most of the time."""


class DataPage:
    """The Data page as a person at the browser uses it."""

    def __init__(self, page):
        self.page = page
        page.get_by_role("heading", level=1, name="The states behind your data").wait_for()

    def drop(self, name: str, content: bytes) -> None:
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        uploader = self.page.locator('input[type="file"]')
        # after each file there is a new one, and for a moment the one before as well
        self.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()
        uploader.nth(1).wait_for(state="detached")
        uploader.set_input_files(file)

    def wait_for_states(self, name: str) -> None:
        """Until what is shown comes from the file of this name."""
        self.page.get_by_text(name, exact=True).first.wait_for()
        self.page.get_by_role("link", name="States (CSV)").wait_for()
        self.page.locator('.stApp[data-test-script-state="notRunning"]').wait_for()

    def taken(self, label: str) -> bytes:
        """The file behind a link."""
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name=label).click()
        return download.value.path().read_bytes()


@pytest.fixture
def data_page(open_page):
    return DataPage(open_page("/data?data=file&states=3"))


def states_in(content: bytes) -> np.ndarray:
    """The probabilities of the three states, shape (T, 3)."""
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    return np.array([[float(row[f"probability_{i}"]) for i in (1, 2, 3)] for row in rows])


def test_files_of_each_format_go_from_drop_to_a_script_with_the_numbers_of_the_page(
    data_page, server, tmp_path
):
    shown = {}
    for name, content in FORMATS.items():
        data_page.drop(name, content)
        data_page.wait_for_states(name)
        length = 30 if name == "raw signal.csv" else 200
        data_page.page.get_by_text(f"{length} observations on").first.wait_for()
        shown[name] = states_in(data_page.taken("States (CSV)"))
        assert shown[name].shape == (length, 3)
        np.testing.assert_allclose(shown[name].sum(axis=1), 1.0)
        assert data_page.taken("States (Parquet)").startswith(b"PAR1")
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_bytes(content)
        (tmp_path / name / "fit.py").write_bytes(data_page.taken("Script (Python)"))
    assert server.complaints() == []

    ran = subprocess.run(
        [sys.executable, "-c", _RUN_ALL, *(str(tmp_path / name) for name in FORMATS)], text=True,
        cwd=tmp_path, capture_output=True, env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr

    for name, expected in shown.items():
        found = states_in((tmp_path / name / "states.csv").read_bytes())
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_bad_files_get_a_sentence_each_and_the_page_keeps_its_states(data_page, server):
    data_page.drop("walk.csv", FORMATS["walk.csv"])
    data_page.wait_for_states("walk.csv")
    before = data_page.taken("States (CSV)")
    bad = {
        "empty.csv": (b"", "the file is empty"),
        "text.csv": (b"x,y\n0.1,0.2\n0.1,oops\n0.2,0.2\n", "line 3 is wrong"),
        "code.npy": (b"\x80\x04K\x01.", "holds something else"),
        "picture.png": (b"\x89PNG", "cannot be read"),
        "outside.csv": (b"x,y\n0.1,0.2\n5,5\n0.1,0.1\n", "line 3 is wrong"),
    }

    for name, (content, sentence) in bad.items():
        data_page.drop(name, content)
        data_page.page.locator('[data-testid="stAlert"]', has_text=f"{name}: ").filter(
            has_text=sentence
        ).wait_for()

    data_page.page.get_by_role("link", name="States (CSV)").wait_for()
    assert data_page.taken("States (CSV)") == before
    assert server.complaints() == []


def test_a_fit_can_be_cancelled_and_begun_again(open_page, server):
    page = DataPage(open_page("/data?data=emg&states=auto")).page
    page.get_by_text("BIC, searching").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Stopped.").wait_for()

    page.get_by_role("button", name="Run", exact=True).click()

    page.get_by_text("BIC, searching").wait_for()
    assert server.complaints() == []


def test_of_a_long_file_a_part_is_drawn_and_its_beginning_is_learned_online(data_page, server):
    points, _ = paper_model().sample(100_000, random_state=0)
    data_page.drop("long.npy", npy_bytes(points))

    data_page.wait_for_states("long.npy")

    data_page.page.get_by_text("4,000 of 100,000 observations are drawn").wait_for()
    page = data_page.page
    page.get_by_role("link", name="Open in the Live lab").click()
    page.get_by_role("heading", level=1, name="Your file, learned online").wait_for()
    page.get_by_text("The first 20,000 of its 100,000 observations are learned here.").wait_for()
    page.get_by_text("Your file: the first 20,000 of 100,000 observations").wait_for()
    assert "source=file" in page.url
    assert server.complaints() == []

    page.reload()  # another session: the file is gone
    page.get_by_text("its data were a file that is gone").wait_for()
    assert server.complaints() == []


def test_only_the_data_page_takes_files(open_page, server):
    def status(session: str) -> int:
        address = f"{server.address}/_stcore/upload_file/{session}/1"
        request = urllib.request.Request(address, b"data", method="PUT")
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request)
        refusal.value.close()
        return refusal.value.code

    open_page("/truth?T=1000&delta=60")

    assert status("any") == 403


def test_a_file_with_wrong_rows_is_shown_without_barriers(data_page):
    data_page.drop("text.csv", b"x,y\n0.1,0.2\n0.1,oops\n0.2,0.2\n")
    data_page.page.locator('[data-testid="stAlert"]', has_text="text.csv").wait_for()
    wait_until_still(data_page.page)

    assert barriers_in_light_and_dark(data_page.page) == []


def test_on_a_phone_every_recording_can_be_chosen(open_page):
    page = open_page("/data?data=file", viewport={"width": 390, "height": 844})
    DataPage(page)

    for title in [*(one.title for one in SHIPPED.values()), "Simulated", "Your file"]:
        choice = page.get_by_text(title, exact=True)
        choice.wait_for()
        box = choice.bounding_box()
        assert box["x"] > 0
        assert box["x"] + box["width"] < 390
