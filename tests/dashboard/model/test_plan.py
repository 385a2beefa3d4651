from dataclasses import replace

import pytest

from dashboard.compute import runs
from dashboard.model.experiment import Experiment
from dashboard.model.kinds import Invalid
from dashboard.model.methods import BASELINES
from dashboard.model.plan import MOST_DELTAS, Plan, Sweep, experiment_of, opens_in_the_lab
from dashboard.model.presets import PRESETS
from rhmm import Configuration
from tests.dashboard.made_runs import configured, of_variant

SMALL = Experiment(length=500, window=60)
PLAN = Plan(windows=(40,), learners=("streaming", "paper"), runs=2)
SWEEP = Sweep.of(SMALL, PLAN)


def test_the_default_plan_takes_no_room_in_the_link():
    assert Plan().to_query() == {}
    assert Plan.from_query({}) == (Plan(), [])


def test_the_order_of_the_choices_makes_no_other_plan():
    chosen = Plan(windows=(200, 40, 200), learners=("paper", "streaming", "paper"))

    assert chosen == Plan(windows=(40, 200), learners=("streaming", "paper"))


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"windows": ()}, "windows", "at least one Δ"),
        ({"windows": (40, 1)}, "windows", "between 2 and 5,000"),
        ({"windows": (40, 5001)}, "windows", "between 2 and 5,000"),
        ({"windows": tuple(range(40, 61))}, "windows", "at most 20 values"),
        ({"learners": ()}, "learners", "at least one algorithm"),
        ({"learners": ("streaming", "magic")}, "learners", "“magic” is not one of"),
        ({"runs": 0}, "runs", "between 1 and 50"),
        ({"runs": 51}, "runs", "between 1 and 50"),
        ({"runs": None}, "runs", "a whole number"),
        ({"runs": 2.5}, "runs", "a whole number"),
        ({"windows": (20.5,)}, "windows", "a whole number"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_in_a_sentence(changes, field, words):
    with pytest.raises(Invalid) as raised:
        replace(Plan(), **changes)

    assert raised.value.field == field
    assert words in str(raised.value)
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"deltas": ""}, "windows"),
        ({"deltas": "40,,60"}, "windows"),
        ({"deltas": "40;60"}, "windows"),
        ({"deltas": "4e1"}, "windows"),
        ({"deltas": "1_000"}, "windows"),
        ({"deltas": "40, 60"}, "windows"),
        ({"deltas": "0"}, "windows"),
        ({"deltas": "-40"}, "windows"),
        ({"deltas": "9" * 5_000}, "windows"),
        ({"learners": ""}, "learners"),
        ({"learners": "em"}, "learners"),
        ({"learners": "<script>" * 500}, "learners"),
        ({"runs": ""}, "runs"),
        ({"runs": "many"}, "runs"),
        ({"runs": "1_0"}, "runs"),
        ({"runs": "0"}, "runs"),
        ({"runs": "1e9"}, "runs"),
        ({"runs": "�" * 5_000}, "runs"),
    ],
)
def test_a_broken_part_of_a_link_is_one_sentence_and_its_default(query, field):
    plan, problems = Plan.from_query(query)

    assert plan == Plan()
    assert [problem.field for problem in problems] == [field]
    assert str(problems[0]).endswith(".")
    assert len(str(problems[0])) < 200


def test_a_broken_part_of_a_link_does_not_cost_the_others():
    plan, problems = Plan.from_query({"deltas": "oops", "learners": "convex", "runs": "3"})

    assert plan == Plan(learners=("convex",), runs=3)
    assert len(problems) == 1


def test_a_delta_beyond_the_chain_is_left_out_and_named():
    sweep = Sweep.of(SMALL, Plan(windows=(40, 500, 501, 1_000)))

    assert sweep.windows() == [40, 60, 500]
    assert sweep.left_out() == [501, 1_000]
    assert {c.window for c in sweep.configurations()} == {40, 60, 500, None}


def test_a_delta_too_small_for_the_states_is_left_out_and_named():
    five = replace(SMALL, **PRESETS["Five states"])

    assert Sweep.of(five, Plan(windows=(10, 24, 25, 40))).left_out() == [10, 24]


