import base64

import numpy as np
import pytest

from dashboard.figures.drawing import Drawing


def test_numbers_are_sent_as_bytes_that_plotly_can_read():
    for numbers in (np.array([1.5, np.nan]), np.array([1.5, 2.5], np.float32), np.arange(3)):
        drawing = Drawing()
        drawing.add("scatter", x=numbers)

        (trace,) = drawing.content["data"]
        sent = np.frombuffer(base64.b64decode(trace["x"]["bdata"]), trace["x"]["dtype"])
        np.testing.assert_array_equal(sent, numbers)


def test_every_second_number_of_an_array_is_sent_alone():
    drawing = Drawing()
    drawing.add("scatter", x=np.arange(6.0)[::2])

    sent = base64.b64decode(drawing.content["data"][0]["x"]["bdata"])
    assert np.frombuffer(sent, "f8").tolist() == [0.0, 2.0, 4.0]


def test_what_is_none_is_not_sent():
    drawing = Drawing()
    drawing.layout = {"height": None, "xaxis": {"dtick": None, "range": (0, 1)}}

    assert drawing.content["layout"] == {"xaxis": {"range": (0, 1)}}


@pytest.mark.parametrize("value", [np.float64(0.5), np.array([[0.5]])])
def test_other_arrays_are_sent_as_plain_numbers(value):
    drawing = Drawing()
    drawing.add("heatmap", z=value)

    assert drawing.content["data"][0] == {"type": "heatmap", "z": value.tolist()}
