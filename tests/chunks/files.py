"""Parquet files for tests of chunks."""

import numpy as np
import pyarrow as pa
from pyarrow import parquet


def write_parquet(path, X: np.ndarray, rows_in_group: int) -> None:
    """Points (T, ...) as columns a, b, …"""
    rows = X.reshape(len(X), -1)
    names = [chr(ord("a") + k) for k in range(rows.shape[1])]
    table = pa.table({name: rows[:, k] for k, name in enumerate(names)})
    parquet.write_table(table, path, row_group_size=rows_in_group)
