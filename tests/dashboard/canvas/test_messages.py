import numpy as np
import pytest

from dashboard.canvas import messages
from dashboard.compute.runs import empty_run
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, EM
from dashboard.model.spaces.disk import DISK_CHART as DISK
from dashboard.model.view import SHOWN, SWITCHES, View
from rhmm import Hyperbolic
from tests.canvas.ellipses import Ellipses
from tests.dashboard.canvas.unpacking import unpack
from tests.dashboard.made_runs import finished, first_rows, with_method


@pytest.fixture(scope="module")
def run():
    return finished(Experiment(length=2_000))


def test_the_message_holds_the_path_in_single_precision(run):
    about, arrays = unpack(messages.run_message(run, True, View(), DISK))

    assert [learner["key"] for learner in about["learners"]] == ["windowed", "streaming"]
    for key in ("windowed", "streaming"):
        path = run.path(key)
        means = path.means.ravel().astype(np.float32)
        np.testing.assert_array_equal(arrays[f"{key}.means"], means)
        np.testing.assert_array_equal(arrays[f"{key}.steps"], path.step)
    assert about["reached"] == about["length"] == 2_000
    assert about["over"]


def test_the_errors_are_distances_on_the_disk(run):
    _, arrays = unpack(messages.run_message(run, True, View(), DISK))

    errors = arrays["streaming.errors"].reshape(-1, 2)
    online = run.method("streaming")
    assert errors[-1] == pytest.approx([online.transition_error, online.mean_error], rel=1e-6)
    middle = len(errors) // 2
    truth = run.experiment.source.true_model()
    distances = Hyperbolic(2).dist(truth.means_, online.path.means[middle])
    assert errors[middle, 1] == pytest.approx(np.mean(distances), rel=1e-6)


def size(run):
    """Bytes of all messages about a finished run."""
    about = messages.run_message(run, True, View(), DISK)
    return len(about) + len(messages.cloud_message(run, DISK))


def test_a_finished_default_run_is_small_enough_for_any_line():
    assert size(finished(Experiment())) < 300_000


def test_a_long_chain_of_many_states_is_small_too():
    law = (0.125,) * 8
    experiment = Experiment(
        transmat=(law,) * 8,
        means=tuple((0.9 * np.cos(a), 0.9 * np.sin(a)) for a in np.arange(8) * np.pi / 4),
        sigmas=(0.3,) * 8,
        startprob=law,
        length=100_000,
    )
    assert size(finished(experiment)) < 560_000  # two paths, and 8 probabilities of each point


def test_before_anything_is_learned_there_is_a_picture_of_the_truth():
    about, arrays = unpack(messages.run_message(empty_run(Experiment()), False, View(), DISK))

    assert about["truth"]["means"] == [list(mean) for mean in Experiment().means]
    assert about["reached"] == 0
    assert len(arrays["windowed.steps"]) == len(arrays["streaming.steps"]) == 0
    assert about["ceiling"]["accuracy"] is None


@pytest.mark.parametrize(("length", "window"), [(500, 500), (501, 500)])
def test_a_window_as_long_as_the_chain_leaves_no_step_to_play_and_says_so(length, window):
    experiment = Experiment(length=length, window=window, algorithms=("windowed",))
    run = finished(experiment)
    about, arrays = unpack(messages.run_message(run, True, View(), DISK))

    assert len(arrays["windowed.steps"]) == 0
    ((k, words),) = about["learners"][0]["moments"]
    assert (k, words) == (0, "has nothing to learn from: Δ is the whole chain, or nearly.")
    np.testing.assert_array_equal(arrays["windowed.judged"], [0])
    accuracy = run.method("windowed").accuracy
    assert arrays["windowed.accuracies"] == pytest.approx([accuracy], rel=1e-6)


def test_the_accuracy_at_the_end_is_that_of_the_table(run):
    about, arrays = unpack(messages.run_message(run, True, View(), DISK))

    for key in ("windowed", "streaming", "em", "kmeans"):
        last = arrays[f"{key}.accuracies"][-1]
        assert last == pytest.approx(run.method(key).accuracy, rel=1e-6)
    assert arrays["windowed.judged"][-1] == 2_000
    assert about["ceiling"]["accuracy"] == run.method(CEILING).accuracy


