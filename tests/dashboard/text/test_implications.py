import pytest

from dashboard.compute.implications import ceiling
from dashboard.model.experiment import Experiment
from dashboard.model.presets import PRESETS
from dashboard.text import implications


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((0.4, 0.3, 0.3), ("1", "✓")),
        ((0.1, 0.2, 0.7), ("1", "✓")),
        ((0.3, 0.3, 0.3), ("0.9", "0.1 missing")),
        ((0.5, 0.3, 0.3), ("1.1", "0.1 too much")),
        ((0.33333333, 0.33333333, 0.33333333), ("0.99999999", "0.00000001 missing")),
        ((0.5, None, 0.3), ("0.8", "a blank")),
        ((1.2, -0.2, 0.0), ("1", "a negative")),
    ],
)
def test_the_sum_of_a_row_says_what_is_missing(row, words):
    assert implications.sum_in_words(row) == words


def test_every_row_has_its_sum_beside_it():
    table = implications.sums_table(((0.5, 0.5), (0.5, None)), 38)
    assert table.count('style="height: 38px"') == 3  # the head too
    assert '<td style="height: 38px">1 ✓</td>' in table
    assert "0.5<br><small>a blank</small>" in table


@pytest.mark.parametrize(
    ("stay", "words"),
    [
        (0.0, "1.00"),
        (0.4, "1.67"),
        (0.8, "5.00"),
        (0.9999, "10,000"),
        (1.0, "never leaves"),
        (1.0 + 1e-10, "never leaves"),
    ],
)
def test_the_expected_stay_in_words(stay, words):
    assert implications.dwell_time(stay) == words


def test_the_table_of_separations_has_a_row_and_a_column_for_each_mean():
    table = implications.separations_table(Experiment())
    assert list(table) == ["Mean", "c₁", "c₂", "c₃"]
    assert table["c₂"] == ["4.44", "–", "3.20"]


def test_overlapping_circles_are_named():
    now = Experiment(**PRESETS["Overlapping"])
    assert implications.separations_in_words(now).startswith("c₁ and c₂ are nearest: at 1.72")


def test_a_single_state_is_always_identified_correctly():
    now = Experiment(transmat=((1.0,),), means=((0, 0),), sigmas=(1.0,), startprob=(1.0,))
    assert "**100.00 %**" in implications.ceiling_in_words(ceiling(now))
