import re

import numpy as np
import pytest
from plotly.colors import hex_to_rgb

from dashboard.figures import common
from tests.dashboard.contrast import DARK, LIGHT, contrast
from tests.dashboard.figures.checking import checked


def mixed(colours, share, background):
    """The colour of a cell on this background: channels and opacity between two stops."""
    stops = [(at, [float(c) for c in re.findall(r"[\d.]+", colour)]) for at, colour in colours]
    places = [at for at, _ in stops]
    *channels, opacity = (
        np.interp(share, places, [colour[i] for _, colour in stops]) for i in range(4)
    )
    return opacity * np.array(channels) + (1 - opacity) * np.array(hex_to_rgb(background))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("colours", [common.SHARES, common.DIFFERENCES], ids=["shares", "errors"])
def test_what_is_written_in_a_cell_stands_out_from_its_colour(colours, theme):
    for share in np.linspace(0.0, 1.0, 41):
        assert contrast(mixed(colours, share, theme.background), theme.text) > 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_nothing_looks_like_the_page_and_the_most_stands_out_from_it(theme):
    for colours, nothing in ((common.SHARES, 0.0), (common.DIFFERENCES, 0.5)):
        assert contrast(mixed(colours, nothing, theme.background), theme.background) < 1.3
        assert contrast(mixed(colours, 1.0, theme.background), theme.background) > 2.5


def test_every_level_beside_a_climb_is_drawn():
    levels = [(f"level {i}", float(i)) for i in range(6)]
    drawing = common.climb([0.0, 1.0], "its own start", "EM", levels, (0.0, 6.0))

    figure = checked(drawing)
    assert [trace.name for trace in figure.data[1:]] == [f"level {i} {i:.4f}" for i in range(6)]
