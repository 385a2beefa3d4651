"""The tool on small files of the same form as the public ones; nothing is downloaded."""

import hashlib
import io
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.covariance import oas

from rhmm.datasets import make
from rhmm.datasets.dataset import Windows, covariances
from rhmm.datasets.recordings import WEATHER_CHANNELS

RNG = np.random.default_rng(5)


def assert_is_oas(point, samples):
    np.testing.assert_allclose(point, oas(samples.astype(float))[0], rtol=1e-12)


def emg_csv(signal, times, labels, sessions) -> bytes:
    lines = ["time,c0,c1,c2,c3,c4,c5,c6,c7,label,exp"]
    for time, row, label, session in zip(times, signal, labels, sessions, strict=True):
        lines.append(",".join(map(str, [time, *row, label, session])))
    return "\n".join(lines).encode()


def test_signs_are_cut_where_the_clock_starts_anew():
    sessions = np.repeat(make.EMG_SESSIONS, 500)
    signal = RNG.integers(100, 150, (2_000, 8))
    # each session has a recording of 270 samples and one of 230; the clock also trembles
    clock = 4 * np.concatenate([np.arange(270), np.arange(230)]) + 5
    clock[40] -= 9
    labels = np.tile(["rest"] * 160 + ["ok"] * 340, 4)
    clock[270:] = clock[270:] - clock[270] + 3
    clock[:270] += 5_000

    files = make.emg(emg_csv(signal, np.tile(clock, 4), labels, sessions))

    assert list(files) == [f"emg_{session}" for session in make.EMG_SESSIONS]
    windows = files["emg_mg_s2"]
    np.testing.assert_array_equal(windows.lengths, [2, 2])
    np.testing.assert_array_equal(windows.labels, [0, 0, 4, 4])  # 60 of the second are at rest
    np.testing.assert_array_equal(windows.milliseconds, [0, 400, 0, 400])
    points = covariances(windows.scatter, 100, [1.0] * 8)
    for point, begin in zip(points, [500, 600, 770, 870], strict=True):
        assert_is_oas(point, signal[begin : begin + 100])


def watch_npy(signals, labels) -> bytes:
    out = io.BytesIO()
    content = np.array({"X": signals, "y": np.array(labels), "X_labels": ["ax"]}, object)
    np.lib.format.write_array_header_1_0(out, np.lib.format.header_data_from_array_1_0(content))
    # in the protocol and under the names of the time when the public file was written
    return out.getvalue() + pickle.dumps(content, 2).replace(b"numpy._core", b"numpy.core")


def test_exercises_are_read_without_running_the_pickle():
    signals = [RNG.integers(-(10**6), 10**6, (n, 6)) / 1e6 for n in (250, 120)]

    windows = make.watch(watch_npy(signals, [3, 5]))

    np.testing.assert_array_equal(windows.lengths, [2, 1])
    np.testing.assert_array_equal(windows.labels, [3, 3, 5])
    np.testing.assert_array_equal(windows.milliseconds, [0, 2_000, 0])
    points = covariances(windows.scatter, 100, [1e-6] * 6)
    pieces = (signals[0][:100], signals[0][100:200], signals[1][:100])
    for point, piece in zip(points, pieces, strict=True):
        assert_is_oas(point, piece)


class Harmful:
    def __reduce__(self):
        return print, ("this must not run",)


def test_a_pickle_with_anything_but_arrays_is_refused(capsys):
    with pytest.raises(pickle.UnpicklingError, match=r"__builtin__.print is not part of an array"):
        make.watch(watch_npy(Harmful(), [1]))
    assert capsys.readouterr().out == ""


def test_exercises_with_more_digits_than_known_are_refused():
    with pytest.raises(ValueError, match="more than six digits"):
        make.watch(watch_npy([np.full((100, 6), 0.1234567)], [1]))


def test_a_day_of_weather_is_a_window_and_a_month_a_sequence():
    hours = 24 * 3
    values = RNG.integers(0, 300, (hours, 5)) * [1, 0.1, 0.1, 1, 0.1]
    header = ["Date (MM/DD/YYYY)", *(column for column, *_ in WEATHER_CHANNELS.values())]
    dates = ["05/31/1999"] * 48 + ["06/01/1983"] * 24
    rows = [",".join([d, *(f"{x:.1f}" for x in row)]) for d, row in zip(dates, values, strict=True)]

    windows = make.weather("\n".join(["station", ",".join(header), *rows]).encode())

    np.testing.assert_array_equal(windows.lengths, [2, 1])
    np.testing.assert_array_equal(windows.labels, [1, 1, 2])
    points = covariances(windows.scatter, 24, [1, 0.1, 0.1, 1, 0.1])
    for day, point in enumerate(points):
        assert_is_oas(point, values[24 * day : 24 * day + 24])


def test_scatter_is_exact_for_numbers_far_from_zero():
    pieces = RNG.integers(10**8, 10**8 + 50, (3, 10, 2))

    found = make.scatter(pieces)

    for row, piece in zip(found, pieces.tolist(), strict=True):
        sums = [sum(x[i] for x in piece) for i in (0, 1)]
        assert row.tolist() == [
            10 * sum(x[i] * x[j] for x in piece) - sums[i] * sums[j]
            for i, j in ((0, 0), (0, 1), (1, 1))
        ]


def test_numbers_that_are_too_large_for_exact_sums_are_refused():
    with pytest.raises(ValueError, match="too large for exact covariances"):
        make.scatter(np.array([[[0], [2**32]]]))


def test_the_same_windows_make_the_same_bytes(tmp_path):
    windows = Windows(*(np.arange(4) for _ in Windows._fields))
    for name in ("a.npz", "b.npz"):
        windows.save(tmp_path / name)

    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def wheel_with(content: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("data/file.csv", content)
    return out.getvalue()


def test_a_wheel_is_opened_only_if_it_is_the_known_one():
    wheel = wheel_with(b"1,2")
    package = make.Package("some==1.0", hashlib.sha256(wheel).hexdigest(), "data/file.csv")

    assert package.unpack(wheel) == b"1,2"
    with pytest.raises(ValueError, match=r"some==1.0 is not the wheel"):
        package.unpack(wheel_with(b"1,3"))


def test_the_tool_writes_each_file_and_prints_its_checksum(tmp_path, capsys, monkeypatch):
    windows = Windows(*(np.arange(4) for _ in Windows._fields))
    monkeypatch.setattr(make, "made", lambda: iter([("one", windows)]))

    make.main(["--out", str(tmp_path)])

    checksum, path = capsys.readouterr().out.split()
    assert path == str(tmp_path / "one.npz")
    assert checksum == hashlib.sha256((tmp_path / "one.npz").read_bytes()).hexdigest()
