"""Files made in memory."""

import io

import numpy as np
import pyarrow
from pyarrow import parquet


def csv_bytes(columns: dict, separator: str = ",", header: bool = True) -> bytes:
    """A CSV file; numbers keep all their digits."""
    lines = [separator.join(columns)] if header else []
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    lines += [separator.join("" if cell != cell else str(cell) for cell in row) for row in rows]
    return ("\n".join(lines) + "\n").encode()


def npy_bytes(values, **options) -> bytes:
    out = io.BytesIO()
    np.save(out, values, **options)
    return out.getvalue()


def npz_bytes(compressed: bool = False, **arrays) -> bytes:
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **arrays)
    return out.getvalue()


def parquet_bytes(columns: dict) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), out)
    return out.getvalue()


def named(numbers: np.ndarray, letter: str = "c") -> dict:
    """Columns of an array (T, k) by names such as c0."""
    return {f"{letter}{k}": numbers[:, k] for k in range(numbers.shape[1])}


def matrices(count: int, size: int, seed: int = 0) -> np.ndarray:
    """Positive definite matrices that are well conditioned, shape (count, size, size)."""
    factors = np.random.default_rng(seed).standard_normal((count, size, 2 * size))
    return factors @ np.swapaxes(factors, 1, 2) / (2 * size)


def disk_points(count: int, dim: int = 2, seed: int = 0) -> np.ndarray:
    """Points of the ball, of both signs; shape (count, dim)."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, (count, dim))
