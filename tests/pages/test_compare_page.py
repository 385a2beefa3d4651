import time

import pytest
from streamlit.testing.v1 import AppTest

import rhmm
from dashboard.compute.jobs import TURN, Job
from dashboard.compute.runs import ExperimentRun, compute, empty_run
from dashboard.compute.turns import Turns
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM, KMEANS, ONLINE_LEARNERS
from dashboard.model.presets import PRESETS
from dashboard.text.formatting import MISSING, hundredths
from dashboard.ui import job_view
from dashboard.ui.session import visitor
from rhmm.scoring import accuracy
from tests.dashboard.made_runs import until
from tests.pages.finding import charts, labelled, tables, to_take

PATIENCE = 600.0
"""Seconds: longer than any machine needs."""


def script():
    from pathlib import Path

    import streamlit as st

    from dashboard.ui import session

    page = Path(session.__file__).parents[2] / "pages" / "experiment" / "compare.py"
    navigation = st.navigation([st.Page(page, title="Compare")])
    session.open_session()
    navigation.run()


def opened(experiment: Experiment) -> AppTest:
    """The page of a finished run."""
    page = AppTest.from_function(script, default_timeout=PATIENCE)
    for key, value in experiment.to_query().items():
        page.query_params[key] = value
    deadline = time.monotonic() + PATIENCE
    while True:
        page.run()
        assert not page.exception
        if MISSING not in accuracies(page):
            return page
        assert time.monotonic() < deadline, "the run does not finish"
        time.sleep(0.2)


def accuracies(page: AppTest) -> list[str]:
    return tables(page)[0]["Accuracy (%)"]


@pytest.fixture(scope="module")
def small() -> Experiment:
    return Experiment(**PRESETS["Overlapping"], length=2_000, seed=3, window=100)


def test_the_numbers_are_those_of_the_library_for_the_same_seed(small):
    disk = rhmm.Hyperbolic(2)
    truth = rhmm.RiemannianHMM.from_parameters(
        disk, small.startprob, small.transmat, small.means, small.sigmas
    )
    X, states = truth.sample(small.length, random_state=small.seed)
    streaming = rhmm.StreamingRiemannianHMM(disk, 3, window=100, random_state=small.seed)
    windowed = rhmm.WindowedRiemannianHMM(
        disk, 3, window=100, transition_update="paper", random_state=small.seed
    )
    clusters = rhmm.RiemannianKMeans(disk, 3, random_state=small.seed).fit(X)
    results = {
        "windowed": rhmm.evaluate(windowed.partial_fit(X).to_hmm(), truth, X, states),
        "streaming": rhmm.evaluate(streaming.partial_fit(X).to_hmm(), truth, X, states),
        EM: rhmm.evaluate(
            rhmm.RiemannianHMM(disk, 3, random_state=small.seed).fit(X), truth, X, states
        ),
        CEILING: rhmm.evaluate(truth, truth, X, states),
    }
    (table,) = tables(opened(small))
    lines = (dict(zip(table, line, strict=True)) for line in zip(*table.values(), strict=True))
    rows = dict(zip(small.methods, lines, strict=True))
    for key, result in results.items():
        assert rows[key]["Accuracy (%)"] == hundredths(result.accuracy)
        assert rows[key]["Log-likelihood per observation"] == f"{result.log_likelihood:.4f}"
    for key in ("windowed", "streaming", EM):
        assert rows[key]["‖A − Â‖"] == f"{results[key].transition_error:.4f}"
        assert rows[key]["Distance of means"] == f"{results[key].mean_errors.mean():.4f}"
    assert rows[KMEANS]["Accuracy (%)"] == hundredths(accuracy(states, clusters.labels_, 3))


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_all_its_figures_and_words(name):
    page = opened(Experiment(**PRESETS[name], length=1_000))
    assert charts(page) >= 4 * 5 + 1 + 1
    assert "**The cost:**" in page.markdown[1].value
    assert not page.error


@pytest.mark.parametrize("algorithm", ONLINE_LEARNERS)
def test_every_online_learner_has_all_its_figures(algorithm):
    page = opened(Experiment(length=1_000, algorithms=(algorithm,)))
    assert charts(page) >= 4 * 4 + 1 + 1
    assert MISSING not in accuracies(page)


def test_the_ceiling_says_which_sample_it_is_from(small):
    said = [caption.value for caption in opened(small).caption]
    assert any("this very chain of 2,000 observations" in words for words in said)


def test_em_is_said_to_have_a_start_of_its_own(small):
    words = " ".join(text.value for text in opened(small).markdown)
    assert "From EM’s own start to the end" in words
    assert "K-means’ start" not in words


