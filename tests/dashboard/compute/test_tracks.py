import numpy as np
import pytest

from dashboard.compute.tracks import WINDOW, Level, Track, slope
from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from dashboard.model.followers import FOLLOWERS
from dashboard.model.spaces.registry import DEFAULT

SETUP = Setup.of(Experiment(), Endless())


@pytest.fixture
def world():
    return SETUP.opened()


@pytest.fixture
def track():
    return Track(FOLLOWERS["streaming"].make(DEFAULT.manifold, 3, 0, 60), DEFAULT.manifold)


def learn(track, world, count):
    labels = []
    for _ in range(count // 50):
        part = world.take(50)
        labels.append(track.learn(part.X))
        track.judge(part.states, labels[-1], part.ceiling)
        track.note(world.n_taken, world.n_taken)
    return np.concatenate(labels)


def test_states_are_unknown_while_the_first_observations_are_collected(track, world):
    labels = learn(track, world, 200)

    assert set(labels[:60]) == {-1}
    assert set(labels[60:]) == {0, 1, 2}


def test_all_measures_are_unknown_before_the_start(track, world):
    learn(track, world, 50)

    assert np.isnan(track.measures(world.truth, 50)).all()
    assert track.judged().nbytes == 0
    assert len(track.means_of(3)[0]) == 0


def test_measures_are_those_of_the_learned_parameters(track, world):
    learn(track, world, 1_000)
    accuracy, distance, error, density, count = track.measures(world.truth, 1_000)

    named, means = track.means_of(3)
    order = track.recovery.matching
    np.testing.assert_array_equal(named, [0, 1, 2])
    np.testing.assert_array_equal(means, track.estimator.means_[order])
    distances = [DEFAULT.manifold.dist(a, b) for a, b in zip(world.truth.means, means, strict=True)]
    assert distance == pytest.approx(np.mean(distances))
    learned = track.estimator.transmat_[order][:, order]
    assert error == pytest.approx(np.linalg.norm(learned - world.truth.transmat))
    assert accuracy > 0.9
    assert density < 0.0
    assert count == 3


def test_predictive_density_is_the_mean_over_the_window(track, world):
    learn(track, world, 500)
    before = track.estimator.log_likelihood_
    learn(track, world, WINDOW)
    after = track.estimator.log_likelihood_

    assert track.measures(world.truth, 1_000)[3] == pytest.approx((after - before) / WINDOW)


def test_a_slope_is_unknown_where_its_beginning_was_not_written_down():
    levels = [Level(0, 1.0, 0), Level(WINDOW, 6.0, WINDOW)]

    assert slope(levels, WINDOW) == 5.0 / WINDOW
    assert np.isnan(slope(levels, WINDOW + 50))
    assert np.isnan(slope([Level(50, 1.0, 0), levels[1]], WINDOW))


def test_what_was_missing_does_not_count_in_a_slope():
    half = [Level(0, 0.0, 0), Level(WINDOW, -700.0, WINDOW // 2)]
    hardly_any = [Level(0, 0.0, 0), Level(WINDOW, -9.0, 3)]

    assert slope(half, WINDOW) == -1400.0 / WINDOW
    assert np.isnan(slope(hardly_any, WINDOW))


def test_labels_are_renamed_to_the_states_that_they_agree_with(track, world):
    labels = learn(track, world, 1_000)
    order = track.recovery.matching

    renamed = track.in_true_names(labels[-100:], 3)

    np.testing.assert_array_equal(order[renamed], labels[-100:])
    np.testing.assert_array_equal(track.in_true_names(np.array([-1, order[2]]), 3), [-1, 2])


def test_a_state_that_no_learner_knows_is_called_by_no_name(track, world):
    learn(track, world, 1_000)

    named, means = track.means_of(4)

    np.testing.assert_array_equal(named, [0, 1, 2])
    assert len(means) == 3


def test_accuracy_is_unknown_until_a_whole_window_was_decoded(track, world):
    learn(track, world, 550)
    assert np.isnan(track.measures(world.truth, 550)[0])

    learn(track, world, 50)

    assert track.measures(world.truth, 600)[0] == track.recovery.accuracy > 0.9


def test_time_counts_from_the_third_block_after_the_start(track, world):
    learn(track, world, 150)
    assert np.isnan(track.judged().micros)

    learn(track, world, 200)

    assert track.judged().micros > 0.0


def test_without_a_truth_only_accuracy_density_and_count_are_known(track, world):
    learn(track, world, 1_000)

    measures = track.measures(None, 1_000)

    assert np.isnan(measures).tolist() == [False, True, True, False, False]


def test_observations_without_a_label_are_judged_by_none(track, world):
    other = Track(FOLLOWERS["streaming"].make(DEFAULT.manifold, 3, 0, 60), DEFAULT.manifold)
    rng = np.random.default_rng(0)
    for _ in range(20):
        part = world.take(50)
        known = rng.random(50) < 0.6
        labels = track.learn(part.X)
        track.judge(np.where(known, part.states, -1), labels, part.ceiling)
        other.recovery.add(part.states[known], labels[known], part.ceiling[known])

    assert track.recovery.n_seen < 1_000
    assert track.recovery.accuracy == other.recovery.accuracy


def test_a_learner_that_counts_is_asked_by_the_names_of_its_states(world):
    track = Track(FOLLOWERS["counting"].make(DEFAULT.manifold, 3, 0, 60), DEFAULT.manifold)
    learn(track, world, 2_000)

    *_, distance, error, _, count = track.measures(world.truth, 2_000)
    named, means = track.means_of(3)

    assert count == track.estimator.n_components_ == 3
    np.testing.assert_array_equal(named, [0, 1, 2])
    assert (DEFAULT.manifold.dist(world.truth.means, means) < 0.3).all()
    assert distance < 0.2
    assert error < 0.3


def test_states_of_a_recording_that_no_label_is_left_for_have_names_too(world):
    track = Track(
        FOLLOWERS["streaming"].make(DEFAULT.manifold, 3, 0, 60), DEFAULT.manifold, names_all=True
    )
    for _ in range(20):
        part = world.take(50)
        labels = track.learn(part.X)
        track.judge(np.where(part.states == 2, -1, part.states), labels, part.ceiling)

    named, means = track.means_of(4)

    np.testing.assert_array_equal(named, [0, 1, 2])
    assert len(np.unique(means, axis=0)) == 3
