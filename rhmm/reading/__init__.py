"""Observations from files: CSV, NPY, NPZ or Parquet; points, matrices or raw signals."""

from rhmm.reading.read import ENDINGS, Reading, names_in, read
from rhmm.reading.report import Report
from rhmm.reading.spaces import LAYOUTS, SPACES
from rhmm.reading.windows import SHRINKAGES, Window
from rhmm.reading.wrong import WrongFileError, WrongRow

__all__ = [
    "ENDINGS",
    "LAYOUTS",
    "SHRINKAGES",
    "SPACES",
    "Reading",
    "Report",
    "Window",
    "WrongFileError",
    "WrongRow",
    "names_in",
    "read",
]
