"""Parquet files: what they unpack to is known before it is unpacked."""

import io

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from rhmm.reading import WrongFileError, read
from tests.reading import files


def repeated(text: str, count: int) -> bytes:
    """A Parquet file with this label in all its rows, which takes little room in it."""
    label = pyarrow.DictionaryArray.from_arrays(np.zeros(count, np.int32), [text])
    table = pyarrow.table(files.named(files.disk_points(count)) | {"label": label})
    out = io.BytesIO()
    parquet.write_table(table, out, store_schema=False)
    return out.getvalue()


def test_a_long_text_that_a_parquet_file_repeats_is_unpacked_once():
    count, text = 2_000, "z" * 100_000

    data, pool = repeated(text, count), pyarrow.default_memory_pool()
    before = pool.max_memory()
    recording, _ = read(data, name="a.parquet")

    assert recording.label_names == (text,)
    assert not recording.labels.any()
    assert pool.max_memory() - before < count * len(text) / 10


def test_columns_that_are_left_out_are_not_unpacked(monkeypatch):
    asked = []
    read_columns = parquet.ParquetFile.read

    def noting(self, columns=None, *arguments, **options):
        asked.append(columns)
        return read_columns(self, columns, *arguments, **options)

    monkeypatch.setattr(parquet.ParquetFile, "read", noting)
    columns = files.named(files.disk_points(4)) | {"remark": ["a", "b", "c", "d"]}
    read(files.parquet_bytes(columns), name="a.parquet", columns=["c0", "c1"])

    assert asked == [["c0", "c1"]]


def test_a_label_of_several_values_is_refused():
    columns = files.named(files.disk_points(2)) | {"label": [[1, 2], [3]]}

    with pytest.raises(WrongFileError, match=r"'label' holds values of type list.*choose one with"):
        read(files.parquet_bytes(columns), name="a.parquet")


def test_a_parquet_file_that_unpacks_to_too_much_text_is_refused(monkeypatch):
    monkeypatch.setattr("rhmm.reading.content.MOST_NUMBERS", 1_000)
    labels = [f"{k:0>2000}" for k in range(10)]
    columns = files.named(files.disk_points(10)) | {"label": labels}

    with pytest.raises(WrongFileError, match=r"unpacks to .* numbers, and 1,000 is the most"):
        read(files.parquet_bytes(columns), name="a.parquet")
