"""Files of every format and layout, from bytes to points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rhmm import SPD, Euclidean, Hyperbolic, LogEuclideanSPD
from rhmm.reading import Window, WrongFileError, names_in, read
from tests.reading import files

UPPER, LOWER = np.triu_indices(3), np.tril_indices(3)


def in_format(ending: str, numbers: np.ndarray) -> bytes:
    """A table (T, k) in a format that keeps every digit."""
    makers = {
        "csv": lambda: files.csv_bytes(files.named(numbers)),
        "npy": lambda: files.npy_bytes(numbers),
        "npz": lambda: files.npz_bytes(points=numbers),
        "parquet": lambda: files.parquet_bytes(files.named(numbers)),
    }
    return makers[ending]()


FORMATS = ("csv", "npy", "npz", "parquet")


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("dim", [2, 3])
def test_points_of_the_ball_come_back_to_the_last_digit(ending, dim):
    points = files.disk_points(40, dim)

    recording, report = read(in_format(ending, points), name=f"a.{ending}")

    assert recording.manifold == Hyperbolic(dim)
    assert (report.format, report.space, report.layout) == (ending, "hyperbolic", "points")
    np.testing.assert_array_equal(recording.points, points)
    assert report.notes == ()


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize(
    ("layout", "folded"),
    [
        ("full", lambda x: x.reshape(len(x), -1)),
        ("upper", lambda x: x[:, UPPER[0], UPPER[1]]),
        ("lower", lambda x: x[:, LOWER[0], LOWER[1]]),
    ],
)
def test_matrices_in_columns_are_recognised_in_any_layout(ending, layout, folded):
    expected = files.matrices(30, 3)

    recording, report = read(in_format(ending, folded(expected)), name=f"a.{ending}")

    assert recording.manifold == SPD(3)
    assert report.layout == layout
    np.testing.assert_allclose(recording.points, expected, rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("ending", ["npy", "npz"])
def test_matrices_as_an_array_of_three_axes(ending):
    expected = files.matrices(30, 4)

    recording, report = read(in_format(ending, expected), name=f"a.{ending}", space="log-euclidean")

    assert recording.manifold == LogEuclideanSPD(4)
    assert report.layout == "full"
    np.testing.assert_allclose(recording.points, expected, rtol=1e-15)


def test_names_of_columns_tell_the_triangle_where_both_are_possible():
    expected = np.broadcast_to(np.diag([2.0, 2.0, 2.0]) + 0.1, (5, 3, 3))
    names = [f"m{i + 1}{j + 1}" for i, j in zip(*LOWER, strict=True)]
    columns = dict(zip(names, expected[:, LOWER[0], LOWER[1]].T, strict=True))

    recording, report = read(files.csv_bytes(columns), name="a.csv")

    assert report.layout == "lower"
    np.testing.assert_allclose(recording.points, expected)


def test_points_outside_of_the_ball_are_of_the_plane():
    points = 3 * files.disk_points(20)

    recording, report = read(files.npy_bytes(points), name="a.npy")

    assert recording.manifold == Euclidean(2)
    assert report.space == "euclidean"


def test_a_complex_array_is_points_of_the_disk():
    points = files.disk_points(9)

    recording, _ = read(files.npy_bytes(points[:, 0] + 1j * points[:, 1]), name="a.npy")

    assert recording.manifold == Hyperbolic(2)
    np.testing.assert_array_equal(recording.points, points)


def test_what_is_detected_can_be_overridden():
    points = files.disk_points(9, 3)

    recording, report = read(files.npy_bytes(points), name="a.npy", space="euclidean")

    assert recording.manifold == Euclidean(3)
    assert report.space == "euclidean"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels_sequences_and_times_are_columns(ending):
    columns = files.named(files.disk_points(5)) | {
        "label": ["b", "a", "", "b", "b"],
        "Session": ["s1", "s1", "s1", "s2", "s2"],
        "time": [0.0, 0.5, 1.0, 0.0, 0.5],
    }
    data = files.csv_bytes(columns) if ending == "csv" else files.parquet_bytes(columns)

    recording, report = read(data, name=f"a.{ending}")

    assert recording.label_names == ("b", "a")
    np.testing.assert_array_equal(recording.labels, [0, 1, -1, 0, 0])
    np.testing.assert_array_equal(recording.lengths, [3, 2])
    assert recording.sequence_names == ("s1", "s2")
    np.testing.assert_array_equal(recording.times, columns["time"])
    assert (report.label, report.sequence, report.time) == ("label", "Session", "time")
    assert report.columns == ("c0", "c1")


def test_labels_lengths_and_times_are_arrays_of_an_npz():
    data = files.npz_bytes(
        X=files.disk_points(5),
        states=np.array([3, 1, 1, 10, -1]),
        lengths=np.array([2, 3]),
        times=np.arange(5),
        comment=np.array("mine"),
    )

    recording, report = read(data, name="a.npz")

    assert recording.label_names == ("1", "3", "10")  # in the order of numbers, not of text
    np.testing.assert_array_equal(recording.labels, [1, 0, 0, 2, -1])
    np.testing.assert_array_equal(recording.lengths, [2, 3])
    np.testing.assert_array_equal(recording.times, np.arange(5))
    assert (report.array, report.sequence) == ("X", "lengths")
    assert report.notes == ("The arrays comment were left out.",)


def test_roles_can_be_given_or_denied():
    columns = files.named(files.disk_points(4)) | {
        "mark": ["u", "v", "u", "v"],
        "t": [0.1, 0.2, 0.3, 0.4],
    }

    recording, report = read(files.csv_bytes(columns), name="a.csv", label="mark", time="")

    assert recording.label_names == ("u", "v")
    assert report.time is None
    assert report.columns == ("c0", "c1", "t")


def test_chosen_columns_are_read_and_others_are_said_to_be_left_out():
    columns = files.named(files.disk_points(4)) | {"who": ["a", "b", "a", "b"]}

    recording, report = read(files.csv_bytes(columns), name="a.csv", columns=["c0", "c1"])

    assert recording.points.shape == (4, 2)
    assert report.notes == ("The columns who were left out.",)


def test_missing_observations_are_kept_and_counted():
    points = files.disk_points(6)
    points[1], points[4, 0] = np.nan, np.nan

    recording, report = read(files.csv_bytes(files.named(points)), name="a.csv")

    np.testing.assert_array_equal(recording.observed, [True, False, True, True, False, True])
    assert np.isnan(recording.points[4]).all()
    (note,) = report.notes
    assert note == "2 observations are missing, 1 of them for some numbers only (rows 3, 6)."


def test_a_column_that_counts_the_rows_is_left_out_and_said_so():
    columns = {"": np.arange(4)} | files.named(files.disk_points(4))

    recording, report = read(files.csv_bytes(columns), name="a.csv")

    assert recording.points.shape == (4, 2)
    assert report.notes == ("The first column only counts the rows and was left out.",)


def test_time_that_goes_back_within_a_sequence_is_said():
    columns = files.named(files.disk_points(5)) | {
        "time": [0, 1, 0, 1, 0],
        "sequence": ["a", "a", "a", "a", "b"],
    }

    _, report = read(files.csv_bytes(columns), name="a.csv")

    (note,) = report.notes
    assert note.startswith("Time goes back 1 times within sequences, first at line 4;")


def test_dates_become_seconds():
    columns = files.named(files.disk_points(3)) | {
        "time": [f"2024-05-31 12:00:0{s}" for s in (0, 2, 5)]
    }

    recording, _ = read(files.csv_bytes(columns), name="a.csv")

    np.testing.assert_array_equal(recording.times, [0, 2, 5])


@pytest.mark.parametrize(
    "zones", [("", "", ""), ("+00:00", "", ""), ("", "+00:00", ""), ("+02:00", "+00:00", "")]
)
def test_dates_with_and_without_a_time_zone_go_together(zones):
    hours = (14, 12, 14) if zones[0] == "+02:00" else (12, 12, 12)
    columns = files.named(files.disk_points(3)) | {
        "time": [
            f"2024-05-31 {hour}:00:0{second}{zone}"
            for hour, second, zone in zip(hours, (0, 2, 5), zones, strict=True)
        ]
    }

    recording, _ = read(files.csv_bytes(columns), name="a.csv")

    np.testing.assert_array_equal(recording.times, [0, 2, 5])


def test_labels_that_are_whole_numbers_are_sorted_by_size():
    columns = files.named(files.disk_points(4)) | {"label": ["10", "9", "-3", "10"]}

    assert read(files.csv_bytes(columns), name="a.csv").recording.label_names == ("-3", "9", "10")


def test_labels_that_are_nearly_numbers_keep_their_order():
    columns = files.named(files.disk_points(4)) | {"label": ["10", "--5", "-", "9" * 5_000]}

    names = read(files.csv_bytes(columns), name="a.csv").recording.label_names

    assert names == ("10", "--5", "-", "9" * 5_000)


def test_halves_that_differ_by_rounding_are_averaged_and_said_so():
    expected = files.matrices(4, 3)
    expected[2, 0, 1] += 1e-9

    recording, report = read(files.npy_bytes(expected), name="a.npy")

    np.testing.assert_array_equal(recording.points, np.swapaxes(recording.points, 1, 2))
    assert "differ by rounding" in report.notes[0]


def test_a_signal_becomes_covariances_of_windows_within_each_sequence():
    signal = np.random.default_rng(1).standard_normal((95, 4))
    sequence = ["a"] * 45 + ["b"] * 5 + ["c"] * 45
    label = ["x"] * 12 + ["y"] * 83
    columns = files.named(signal) | {
        "sequence": sequence,
        "label": label,
        "time": np.arange(95) / 10,
    }

    recording, report = read(
        files.csv_bytes(columns), name="a.csv", window=Window(20, 10, "none", floor=1e-9)
    )

    assert recording.manifold == SPD(4)
    np.testing.assert_array_equal(recording.lengths, [3, 3])
    assert recording.sequence_names == ("a", "c")
    for point, begin in zip(recording.points, [0, 10, 20, 50, 60, 70], strict=True):
        expected = np.cov(signal[begin : begin + 20].T, bias=True)
        np.testing.assert_allclose(point, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(recording.labels, [0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(recording.times, [0, 1, 2, 5, 6, 7])
    assert report.layout == "signal"
    assert report.window == Window(20, 10, "none", 1e-9)
    windows, short, spare = report.notes
    assert windows.startswith(
        "6 windows of 20 samples, a new one every 10; condition numbers up to"
    )
    assert short == "Sequences shorter than a window were left out: b."
    assert spare.startswith("15 samples at the ends of sequences fill no window")


def test_many_columns_that_are_no_matrices_are_a_signal():
    signal = np.random.default_rng(1).standard_normal((400, 5))

    recording, report = read(files.npy_bytes(signal), name="a.npy")

    assert report.layout == "signal"
    assert report.window == Window().checked()
    assert len(recording.points) == 4


def test_a_window_with_a_missing_number_is_a_missing_observation():
    signal = np.random.default_rng(1).standard_normal((60, 4))
    signal[25, 2] = np.nan

    recording, report = read(files.npy_bytes(signal), name="a.npy", window=Window(20))

    np.testing.assert_array_equal(recording.observed, [True, False, True])
    assert report.notes[-1].startswith("1 windows are missing observations")


def test_a_path_is_read_as_its_bytes_are(tmp_path):
    path = tmp_path / "My Data.CSV"
    path.write_bytes(files.csv_bytes(files.named(files.disk_points(7))))

    recording, _ = read(path)

    np.testing.assert_array_equal(recording.points, files.disk_points(7))


@given(
    arrays(
        float,
        st.tuples(st.integers(2, 6), st.integers(1, 3)),
        elements=st.floats(-1e9, 1e9) | st.just(np.nan),
    ).filter(lambda numbers: not np.isnan(numbers).any(axis=1).all())
)
def test_every_format_gives_the_same_points(numbers):
    endings = FORMATS[1:] if _has_blank_line(numbers) else FORMATS
    expected = np.where(np.isnan(numbers).any(axis=1, keepdims=True), np.nan, numbers)
    for ending in endings:
        recording, _ = read(in_format(ending, numbers), name=f"a.{ending}", space="euclidean")
        np.testing.assert_array_equal(recording.points, expected)


def _has_blank_line(numbers: np.ndarray) -> bool:
    """A missing number in the only column is a blank line, which a CSV file leaves out."""
    return numbers.shape[1] == 1 and bool(np.isnan(numbers).any())


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", b"x;y;activity\n1;2;walk\n", ["x", "y", "activity"]),
        ("a.csv", b"1,2\n3,4\n", ["column 1", "column 2"]),
        ("a.npz", files.npz_bytes(points=np.eye(2), label=np.arange(2)), ["points", "label"]),
        ("a.parquet", files.parquet_bytes({"x": [1.0], "what": ["walk"]}), ["x", "what"]),
        ("a.npy", files.npy_bytes(np.eye(2)), []),
    ],
)
def test_names_are_known_before_it_is_known_what_they_are_for(name, content, expected):
    assert names_in(content, name=name) == expected


def test_names_of_a_file_that_is_something_else_are_refused_in_a_sentence():
    with pytest.raises(WrongFileError, match="holds something else"):
        names_in(b"no zip archive", name="a.npz")
