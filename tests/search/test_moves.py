"""Splits and merges: what they promise, and that they lead out of a wrong optimum."""

import numpy as np
import pytest

from rhmm import Euclidean, RiemannianHMM
from rhmm.search import Fit, Sample, climbed, improved
from rhmm.search.appraising import Appraisal
from rhmm.search.exploring import Effort, moved
from rhmm.search.moves import appraise
from tests.brute_force import MANIFOLDS, in_a_row
from tests.in_time import printed_in_time

everywhere = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
DISTANCES = (-2.0, 0.0, 2.0)


def sample_of(manifold, distances=DISTANCES, sigma=0.3, size=600):
    n = len(distances)
    truth = RiemannianHMM.from_parameters(
        manifold, np.full(n, 1 / n), np.full((n, n), 1 / n), in_a_row(manifold, distances),
        np.full(n, sigma),
    )  # fmt: skip
    X, _ = truth.sample(size, random_state=0)
    return truth, Sample(manifold, X, np.array([size]), 1e-6)


def stuck(manifold, sample):
    """Two states share the first cluster, the third explains the two others."""
    n, delta = 3, float(manifold.delta(0.3))
    means = in_a_row(manifold, (-2.1, -1.9, 1.0))
    wide = np.array([delta, delta, 4.0 * delta])
    return climbed(sample, np.full((n, n), 1 / n), means, wide, delta, 20)


@everywhere
def test_a_move_leads_out_of_a_wrong_optimum(manifold):
    truth, sample = sample_of(manifold)
    fit = stuck(manifold, sample)
    target = truth.score(sample.points)
    assert fit.log_likelihood < target - 50.0
    found = improved(sample, fit, np.random.default_rng(0), tried=3, steps=20)
    assert found.log_likelihood > target - 5.0
    near = manifold.squared_distances(found.means, truth.means_).min(axis=1)
    assert near.max() < 0.01


def test_a_good_fit_stays_as_it_is():
    truth, sample = sample_of(Euclidean(2))
    delta = sample.manifold.delta(truth.sigmas_)
    fit = climbed(sample, truth.transmat_, truth.means_, delta, 0.1, 20)
    assert improved(sample, fit, np.random.default_rng(0), tried=3, steps=20) is fit


def test_the_appraisal_knows_what_is_wrong():
    manifold = Euclidean(2)
    _, sample = sample_of(manifold)
    appraisal = appraise(sample, stuck(manifold, sample), np.random.default_rng(0))
    assert appraisal.gain.argmax() == 2
    assert np.unravel_index(appraisal.loss.argmin(), (3, 3)) == (0, 1)
    assert appraisal.moves(1)[0].tolist() == [2, *appraisal.seeds[2], 0, 1]
    assert appraisal.promises_a_move()


def moves_of(manifold) -> tuple[Sample, Fit, np.ndarray]:
    """A fit that is stuck, and one split, one merge and one move of both in one."""
    _, sample = sample_of(manifold)
    fit = stuck(manifold, sample)
    seeds = appraise(sample, fit, np.random.default_rng(0)).seeds[2]
    return sample, fit, np.array([[2, *seeds, -1, -1], [-1, -1, -1, 0, 1], [2, *seeds, 0, 1]])


@everywhere
@pytest.mark.parametrize("which", range(3))
def test_a_move_is_what_weights_say(manifold, which):
    """The same in NumPy: states keep what they explain, but for the one that is split and those
    that are merged."""
    sample, fit, moves = moves_of(manifold)
    state, one, other, first, second = moves[which]
    weights, means = list(fit.gamma.T), list(fit.means)
    if state >= 0:
        seeds = sample.points[[one, other]]
        near, far = manifold.squared_distances(sample.points, seeds)
        whole = weights[state]
        weights[state], means[state] = np.where(near <= far, whole, 0.0), seeds[0]
        weights.append(np.where(near <= far, 0.0, whole))
        means.append(seeds[1])
    if first >= 0:
        if weights[second].sum() > weights[first].sum():
            means[first] = means[second]
        weights[first] = weights[first] + weights[second]
        del weights[second], means[second]
    n, weights, means = len(means), np.array(weights), np.array(means)
    transmat = weights[:, :-1] @ weights[:, 1:].T + 1.0 / n
    transmat /= transmat.sum(axis=1, keepdims=True)
    for _ in range(2):
        means = np.array([
            manifold.recentre(sample.points, w[None] + 1e-9, m[None])[0][0]
            for w, m in zip(weights, means, strict=True)
        ])  # fmt: skip
    found = moved(sample, fit, moves[which : which + 1], Effort(1, 0, 0))
    assert found is not None
    np.testing.assert_allclose(found.transmat, transmat, rtol=1e-12)
    # A manifold may go less far in a step than `recentre` does, where distances tell it to.
    np.testing.assert_allclose(found.means, means, atol=1e-3)
    weights = weights + 1e-9
    spread = (weights * manifold.squared_distances(sample.points, found.means)).sum(axis=1)
    delta = (spread + fit.prior) / (weights.sum(axis=1) + 1.0)
    np.testing.assert_allclose(found.delta, delta, rtol=1e-9)
    again = climbed(sample, found.transmat, found.means, found.delta, fit.prior, 0)
    assert again.log_likelihood == pytest.approx(found.log_likelihood, rel=1e-12)


