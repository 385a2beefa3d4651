import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute.endless import MOST_POINTS, EndlessStream, Place
from dashboard.compute.tracks import WINDOW
from dashboard.model.endless import MOST_EVENTS, Endless, Refit, Setup
from dashboard.model.experiment import Experiment
from dashboard.model.followers import FOLLOWERS
from dashboard.model.model_checks import MOST_STATES
from rhmm.worlds import BLOCK, Missing, MoveMean, NewState, StateAway, Turn
from tests.dashboard.compute.streaming import run

EVENTS = (Turn(at=1_000, angle=90.0), StateAway(at=2_000, state=2, length=500))
SHORT = Setup.of(Experiment(window=60), Endless(learners=("fixed", "auto"), events=EVENTS))


ONLINE = slice(0, 2)
"""The learners of `SHORT`; after them comes EM, which was not asked for."""


@pytest.fixture(scope="module")
def plain():
    return run(SHORT, 3_000)


@pytest.mark.parametrize(("pace", "piece"), [(20_000, 10**9), (500, 7), (3_000, 100)])
def test_the_same_setup_gives_the_same_numbers_at_any_pace(plain, pace, piece):
    stream, rows, _ = plain
    other, others, _ = run(SHORT, 3_000, pace=pace, piece=piece)

    shared = rows.keys() & others.keys()
    assert len(shared) >= 3_000 // WINDOW
    for step in shared:
        known = ~np.isnan(others[step])
        known[10:15] = True  # those of EM, which are NaN in both
        np.testing.assert_array_equal(others[step][known], rows[step][known])
        assert known.all() or step < WINDOW + SHORT.window + BLOCK  # its window began at the start
    for mine, theirs in zip(stream._tracks[ONLINE], other._tracks[ONLINE], strict=True):
        np.testing.assert_array_equal(mine.estimator.means_, theirs.estimator.means_)
        np.testing.assert_array_equal(mine.estimator.transmat_, theirs.estimator.transmat_)
        assert mine.recovery.events == theirs.recovery.events


def test_at_the_highest_pace_there_are_as_many_rows_as_messages_show(plain):
    _, rows, _ = plain

    _, others, _ = run(SHORT, 3_000, pace=100_000)

    assert list(others) == [2_500]
    np.testing.assert_array_equal(others[2_500], rows[2_500])


def test_an_event_that_is_added_live_gives_the_run_of_its_script():
    live = EndlessStream(SHORT._replace(events=()))
    while live.taken < 700:
        live.advance(80)
    live.happen("turn")
    while live.taken < 1_500:
        live.advance(500)
    script = live.news().script

    planned, _, told = run(SHORT._replace(events=script), 1_500)

    assert [event.at for event in script] == [700 + -700 % BLOCK]
    for mine, theirs in zip(live._tracks[ONLINE], planned._tracks[ONLINE], strict=True):
        np.testing.assert_array_equal(mine.estimator.means_, theirs.estimator.means_)
    assert told[-1].script == script


def test_points_are_those_of_the_world_thinned_on_one_grid():
    _, _, told = run(SHORT, 1_000, pace=4_000, tick=400)
    X = SHORT.opened().take(1_000)

    for news in told:
        points = news.points
        assert 0 < len(points.xy) <= MOST_POINTS
        numbers = points.first + points.stride * np.arange(len(points.xy))
        assert points.stride > 1
        assert (numbers % points.stride == 0).all()
        np.testing.assert_array_equal(points.xy, X.X[numbers])  # the disk is its own map
        np.testing.assert_array_equal(points.states, X.states[numbers])


def test_decoded_states_have_the_names_of_the_true_ones(plain):
    _, _, told = plain
    late = [news for news in told if 700 < news.taken <= 1_000]

    decoded = np.concatenate([news.points.decoded[ONLINE] for news in late], axis=1)
    states = np.concatenate([news.points.states for news in late])

    assert (decoded == states).mean() > 0.9


def test_learned_means_stand_beside_the_true_ones(plain):
    _, rows, told = plain
    moment = next(news.moment for news in reversed(told) if news.taken <= 1_000)

    assert moment.learned.shape == (3, 3, 2)
    assert np.abs(moment.learned[ONLINE] - moment.means).max() < 0.25
    assert np.isnan(moment.learned[2]).all()
    step = max(step for step in rows if step <= 1_000)
    accuracy, distance, error, density, count = rows[step][:5]
    assert accuracy > 0.9
    assert 0.0 < distance < 0.5
    assert 0.0 < error < 0.5
    assert np.isfinite(density)
    assert count == rows[step][-1] == 3


def test_a_dropped_mean_moves_and_is_acknowledged_when_it_is_there():
    stream = EndlessStream(SHORT._replace(events=()))
    stream.advance(20)

    stream.drop(1, [Place(0, 0.25, -0.5)])

    assert stream.news().acknowledged == 0  # the block that was drawn is not over
    while stream.taken <= BLOCK:
        stream.advance(20)
    news = stream.news()
    assert news.acknowledged == 1
    np.testing.assert_allclose(news.moment.means[0], (0.25, -0.5))
    assert news.script == (MoveMean(at=BLOCK, state=0, mean=(0.25, -0.5)),)


def test_a_drop_that_is_repeated_before_it_was_acknowledged_happens_once():
    stream = EndlessStream(SHORT._replace(events=()))
    stream.drop(1, [Place(0, 0.25, -0.5)])

    stream.drop(2, [Place(0, 0.25, -0.5), Place(1, 0.5, 0.5)])

    assert [event.state for event in stream.news().script] == [0, 1]


