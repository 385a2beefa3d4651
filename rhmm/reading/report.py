"""What was found in a file, so that the reader can check and change it."""

from dataclasses import dataclass

from rhmm.reading.windows import Window


@dataclass(frozen=True)
class Report:
    """What was detected, under the names of the arguments of `read` that change it."""

    format: str
    """``csv``, ``npy``, ``npz`` or ``parquet``."""
    space: str
    """A key of `SPACES`."""
    layout: str
    """A key of `LAYOUTS`: how the numbers of a row make a point."""
    columns: tuple[str, ...] = ()
    """Those whose numbers are the observations; empty for arrays, which have no names."""
    label: str | None = None
    """The column or array with labels."""
    sequence: str | None = None
    time: str | None = None
    array: str | None = None
    """The array of an NPZ file with the observations."""
    separator: str | None = None
    """Of a CSV file."""
    window: Window | None = None
    """How a raw signal was cut."""
    notes: tuple[str, ...] = ()
    """Sentences on all that was left out, marked as missing, or changed."""
