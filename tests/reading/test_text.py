import numpy as np
import pytest

from rhmm.reading import read
from tests.reading.files import csv_bytes, disk_points, named

POINTS = disk_points(5)
SENT = csv_bytes(named(POINTS))


def points_of(data: bytes, **arguments) -> np.ndarray:
    return read(data, name="a.csv", **arguments).recording.points


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("header", [True, False])
def test_separators_and_headers_are_detected(separator, header):
    data = csv_bytes(named(POINTS), separator, header)

    recording, report = read(data, name="a.csv")

    assert report.separator == separator
    assert report.columns == (("c0", "c1") if header else ("column 1", "column 2"))
    np.testing.assert_array_equal(recording.points, POINTS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
def test_unicode_with_a_mark_is_read(encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""

    np.testing.assert_array_equal(points_of(mark + SENT.decode().encode(encoding)), POINTS)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(end):
    np.testing.assert_array_equal(points_of(SENT.replace(b"\n", end.encode())), POINTS)


def test_a_decimal_comma_is_read_where_it_separates_nothing():
    data = SENT.replace(b",", b";").replace(b".", b",")

    np.testing.assert_array_equal(points_of(data), POINTS)


def test_spaces_around_names_and_numbers_do_not_matter():
    data = b" first , second \n 0.1 , 0.2 \n0.3,  -0.4\n"

    recording, report = read(data, name="a.csv")

    assert report.columns == ("first", "second")
    np.testing.assert_array_equal(recording.points, [[0.1, 0.2], [0.3, -0.4]])


def test_quoted_cells_are_read():
    data = b'"x","y","label"\n"0.1","0.2","a, b"\n"0.3","-0.4","c"\n'

    recording, _ = read(data, name="a.csv")

    assert recording.label_names == ("a, b", "c")
    np.testing.assert_array_equal(recording.points, [[0.1, 0.2], [0.3, -0.4]])


def test_blank_lines_and_comments_are_left_out_and_counted():
    data = b"# made by hand\nx,y\n\n0.1,0.2\n\n0.3,-0.4\n"

    recording, report = read(data, name="a.csv")

    assert len(recording.points) == 2
    assert report.notes == (
        "2 blank lines were left out.",
        "1 comment line was left out.",
    )


def test_words_for_missing_numbers_are_understood():
    data = b"x,y\n0.1,0.2\nNaN,n/a\n,\nNULL,none\n0.3,-0.4\n"

    recording, _ = read(data, name="a.csv")

    np.testing.assert_array_equal(recording.observed, [True, False, False, False, True])
