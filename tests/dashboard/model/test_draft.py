from dataclasses import replace

from dashboard.model.draft import Draft
from dashboard.model.experiment import Experiment
from dashboard.model.plan import Plan

WRONG = ((0.3, 0.3, 0.3), *Experiment.transmat[1:])


def test_a_valid_change_is_accepted_at_once():
    draft = Draft(Plan())

    assert draft.propose(runs=7)
    assert draft.valid == Plan(runs=7)
    assert draft.typed == {}


def test_an_invalid_change_stays_as_typed_and_the_last_valid_settings_stay():
    draft = Draft(Plan())

    assert not draft.propose(runs=0)
    assert draft.valid == Plan()
    assert draft["runs"] == 0
    assert str(draft.problem_with("runs")) == "The number of seeds must be between 1 and 50."
    assert draft.problem_with("windows") is None


def test_changes_that_waited_are_accepted_with_the_one_that_makes_them_valid():
    draft = Draft(Experiment())
    assert not draft.propose(window=2_000, length=1_000)
    assert not draft.propose(seed=3)

    assert draft.propose(window=500)
    assert draft.valid == replace(Experiment(), window=500, length=1_000, seed=3)


def test_every_setting_that_is_to_blame_has_its_sentence():
    draft = Draft(Experiment())
    draft.propose(transmat=WRONG)
    draft.propose(length=10)
    draft.propose(seed=-1)

    assert [problem.field for problem in draft.problems()] == ["transmat", "length", "seed"]


def test_what_is_typed_can_be_discarded():
    draft = Draft(Experiment())
    draft.propose(transmat=WRONG)
    assert draft.together() == Experiment().truth | {"transmat": WRONG}

    draft.discard()

    assert draft.together() == Experiment().truth
    assert draft.problems() == []


def test_a_reset_forgets_what_was_typed():
    draft = Draft(Plan())
    draft.propose(runs=0)

    draft.reset(Plan(runs=9))

    assert (draft.valid, draft.typed) == (Plan(runs=9), {})
