import pytest

from rhmm.commands.common import progress_bar


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.parametrize("counts", [True, False])
def test_a_terminal_shows_how_much_is_done_and_what(terminal, capsys, counts):
    with progress_bar(5, counts=counts) as update:
        update(3, "the third")

    printed = capsys.readouterr().err
    assert "the third" in printed
    assert ("3/5" in printed) == counts


def test_nothing_is_written_where_there_is_no_terminal(capsys):
    with progress_bar(5) as update:
        update(3, "the third")

    assert capsys.readouterr().err == ""
