import math
from dataclasses import replace

import numpy as np
import pytest

from dashboard.compute.implications import separations
from dashboard.model import truth
from dashboard.model.experiment import Experiment, window_for
from dashboard.model.model_checks import MOST_STATES
from dashboard.model.presets import PRESETS
from dashboard.model.spaces.disk import DISK_CHART

PAPER = Experiment().truth


def sums_to_one(law):
    return abs(math.fsum(law) - 1.0) < 1e-11


# Tables that a visitor types in


def test_what_is_typed_replaces_only_its_cells():
    rows = ((0.4, 0.6), (0.5, 0.5))
    edits = {1: {"to 2": 0.75}, 0: {"to 1": None}}
    assert truth.edited(rows, edits, ("to 1", "to 2")) == ((None, 0.6), (0.5, 0.75))


def test_a_table_without_edits_stays_as_it_is():
    assert truth.edited(PAPER["transmat"], {}, truth.transmat_columns(3)) == PAPER["transmat"]


@pytest.mark.parametrize("name", PRESETS)
def test_the_table_of_states_holds_everything_but_the_chain(name):
    model = PRESETS[name]
    back = truth.from_state_rows(truth.state_rows(model))
    assert back == {field: model[field] for field in ("means", "sigmas", "startprob")}


# What is wrong with it


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_has_no_problem(name):
    assert truth.problems(PRESETS[name]) == {}


def test_every_field_gets_its_own_sentence_at_the_same_time():
    typed = {
        "transmat": ((0.4, 0.3, 0.2), *PAPER["transmat"][1:]),
        "means": ((1.2, 0.0), *PAPER["means"][1:]),
        "sigmas": (0.0, 1.0, 1.0),
        "startprob": (0.5, None, 0.5),
    }
    assert truth.problems(typed) == {
        "transmat": "Row 1 of A sums to 0.9, not to 1.",
        "means": "c₁ = (1.2, 0) is outside the disk: x² + y² must be less than 1.",
        "sigmas": "σ₁ = 0 must be above 0.",
        "startprob": "π has an entry that is no number: each is a probability.",
    }


def test_means_that_coincide_are_a_problem_of_the_means():
    typed = PAPER | {"means": ((0.1, 0.2), (0.1, 0.2), (0.0, 0.0))}
    assert list(truth.problems(typed)) == ["means"]


def test_normalise_leaves_valid_rows_as_they_were_typed():
    mended = truth.mended_transmat(((0.1, 0.2, 0.7), (2.0, None, 2.0), (-1.0, 0.0, 0.0)))
    assert mended == ((0.1, 0.2, 0.7), (0.5, 0.0, 0.5), (1 / 3, 1 / 3, 1 / 3))


def test_fields_of_different_models_do_not_fit_together():
    assert truth.fits_together(PAPER)
    assert not truth.fits_together(PAPER | {"sigmas": (1.0, 1.0)})


def test_what_cannot_be_drawn_is_drawn_as_it_last_was():
    typed = PAPER | {
        "means": ((0.1, 0.1), (1.2, 0.0), (None, 0.5)),
        "sigmas": (0.3, -1.0, None),
    }
    assert truth.drawable(typed, PAPER) == (
        ((0.1, 0.1), PAPER["means"][1], PAPER["means"][2]),
        (0.3, 1.0, 1.0),
    )


# More states, fewer states


def test_moving_means_moves_no_other():
    drops = [truth.Placed(1, DISK_CHART, 0.5, 0.5), truth.Placed(0, DISK_CHART, 0.1, 0.0)]
    moved = truth.with_dropped(PAPER["means"], PAPER["means"], drops)
    assert moved == ((0.1, 0.0), (0.5, 0.5), PAPER["means"][2])


@pytest.mark.parametrize("name", PRESETS)
def test_states_can_be_added_up_to_the_most_and_the_model_stays_valid(name):
    now = Experiment(**PRESETS[name], window=20 if len(PRESETS[name]["means"]) < 5 else 25)
    while now.n_states < MOST_STATES:
        n = now.n_states
        now = replace(now, **truth.with_new_state(now.truth), window=window_for(n + 1, now.window))
        assert now.n_states == n + 1
        assert now.transmat[n][n] == 0.6
        assert all(map(sums_to_one, now.transmat))
        assert sums_to_one(now.startprob)
    assert now.window == 40


def test_a_new_state_takes_a_tenth_of_every_row_and_of_no_start():
    more = truth.with_new_state(PAPER)
    assert more["transmat"][0] == (0.36, 0.27, 0.27, 0.1)
    assert more["startprob"] == (1.0, 0.0, 0.0, 0.0)
    assert more["sigmas"] == (0.2, 1.0, 1.0, 1.0)


@pytest.mark.parametrize("name", PRESETS)
def test_a_new_state_is_put_where_there_is_room(name):
    more = Experiment(**truth.with_new_state(PRESETS[name]))
    assert math.hypot(*more.means[-1]) < 0.8
    assert separations(more)[-1, :-1].min() > 1.5


def test_a_state_can_be_added_to_what_is_half_typed():
    typed = {
        "transmat": ((0.4, None, 0.3), (0.2, 0.6, 0.2), (0.1, 0.1, 0.8)),
        "means": ((None, 0.0), (1.5, 0.0), (0.0, 0.0)),
        "sigmas": (None, -1.0, 0.5),
        "startprob": (1.0, 0.0, 0.0),
    }
    more = truth.with_new_state(typed)
    assert more["sigmas"][-1] == 0.5
    assert "transmat" not in truth.problems(more)


@pytest.mark.parametrize("state", range(5))
def test_without_a_state_the_others_keep_their_proportions(state):
    now = Experiment(**PRESETS["Five states"])
    less = replace(now, **truth.without_state(now.truth, state))
    assert now.means[state] not in less.means
    assert less.transmat[0] == pytest.approx((2 / 3, 1 / 9, 1 / 9, 1 / 9), abs=1e-15)
    assert less.startprob == pytest.approx((0.25,) * 4, abs=1e-15)


def test_states_can_be_removed_until_one_is_left():
    now = Experiment()
    while now.n_states > 1:
        now = replace(now, **truth.without_state(now.truth, 0))
    assert (now.transmat, now.startprob) == (((1.0,),), (1.0,))


def test_an_added_state_can_be_removed_again():
    again = truth.without_state(truth.with_new_state(PAPER), 3)
    assert again["means"] == PAPER["means"]
    assert np.allclose(again["transmat"], PAPER["transmat"], atol=1e-15, rtol=0)


def test_changes_of_cells_that_a_table_does_not_have_are_ignored():
    rows = ((0.25, 0.75), (0.5, 0.5))
    forged = {0: {"to 3": 1.0, "to 1": 0.5}, 2: {"to 1": 1.0}, -1: {"to 1": 1.0}}

    assert truth.edited(rows, forged, ("to 1", "to 2")) == ((0.5, 0.75), (0.5, 0.5))


def test_a_cell_that_is_given_no_number_is_blank():
    edits = {0: {"to 1": {"to 1": 5}, "to 2": "0.5"}}

    assert truth.edited(((0.25, 0.75),), edits, ("to 1", "to 2")) == ((None, None),)