@pytest.mark.parametrize(("name", "centre"), [("Near the boundary", 0), ("Paper", -1)])
def test_maps_begin_centred_where_the_whole_disk_would_show_specks(name, centre):
    page = opened(Experiment(**PRESETS[name], length=1_000))
    control = labelled(page.get("button_group"), "Centre the maps on")
    assert control.value == centre


def test_one_state_has_no_matrices():
    truth = {"transmat": ((1.0,),), "means": ((0.3, 0.2),), "sigmas": (0.5,), "startprob": (1.0,)}
    page = opened(Experiment(**truth, length=1_000))
    assert [heading.value for heading in page.subheader] == [
        "Why do they differ?",
        "What each of them sees",
        "Log-likelihood per observation",
        "State by state, against the truth",
    ]


def test_the_timeline_never_shows_more_than_500_observations(small):
    page = opened(small)
    assert timeline(page).value == (1, 200)
    timeline(page).set_value((1, 900)).run()
    assert timeline(page).value == (401, 900)
    timeline(page).set_value((100, 900)).run()
    assert timeline(page).value == (100, 599)
    assert not page.exception


def test_the_timeline_turns_its_pages(small):
    page = opened(small)
    button(page, "Later").click().run()
    assert timeline(page).value == (201, 400)
    button(page, "Earlier").click().run()
    assert timeline(page).value == (1, 200)
    assert button(page, "Earlier").disabled


def test_a_late_look_does_not_turn_the_timeline_back(small):
    page = opened(small)
    before = page._tree.get_widget_states()
    button(page, "Later").click().run()
    page._run(before)
    assert not page.exception
    assert timeline(page).value == (201, 400)


def test_a_shorter_chain_keeps_the_timeline_within_it(small):
    page = opened(small)
    timeline(page).set_value((1_500, 1_900)).run()
    labelled(page.number_input, "T: length of the chain").set_value(1_000).run()
    assert timeline(page).value == (600, 1_000)
    assert not page.exception


def test_a_longer_chain_leaves_the_timeline_where_it_is(small):
    page = opened(small)
    timeline(page).set_value((500, 699)).run()
    labelled(page.number_input, "T: length of the chain").set_value(3_000).run()
    assert timeline(page).value == (500, 699)
    assert timeline(page).max == 3_000


def test_the_timeline_comes_back_as_it_was_when_there_are_results_again(monkeypatch, small):
    page = opened(small)
    timeline(page).set_value((500, 699)).run()
    with monkeypatch.context() as patch:
        job = over_with(empty_run(small))
        patch.setattr(job_view, "request", lambda experiment: job)
        page.session_state.visitor.asked_for = job
        page.run()
        assert charts(page) == 0
    page.session_state.visitor.asked_for = None
    page.run()
    assert timeline(page).value == (500, 699)
    timeline(page).set_value((600, 799)).run()
    assert timeline(page).value == (600, 799)
    assert not page.exception


def test_before_the_first_result_the_page_says_so(monkeypatch, small):
    page = opened_with(monkeypatch, empty_run(small))
    assert set(accuracies(page)) == {MISSING}
    assert any("No method has finished yet" in text.value for text in page.markdown)
    assert charts(page) == 0
    assert [label for label, ready in to_take(page).items() if ready] == ["Script (Python)"]


def test_methods_without_a_result_have_a_placeholder_among_the_others(monkeypatch, small):
    run = compute(small, lambda run, doing, share: None)
    page = opened_with(monkeypatch, until(run, "windowed", CEILING))
    words = [text.value for text in page.markdown]
    assert words.count("**EM:** no result yet.") == 4
    assert words.count("**K-means:** no result yet.") == 4
    assert words.count("**Streaming:** no result yet.") == 4
    assert charts(page) == 4 * 2 + 1 + 1
    assert all(to_take(page).values())


def over_with(run: ExperimentRun) -> Job:
    job = Job(run.experiment, compute, Turns(1, TURN), known=run)
    job._over.set()
    return job


def opened_with(monkeypatch, run: ExperimentRun) -> AppTest:
    """The page of a job that is over with this run."""
    job = over_with(run)

    def request(experiment):
        visitor().asked_for = job
        return job

    monkeypatch.setattr(job_view, "request", request)
    page = AppTest.from_function(script, default_timeout=PATIENCE)
    for key, value in run.experiment.to_query().items():
        page.query_params[key] = value
    page.run()
    assert not page.exception
    return page


def test_a_broken_link_is_explained_and_something_is_shown():
    page = AppTest.from_function(script, default_timeout=PATIENCE)
    page.query_params["T"] = "many"
    page.run()
    assert not page.exception
    assert page.warning[0].value == "Cannot read T = 'many'; the default is used."


def button(page: AppTest, label: str):
    return labelled(page.button, label)


def timeline(page: AppTest):
    return labelled(page.slider, "Observations shown, at most 500 at once")
