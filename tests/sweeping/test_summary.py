"""Bands over the seeds, the noise floor of a window, and which window is enough."""

from dataclasses import replace

import numpy as np
import pytest

from rhmm import Euclidean, RiemannianHMM
from rhmm.sweeping import Band, Configuration, enough_window, noise_floor, run_once, summarise
from tests.sweeping.tasks import TRUTH

STREAMING = Configuration("streaming", 400, window=60)


def run_with(accuracy, window=60, seed=0, **changes):
    template = run_once(TRUTH, Configuration("ceiling", 50), 0)
    configuration = Configuration("windowed", window=window)
    return replace(
        template, configuration=configuration, seed=seed, accuracy=accuracy, ceiling=0.98, **changes
    )


def test_a_summary_holds_mean_spread_and_band_of_each_configuration():
    values = [0.9, 0.95, 0.91, 0.97, 0.92]
    runs = [run_with(v, seed=i, nbytes=100 + i) for i, v in enumerate(values)]
    summary, other = summarise([*runs, run_with(0.5, window=40)])
    assert (summary.configuration.window, summary.runs, other.runs) == (60, 5, 1)
    assert summary.accuracy.mean == pytest.approx(sum(values) / 5)
    squares = [(value - 0.93) ** 2 for value in values]
    assert summary.accuracy.spread == pytest.approx(np.sqrt(sum(squares) / 4))
    assert summary.accuracy.median == 0.92
    assert summary.accuracy.low == pytest.approx(0.904)  # 0.4 of the way from .90 to .91
    assert summary.accuracy.high == pytest.approx(0.962)
    assert summary.nbytes.most == 104
    assert summary.diagonal == pytest.approx((0.4, 0.6, 0.8))
    assert other.accuracy == Band(0.5, 0.0, 0.5, 0.5, 0.5, 0.5)


def test_the_noise_floor_is_the_error_of_counting_transitions_with_fading_weights():
    """Counts of true transitions, faded by 1 − 1/N_i at each visit, many chains at once."""
    truth = RiemannianHMM.from_parameters(
        Euclidean(1), [0.5, 0.5], [[0.7, 0.3], [0.4, 0.6]], [[0.0], [9.0]], [1.0, 1.0]
    )
    window, law = 70, np.array([4 / 7, 3 / 7])
    rng = np.random.default_rng(0)
    chains = 2000
    state = rng.integers(0, 2, chains)
    estimate = np.broadcast_to(truth.transmat_, (chains, 2, 2)).copy()
    everyone = np.arange(chains)
    for _ in range(10 * window):
        following = (rng.random(chains) > truth.transmat_[state, 0]).astype(int)
        step = 1.0 / (window * law[state])
        rows = estimate[everyone, state]
        estimate[everyone, state] = rows + step[:, None] * (np.eye(2)[following] - rows)
        state = following
    squared = ((estimate - truth.transmat_) ** 2).sum(axis=(1, 2))
    assert noise_floor(truth, window) == pytest.approx(np.sqrt(squared.mean()), rel=0.05)


def test_the_noise_floor_of_the_papers_chain():
    """By hand: π = (2, 3, 6)/11, Σ_j A_ij(1−A_ij) = .66, .56, .34."""
    expected = np.sqrt((0.66 * 11 / 2 + 0.56 * 11 / 3 + 0.34 * 11 / 6) / 400)
    assert noise_floor(TRUTH, 200) == pytest.approx(expected)


def test_a_state_that_is_never_visited_adds_nothing_to_the_noise_floor():
    truth = RiemannianHMM.from_parameters(
        Euclidean(1), [1, 0], [[0.5, 0.5], [0.0, 1.0]], [[0.0], [9.0]], [1.0, 1.0]
    )
    assert noise_floor(truth, 100) == 0.0


@pytest.mark.parametrize("stay", [0.5, 0.9])
def test_a_state_that_is_left_for_good_adds_nothing_to_the_noise_floor(stay):
    rest = [[0.7, 0.3], [0.2, 0.8]]
    transmat = [[stay, 1 - stay, 0.0], *([0.0, *row] for row in rest)]
    truth = RiemannianHMM.from_parameters(
        Euclidean(1), [1, 0, 0], transmat, [[0.0], [5.0], [9.0]], [1.0] * 3
    )
    alone = RiemannianHMM.from_parameters(Euclidean(1), [1, 0], rest, [[5.0], [9.0]], [1.0] * 2)
    assert noise_floor(truth, 100) == pytest.approx(noise_floor(alone, 100))


def test_the_smallest_window_within_a_percent_of_the_ceiling_is_enough():
    accuracies = {40: 0.5, 60: 0.96, 100: 0.971, 200: 0.979}
    runs = [run_with(a, window) for window, a in accuracies.items()]
    assert enough_window(runs) == 100
    assert enough_window(runs, within=0.05) == 60
    assert enough_window(runs, within=0.0001) is None
    # one good seed is not enough
    assert enough_window([*runs, run_with(0.98, 40, seed=1)]) == 100


def test_runs_of_several_learners_have_no_single_answer():
    with pytest.raises(ValueError, match="runs must be of one family"):
        enough_window([run_with(0.9), replace(run_with(0.9), configuration=STREAMING)])
