import re

import numpy as np
import pytest

from dashboard.figures import common


@pytest.mark.parametrize("colours", [common.SHARES, common.DIFFERENCES])
def test_what_is_written_in_a_cell_stands_out_from_its_colour(colours):
    values = np.linspace(0.0, 1.0, 64).reshape(8, 8)
    texts = [["x"] * 8] * 8
    figure = common.matrix(
        "", values, texts, texts, colours=colours, limits=(0.0, 1.0), down="", across=""
    )
    cells = common.sample_colorscale(colours, values.ravel(), colortype="tuple")
    for cell, text in zip(cells, np.ravel(figure.data[0].text), strict=True):
        ink = int(re.search("color:#(.)", text)[1], 16) / 15
        lighter, darker = sorted((luminance(cell), luminance((ink,) * 3)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) > 4.0


def luminance(colour):
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour]
    return float(np.dot(linear, (0.2126, 0.7152, 0.0722)))
