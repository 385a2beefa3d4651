"""What pages learn of a visitor's own file, and that nothing of it outlives the visitor."""

import ast
import gc
import pickle
import weakref
from dataclasses import replace

import numpy as np
import pytest

from dashboard.canvas import messages
from dashboard.compute import queues
from dashboard.compute.fits import FileRead
from dashboard.compute.measures import posteriors
from dashboard.compute.runs import map_of
from dashboard.compute.steps import replay
from dashboard.figures import compare, tradeoff
from dashboard.model.analysis import HeldFile, HeldRecording, ReadOptions, first_of
from dashboard.model.experiment import Experiment
from dashboard.model.methods import ONLINE_LEARNERS
from dashboard.model.plan import Plan, Sweep
from dashboard.model.view import View
from dashboard.text import files
from dashboard.text.delta_cost import delta_cost
from dashboard.ui.own_data import OwnData
from rhmm.paper import paper_model
from rhmm.reading import Reading, Report
from rhmm.recording import Recording
from tests.dashboard.made_recordings import of_the_disk


def given(length: int = 300, name: str = "walk.csv") -> HeldRecording:
    """What the session has after a file was read."""
    file = HeldFile.of(name, name.encode())
    return replace(of_the_disk(length), key=(replace(file, content=b""), ReadOptions()))


def asked(request) -> object:
    """The result of a request, as a page gets it."""
    job = queues.queue_of(request).request(request, "a visitor")
    assert job.wait(600)
    assert job.error is None
    return job.progress.result


def test_a_link_mentions_the_file_and_opens_it_only_in_its_session():
    online = given().learned_online()
    experiment = Experiment.of_recording(online, states=2)
    query = experiment.to_query()

    assert query["source"] == "file"
    assert "walk" not in str(query)
    assert Experiment.from_query(query, recording=online) == (experiment, [])
    stranger, (problem,) = Experiment.from_query(query)
    assert not stranger.is_recorded
    assert "another visitor’s" in str(problem)


def test_the_first_part_of_a_long_file_is_learned_sequence_by_sequence():
    whole = given(30_000)
    online = whole.learned_online()
    recording = online.recording

    assert (len(recording.points), online.whole) == (20_000, 30_000)
    np.testing.assert_array_equal(recording.points, whole.recording.points[:20_000])
    assert list(recording.lengths) == [100, 19_900]
    assert recording.sequence_names == ("a", "b")
    assert "the first 20,000 of 30,000 observations" in Experiment.of_recording(online).in_words()


def test_labels_without_marks_of_their_own_are_left_out_and_short_files_cannot_be_learned():
    points, _ = paper_model().sample(60, random_state=0)
    many = Recording(
        paper_model().manifold, points, np.array([60]), ("1",),
        labels=np.arange(60) % 9, label_names=tuple("abcdefghi"),
    )  # fmt: skip

    online = HeldRecording(("many",), many).learned_online()

    assert online.recording.labels is None
    assert Experiment.of_recording(online).label_names == ()
    for length, is_enough in ((40, False), (41, True)):  # one of them is missing
        short = replace(given(), recording=first_of(given().recording, length))
        assert (short.learned_online() is not None) == is_enough


def test_an_experiment_takes_the_observations_to_other_processes_and_not_the_file():
    data, file = OwnData(), 100_000 * b"1,2\n"
    data.take("walk.csv", file)
    reading = Reading(given().recording, Report("csv", "hyperbolic", "points"))
    data.accept(data.to_read, FileRead(("x", "y"), reading, None))
    experiment = Experiment.of_recording(data.online)

    sent = pickle.dumps(experiment)

    assert len(sent) < len(file)
    copied = pickle.loads(sent)
    assert copied == experiment
    np.testing.assert_array_equal(copied.source.observe().points, data.held.recording.points)


def test_the_script_reads_the_file_and_leaves_what_was_learned():
    script = files.run_script(Experiment.of_recording(given(30_000).learned_online()))

    ast.parse(script)
    assert "recording, report = read('walk.csv')" in script
    assert "X[:20000]" in script


def test_results_name_the_file():
    experiment = Experiment.of_recording(given().learned_online())
    assert '"recording": "walk.csv"' in files.experiment_json(experiment)


@pytest.mark.filterwarnings("ignore::rhmm.ConvergenceWarning")
def test_nothing_that_was_made_of_a_file_outlives_the_visitor():
    online = given().learned_online()
    experiment = replace(Experiment.of_recording(online), algorithms=("windowed",))
    run = asked(experiment)
    drawn = [
        posteriors(run),
        compare.pictures(run),
        compare.kept_timeline(run, posteriors(run), (1, 50)),
        messages.run_message(run, True, View(), run.chart),
        map_of(experiment, run.points),
        replay(experiment.source, ONLINE_LEARNERS["windowed"], {"window": 60}, 0, 3, online).step(
            90
        ),
    ]
    sweep = Sweep.of(experiment, Plan(windows=(60,), learners=("paper",), runs=1))
    outcome = asked(sweep)
    drawn += [tradeoff.panels(sweep, outcome.runs)]
    drawn += [delta_cost(experiment, v, outcome.runs) for v in experiment.variants]
    assert compare.pictures(run) is drawn[1]  # kept as long as the visitor is there
    traces = [weakref.ref(thing) for thing in (online, online.recording, run.methods[-1])]

    del online, experiment, run, drawn, sweep, outcome
    queues.leave("a visitor")
    gc.collect()

    assert [trace() for trace in traces] == [None] * len(traces)