@pytest.mark.parametrize(
    ("changes", "own", "window"),
    [
        ({"algorithms": ("streaming",)}, "streaming", 77),
        ({"algorithms": ("windowed",)}, "paper", 77),
        ({"algorithms": ("windowed",), "transition_update": "convex"}, "convex", 77),
        ({"algorithms": ("auto",)}, "auto", None),
    ],
)
def test_the_experiments_own_delta_and_algorithm_are_in_its_sweep(changes, own, window):
    experiment = replace(SMALL, **changes, window=77)
    sweep = Sweep.of(experiment, Plan(windows=(40,), learners=("fixed",)))

    assert 77 in sweep.windows()
    assert set(sweep.learners) == {"fixed", own}
    assert configured(own, 500, window) in sweep.configurations()


def test_a_learner_without_delta_is_run_once_for_all_of_them():
    sweep = Sweep.of(SMALL, Plan(windows=(40, 100), learners=("streaming", "auto")))

    ways = [way for way in sweep.configurations() if way.learner == "auto"]
    assert ways == [Configuration("auto", 500)]


@pytest.mark.parametrize("own", [40, 60])  # among the others, or one more
def test_the_most_deltas_leave_room_for_the_experiments_own(own):
    windows = tuple(range(40, 40 + MOST_DELTAS))
    sweep = Sweep.of(replace(SMALL, window=own), Plan(windows=windows))

    assert sweep.windows() == sorted({*windows, own})


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 7},
        {"window": 40},
        {"algorithms": ("windowed",)},
        {"algorithms": ("streaming",), "transition_update": "convex"},
        {"algorithms": ("windowed",), "memory": "fixed"},
    ],
)
def test_experiments_that_differ_in_nothing_relevant_share_a_sweep(changes):
    plan = Plan(windows=(40, 60), learners=("streaming", "paper"))

    assert Sweep.of(replace(SMALL, **changes), plan) == Sweep.of(SMALL, plan)


@pytest.mark.parametrize(
    "changes",
    [
        {"length": 501},
        {"window": 41},
        {"algorithms": ("windowed",), "transition_update": "convex"},
        {"memory": "fixed"},
        {"algorithms": ("auto",)},
        {"sigmas": (0.2, 1.0, 1.1)},
    ],
)
def test_experiments_that_differ_in_something_relevant_do_not(changes):
    plan = Plan(windows=(40, 60), learners=("streaming", "paper"))

    assert Sweep.of(replace(SMALL, **changes), plan) != Sweep.of(SMALL, plan)


def test_em_kmeans_and_the_ceiling_come_along_once():
    learners = [c.learner for c in SWEEP.configurations()]

    assert [learners.count(key) for key in BASELINES] == [1, 1, 1]
    assert SWEEP.total == 2 * (2 * 2 + 3)
    assert SWEEP.in_words() == "14 runs: 7 settings, 2 seeds each."
    assert replace(SWEEP, runs=1).in_words() == "7 runs: 7 settings, one seed each."


def test_more_seeds_take_longer():
    more = replace(SWEEP, runs=20)

    assert more.effort == pytest.approx(10 * SWEEP.effort)


def test_more_states_take_longer():
    five = replace(SMALL, **PRESETS["Five states"])

    assert Sweep.of(five, PLAN).effort == pytest.approx(SWEEP.effort * 5 / 3)


def test_only_the_baselines_have_no_link_to_the_live_lab(swept):
    closed = {r.configuration.learner for r in swept if not opens_in_the_lab(r.configuration)}

    assert closed == set(BASELINES)


@pytest.mark.parametrize(
    ("variant", "window"),
    [("streaming", 100), ("fixed", 100), ("paper", 100), ("convex", 100), ("auto", None)],
)
def test_the_live_lab_opens_that_very_run(variant, window, swept):
    run = of_variant(swept, variant, window)[2]
    assert opens_in_the_lab(run.configuration)

    experiment = experiment_of(replace(SMALL, seed=77), run)
    link, problems = Experiment.from_query(experiment.to_query())
    (own,) = link.variants
    online = runs.compute(link, lambda *_: None).method(own.learner.key)

    assert problems == []
    assert (link.seed, own.key) == (2, variant)
    assert window in (None, link.window)
    assert online.accuracy == run.accuracy
    assert online.transition_error == run.transition_error
    assert online.mean_error == run.mean_error
    assert online.sigma_error == run.sigma_error
    assert online.log_likelihood == run.log_likelihood
