from dataclasses import replace

import numpy as np
import pytest

from dashboard.figures import fitted_timeline
from rhmm.paper import paper_model
from tests.dashboard.figures.checking import checked
from tests.dashboard.made_recordings import disk_fit, fitted, matrix_fit, of_the_disk


def test_all_states_stand_below_the_labels_in_the_colours_of_matching_states():
    result = disk_fit()

    (strip,) = checked(fitted_timeline.overview(result)).data

    assert list(strip.y) == ["labels", "states"]
    np.testing.assert_array_equal(np.array(strip.z[1], float), result.states)
    labels = np.array([np.nan if z is None else z for z in strip.z[0]])
    known = result.recording.labels >= 0
    assert np.isnan(labels[~known]).all()
    agreeing = np.mean(labels[known] == result.states[known])
    assert agreeing == pytest.approx(result.agreement.accuracy)


def test_a_long_recording_is_thinned(monkeypatch):
    monkeypatch.setattr(fitted_timeline, "MOST_COLUMNS", 100)
    result = fitted(of_the_disk(), paper_model())

    (strip,) = checked(fitted_timeline.overview(result)).data

    assert len(strip.z[0]) == 100
    assert strip.dx == 3


def test_without_labels_there_is_only_the_strip_of_states():
    (strip,) = checked(fitted_timeline.overview(matrix_fit())).data

    assert list(strip.y) == ["states"]


def test_a_dashed_line_stands_where_the_memory_started_anew():
    result = replace(disk_fit(), restarts=(50, 250))

    whole = checked(fitted_timeline.overview(result)).layout.shapes
    part = checked(fitted_timeline.timeline(result, (200, 300))).layout.shapes

    assert [one.x0 for one in whole if one.line.dash == "dash"] == [50.5, 250.5]
    assert [one.x0 for one in part if one.line.dash == "dash"] == [250.5]


@pytest.mark.parametrize(
    ("restarts", "names"), [((), 0), ((50,), 1), ((50, 250), 2), ((9, 50, 250), 0)]
)
def test_few_dashed_lines_are_named_in_the_picture(restarts, names):
    layout = checked(fitted_timeline.overview(replace(disk_fit(), restarts=restarts))).layout

    assert [one.text for one in layout.annotations] == names * ["started anew"]
    assert [one.x for one in layout.annotations] == [k + 0.5 for k in restarts[:names]]


def test_a_line_stands_between_sequences():
    shapes = checked(fitted_timeline.overview(disk_fit())).layout.shapes

    assert [shape.x0 for shape in shapes] == [100.5]
    assert not checked(fitted_timeline.timeline(disk_fit(), (101, 300))).layout.shapes


def test_a_part_of_the_time_has_probabilities_and_marks_below_what_is_not_the_labels():
    result = disk_fit()

    figure = checked(fitted_timeline.timeline(result, (1, 150)))

    hovers = [trace.text for trace in figure.data if trace.text is not None]
    assert len(hovers) == 2  # labels and states
    assert hovers[0][3] == "t = 4, a, 0.3 s: label unknown"
    assert "t = 8, a, 0.7 s, missing: state" in hovers[1][7]
    assert "t = 101, b, 10.0 s: state" in hovers[1][100]
    (triangles,) = [t for t in figure.data if t.marker.symbol == "triangle-up"]
    labels, states = result.recording.labels[:150], result.states[:150]
    wrong = (labels >= 0) & (result.agreement.marks[labels] != states)
    assert list(triangles.x) == (np.flatnonzero(wrong) + 1).tolist()


def test_words_count_the_states():
    text = fitted_timeline.timeline_in_words(matrix_fit(), (1, 50))

    counts = np.bincount(matrix_fit().states[:50], minlength=2)
    assert f"state 1 {counts[0]} times" in text
