"""The Data page, from a file or a recording to the states."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute import fits
from dashboard.ui import job_view
from rhmm import RiemannianHMM
from rhmm.paper import paper_model
from tests.pages.finding import APP, PATIENCE, charts, labelled, said, tables, to_take
from tests.reading.files import csv_bytes, named
from tests.reading.test_wrong import FILES

POINTS, STATES = paper_model().sample(240, random_state=1)
FILE = csv_bytes(named(POINTS) | {"label": STATES})


@pytest.fixture(autouse=True)
def _pages_wait_for_their_results(monkeypatch):
    monkeypatch.setattr(job_view, "QUICK", PATIENCE)
    monkeypatch.setattr(job_view, "LONG", np.inf)


def opened(**query) -> AppTest:
    page = AppTest.from_file(APP, default_timeout=PATIENCE).switch_page("recordings/data.py")
    for key, value in query.items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def given(content: bytes, name: str = "walk.csv", states: int = 3) -> AppTest:
    """The page after a file was dropped."""
    page = opened(data="file", states=str(states))
    return drop(page, content, name)


def drop(page: AppTest, content: bytes, name: str = "walk.csv") -> AppTest:
    page.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not page.exception
    return page


def box(page: AppTest, label: str):
    return labelled(page.selectbox, label)


def test_a_file_gives_its_states_and_how_they_agree_with_its_labels():
    page = given(FILE)

    model = RiemannianHMM(paper_model().manifold, 3, random_state=0).fit(POINTS)
    (table,) = tables(page)
    assert table["σ"] == [f"{sigma:.3f}" for sigma in model.sigmas_]
    assert sorted(table["Label"]) == ["0", "1", "2"]
    assert sum(map(float, table["Share (%)"])) == pytest.approx(100.0, abs=0.02)
    found = " ".join(said(page.markdown))
    assert "240 observations on Hyperbolic(2)" in found
    assert "labels from “label”" in found
    assert re.search(r"agree with \*\*\d+\.\d+ %\*\* of the labels", found)
    assert charts(page) == 4  # map, all of the time, a part of it, stays
    assert all(to_take(page).values())
    assert "was taught the labels" not in found

    labelled(page.toggle, "Compare with a model that was taught the labels").set_value(True).run()

    assert not page.exception
    assert re.search(r"tells \*\*\d+\.\d+ %\*\* of them", " ".join(said(page.markdown)))
    assert page.query_params["taught"] == "yes"


def test_a_bad_file_gets_one_sentence_and_the_page_keeps_what_it_had():
    page = given(FILE)
    before = tables(page)
    lines = FILE.decode().splitlines()
    lines[4] = "0.1,oops,1"
    lines[9] = "3,4,2"
    drop(page, "\n".join(lines).encode(), "bad.csv")

    (error,) = said(page.error)
    assert error.startswith("bad.csv: 2 of 240 lines are wrong, the first is line 5 (")
    wrong, *rest = tables(page)
    assert wrong["Row"] == ["5", "10"]
    assert rest == before


def test_a_column_of_text_can_be_named_as_the_label():
    names = np.array(["rest", "walk", "run"])[STATES]
    page = given(csv_bytes(named(POINTS) | {"activity": names}))
    assert "holds text such as" in page.error[0].value
    assert not tables(page)

    box(page, "Label of each row").set_value("activity").run()

    assert not page.exception
    assert not page.error
    assert sorted(tables(page)[0]["Label"]) == ["rest", "run", "walk"]


def test_without_labels_there_is_no_accuracy():
    page = given(csv_bytes(named(POINTS)))

    assert "Label" not in tables(page)[0]
    assert "of the labels" not in " ".join(said(page.markdown))
    assert not page.toggle  # nor a model that was taught them


def test_what_was_detected_can_be_changed():
    page = given(FILE)
    assert "on Hyperbolic(2)" in " ".join(said(page.markdown))

    first, *_ = box(page, "Space").options
    assert first == "Detected: Hyperbolic: points of the disk or ball"

    box(page, "Label of each row").set_value("").run()

    assert not page.exception
    assert "Label" not in tables(page)[0]  # it is a number of each observation now
    assert "on Euclidean(3)" in " ".join(said(page.markdown))


def test_a_raw_signal_is_cut_into_windows_that_can_be_changed():
    noise = np.random.default_rng(0).standard_normal((1_200, 5))
    noise[400:800] *= 3.0
    page = given(csv_bytes(named(noise)), states=2)
    assert "12 windows of 100 samples" in " ".join(said(page.markdown))

    labelled(page.number_input, "Window, in samples").set_value(40).run()
    labelled(page.number_input, "Step, in samples").set_value(20).run()

    assert not page.exception
    text = " ".join(said(page.markdown))
    assert "59 windows of 40 samples, a new one every 20" in text
    assert "59 observations on SPD(5)" in text
    assert charts(page) == 4 + 2  # and the mean of each state


def test_missing_observations_are_said_and_kept():
    points = POINTS.copy()
    points[[4, 9]] = np.nan
    page = given(csv_bytes(named(points)))

    text = " ".join(said(page.markdown))
    assert "240 observations on Hyperbolic(2), 2 of them missing" in text
    assert "(rows 6, 11)" in text


def test_more_states_than_observations_is_a_sentence():
    page = given(b"x,y\n0.1,0.2\n0.2,0.1\n0.3,0.3\n", states=8)

    (error,) = said(page.error)
    assert "8 states need as many observations, and there are 3." in error


def test_the_file_can_be_removed():
    page = given(FILE)
    labelled(page.button, "Remove the file").click().run()

    assert not page.exception
    assert not tables(page)
    assert [b.label for b in page.button if b.label == "Remove the file"] == []


def test_the_page_says_where_files_are_kept():
    page = opened(data="file")

    assert any("in the memory of this server for you alone" in text for text in said(page.caption))


def test_bic_chooses_and_the_curve_stays_when_the_visitor_takes_another_number():
    page = opened(data="file", states="auto")
    drop(page, csv_bytes(named(POINTS[:120])))
    by_bic = len(tables(page)[0]["State"])
    captions = " ".join(said(page.caption))
    assert f"BIC is least with {by_bic} state" in captions

    labelled(page.select_slider, "Number of states").set_value("6").run()

    assert not page.exception
    assert len(tables(page)[0]["State"]) == 6
    assert f"BIC is least with {by_bic} state" in " ".join(said(page.caption))
    assert page.query_params["states"] == "6"

    labelled(page.radio, "Shape of states").set_value("tied").run()

    assert "BIC is least" not in " ".join(said(page.caption))  # it was said of round states


def test_a_recording_has_its_story_and_its_states():
    page = opened(data="weather", states="4")

    text = " ".join(said(page.markdown))
    assert "Greensboro" in text
    assert "**Licence.** BSD-3-Clause" in text
    assert "365 observations on SPD(5) in 12 sequences" in text
    assert len(tables(page)[0]["State"]) == 4
    assert charts(page) == 4 + 4


def test_the_shape_of_states_and_the_centring_are_settings_of_em():
    page = opened(data="weather", states="2")
    assert "SPD(5) in 12 sequences, learned by EM" in " ".join(said(page.markdown))

    labelled(page.radio, "Shape of states").set_value("tied").run()
    labelled(page.radio, "Observations").set_value("recentred").run()

    assert not page.exception
    assert (page.query_params["shape"], page.query_params["centring"]) == ("tied", "recentred")
    assert "in 12 sequences, each re-centred, learned by EM" in " ".join(said(page.markdown))

    labelled(page.radio, "Learned by").set_value("streaming").run()

    assert not page.exception
    assert labelled(page.radio, "Shape of states").value == "tied"
    assert "learned by one pass of our streaming algorithm" in " ".join(said(page.markdown))


def test_choosing_a_recording_begins_with_as_many_states_as_it_has_labels():
    page = opened(data="file")
    labelled(page.get("button_group"), "Recording").set_value("weather").run()

    assert not page.exception
    assert page.query_params["data"] == "weather"
    assert len(tables(page)[0]["State"]) == 4


def test_simulated_chains_offer_their_spaces_and_solid_pictures():
    page = opened(data="ball")

    assert "true states" in " ".join(said(page.markdown))
    assert "ball, which can be turned" in " ".join(e.proto.body for e in page.get("html"))
    labelled(page.get("button_group"), "Simulated on").set_value("plane").run()

    assert not page.exception
    assert page.query_params["data"] == "plane"
    assert "2,000 observations on Euclidean(2)" in " ".join(said(page.markdown))


def test_a_plain_look_computes_nothing_again(monkeypatch):
    page = given(FILE)
    monkeypatch.setattr(fits, "compute", lambda *_: pytest.fail("computed again"))

    page.run()

    assert not page.exception
    assert len(tables(page)) == 1


def test_only_the_data_page_lets_a_visitor_send_files():
    page = opened()
    assert page.session_state.visitor.data.grant is None  # a recording needs no file

    labelled(page.get("button_group"), "Recording").set_value("file").run()
    assert page.session_state.visitor.data.grant.most_bytes > 100_000 * 64 * 8

    page.switch_page("learn/how_it_works.py").run()
    assert page.session_state.visitor.data.grant is None


def test_every_bad_file_gets_its_sentence_and_nothing_goes_to_the_log(caplog):
    page = given(FILE)
    before = tables(page)
    for name, content, options, sentence in FILES.values():
        if options:
            continue
        drop(page, content() if callable(content) else content, name)
        (error,) = said(page.error)
        assert error.startswith(f"{name}: ")
        assert re.search(sentence, error.replace("\\", "")), error
        assert tables(page)[-1:] == before
    assert [record for record in caplog.records if record.name.startswith("dashboard")] == []
