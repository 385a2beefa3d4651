from dataclasses import replace

import pytest

from dashboard.model.analysis import shipped
from dashboard.model.endless import MOST_EVENTS, Endless, Played, Refit, Setup
from dashboard.model.experiment import Experiment
from dashboard.model.kinds import Invalid
from dashboard.model.model_checks import MOST_STATES
from rhmm.worlds import Missing, MoveMean, NewState, StateAway, Turn
from tests.dashboard.made_recordings import of_the_disk

EVENTS = (
    Turn(at=1_000, angle=-37.5),
    MoveMean(at=1_050, state=1, mean=(0.1, 1 / 3)),
    Missing(at=2_000, share=0.25, length=500),
)


def test_a_link_opens_the_very_same_events():
    settings = Endless(events=EVENTS, pace=1_300, learners=("auto", "paper"))

    read, problems = Endless.from_query(settings.to_query())

    assert read == settings
    assert problems == []


def test_a_link_opens_what_is_done_with_a_recording_and_fits_of_em():
    settings = Endless(at_end="again", events=(Refit(at=2_000),))

    read, problems = Endless.from_query(settings.to_query())

    assert read == settings
    assert problems == []


def test_the_recording_of_the_experiment_flows_with_learners_that_start_early():
    setup = Setup.of(Experiment.of_recording("weather"), Endless(at_end="again"))

    assert setup.source == Played(shipped("weather"), 4, repeats=True)
    assert setup.window <= 365 // 4


def test_of_a_visitors_file_the_whole_flows_and_not_its_beginning_alone():
    whole = of_the_disk(30_000)
    experiment = Experiment.of_recording(whole.learned_online(), states=5)

    setup = Setup.of(experiment, Endless(), whole)

    assert experiment.length == 20_000
    assert setup.source == Played(whole, 5, repeats=False)
    assert setup.window == 200


def test_labels_of_a_file_without_marks_of_their_own_do_not_flow():
    whole = of_the_disk()
    names = tuple("abcdefghi")
    many = replace(whole, recording=replace(whole.recording, label_names=names))

    source = Setup.of(Experiment.of_recording(many.learned_online()), Endless(), many).source

    assert not source.has_labels
    assert source.held.recording.label_names == ()
    assert len(source.held.recording.points) == len(whole.recording.points)


def test_a_file_that_is_too_large_is_refused_in_a_sentence(monkeypatch):
    large = of_the_disk()
    experiment = Experiment.of_recording(large)
    monkeypatch.setattr("dashboard.model.endless.MOST_BYTES", large.recording.points.nbytes - 1)

    with pytest.raises(Invalid, match="cannot be streamed"):
        Setup.of(experiment, Endless(), large)


@pytest.mark.parametrize(
    "text", ["turn", "turn_7_90", "quake_50", "turn_now_90", "turn_50_nan", "x" * 10_000]
)
def test_a_script_that_cannot_be_read_or_used_is_told_and_left_out(text):
    read, problems = Endless.from_query({"events": text})

    assert read == Endless()
    assert len(problems) == 1


@pytest.mark.parametrize("pace", ["9", "100001", "1.5", "fast"])
def test_a_pace_beyond_the_limits_is_not_used(pace):
    read, problems = Endless.from_query({"pace": pace})

    assert read.pace == Endless().pace
    assert len(problems) == 1


def test_a_script_has_a_limit():
    with pytest.raises(Invalid, match="at most 60 events"):
        Endless(events=[Turn(at=50 * i, angle=1.0) for i in range(MOST_EVENTS + 1)])


def test_a_setup_knows_nothing_of_the_pace():
    assert Setup.of(Experiment(), Endless(pace=10)) == Setup.of(Experiment(), Endless(pace=999))


def test_a_setup_has_a_window_that_is_enough_for_its_states():
    means = [(0.1 * i, 0.3) for i in range(8)]
    row = (0.125,) * 8
    many = Experiment(means=means, transmat=(row,) * 8, sigmas=(0.1,) * 8, startprob=row, window=40)

    assert Setup.of(many, Endless()).window == 40


def test_events_that_cannot_happen_to_the_model_are_refused_in_a_sentence():
    setup = Setup.of(Experiment(), Endless(events=(StateAway(at=50, state=5, length=50),)))

    with pytest.raises(Invalid, match="cannot happen to this model"):
        setup.opened()


def test_a_script_that_leads_to_more_states_than_marks_is_refused_in_a_sentence():
    births = tuple(
        NewState(at=50 * k, mean=(0.5, 0.0), sigma=0.3) for k in range(MOST_STATES - 3 + 1)
    )
    setup = Setup.of(Experiment(), Endless(events=births))

    with pytest.raises(Invalid, match="There can be at most 8 states"):
        setup.opened()
    assert setup._replace(events=births[1:]).opened().n_taken == 0