@pytest.mark.parametrize("place", [Place(7, 0.1, 0.1), Place(0, 0.999999, 0.999999)])
def test_a_drop_that_cannot_be_is_refused_in_a_sentence_and_acknowledged(place):
    stream = EndlessStream(SHORT._replace(events=()))

    stream.drop(3, [place])

    news = stream.news()
    assert news.refused.endswith(".")
    assert news.acknowledged == 3
    assert news.script == ()
    assert stream.news().refused == ""  # it is said once


def test_a_mean_can_be_dropped_where_it_was_dropped_before():
    stream = EndlessStream(SHORT._replace(events=()))
    for number in (1, 2):
        stream.drop(number, [Place(0, 0.25, -0.5)])
        for _ in range(2):
            stream.advance(BLOCK)
        stream.news()

    assert [event.at for event in stream.news().script] == [0, 2 * BLOCK]


def test_forged_drops_leave_nothing_behind():
    stream = EndlessStream(SHORT._replace(events=()))

    for number in range(1, 100):
        stream.drop(number, [Place(1_000 + number, 0.1, 0.1)])

    assert stream.news().acknowledged == 99
    assert not stream._dropped
    assert not stream._drops


def test_a_script_has_an_end():
    stream = EndlessStream(SHORT._replace(events=()))
    for _ in range(MOST_EVENTS + 5):
        stream.happen("missing")

    news = stream.news()
    assert len(news.script) == MOST_EVENTS
    assert "at most" in news.refused


def test_recovery_is_measured_from_the_last_event_and_from_a_state_that_comes_back(plain):
    _, _, told = plain

    assert [news.judged[0].event for news in told if news.taken == 3_000] == [2_500]
    before = next(news for news in told if news.taken > 1_100)
    assert before.judged[0].event == 1_000


def test_the_automatic_memory_says_what_it_follows(plain):
    _, _, told = plain
    fixed, auto, _ = told[-1].judged

    assert fixed.memory is None
    assert auto.memory is not None
    assert auto.nbytes > fixed.nbytes > 0
    assert auto.micros > 0.0


def test_a_new_state_is_learned_by_no_learner_and_harms_no_measure():
    stream, _, _ = run(SHORT._replace(events=()), 600)
    stream.happen("new-state")
    while stream.taken < 1_200:
        stream.advance(500)

    moment = stream.news().moment
    assert len(moment.means) == 4
    assert np.isnan(moment.learned[0]).any(axis=1).sum() == 1


def test_there_are_no_more_states_than_marks_with_those_that_are_still_to_come():
    planned = tuple(NewState(at=at, mean=(0.5, 0.0), sigma=0.3) for at in (5_000, 5_050))
    stream = EndlessStream(SHORT._replace(events=planned))
    for _ in range(MOST_STATES - 3 - len(planned)):
        stream.happen("new-state")
        assert stream.news().refused == ""

    stream.happen("new-state")

    news = stream.news()
    assert news.refused == "There can be at most 8 states, those that appear included."
    assert len(news.script) == MOST_STATES - 3


@pytest.mark.parametrize("space", ["spd2"])
def test_other_spaces_stream_too(space):
    experiment = Experiment(**replace(Experiment.plain({"space": space})).truth, window=60)
    setup = Setup.of(experiment, Endless(learners=("streaming",)))

    _, _, (news, *_) = run(setup, 300, tick=300)

    assert news.points.glyphs.shape == (len(news.points.xy), 3)
    assert news.moment.balls.shape == (3, 5)


def test_missing_observations_do_not_lift_the_predictive_density():
    away = Missing(at=1_500, share=0.5, length=1_500)
    _, rows, _ = run(SHORT._replace(events=(away,)), 3_000)

    whole, half = rows[1_500], rows[2_500]
    for density in (3, 8, -2):  # of both learners, and of the ceiling
        assert half[density] == pytest.approx(whole[density], abs=0.5)


def test_memory_does_not_grow():
    tracemalloc.start()
    stream = EndlessStream(SHORT)
    stream.set_pace(20_000)

    def go_on(until):
        while stream.taken < until:
            stream.advance(10**9)
            stream.news()
        gc.collect()

    go_on(20_000)
    before = tracemalloc.get_traced_memory()[0]
    go_on(60_000)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 200_000  # to keep 40,000 observations and states takes 1 MB


def test_every_learner_that_is_offered_can_follow():
    setup = SHORT._replace(learners=tuple(FOLLOWERS), events=())

    _, _, told = run(setup, 500)

    assert told[-1].rows.measures.shape[1] == len(FOLLOWERS) + 1
    assert np.isfinite(told[-1].rows.measures[-1, :-1, 1:3]).all()


def test_em_is_fitted_on_request_and_its_script_gives_the_same_run():
    live, _, _ = run(SHORT._replace(events=()), 970)
    live.refit()
    news = go_on(live, 1_600)

    assert [type(event) for event in news.script] == [Refit]
    assert news.judged[-1].fitted == news.script[0].at == 1_000
    assert news.judged[-1].event is None  # nothing has happened to the stream
    assert news.rows.measures[-1, -1, 0] > 0.9
    assert np.abs(news.moment.learned[-1] - news.moment.means).max() < 0.1
    for piece in (7, 500):
        planned, _, _ = run(SHORT._replace(events=news.script), 1_600, piece=piece)
        np.testing.assert_array_equal(planned._em.means_, live._em.means_)
        assert planned._em.log_likelihood_ == live._em.log_likelihood_
        np.testing.assert_array_equal(planned._em._predicted, live._em._predicted)


def test_em_is_not_fitted_to_next_to_nothing():
    stream = EndlessStream(SHORT._replace(events=()))
    stream.advance(20)

    stream.refit()

    assert "more observations" in stream.news().refused


def go_on(stream, until):
    """The last news of a stream that is led on in steps of 50."""
    while stream.taken < until:
        stream.advance(50)
    return stream.news()
