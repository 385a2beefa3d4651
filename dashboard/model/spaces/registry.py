"""The spaces that a visitor can choose, one line each. The first is the default."""

from dashboard.model.spaces.disk import DISK
from dashboard.model.spaces.space import Space
from dashboard.model.spaces.spd2 import SPD2

SPACES: dict[str, Space] = {
    DISK.key: DISK,
    SPD2.key: SPD2,
}

DEFAULT = next(iter(SPACES.values()))
"""Links do not name it."""
