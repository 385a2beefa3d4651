from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.model.experiment import Experiment
from dashboard.model.fields import Settings, setting
from dashboard.model.kinds import Choice, Invalid, WholeNumber
from dashboard.model.lesson import Lesson
from dashboard.model.plan import Plan
from dashboard.model.presets import PRESETS
from dashboard.model.view import View
from tests.dashboard.model.strategies import experiments, forged, plans, views

ALL = (Experiment, Plan, View, Lesson)
KEYS = [key for kind in ALL for key in kind.link_keys()]


def even(value, known):
    if (value + known["first"]) % 2:
        raise Invalid("The second must go with the first.")
    return value


@dataclass(frozen=True)
class Example(Settings):
    first: int = setting(0, "a", WholeNumber("The first", 0, 9))
    second: int = setting(0, "b", WholeNumber("The second", 0, 9), even)
    word: str = setting("yes", "w", Choice("The word", ("yes", "no")))


@given(experiments() | plans | views)
@settings(max_examples=400)
def test_a_link_brings_back_every_digit(value):
    assert type(value).from_query(value.to_query()) == (value, [])


def mutated(random: Random, query: dict[str, str]) -> dict[str, str]:
    """The query with some of its characters removed, doubled, or replaced."""
    text = dict(query)
    for _ in range(random.randint(1, 4)):
        key = random.choice(list(text))
        at = random.randint(0, len(text[key]))
        letters = random.choice(["", "9", "-", ",", ";", ".", "e", "_", " ", "\0", "é", "1" * 400])
        text[key] = text[key][:at] + letters + text[key][at + random.randint(0, 2) :]
    return text


def test_ten_thousand_mutated_links_open_something_valid():
    random = Random(11)
    sources = [
        replace(Experiment(), **truth).to_query()
        | Plan(windows=(40, 77), learners=("convex",), runs=3).to_query()
        | View(show=("grid",), colour="decoded", k=5, place=(0.1, 0.2, 3, 0, 1)).to_query()
        | View(timeline=(7, 300)).to_query()
        for truth in PRESETS.values()
    ]
    refused = 0
    for _ in range(10_000):
        query = mutated(random, random.choice(sources))
        for kind in ALL:
            value, problems = kind.from_query(query)
            assert kind.from_query(value.to_query()) == (value, [])
            assert all(str(problem).endswith(".") for problem in problems)
            refused += len(problems)
    assert refused > 10_000


@given(
    st.dictionaries(st.sampled_from([key for kind in ALL for key in kind.link_keys()]), st.text())
)
def test_any_text_in_a_link_opens_something_valid(query):
    for kind in ALL:
        value, problems = kind.from_query(query)
        rejected = {problem.field for problem in problems}
        table = kind.table()
        untold = [name for name, one in table.items() if one.key in query and name not in rejected]
        blamed = set(kind.TOGETHER) if rejected & set(kind.TOGETHER) else set()
        for name in set(untold) - blamed:
            assert table[name].kind.check(table[name].kind.read(query[table[name].key])) == getattr(
                value, name
            )


@pytest.mark.parametrize("kind", ALL)
@given(st.data())
@settings(max_examples=300)
def test_forged_values_are_refused_in_a_sentence(kind, data):
    changes = data.draw(st.dictionaries(st.sampled_from(list(kind.table())), forged, min_size=1))

    value, problems = kind().accepting(changes)

    assert kind.from_query(value.to_query()) == (value, [])
    assert all(str(problem).endswith(".") for problem in problems)
    for name, change in changes.items():
        with suppress(Invalid):
            kind(**{name: change})


def test_no_two_settings_share_a_key_of_the_link_but_the_space():
    shared = [key for key in KEYS if KEYS.count(key) > 1]

    assert shared == ["space", "space"]  # the view is one of the experiment's space


def test_a_part_that_cannot_be_read_is_named_with_what_it_says():
    value, (problem,) = Example.from_query({"a": "x*", "b": "2"})

    assert value == Example(second=2)
    assert problem.field == "first"
    assert str(problem) == "Cannot read a = 'x\\*'; the default is used."


def test_a_value_that_cannot_be_used_is_told_why():
    value, (problem,) = Example.from_query({"a": "10", "w": "no"})

    assert value == Example(word="no")
    assert str(problem) == "Cannot use a: The first must be between 0 and 9."


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ({"A": "x", "sigma": "-1,1,1", "T": "7"}, ["transmat", "sigmas", "length"]),
        ({"A": "1,1;1,1", "c": "0,0;0.5,0", "sigma": "0,1"}, ["transmat", "sigmas", ""]),
        ({"c": "0,0;2,0", "A": "1,1;1,1", "pi": "0.5,0.5"}, ["means", "transmat", ""]),
        ({"c": "oops", "A": "0.5,0.5;0.5,0.5", "sigma": "1,1"}, ["means", ""]),
        ({"space": "mars", "A": "0.5,0.5;0.5,0.5"}, ["space", ""]),
    ],
)
def test_every_part_of_a_model_that_cannot_be_used_is_named(query, fields):
    value, problems = Experiment.from_query(query)

    assert value == Experiment()
    assert [problem.field for problem in problems] == fields


def test_parts_that_are_left_out_with_another_are_told():
    _, problems = Experiment.from_query({"c": "0,0;0.5,0", "A": "x", "sigma": "1,1", "pi": "0,1"})

    assert [str(problem) for problem in problems] == [
        "Cannot read A = 'x'; the default is used.",
        "So c, sigma and pi cannot be used either: these go together.",
    ]


def test_a_setting_is_checked_against_those_before_it():
    with pytest.raises(Invalid, match="go with the first") as raised:
        Example(first=1, second=2)

    assert raised.value.field == "second"


def test_each_refused_change_gets_its_own_sentence():
    value, problems = Example(word="no").accepting({"first": 2, "second": 99, "word": "maybe"})

    assert value == Example(first=2, word="no")
    assert [problem.field for problem in problems] == ["second", "word"]


def test_a_change_that_does_not_go_with_what_is_there_changes_nothing():
    value, (problem,) = Example(first=1, second=1).accepting({"first": 2})

    assert value == Example(first=1, second=1)
    assert problem.field == "second"


def test_only_what_differs_from_the_default_goes_into_a_link():
    assert Example().to_query() == {}
    assert Example(word="no").to_query() == {"w": "no"}
