"""Splits and merges: what they promise, and that they lead out of a wrong optimum."""

import numpy as np
import pytest

from rhmm import Euclidean, RiemannianHMM
from rhmm.search import Sample, climbed, improved
from rhmm.search.exploring import fitted
from rhmm.search.moves import appraise, merged, split
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
    best = appraisal.moves(1)[0]
    assert (best.state, best.first, best.second) == (2, 0, 1)
    assert appraisal.promises_a_move()


@everywhere
def test_a_split_and_a_merge_change_the_number_of_states(manifold):
    truth, sample = sample_of(manifold)
    one = climbed(sample, np.ones((1, 1)), truth.means_[1:2], np.array([4.0]), 0.1, 10)
    seeds = appraise(sample, one, np.random.default_rng(0)).seeds[0]
    two = fitted(sample, *split(sample, one.gamma.T, one.means, 0, seeds), one.prior, 20)
    assert len(two.delta) == 2
    assert two.log_likelihood > one.log_likelihood + 50.0
    again = fitted(sample, *merged(two.gamma.T, two.means, 0, 1), two.prior, 20)
    assert again.log_likelihood == pytest.approx(one.log_likelihood, abs=1.0)


SEARCHED = """
import numpy as np
from rhmm import Euclidean
from rhmm.search import Sample, climbed, improved
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
