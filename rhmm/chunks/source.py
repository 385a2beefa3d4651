"""What a fit asks of observations that come in chunks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol


class Loader(Protocol):
    """Where the observations of a piece are; small enough to be sent to another process."""

    def load(self, point_shape: tuple[int, ...]) -> list[Any]:
        """Arrays (T, *point_shape), not yet checked: sequences, or a single part of one."""

    @property
    def nbytes(self) -> int:
        """Bytes that travel with it."""


class Piece(NamedTuple):
    """Observations that are in memory together: whole sequences, or a part of one."""

    name: str
    """As messages call it."""
    begins: bool
    """Whether a sequence begins with it; if not, it goes on with that of the piece before."""
    ends: bool
    """Whether that sequence ends with it."""
    loader: Loader


class Chunks(ABC):
    """A source of observations. Each call of `pieces` must give the same."""

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """The pieces in order, without their observations."""


def in_sequence(named: Iterable[tuple[str, Loader]], *, whole: bool) -> Iterator[Piece]:
    """Pieces that are each a `whole` sequence, or that all together are one."""
    before: tuple[str, Loader] | None = None
    is_first = True
    for present in named:
        if before is not None:
            yield Piece(before[0], whole or is_first, whole, before[1])
            is_first = False
        before = present
    if before is not None:
        yield Piece(before[0], whole or is_first, True, before[1])
