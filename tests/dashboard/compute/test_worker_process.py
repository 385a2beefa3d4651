import pytest

from dashboard.compute.worker_process import Lost, WorkerProcess, answers, question


class Unreadable(Exception):
    """It needs two arguments, and pickle has only its words to make it again."""

    def __init__(self, number, words):
        super().__init__(words)


def serve():
    """In the process: send everything back, and print."""
    send = answers()
    while True:
        print("not a message")
        asked = question()
        send(Unreadable(1, "no") if asked is Unreadable else asked)


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


def test_a_process_that_says_what_cannot_be_read_is_lost(process, caplog):
    process.send(Unreadable)

    with pytest.raises(Lost):
        process.receive()

    assert not process.is_alive
    assert "cannot be sent or read" in caplog.text


def test_a_message_that_cannot_be_sent_ends_the_process(process):
    with pytest.raises(Lost):
        process.send(lambda: None)

    assert not process.is_alive


def test_a_process_that_was_ended_is_lost(process):
    process.close()

    assert not process.is_alive
    with pytest.raises(Lost):
        process.send("anything")