def test_a_message_goes_on_from_the_one_before(run):
    begun = first_rows(run, 100)
    _, whole = unpack(messages.run_message(run, True, View(), DISK))

    _, first = unpack(messages.run_message(begun, False, View(), DISK, version=4))
    about, rest = unpack(messages.run_message(run, True, View(), DISK, version=5, before=begun))
    again, nothing = unpack(messages.run_message(run, True, View(), DISK, version=6, before=run))

    assert (about["version"], about["continues"]) == (5, 4)
    for key in ("windowed", "streaming"):
        for field in ("steps", "means", "transmat", "sigmas", "errors"):
            name = f"{key}.{field}"
            np.testing.assert_array_equal(np.concatenate([first[name], rest[name]]), whole[name])
    np.testing.assert_array_equal(rest["em.means"], whole["em.means"])
    assert again["continues"] == 5
    assert sum(array.size for array in nothing.values()) == 0


def test_a_path_whose_states_are_in_another_order_is_sent_whole(run):
    path = run.path("windowed")
    other_way = path._replace(means=path.means[:, ::-1])
    before = first_rows(with_method(run, "windowed", path=other_way), 100)

    about, arrays = unpack(messages.run_message(run, True, View(), DISK, version=5, before=before))

    assert about["continues"] is None
    assert len(arrays["windowed.steps"]) == len(path.step)


def test_a_message_about_another_run_is_whole(run):
    before = run._replace(experiment=Experiment(length=2_000, seed=1))

    about, _ = unpack(messages.run_message(run, True, View(), DISK, version=5, before=before))

    assert about["continues"] is None


def test_a_run_that_waits_in_line_has_no_cloud_yet():
    about, arrays = unpack(messages.cloud_message(empty_run(Experiment()), DISK))

    assert about["stride"] == 1
    assert {name: array.size for name, array in arrays.items()} == {"xy": 0, "states": 0}


def test_the_same_experiment_has_the_same_name_wherever_it_is_computed(run):
    assert messages.run_id(run) == messages.run_id(empty_run(Experiment(length=2_000)))
    assert messages.run_id(run) != messages.run_id(empty_run(Experiment(length=2_001)))


def test_observations_that_the_browser_knows_are_named_and_not_sent(run):
    known = messages.cloud_version(run)

    about, arrays = unpack(messages.cloud_message(run, DISK, known, sent=3))

    assert about == {"version": known, "continues": known, "sent": 3}
    assert arrays == {}


def test_baselines_are_listed_before_they_are_computed(run):
    before, _ = unpack(messages.run_message(empty_run(run.experiment), False, View(), DISK))
    after, arrays = unpack(messages.run_message(run, True, View(), DISK))

    assert before["baselines"] == after["baselines"]
    keys = [baseline["key"] for baseline in after["baselines"]]
    assert set(keys) == set(SHOWN) - set(SWITCHES)
    for key in keys:
        assert arrays[f"{key}.errors"].size == 2
    np.testing.assert_array_equal(
        arrays["em.means"][-6:], run.method(EM).path.means[-1].astype(np.float32).ravel()
    )


def test_a_chart_may_give_balls_and_ellipses(run):
    path = run.path("windowed")
    n, frames = run.experiment.n_states, len(path.step)

    about, arrays = unpack(messages.run_message(run, True, View(), Ellipses()))
    _, cloud = unpack(messages.cloud_message(run, Ellipses()))

    assert about["chart"]["name"] == "plane"
    assert about["truth"]["means"] == (2 * np.array(run.experiment.means)).tolist()
    sigmas = np.array(run.experiment.sigmas)
    np.testing.assert_allclose([b[4] for b in about["truth"]["balls"]], sigmas, rtol=1e-6)
    np.testing.assert_array_equal(arrays["windowed.means"], np.float32(2 * path.means).ravel())
    balls = arrays["windowed.balls"].reshape(frames, n, 5)
    np.testing.assert_array_equal(balls[..., 4], path.sigmas.astype(np.float32))
    assert arrays["windowed.glyphs"].size == frames * n * 3
    assert cloud["glyphs"].size == len(run.points) * 3


def test_observations_come_with_what_the_first_learner_says_of_them(run):
    about, arrays = unpack(messages.cloud_message(run, DISK))
    windowed = run.method("windowed")

    assert about["decoder"] == "Windowed"
    np.testing.assert_array_equal(arrays["decoded"], windowed.labels)
    shares = arrays["shares"].reshape(-1, 3) / 255
    np.testing.assert_allclose(shares, windowed.model.predict_proba(run.points), atol=0.0025)
    assert "distances" not in arrays  # the browser's disk measures them itself


def test_a_map_that_cannot_measure_gets_the_distances_to_the_means(run):
    _, arrays = unpack(messages.cloud_message(run, Ellipses()))

    distances = arrays["distances"].reshape(-1, 3)
    mean = run.method("windowed").model.means_[1]
    expected = Hyperbolic(2).dist(run.points, np.broadcast_to(mean, run.points.shape))
    np.testing.assert_allclose(distances[:, 1], expected, rtol=1e-5)
