import pytest

from dashboard.server import lecture_hall

ALONE = {"ADDRESS": "127.0.0.1", "PORT": "9999"}


@pytest.fixture(autouse=True)
def names(monkeypatch):
    monkeypatch.setattr(lecture_hall, "own_names", lambda: ["lab", "192.0.2.7"])


def test_the_server_listens_everywhere_unless_told_otherwise():
    assert "--server.address=0.0.0.0" in lecture_hall.command({})[0]
    assert "--server.address=127.0.0.1" in lecture_hall.command(ALONE)[0]


def test_the_server_answers_to_the_names_of_its_machine_and_no_others():
    start, _ = lecture_hall.command({"HOSTS": "hall.example.org second.example.org"})
    allowed = [one.partition("=")[2] for one in start if one.startswith("--server.allowedHosts")]

    assert allowed == [
        "localhost", "127.0.0.1", "::1", "lab", "192.0.2.7", "hall.example.org",
        "second.example.org",
    ]  # fmt: skip


def test_the_words_say_who_can_come_in_and_what_is_missing():
    _, words = lecture_hall.command({})

    assert "http://192.0.2.7:8501" in words
    for fact in ("Everyone", "no password", "nothing is encrypted", "Ctrl-C", "docs/deploying.md"):
        assert fact in words


def test_loopback_keeps_other_machines_out_and_says_so():
    _, words = lecture_hall.command(ALONE)

    assert words == "Only this machine can open the dashboard, at http://127.0.0.1:9999."


def test_the_words_come_before_the_server(monkeypatch, capsys):
    said = []
    monkeypatch.setattr(lecture_hall.os, "environ", ALONE)
    monkeypatch.setattr(lecture_hall.os, "execv", lambda *_: said.append(capsys.readouterr().out))
    lecture_hall.main()

    assert "Only this machine" in said[0]
