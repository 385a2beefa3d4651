import pytest
from streamlit.testing.v1 import AppTest

from dashboard.compute import steps as compute_steps
from dashboard.model.experiment import Experiment
from dashboard.model.lesson import INSPECTED, STEPS
from dashboard.model.spaces.registry import SPACES
from dashboard.text.lesson import SCREENS
from tests.pages.finding import APP, PATIENCE, labelled

PAGE = "learn/how_it_works.py"
SHORT = Experiment(length=800, window=60)


def opened(experiment: Experiment = SHORT, **query: str) -> AppTest:
    app = AppTest.from_file(APP, default_timeout=PATIENCE)
    app.query_params.update(experiment.to_query() | query)
    app.switch_page(PAGE)
    app.run()
    assert not app.exception
    return app


def question(app):
    return next(radio for radio in app.radio if "Guess first" in radio.label)


def titles(app):
    return [text.value for text in app.markdown if text.value.startswith("**")]


def k_of(app):
    return labelled(app.number_input, "k").value


@pytest.mark.parametrize("step", STEPS)
def test_every_screen_opens_by_its_link(step):
    app = opened(lesson=step)

    assert [header.value for header in app.header] == [
        f"{STEPS.index(step) + 1}. {SCREENS[step].title}"
    ]
    assert question(app).value is None
    assert not app.info
    assert not app.warning


def test_next_and_back_go_through_the_lesson_and_write_the_link():
    app = opened()
    assert labelled(app.button, "Back").disabled
    for step in STEPS[1:]:
        labelled(app.button, "Next").click().run()
        assert not app.exception
        assert app.query_params["lesson"] == step
    assert labelled(app.button, "Next").disabled
    labelled(app.button, "Back").click().run()
    assert app.query_params["lesson"] == STEPS[-2]


def test_a_number_leads_to_its_screen():
    app = opened()
    labelled(app.button, "7").click().run()

    assert app.query_params["lesson"] == "delta"


@pytest.mark.parametrize("step", STEPS)
def test_a_guess_is_kept_beside_the_answer(step):
    asked = SCREENS[step].question()
    wrong = next(i for i in range(len(asked.options)) if i != asked.right)
    app = opened(lesson=step)
    question(app).set_value(asked.options[wrong]).run()

    assert len(app.info) == 1
    assert f"You guessed “{asked.options[wrong]}”" in app.info[0].value
    assert asked.options[asked.right] in app.info[0].value

    labelled(app.button, "Back" if step == STEPS[-1] else "Next").click().run()
    assert not app.info
    labelled(app.button, "Next" if step == STEPS[-1] else "Back").click().run()
    assert question(app).value == asked.options[wrong]
    assert asked.because in app.info[0].value


def test_a_right_guess_is_praised():
    asked = SCREENS["circle"].question()
    app = opened(lesson="circle")
    question(app).set_value(asked.options[asked.right]).run()

    assert app.info[0].value.startswith("**Right.**")


@pytest.mark.parametrize("key", INSPECTED)
def test_a_step_of_every_learner_opens_at_the_k_of_the_link(key):
    app = opened(lesson="step", inspect=key, k="300")

    assert k_of(app) == 300
    assert "The step at k = 300 in formulas" in [header.value for header in app.subheader]
    assert len(app.latex) >= 1


def test_the_formulas_differ_with_the_learner():
    printed = opened(lesson="step", inspect="paper", k="300")
    convex = opened(lesson="step", inspect="convex", k="300")

    assert "**Row 3 of A: what the window knows of it**" in [
        title.replace("Row 1", "Row 3").replace("Row 2", "Row 3") for title in titles(printed)
    ]
    assert not any("what the window knows" in title for title in titles(convex))


def test_steps_go_back_and_forth_within_the_chain():
    app = opened(lesson="step", k="300")
    labelled(app.button, "+1").click().run()
    assert (k_of(app), app.query_params["k"]) == (301, "301")
    labelled(app.button, "−100").click().run()
    assert k_of(app) == 201
    for _ in range(2):
        labelled(app.button, "−100").click().run()
    assert k_of(app) == 61
    assert labelled(app.button, "−1").disabled
    labelled(app.number_input, "k").set_value(5_000).run()
    assert k_of(app) == 800
    assert labelled(app.button, "+1").disabled
    assert not app.exception


def test_a_moment_before_the_start_opens_the_first_step_and_says_why():
    app = opened(lesson="step", k="10")

    assert k_of(app) == 61
    assert any("still collects its first 60" in caption.value for caption in app.caption)


def test_the_state_of_the_formulas_can_be_chosen():
    app = opened(lesson="step", k="300")
    labelled(app.radio, "State").set_value(0).run()

    assert "**Row 1 of A moves**" in titles(app)
    assert not app.exception


def test_fewer_states_do_not_break_the_formulas():
    app = opened(lesson="step", k="300")
    labelled(app.radio, "State").set_value(2).run()
    labelled(app.selectbox, "True model").set_value("Two states").run()

    assert not app.exception


@pytest.mark.parametrize("space", SPACES)
def test_a_step_opens_in_every_space(space):
    experiment = Experiment(**SPACES[space].truth, length=500, window=60)
    app = opened(experiment, lesson="step", inspect="streaming", k="300")

    assert len(app.latex) >= 1


def test_a_plain_rerun_replays_nothing(monkeypatch):
    app = opened(lesson="step", k="300")
    monkeypatch.setattr(
        compute_steps.Replay, "_explained", lambda *_: pytest.fail("the step is known")
    )
    app.run()

    assert not app.exception


def test_the_glossary_and_the_paper_close_every_screen():
    app = opened(lesson="gaussian")

    assert any('id="glossary-tau"' in html.proto.body for html in app.get("html"))
    assert any("Tupker" in caption.value for caption in app.caption)


def test_a_screen_that_does_not_exist_is_told():
    app = opened(lesson="nonsense")

    assert len(app.warning) == 1
    assert [header.value for header in app.header] == ["1. Distance"]
