from dashboard.compute.fits import FileRead, ReadRequest
from dashboard.model.analysis import HeldRecording
from dashboard.ui.own_data import OwnData
from rhmm.reading import Reading, Report, WrongFileError
from tests.dashboard.made_recordings import of_the_disk

GOOD = FileRead(("x", "y"), Reading(of_the_disk().recording, Report("csv", "spd", "full")), None)
BAD = FileRead(("x",), None, WrongFileError("it is wrong: correct it"))


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
