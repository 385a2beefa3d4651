import pytest

from dashboard.text import formatting


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.1234, "0.123 µs"), (28.14, "28.1 µs"), (281.4, "281 µs"), (2_814.0, "2,814 µs")],
)
def test_the_time_for_an_observation_is_written_without_powers_of_ten(value, words):
    assert formatting.microseconds(value) == words