@everywhere
def test_a_split_and_a_merge_change_the_number_of_states(manifold):
    truth, sample = sample_of(manifold)
    one = climbed(sample, np.ones((1, 1)), truth.means_[1:2], np.array([4.0]), 0.1, 10)
    effort = Effort(1, 0, 20)
    splits = appraise(sample, one, np.random.default_rng(0)).splits(5)
    two = moved(sample, one, splits, effort)
    assert len(two.delta) == 2
    assert two.log_likelihood > one.log_likelihood + 50.0
    merges = appraise(sample, two, np.random.default_rng(0)).merges(5, np.inf)
    again = moved(sample, two, merges, effort)
    assert again.log_likelihood == pytest.approx(one.log_likelihood, abs=1.0)


def test_the_likeliest_of_several_moves_is_found():
    sample, fit, _ = moves_of(Euclidean(2))
    moves = appraise(sample, fit, np.random.default_rng(0)).moves(3)
    found = [moved(sample, fit, moves[k : k + 1], Effort(1, 5, 2)) for k in range(3)]
    best = moved(sample, fit, moves, Effort(3, 5, 2))
    assert best.log_likelihood == max(one.log_likelihood for one in found)
    again = climbed(sample, best.transmat, best.means, best.delta, best.prior, 0)
    np.testing.assert_array_equal(again.gamma, best.gamma)


def test_moves_without_hope_are_left():
    sample, fit, moves = moves_of(Euclidean(1))
    move, effort = moves[:1], Effort(1, 5, 2)
    first, look, found = (
        moved(sample, fit, move, Effort(1, 0, steps)).log_likelihood for steps in (1, 2, 7)
    )
    assert fit.log_likelihood < first < look < found
    assert moved(sample, fit, moves[:0], effort) is None
    assert moved(sample, fit, move, effort._replace(hope=first + 1e-3)) is None
    assert moved(sample, fit, move, effort._replace(least=look + 1e-3)) is None
    kept = moved(sample, fit, move, effort._replace(hope=first - 1e-3, least=look - 1e-3))
    assert kept.log_likelihood == moved(sample, fit, move, effort).log_likelihood


def test_an_appraisal_lists_what_promises_the_most():
    appraisal = Appraisal(
        np.array([1.0, 5.0, -np.inf]), np.array([[0, 1], [2, 3], [4, 5]]),
        np.array([[np.inf, 3.0, 2.0], [3.0, np.inf, 1.0], [2.0, 1.0, np.inf]]),
    )  # fmt: skip
    assert appraisal.splits(3).tolist() == [[1, 2, 3, -1, -1], [0, 0, 1, -1, -1]]
    assert appraisal.merges(2, np.inf).tolist() == [[-1, -1, -1, 1, 2], [-1, -1, -1, 0, 2]]
    assert appraisal.merges(2, 2.0).tolist() == [[-1, -1, -1, 1, 2]]
    assert appraisal.moves(3).tolist() == [[1, 2, 3, 0, 2], [0, 0, 1, 1, 2]]
    assert appraisal.moves(1).tolist() == [[1, 2, 3, 0, 2]]


SEARCHED = """
import numpy as np
from rhmm import Euclidean
from rhmm.search import Fit, Sample, climbed, improved
from rhmm.search.appraising import Appraisal
from rhmm.search.sizes import resized
points = np.random.default_rng(0).normal(size=(200, 2))
points[7] = {bad}
sample = Sample(Euclidean(2), points, np.array([200]), 1e-6)
with np.errstate(all="ignore"):
    fit = climbed(sample, np.full((2, 2), 0.5), points[10:12].copy(), np.ones(2), 1.0, 15)
    print(fit.log_likelihood, {search} is fit)
"""


@pytest.mark.parametrize("bad", ["np.nan", "np.inf", "1e300"])
@pytest.mark.parametrize(
    "search",
    [
        "improved(sample, fit, np.random.default_rng(0), tried=4, steps=15)",
        "resized(sample, fit, np.random.default_rng(0), 4, 1.5)",
    ],
)
def test_a_search_ends_where_a_point_leaves_no_likelihood(bad, search):
    assert printed_in_time(SEARCHED.format(bad=bad, search=search)) == "-inf True"
