"""What counts as chunks, and what stays an array in memory."""

from array import array

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rhmm.chunks import ArrayChunks, DaskChunks, ParquetChunks, as_chunks
from tests.chunks.files import write_parquet


@pytest.mark.parametrize(
    "X",
    [
        np.zeros((4, 2)),
        [[0.0, 0.0], [0.1, 0.1]],
        [np.zeros(2), np.zeros(2)],
        [],
        pd.DataFrame({"a": [0.0], "b": [0.0]}),
        sparse.eye_array(2),
        array("d", [0.0, 1.0]),
        3.0,
    ],
    ids=["array", "lists", "points", "nothing", "frame", "sparse", "buffer", "number"],
)
def test_what_numpy_makes_an_array_of_is_no_chunk(X):
    assert as_chunks(X, 1) is None


def test_a_list_of_matrices_is_one_sequence_where_points_are_matrices():
    matrices = [np.eye(2), np.eye(2)]
    assert as_chunks(matrices, 2) is None
    assert isinstance(as_chunks(matrices, 1), ArrayChunks)


def test_arrays_files_and_dask_are_chunks(tmp_path):
    import dask.array
    import dask.bag

    path = tmp_path / "x.parquet"
    write_parquet(path, np.zeros((4, 2)), 2)
    given = ArrayChunks([np.zeros((4, 2))])
    assert as_chunks(given, 1) is given
    assert isinstance(as_chunks((np.zeros((4, 2)),), 1), ArrayChunks)
    for paths in (path, str(path), [path], tmp_path):
        assert isinstance(as_chunks(paths, 1), ParquetChunks)
    for collection in (dask.array.zeros((4, 2)), dask.bag.from_sequence([np.zeros((4, 2))])):
        assert isinstance(as_chunks(collection, 1), DaskChunks)
