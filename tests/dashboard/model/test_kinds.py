import math

import pytest

from dashboard.model.kinds import (
    Choice,
    Choices,
    Invalid,
    Maybe,
    Numbers,
    RoundedNumbers,
    Rows,
    WholeNumber,
    WholeNumbers,
    WholeRange,
    is_number,
    quoted,
)

WHOLE = WholeNumber("T", 1, 100)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (WHOLE, 7, "7"),
        (WholeNumbers("Δ", 2, 50, 3), (20, 30), "20,30"),
        (WholeRange("the timeline", 9), (2, 5), "2,5"),
        (Numbers(), (0.1, 1.0, 1e-300), "0.1,1,1e-300"),
        (Rows(), ((0.5, 0.5), (1.0, 0.0)), "0.5,0.5;1,0"),
        (RoundedNumbers(2, 4), (0.25, -1.0), "0.2500,-1.0000"),
        (Choice("The word", ("yes", "no")), "no", "no"),
        (Choices("word", ("a", "b", "c")), ("a", "c"), "a,c"),
        (Choices("word", ("a", "b"), empty="nothing"), (), "nothing"),
        (Maybe(WHOLE), 7, "7"),
    ],
)
def test_a_value_has_one_text_in_a_link(kind, value, text):
    assert kind.write(value) == text
    assert kind.read(text) == value
    assert kind.check(value) == value


@pytest.mark.parametrize("text", ["", " 7", "7 ", "1_000", "+7", "7.0", "7e0", "７", "0x7", "--7"])
def test_only_plain_digits_are_a_whole_number(text):
    with pytest.raises(ValueError, match=r".*"):
        WHOLE.read(text)


@pytest.mark.parametrize("text", ["", "nan", "inf", "1_0", " 1", "1,,2", "１", "1e", ".", "0x1"])
def test_only_plain_digits_are_numbers(text):
    with pytest.raises(ValueError, match=r".*"):
        Numbers().read(text)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (WHOLE, None, "T must be a whole number."),
        (WHOLE, True, "T must be a whole number."),
        (WHOLE, 7.5, "T must be a whole number."),
        (WHOLE, math.nan, "T must be a whole number."),
        (WHOLE, 10**400, "T must be a whole number."),
        (WHOLE, 101, "T must be between 1 and 100."),
        (WholeNumbers("Δ", 2, 50, 3), (), "Choose at least one Δ."),
        (WholeNumbers("Δ", 2, 50, 3), 20, "Choose at least one Δ."),
        (WholeNumbers("Δ", 2, 50, 3), (20.5,), "Every Δ must be a whole number."),
        (WholeNumbers("Δ", 2, 50, 3), (1,), "Every Δ must be between 2 and 50."),
        (WholeNumbers("Δ", 2, 50, 3), (2, 3, 4, 5), "Choose at most 3 values of Δ."),
        (WholeRange("the timeline", 9), (5, 2), "The timeline needs a first and a later last"),
        (WholeRange("the timeline", 9), (2, 10), "Each end of the timeline must be between 1 and"),
        (WholeRange("the timeline", 9), 5, "The timeline needs a first and a later last"),
        (Numbers(), 5, "It must be a row of numbers."),
        (Rows(), (5,), "It must be rows of numbers."),
        (RoundedNumbers(2, 4), None, "It needs 2 numbers."),
        (RoundedNumbers(2, 4), (1.0,), "It needs 2 numbers."),
        (RoundedNumbers(2, 4), (1.0, math.inf), "It needs 2 numbers."),
        (Choice("The word", ("yes", "no")), "maybe", "The word must be one of: yes, no."),
        (Choices("word", ("a", "b")), (), "Choose at least one word."),
        (Choices("word", ("a", "b")), 5, "Choose at least one word."),
        (Choices("word", ("a", "b")), ("a", [5]), "“list” is not one of: a, b."),
        (Choices("word", ("a", "b")), ("a", "<c>"), "“\\<c\\>” is not one of: a, b."),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(kind, value, words):
    with pytest.raises(Invalid) as raised:
        kind.check(value)

    assert str(raised.value).startswith(words)


def test_values_take_their_canonical_form():
    assert WHOLE.check(7.0) == 7
    assert WholeNumbers("Δ", 2, 50, 3).check((30, 20, 30)) == (20, 30)
    assert Choices("word", ("a", "b", "c")).check(("c", "a", "c")) == ("a", "c")
    assert RoundedNumbers(1, 2).check((0.126,)) == (0.13,)
    assert Maybe(WHOLE).check(None) is None


def test_finite_numbers_alone_are_numbers():
    assert all(map(is_number, (0, -1, 0.5, 1e300)))
    assert not any(map(is_number, (None, "1", True, math.nan, -math.inf, 10**400)))


def test_quoted_text_is_short_and_no_markdown():
    assert quoted("*a*") == r"\*a\*"
    assert len(quoted("x" * 5_000)) == 40
