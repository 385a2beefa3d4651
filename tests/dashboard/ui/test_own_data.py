from weakref import WeakSet

import numpy as np
import pytest

from dashboard.compute.counting import Curve
from dashboard.compute.fits import FileRead, ReadRequest
from dashboard.model.analysis import HeldRecording
from dashboard.ui import own_data
from dashboard.ui.own_data import OwnData
from rhmm.paper import paper_model
from rhmm.reading import Reading, Report, WrongFileError
from tests.dashboard.made_recordings import fitted, of_matrices, of_the_disk

GOOD = FileRead(("x", "y"), Reading(of_the_disk().recording, Report("csv", "spd", "full")), None)
BAD = FileRead(("x",), None, WrongFileError("it is wrong: correct it"))


@pytest.fixture(autouse=True)
def _no_other_visitors(monkeypatch):
    monkeypatch.setattr(own_data, "_everyone", WeakSet())


def read(data: OwnData, found: FileRead) -> ReadRequest:
    request = data.to_read
    data.accept(request, found)
    return request


def test_a_file_is_to_be_read_once_for_each_way_to_read_it():
    data = OwnData()
    assert data.to_read is None
    data.take("a.csv", b"1,2")
    request = read(data, GOOD)

    assert data.to_read is None
    assert data.held == HeldRecording((request.file, request.options), GOOD.reading.recording)
    data.say(space="spd")
    assert data.to_read == ReadRequest(data.file, data.options)


def test_a_bad_file_leaves_what_was_shown():
    data = OwnData()
    data.take("a.csv", b"1,2")
    read(data, GOOD)
    shown = data.held
    data.take("b.csv", b"oops")
    read(data, BAD)

    assert data.held is shown
    assert data.problem is BAD.problem
    assert data.report is None
    assert data.names == ("x",)


def test_the_same_file_is_read_again_when_it_is_given_again():
    data = OwnData()
    for _ in range(2):
        data.take("b.csv", b"oops")
        assert data.to_read is not None
        read(data, BAD)
        assert data.problem is BAD.problem


def test_the_next_good_file_takes_the_problem_away():
    data = OwnData()
    data.take("b.csv", b"oops")
    read(data, BAD)
    data.take("a.csv", b"1,2")
    read(data, GOOD)

    assert data.problem is None


def test_a_removed_file_leaves_nothing_behind():
    data = OwnData()
    data.take("a.csv", b"1,2")
    read(data, GOOD)
    data.remove()

    assert data.file is data.held is data.report is data.to_read is None
    assert data.uploads == 2  # another uploader, which is empty


def test_a_full_server_takes_no_more_files_and_says_so(monkeypatch):
    first, second = OwnData(), OwnData()
    first.take("a.csv", b"x" * 60)
    monkeypatch.setattr(own_data, "MOST_OF_ALL", first.nbytes + 50)

    second.take("b.csv", b"x" * 51)

    assert "as many files as it can" in str(second.problem)
    assert second.nbytes == 0
    assert second.to_read is None  # there is nothing to read


def test_a_file_that_is_gone_makes_room(monkeypatch):
    first, second = OwnData(), OwnData()
    first.take("a.csv", b"x" * 60)
    monkeypatch.setattr(own_data, "MOST_OF_ALL", first.nbytes + 50)
    first.remove()

    second.take("b.csv", b"x" * 51)

    assert second.problem is None


def test_a_curve_that_says_less_of_the_same_does_not_replace_one_that_says_more():
    def counted(held, values):
        curve = Curve(np.arange(1, 3), dict.fromkeys(values, np.ones(2)), (), None)
        return fitted(held, paper_model(), curve)

    data = OwnData()
    data.compare_counts(counted(of_the_disk(), ["bic", "predictive"]))
    data.compare_counts(counted(of_the_disk(), ["bic"]))
    assert list(data.curve[1].values) == ["bic", "predictive"]
    data.compare_counts(counted(of_the_disk(200), ["bic"]))
    assert list(data.curve[1].values) == ["bic"]


def test_the_channels_of_a_signal_keep_their_names():
    data = OwnData()
    data.take("a.csv", b"1,2")
    report = Report("csv", "spd", "signal", columns=("left", "right"))
    read(data, GOOD._replace(reading=Reading(of_matrices(size=2).recording, report)))

    assert data.held.channels == ("left", "right")
