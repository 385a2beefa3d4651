import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from rhmm.chunks import ParquetChunks
from tests.chunks.files import write_parquet

ROWS = np.random.default_rng(0).normal(size=(10, 4))


@pytest.fixture
def folder(tmp_path):
    for name, rows in (("b", ROWS[6:]), ("a", ROWS[:6])):
        write_parquet(tmp_path / f"{name}.parquet", rows, 4)
    return tmp_path


def test_row_groups_come_in_the_order_of_names_and_hold_the_rows(folder):
    pieces = list(ParquetChunks(folder).pieces())
    assert [piece.name for piece in pieces] == [
        "X (row group 0 of a.parquet)",
        "X (row group 1 of a.parquet)",
        "X (row group 0 of b.parquet)",
    ]
    assert [(p.begins, p.ends) for p in pieces] == [(True, False), (False, True), (True, True)]
    np.testing.assert_array_equal(np.concatenate([p.loader.load((4,))[0] for p in pieces]), ROWS)


def test_all_files_can_be_one_sequence(folder):
    pieces = list(ParquetChunks(folder, one_sequence=True).pieces())
    assert [(p.begins, p.ends) for p in pieces] == [(True, False), (False, False), (False, True)]


def test_matrices_are_read_row_by_row_from_the_columns_that_were_named(folder):
    columns = ["d", "c", "b", "a"]
    first = next(ParquetChunks(folder / "a.parquet", columns=columns).pieces())
    np.testing.assert_array_equal(first.loader.load((2, 2))[0], ROWS[:4, ::-1].reshape(4, 2, 2))
    assert first.loader.load((3,))[0].shape == (4, 4)  # which is refused with its shape later on


def test_a_missing_value_is_nan_and_whole_numbers_are_numbers(tmp_path):
    table = pa.table({"a": pa.array([1, None, 3], pa.int32()), "b": pa.array([1.0, 2.0, 3.0])})
    parquet.write_table(table, tmp_path / "x.parquet")
    (piece,) = ParquetChunks(tmp_path).pieces()
    np.testing.assert_array_equal(piece.loader.load((2,))[0], [[1, 1], [np.nan, 2], [3, 3]])


def test_wrong_files_are_refused_by_name(tmp_path, folder):
    with pytest.raises(ValueError, match=r"^X: there is no file .*nowhere"):
        ParquetChunks(tmp_path / "nowhere.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"^X: there is no .parquet file in"):
        ParquetChunks(tmp_path / "empty")
    (tmp_path / "text.parquet").write_text("no")
    with pytest.raises(ValueError, match=r"^X: .*text.parquet' is not a Parquet file"):
        next(ParquetChunks(tmp_path / "text.parquet").pieces())
    with pytest.raises(ValueError, match=r"^columns: .* has no column 'z'"):
        next(ParquetChunks(folder / "a.parquet", columns=["a", "z"]).pieces())


def test_words_are_no_numbers(tmp_path):
    parquet.write_table(pa.table({"a": ["x", "y"]}), tmp_path / "x.parquet")
    (piece,) = ParquetChunks(tmp_path).pieces()
    with pytest.raises(ValueError, match=r"^columns: 'a' of .* must hold numbers"):
        piece.loader.load((1,))
