import gc
import os
import signal
import threading
import time

import pytest

from dashboard.compute import stream_workers
from dashboard.compute.stream_workers import StreamWorkers
from dashboard.model.endless import Endless, Setup
from dashboard.model.experiment import Experiment
from rhmm.worlds import Turn

PATIENCE = 120.0
SETUP = Setup.of(
    Experiment(window=60), Endless(learners=("streaming",), events=(Turn(at=1_000, angle=90.0),))
)


class Reader:
    """A browser that reads a stream."""

    def __init__(self, stream):
        self.stream, self.called = stream, threading.Event()
        stream.read_by(self.called.set)

    def wait_for(self, fits):
        """The first report that fits."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.called.wait(1.0)
            self.called.clear()
            while self.stream.waiting:
                report = self.stream.waiting.popleft()
                if fits(report):
                    return report
            if self.stream.failed:
                break
        raise AssertionError("no such report has come")


@pytest.fixture(scope="module")
def workers():
    workers = StreamWorkers(1)
    yield workers
    workers.close()


@pytest.fixture
def stream(workers):
    stream = workers.open(SETUP, 500)
    yield stream
    stream.close()


def test_a_stream_flows_while_it_is_read(stream):
    first = Reader(stream).wait_for(lambda report: report.news.taken > 200)

    assert first.playing
    assert first.sharing == 1
    assert first.news.script == SETUP.events


def test_a_stream_stands_still_while_no_browser_reads_it():
    one = stream_workers._Stream(SETUP, 500)
    assert not one.flows

    one.obey("read", True)
    assert one.flows
    one.obey("read", False)
    one.obey("play", True)
    assert not one.flows

    one.obey("read", True)
    assert one.flows


def test_a_stream_that_the_visitor_has_stopped_does_not_go_on_when_it_is_read_again():
    one = stream_workers._Stream(SETUP, 500)
    for order in (("read", True), ("play", False), ("read", False), ("read", True)):
        one.obey(*order)

    assert not one.flows
    assert not one.report(1).playing


def test_a_stream_can_be_stopped_and_led_step_by_step(stream):
    reader = Reader(stream)
    reader.wait_for(lambda report: report.news.taken > 100)
    stream.order("play", False)
    stood = reader.wait_for(lambda report: not report.playing).news.taken
    stream.order("step", 3)

    assert reader.wait_for(lambda report: report.news.taken == stood + 3)
    stream.order("step", 1_000)
    assert reader.wait_for(lambda report: report.news.taken == stood + 1_003)


def test_another_pace_is_told(stream):
    reader = Reader(stream)
    stream.order("pace", 2_000)

    assert reader.wait_for(lambda report: report.pace == 2_000)


def test_an_event_becomes_part_of_the_script(stream):
    reader = Reader(stream)
    reader.wait_for(lambda report: report.news.taken > 50)
    stream.order("happen", "outliers")

    reader.wait_for(lambda report: len(report.news.script) == 2)
    assert [event.name for event in stream.script] == ["outliers", "turn"]


def test_a_recording_flows_to_its_end(workers):
    setup = Setup.of(Experiment.of_recording("disk"), Endless(learners=("streaming",)))

    stream = workers.open(setup, 20_000)
    report = Reader(stream).wait_for(lambda report: report.news.is_over)

    assert report.news.taken == 2_000
    assert report.news.moment.learned.shape == (2, 3, 2)


def test_a_stream_waits_while_em_is_fitted_and_goes_on(workers):
    stream = workers.open(SETUP, 5_000)
    reader = Reader(stream)
    reader.wait_for(lambda report: report.news.taken >= 500)

    stream.order("refit")

    report = reader.wait_for(lambda report: report.news.judged[-1].fitted is not None)
    assert "refit" in [event.name for event in stream.script]
    fitted = report.news.judged[-1].fitted
    assert fitted in [event.at for event in stream.script if event.name == "refit"]
    reader.wait_for(lambda report: report.news.taken > fitted + 500)


def test_a_stream_is_found_by_its_token_until_it_is_closed(workers, stream):
    assert workers.find(stream.token) is stream
    assert workers.find("x" * 22) is None
    assert len(stream.token) >= 20

    stream.close()

    assert workers.find(stream.token) is None


def test_a_stream_ends_with_the_session_that_keeps_it(workers):
    stream = workers.open(SETUP, 500)
    Reader(stream).wait_for(lambda report: report.news.taken > 50)
    token = stream.token

    stream.read_by(None)
    del stream
    gc.collect()

    assert workers.find(token) is None


def test_streams_beside_each_other_both_flow_and_say_how_many_they_are(workers):
    streams = [workers.open(SETUP._replace(seed=seed), 300) for seed in range(3)]
    readers = [Reader(stream) for stream in streams]

    for reader in readers:
        assert reader.wait_for(lambda report: report.news.taken > 200 and report.sharing == 3)
    for stream in streams:
        stream.close()


def test_a_stream_that_fails_ends_alone(workers, stream):
    broken = workers.open(SETUP._replace(source=SETUP.source._replace(means=((5.0, 5.0),))), 500)
    reader = Reader(stream)

    taken = reader.wait_for(lambda report: True).news.taken
    reader.wait_for(lambda report: report.news.taken > taken + 100)

    assert broken.failed


def test_a_process_that_is_killed_is_replaced():
    workers = StreamWorkers(1)
    stream = workers.open(SETUP, 500)
    Reader(stream).wait_for(lambda report: report.news.taken > 0)
    os.kill(stream._process._worker._process.popen.pid, signal.SIGKILL)
    end = time.monotonic() + PATIENCE
    while not stream.failed and time.monotonic() < end:
        time.sleep(0.05)
    assert stream.failed

    another = workers.open(SETUP, 500)

    assert Reader(another).wait_for(lambda report: report.news.taken > 0)
    workers.close()
