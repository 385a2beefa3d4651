import pytest

from dashboard.compute.worker_process import Lost, WorkerProcess, answers, question


def serve():
    """In the process: send everything back, and print."""
    send = answers()
    while True:
        print("not a message")
        send(question())


@pytest.fixture
def process():
    process = WorkerProcess(__name__)
    yield process
    process.close()


def test_messages_come_back_whatever_the_process_prints(process):
    for message in ("one", [2, 3.0]):
        process.send(message)
        assert process.receive() == message
    assert process.is_alive


def test_a_process_that_was_ended_is_lost(process):
    process.close()

    assert not process.is_alive
    with pytest.raises(Lost):
        process.send("anything")
