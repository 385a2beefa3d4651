from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute.endless import EndlessStream, Place
from dashboard.compute.happenings import HAPPENINGS, HAPPENINGS_OF_RECORDINGS
from dashboard.model.analysis import shipped
from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from dashboard.model.followers import FOLLOWERS
from tests.dashboard.compute.streaming import run


def played(source, **options):
    settings = Endless(learners=("fixed", "streaming"), **options)
    return Setup.of(replace(Experiment.of_recording(source), window=60), settings)


@pytest.fixture(scope="module")
def labelled():
    return run(played("disk"), 2_000)


def test_a_recording_flows_in_order_with_its_labels_and_ends(labelled):
    stream, _, told = labelled
    recording = shipped("disk").recording

    for news in told:
        numbers = news.points.first + news.points.stride * np.arange(len(news.points.xy))
        np.testing.assert_array_equal(news.points.xy, recording.points[numbers])
        np.testing.assert_array_equal(news.points.states, recording.labels[numbers])
    assert stream.advance(10) == 0
    news = stream.news()
    assert news.is_over
    assert news.taken == 2_000
    assert news.chart["name"] == "disk"


def test_a_recording_is_judged_by_its_labels_and_knows_no_truth(labelled):
    _, rows, told = labelled
    accuracy, distance, error, density, count = rows[2_000][:5]

    assert accuracy > 0.9
    assert np.isnan([distance, error]).all()
    assert np.isfinite(density)
    assert count == 3
    assert np.isnan(rows[2_000][-3:]).all()
    moment = told[-1].moment
    assert len(moment.means) == len(moment.sigmas) == 0
    assert np.isfinite(moment.learned[:2]).all()
    assert told[-1].judged[0].event is None


@pytest.mark.parametrize(("pace", "piece"), [(20_000, 10**9), (500, 7)])
def test_a_recording_gives_the_same_numbers_at_any_pace(labelled, pace, piece):
    stream, rows, _ = labelled
    other, others, _ = run(played("disk"), 2_000, pace=pace, piece=piece)

    for mine, theirs in zip(stream._tracks[:2], other._tracks[:2], strict=True):
        np.testing.assert_array_equal(mine.estimator.means_, theirs.estimator.means_)
    np.testing.assert_array_equal(rows[2_000], others[2_000])


def test_learners_are_told_where_sequences_end():
    held = shipped("disk")
    short = replace(held.recording, lengths=np.full(40, 50), sequence_names=("",) * 40)
    setup = played("disk")
    setup = setup._replace(source=setup.source._replace(held=replace(held, recording=short)))

    stream, _, _ = run(setup, 1_000, piece=33)

    expected = FOLLOWERS["streaming"].make(short.manifold, 3, setup.seed, setup.window)
    expected.partial_fit(short.points[:1_000], lengths=[50] * 20)
    learned = stream._tracks[setup.learners.index("streaming")].estimator
    np.testing.assert_array_equal(learned.means_, expected.means_)
    np.testing.assert_array_equal(learned.transmat_, expected.transmat_)


def test_a_recording_begins_again_if_asked():
    stream, _, told = run(played("disk", at_end="again"), 4_500, pace=20_000)

    assert not told[-1].is_over
    assert stream.taken == 4_500


def test_without_labels_states_have_the_names_of_the_first_learner():
    held = shipped("disk")
    bare = replace(held.recording, labels=None, label_names=())
    setup = played("disk")
    setup = setup._replace(source=setup.source._replace(held=replace(held, recording=bare)))

    _, rows, told = run(setup, 1_500)

    assert np.isnan(rows[1_500][[0, 5]]).all()  # no accuracy
    assert np.isfinite(rows[1_500][[3, 8]]).all()
    late = told[-1].points
    np.testing.assert_array_equal(late.states, late.decoded[0])
    assert (late.decoded[0] == late.decoded[1]).mean() > 0.9


def test_only_what_needs_no_truth_can_happen_to_a_recording():
    stream = EndlessStream(played("disk"))
    for kind in HAPPENINGS:
        stream.happen(kind)
    stream.drop(1, [Place(0, 0.1, 0.1)])

    news = stream.news()
    assert [event.name for event in news.script] == list(HAPPENINGS_OF_RECORDINGS)
    assert news.refused
    assert news.acknowledged == 1
