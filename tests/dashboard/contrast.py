"""Contrast as WCAG 2 defines it, and the colours of both themes."""

import tomllib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from plotly.colors import hex_to_rgb

_CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"
_THEMES = tomllib.loads(_CONFIG.read_text(encoding="utf-8"))["theme"]


class Theme(NamedTuple):
    """Colours as #rrggbb."""

    background: str
    text: str


LIGHT, DARK = (
    Theme(_THEMES[name]["backgroundColor"], _THEMES[name]["textColor"])
    for name in ("light", "dark")
)


def contrast(one, other) -> float:
    """Of two colours, each #rrggbb or (red, green, blue) from 0 to 255."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour) -> float:
    channels = np.array(hex_to_rgb(colour) if isinstance(colour, str) else colour) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))
