import pytest
from streamlit.testing.v1 import AppTest

from dashboard.model.experiment import Experiment
from dashboard.model.plan import Plan
from dashboard.model.view import View


def script():
    from dashboard.ui import session

    session.open_session()


@pytest.fixture
def opened():
    def opened(**query):
        page = AppTest.from_function(script)
        page.query_params.update(query)
        page.run()
        assert not page.exception
        return page

    return opened


def visitor(page):
    return page.session_state.visitor


def query_of(page):
    return {key: page.query_params[key] for key in page.query_params}


def open_link(page, **query):
    page.query_params.clear()
    page.query_params.update(query)
    page.run()
    assert not page.exception


def test_the_link_is_read_into_all_settings(opened):
    me = visitor(opened(seed="3", runs="7", colour="decoded"))

    assert me.experiment.valid == Experiment(seed=3)
    assert me.plan.valid == Plan(runs=7)
    assert me.view == View(colour="decoded")
    assert me.link_problems == []
    assert me.links == 1


def test_the_address_says_what_is_on_screen(opened):
    page = opened(seed="3")
    visitor(page).propose(visitor(page).plan, runs=7)
    page.run()

    assert query_of(page) == Experiment(seed=3).to_query() | {"runs": "7"}


def test_unreadable_parts_of_every_kind_are_told(opened):
    me = visitor(opened(seed="x", runs="y", k="z"))

    assert [problem.field for problem in me.link_problems] == ["seed", "runs", "k"]


def test_an_accepted_change_ends_the_warnings_about_the_link(opened):
    me = visitor(opened(seed="x"))
    me.propose(me.plan, runs=0)
    assert me.link_problems

    me.propose(me.plan, runs=7)

    assert me.link_problems == []


def test_another_experiment_begins_at_its_first_moment_and_keeps_the_view(opened):
    me = visitor(opened(k="900", colour="decoded"))

    me.propose(me.experiment, seed=0)
    assert me.view.k == 900  # nothing has changed

    me.propose(me.experiment, seed=1)
    assert me.view == View(colour="decoded")


def test_an_address_that_is_one_answer_behind_opens_no_link(opened):
    page = opened(seed="3")
    before = query_of(page)
    visitor(page).propose(visitor(page).experiment, seed=4)
    page.run()

    open_link(page, **before)

    assert visitor(page).experiment.valid.seed == 4
    assert visitor(page).links == 1
    assert page.query_params["seed"] in ("4", ["4"])


def test_an_address_that_the_browser_has_left_is_a_link_again(opened):
    page = opened(seed="3")
    first = query_of(page)
    for seed in (4, 5):
        visitor(page).propose(visitor(page).experiment, seed=seed)
        page.run()
    page.run()  # the browser answers with the last address

    open_link(page, **first)

    assert visitor(page).experiment.valid.seed == 3
    assert visitor(page).links == 2


def test_a_link_that_differs_in_its_view_alone_keeps_what_is_typed(opened):
    page = opened(seed="3")
    visitor(page).propose(visitor(page).experiment, length=1)

    open_link(page, seed="3", colour="decoded")

    assert visitor(page).experiment["length"] == 1
    assert visitor(page).view.colour == "decoded"


def test_a_link_to_another_experiment_forgets_what_is_typed(opened):
    page = opened(seed="3")
    visitor(page).propose(visitor(page).experiment, length=1)

    open_link(page, seed="4")

    assert visitor(page).experiment.typed == {}


def test_a_page_of_the_menu_without_a_query_opens_no_link(opened):
    page = opened(seed="3")

    open_link(page)

    assert visitor(page).experiment.valid.seed == 3
    assert visitor(page).links == 1


def test_a_link_to_another_experiment_is_seen_the_same_way(opened):
    me = visitor(opened(k="900", colour="decoded", runs="7"))

    assert me.query(Experiment(seed=9)) == Experiment(seed=9).to_query() | {
        "colour": "decoded",
        "runs": "7",
    }


def test_the_canvas_does_not_move_the_timeline(opened):
    page = opened(t="5,90")
    page.session_state.visitor.view = View(timeline=(5, 90))

    def script_that_looks():
        from dashboard.ui import session

        session.open_session()
        session.visitor().look({"show": ["grid"], "k": 7})

    other = AppTest.from_function(script_that_looks)
    other.query_params["t"] = "5,90"
    other.run()

    assert not other.exception
    assert visitor(other).view == View(show=("grid",), k=7, timeline=(5, 90))
    assert other.query_params["k"] in ("7", ["7"])


def test_the_screen_of_the_lesson_is_part_of_the_link(opened):
    page = opened(lesson="step", inspect="convex", k="300")

    assert (visitor(page).lesson.step, visitor(page).lesson.inspect) == ("step", "convex")
    assert visitor(page).view.k == 300
    asked = {"lesson": "step", "inspect": "convex", "k": "300"}
    assert query_of(page) == Experiment().to_query() | asked


def test_guesses_outlive_another_link(opened):
    page = opened(lesson="circle")
    visitor(page).guesses["circle"] = "Nearer the rim"
    open_link(page, lesson="delta")

    assert visitor(page).guesses == {"circle": "Nearer the rim"}
    assert visitor(page).lesson.step == "delta"


def test_a_browser_that_never_answers_does_not_fill_the_memory(opened, monkeypatch):
    monkeypatch.setattr("dashboard.ui.session._MOST_WRITTEN", 3)
    page = opened()
    for seed in range(1, 6):
        visitor(page).propose(visitor(page).experiment, seed=seed)
        page.query_params.clear()
        page.run()

    written = visitor(page).written
    assert [query["seed"] for query in written] == ["3", "4", "5"]
