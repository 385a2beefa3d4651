import numpy as np
import pytest

from dashboard.canvas.lesson_messages import lesson_message, step_message
from dashboard.compute import lesson
from dashboard.compute.steps import Replay
from dashboard.model.experiment import Experiment
from dashboard.model.lesson import INSPECTED, STEPS
from dashboard.model.spaces.registry import SPACES
from tests.dashboard.canvas.unpacking import unpack

FIXED = [step for step in STEPS if step != "step"]


def step_of(space, key, k):
    experiment = Experiment(**SPACES[space].truth, length=500, window=60)
    variant = INSPECTED[key]
    steps = Replay(experiment.source, variant.learner, {**variant.options, "window": 60}, 0, 3)
    return experiment.chart, steps.step(k)


@pytest.mark.parametrize("name", FIXED)
def test_a_message_names_its_picture(name):
    about, _ = unpack(lesson_message(name, False))
    assert about["picture"] == name
    assert not about["revealed"]


def test_a_guess_reveals_the_answer_in_the_same_picture():
    before, _ = unpack(lesson_message("circle", False))
    after, _ = unpack(lesson_message("circle", True))
    assert after["revealed"]
    assert before["id"] == after["id"]


def test_another_picture_has_another_id():
    ids = {unpack(lesson_message(name, False))[0]["id"] for name in FIXED}
    assert len(ids) == len(FIXED)


def test_the_windows_are_those_of_the_engine():
    about, arrays = unpack(lesson_message("delta", True))
    found = lesson.windows()
    assert about["exit"]["k"] == found.exit.k
    assert about["exit"]["entry"] == "A₁₂"
    assert about["truth"] == [0.4, 0.6, 0.8]
    for i, run in enumerate(found.runs):
        np.testing.assert_array_equal(arrays[f"steps.{i}"], run.steps)
        np.testing.assert_allclose(arrays[f"diagonal.{i}"], run.diagonal.ravel(), rtol=1e-6)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("key", ["paper", "streaming"])
def test_a_step_is_drawn_in_every_space(space, key):
    chart, step = step_of(space, key, 108)
    about, arrays = unpack(step_message(step, chart, False))
    e, n = step.explanation, len(step.explanation.tau)
    assert about["k"] == 108
    assert about["n"] == n
    np.testing.assert_array_equal(arrays["gamma"], e.gamma.ravel().astype(np.float32))
    assert len(arrays["zeta"]) == (len(e.alpha) - 1) * n * n
    assert len(arrays["held"]) == 2 * len(e.alpha)
    ways = arrays["ways"].reshape(n, -1, 2)
    np.testing.assert_allclose(ways[:, 0], chart.places(e.before.means), atol=1e-6)
    np.testing.assert_allclose(ways[:, -1], chart.places(e.after.means), atol=1e-6)


def test_only_the_paper_s_means_go_straight_to_the_new_point():
    chart, step = step_of("disk", "paper", 108)
    towards = unpack(step_message(step, chart, False))[1]["towards"].reshape(3, -1, 2)
    np.testing.assert_allclose(towards[:, -1], [step.explanation.observation] * 3, atol=1e-6)
    chart, step = step_of("disk", "streaming", 108)
    assert len(unpack(step_message(step, chart, False))[1]["towards"]) == 0


def test_another_step_is_another_picture():
    ids = set()
    for k in (80, 81):
        chart, step = step_of("disk", "paper", k)
        ids.add(unpack(step_message(step, chart, False))[0]["id"])
    assert len(ids) == 2
