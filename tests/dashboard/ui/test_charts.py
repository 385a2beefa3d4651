import json

from streamlit.testing.v1 import AppTest


def page():
    from dashboard.figures.drawing import Drawing
    from dashboard.ui.charts import chart

    drawing = Drawing()
    drawing.add("scatter", x=[0, 1], y=[2, 3])
    drawing.layout = {"height": 200}
    chart(drawing, key="line", alt="A line.")


def test_a_chart_has_the_drawing_and_the_theme_of_its_kinds_of_traces():
    (chart,) = AppTest.from_function(page).run().get("plotly_chart")

    sent = json.loads(chart.proto.spec)
    assert sent["data"] == [{"type": "scatter", "x": [0, 1], "y": [2, 3]}]
    assert sent["layout"]["height"] == 200
    template = sent["layout"]["template"]
    assert set(template["data"]) == {"scatter"}
    assert template["layout"]["colorway"]
    assert chart.proto.alt == "A line."
