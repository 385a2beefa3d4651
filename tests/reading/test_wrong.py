"""Files that people bring and that cannot be used: each gets one sentence that says what to do."""

import io
import pickle
import struct
import zipfile
from random import Random

import numpy as np
import pytest

from rhmm.reading import Window, WrongFileError, read
from tests.reading.files import (
    csv_bytes,
    disk_points,
    matrices,
    named,
    npy_bytes,
    npz_bytes,
    parquet_bytes,
)

DISK = csv_bytes(named(disk_points(6), "x"))
LINES = DISK.decode().splitlines()


def changed(number: int, line: str) -> bytes:
    """The good file with another line in the place of line `number`."""
    return "\n".join([*LINES[: number - 1], line, *LINES[number:]]).encode()


def skewed() -> np.ndarray:
    wrong = matrices(5, 3)
    wrong[3, 0, 2] += 0.5
    return wrong


def indefinite() -> np.ndarray:
    wrong = matrices(5, 3)
    wrong[2] = np.diag([1.0, -2.0, 3.0])
    return wrong


def zip_bomb() -> bytes:
    """Small, and 400 MB when unpacked."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        head = npy_bytes(np.empty((0, 8)))[:128].replace(b"(0, 8), }        ", b"(6250000, 8), }  ")
        archive.writestr("points.npy", head + bytes(400_000_000))
    return out.getvalue()


def promising_header() -> bytes:
    """An NPY file of a few bytes that claims to hold a terabyte."""
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (2000000, 10), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + bytes(80)


def huge_header() -> bytes:
    text = "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 99999999), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def structured() -> np.ndarray:
    return np.zeros(4, dtype=[("x", float), ("y", float)])


FILES = {
    # what it is: name, content, arguments, a part of the sentence
    "wrong separator": ("a.csv", DISK, {"separator": ";"}, "holds text such as '0.1369"),
    "unknown separator": (
        "a.csv",
        DISK,
        {"separator": "x"},
        "separator must be a comma, semicolon",
    ),
    "ragged row": (
        "a.csv",
        changed(4, "0.1,0.2,0.3"),
        {},
        "line 4 is wrong .it has 3 cells, and o",
    ),
    "short row": ("a.csv", changed(5, "0.1"), {}, r"line 5 is wrong .it has 1 cells, and others 2"),
    "text in numbers": ("a.csv", changed(3, "0.1,abc"), {}, "line 3 is wrong .'abc' is not a num"),
    "digits in groups": ("a.csv", changed(3, "0.1,1_0"), {}, "line 3 is wrong .'1_0' is not a num"),
    "infinite": ("a.csv", changed(3, "0.1,inf"), {}, "line 3 is wrong .its numbers must be finite"),
    "outside the disk": ("a.csv", changed(6, "0.9,0.9"), {}, "line 6 is wrong .its norm is 1.27"),
    "a column of text": (
        "a.csv",
        csv_bytes(named(disk_points(4)) | {"who": ["a", "b", "a", "b"]}),
        {},
        "the column 'who' holds text such as 'a': say that it is the label, the sequence",
    ),
    "no numbers at all": ("a.csv", b"label,time\na,1\nb,2\n", {}, "no column is left for the obs"),
    "empty": ("a.csv", b"", {}, "the file is empty: give one with a row for each observation"),
    "only blanks": ("a.csv", b"\n \n\n", {}, "the file is empty"),
    "only comments": ("a.csv", b"# nothing\n# at all\n", {}, "the file is empty"),
    "only a header": ("a.csv", b"x,y\n", {}, "the file has no row of numbers: a sequence needs at"),
    "one row": ("a.csv", b"x,y\n0.1,0.2\n", {}, "the file has one row of numbers: a sequence need"),
    "NaN everywhere": ("a.csv", b"x,y\nnan,1\n,2\n3,NA\n", {}, "every row has a missing number"),
    "duplicated columns": ("a.csv", b"x,x\n1,2\n3,4\n", {}, "several columns are called 'x': give"),
    "UTF-16 without its mark": (
        "a.csv",
        DISK.decode().encode("utf-16-le"),
        {},
        "not plain text: s",
    ),
    "damaged UTF-16": (
        "a.csv",
        b"\xff\xfe" + DISK[:21],
        {},
        "begins as UTF-16 but is damaged: save",
    ),
    "Latin-1": ("a.csv", "x,µV\n1,2\n".encode("latin-1"), {}, "line 1 has a letter that is not in"),
    "wrong ending": ("a.npy", DISK, {}, "ends in .npy but holds something else: save it again"),
    "NPY called CSV": ("a.csv", npy_bytes(disk_points(4)), {}, "rename it to end in .npy"),
    "NPZ called NPY": ("a.npy", npz_bytes(points=disk_points(4)), {}, "rename it to end in .npz"),
    "a spreadsheet": (
        "a.xlsx",
        b"PK\x03\x04",
        {},
        "files ending in '.xlsx' cannot be read: save t",
    ),
    "no ending": ("data", DISK, {}, "files ending in 'nothing' cannot be read: save the data as"),
    "compressed": ("a.csv", b"\x1f\x8b\x08\x00", {}, "holds something else: save it as plain CSV"),
    "a pickle": (
        "a.npy",
        pickle.dumps([1.0, 2.0]),
        {},
        "holds something else: save it as plain CSV",
    ),
    "a pickle in an NPY": (
        "a.npy",
        npy_bytes(np.array([{"a": 1}, None], object), allow_pickle=True),
        {},
        "holds Python objects, which could run code: save plain numbers instead",
    ),
    "a pickle in an NPZ": (
        "a.npz",
        npz_bytes(points=np.array([{"a": 1}, None], object)),
        {},
        "holds Python objects, which could run code",
    ),
    "a zip bomb": ("a.npz", zip_bomb, {}, "unpacks to 50,000,016 numbers, and 25,000,000 is the m"),
    "a promise of a terabyte": (
        "a.npy",
        huge_header(),
        {},
        "unpacks to .* numbers, and 25,000,000",
    ),
    "fewer numbers than promised": (
        "a.npy",
        promising_header(),
        {},
        "ends too early: save it again",
    ),
    "a cut NPY": ("a.npy", npy_bytes(disk_points(9))[:90], {}, "the NPY file is damaged: save it"),
    "a cut NPZ": (
        "a.npz",
        npz_bytes(points=disk_points(9))[:-30],
        {},
        "the NPZ file is damaged: s",
    ),
    "a cut Parquet": (
        "a.parquet",
        parquet_bytes(named(disk_points(9)))[:-30],
        {},
        "the Parquet file is damaged: save it again",
    ),
    "huge": (
        "a.csv",
        lambda: b"1,2\n" * 14_000_000,
        {},
        "has 53.4 MB, and 50 MB is the most: give",
    ),
    "not symmetric": (
        "a.npy",
        npy_bytes(skewed()),
        {},
        r"row 4 is wrong .entry .1, 3. is .* and entry .3, 1. is .*, but the matrix must be symm",
    ),
    "not positive": (
        "a.npy",
        npy_bytes(indefinite()),
        {},
        "row 3 is wrong .its smallest eigenvalue",
    ),
    "wrong shape": (
        "a.npy",
        npy_bytes(np.ones((5, 2, 3))),
        {},
        r"shape \(5, 2, 3\): give points as",
    ),
    "one number": ("a.npy", npy_bytes(np.float64(3)), {}, r"the array has shape \(\): give points"),
    "a table on its side": (
        "a.npy",
        npy_bytes(np.ones((8, 9_000))),
        {},
        "rows of 9,000 numbers: tr",
    ),
    "named fields": (
        "a.npy",
        npy_bytes(structured()),
        {},
        "the NPY file holds named fields: save plain numbers instead",
    ),
    "dates": ("a.npy", npy_bytes(np.zeros(3, "M8[s]")), {}, "holds values of type '<M8"),
    "words": (
        "a.npy",
        npy_bytes(np.array(["a", "b"])),
        {},
        "the array holds text: save the observ",
    ),
    "rows of nothing": (
        "a.npy",
        npy_bytes(np.empty((4, 0))),
        {},
        "rows of the array hold no number",
    ),
    "several arrays": (
        "a.npz",
        npz_bytes(a=disk_points(4), b=disk_points(4)),
        {},
        "several arrays, 'a', 'b': say which holds the observations, or call it 'points'",
    ),
    "no array": ("a.npz", npz_bytes(), {}, "ends in .npz but holds something else: save it again"),
    "labels of another length": (
        "a.npz",
        npz_bytes(points=disk_points(4), labels=np.zeros(3, int)),
        {},
        r"the array 'labels' has shape \(3,\) for 4 observations: give one label for each",
    ),
    "lengths that do not add up": (
        "a.npz",
        npz_bytes(points=disk_points(4), lengths=np.array([2, 3])),
        {},
        "whole numbers that add up to the 4 observations: correct it",
    ),
    "no matrix": (
        "a.csv",
        csv_bytes(named(disk_points(6, 5))),
        {"space": "spd"},
        "5 numbers in a row",
    ),
    "matrices that are too large": (
        "a.npy",
        npy_bytes(np.broadcast_to(np.eye(21), (3, 21, 21))),
        {},
        "matrices of 21×21 are too large for the space 'spd', 20×20 is the most: choose fewer",
    ),
    "a sequence in two places": (
        "a.csv",
        csv_bytes(named(disk_points(4)) | {"sequence": ["a", "b", "b", "a"]}),
        {},
        "the rows of sequence 'a' are apart, they go on in line 5: sort the rows by sequence",
    ),
    "a row without a sequence": (
        "a.csv",
        csv_bytes(named(disk_points(3)) | {"sequence": ["a", "", "b"]}),
        {},
        "line 3 is wrong .it names no sequence",
    ),
    "a time that is none": (
        "a.csv",
        csv_bytes(named(disk_points(3)) | {"time": ["1", "noon", "3"]}),
        {},
        "line 3 is wrong .'noon' is neither a number nor a date such as 2024-05-31 12:30",
    ),
    "a label for each row": (
        "a.csv",
        csv_bytes(named(disk_points(300)) | {"label": np.arange(300)}),
        {},
        "the labels have 300 different values, 200 is the most: choose another column",
    ),
    "a column that is not there": (
        "a.csv",
        DISK,
        {"label": "z"},
        "no label column 'z': choose one of",
    ),
    "a signal shorter than a window": (
        "a.csv",
        csv_bytes(named(disk_points(50, 4))),
        {"window": Window(40)},
        "50 samples give 1 windows of 40: choose shorter ones",
    ),
    "a signal that never moves": (
        "a.npy",
        npy_bytes(np.ones((60, 4))),
        {"window": Window(20)},
        "no window has a covariance, since numbers are missing or too large, or all channels are",
    ),
    "lists in Parquet": (
        "a.parquet",
        parquet_bytes({"x": [[1.0, 2.0], [3.0, 4.0]]}),
        {},
        "the column 'x' holds values of type list",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_a_wrong_file_gets_one_sentence_that_says_what_to_do(what):
    name, content, arguments, words = FILES[what]
    data = content() if callable(content) else content

    with pytest.raises(WrongFileError, match=words) as caught:
        read(data, name=name, **arguments)

    sentence = str(caught.value)
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert not sentence.endswith(".")  # the command line and the pages end it


def test_there_are_more_than_forty_wrong_files():
    assert len(FILES) >= 40


def test_every_wrong_row_is_named_with_its_reason():
    lines = [*LINES[:2], "2,0", LINES[3], "a,0", "0.9,0.9"]

    words = "3 of 5 lines are wrong, the first is line 3 .its norm is 2, "
    with pytest.raises(WrongFileError, match=words) as caught:
        read("\n".join(lines).encode(), name="a.csv", space="hyperbolic")

    assert [row.number for row in caught.value.rows] == [3, 5, 6]
    far, text, outside = (row.reason for row in caught.value.rows)
    assert text == "'a' is not a number"
    assert far.startswith("its norm is 2,")
    assert outside.startswith("its norm is 1.27")


def mutated(random, data: bytes) -> bytes:
    """The file after some accidents."""
    content = bytearray(data)
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(content))
        accident = random.randrange(4)
        if accident == 0:
            content[at] = random.randrange(256)
        elif accident == 1:
            del content[at : at + random.randint(1, min(20, len(content) - 1))]
        elif accident == 2:
            content[at:at] = random.randbytes(random.randint(1, 6))
        else:
            content[at:at] = content[max(0, at - 30) : at]
    return bytes(content)


TABLE = named(disk_points(12)) | {
    "label": list("aabbaabbaabb"),
    "sequence": ["s"] * 6 + ["t"] * 6,
    "time": np.arange(12),
}
GOOD = {
    "a.csv": csv_bytes(TABLE),
    "a.npy": npy_bytes(matrices(6, 3)),
    "a.npz": npz_bytes(points=disk_points(8), labels=np.arange(8), lengths=np.array([4, 4])),
    "b.npz": npz_bytes(True, X=matrices(6, 3)),
    "a.parquet": parquet_bytes(TABLE),
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("arguments", [{}, {"window": Window(3)}, {"space": "spd"}])
def test_a_damaged_file_is_read_or_refused_with_a_sentence(name, arguments):
    random = Random(name)
    sentences = []
    for _ in range(300):
        try:
            read(mutated(random, GOOD[name]), name=name, **arguments)
        except WrongFileError as error:
            sentences.append(str(error))
    assert len(sentences) > 100
    assert all("\n" not in sentence and len(sentence) < 300 for sentence in sentences)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.csv")


def test_bytes_need_a_name():
    with pytest.raises(ValueError, match="name must say what the bytes are"):
        read(DISK)
