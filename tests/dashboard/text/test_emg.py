import re

from benchmarks import emg as benchmark
from dashboard.text import emg


def test_the_page_shows_what_the_benchmark_wrote_for_every_session():
    table = emg.table()

    assert len(table) == 1 + len(benchmark.SESSIONS)
    assert set(emg._METHODS) <= set(benchmark.METHODS)
    for title, cells in list(table.items())[1:]:
        assert title.endswith("(%)")
        assert all(20.0 < float(cell) < 100.0 for cell in cells)


def test_what_did_not_work_is_said_with_its_range():
    raw = [float(cells[0]) for title, cells in emg.table().items() if title.endswith("(%)")]

    low, high = re.search(r"they find (\d+) to (\d+) % of the signs", emg.words()).groups()

    assert abs(float(low) - min(raw)) <= 0.5
    assert abs(float(high) - max(raw)) <= 0.5
