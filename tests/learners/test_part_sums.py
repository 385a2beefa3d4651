"""Sums over parts against those over whole sequences, and against every path of tiny chains."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rhmm import SPD, Euclidean, Hyperbolic
from rhmm.learners.baum_welch import Iterate
from rhmm.learners.part_sums import Part, Sums, Tree
from tests import brute_force
from tests.learners.chains import chain_on, stream, with_holes

MANIFOLDS = [Euclidean(2), Hyperbolic(2), Hyperbolic(3), SPD(2)]


def iterate(manifold) -> Iterate:
    model = chain_on(manifold)
    return Iterate(model.startprob_, model.transmat_, model.law_)


def part(model: Iterate, X) -> Part:
    return Part(model, X, ~np.isnan(X.reshape(len(X), -1)).any(axis=1))


def assert_same_sums(ours: Sums, theirs: Sums, rtol=1e-10):
    for left, right in zip(ours, theirs, strict=True):
        assert_allclose(left, right, rtol=rtol, atol=rtol * np.abs(right).max())


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_sums_agree_with_all_paths(manifold):
    model, X = iterate(manifold), stream(manifold, 7)
    X[2] = np.nan
    sums = part(model, X).sums(np.array([4, 3]))
    truth = chain_on(manifold)
    log_density = truth.log_density(X)
    expected = np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.zeros(3), 0.0
    starts, transitions, occupied, spread, likelihood = expected
    for rows in (slice(0, 4), slice(4, 7)):
        chain = truth.startprob_, truth.transmat_, log_density[rows]
        gamma, here = brute_force.smoother(*chain), ~np.isnan(log_density[rows, 0])
        starts += gamma[0]
        transitions += brute_force.pairs(*chain).sum(axis=0)
        occupied += gamma[here].sum(axis=0)
        d2 = np.stack([manifold.dist(mean, X[rows][here]) ** 2 for mean in truth.means_], axis=1)
        spread += (gamma[here] * d2).sum(axis=0)
        likelihood += brute_force.log_likelihood(*chain)
    assert_allclose(sums.starts, starts, rtol=1e-10)
    assert_allclose(sums.transitions, transitions, rtol=1e-10)
    assert_allclose(sums.occupied, occupied, rtol=1e-10)
    assert_allclose(sums.of_law[:, 0], spread, rtol=1e-10)
    assert_allclose(sums.log_likelihood, likelihood, rtol=1e-12)


def joined_sums(model: Iterate, left, middle, right) -> Sums:
    """Three parts of a sequence, each summed up alone and then joined."""
    tree = Tree()
    first = part(model, left).contribution(True, False)
    second = part(model, middle).contribution(False, False)
    third = part(model, right).contribution(False, True)
    for found in (first, second, third):
        tree.add(found.sums)
    for before, after in ((first, second), (second, third)):
        X = np.concatenate([before.tail, after.head])
        tree.add(part(model, X).joined(before.start, after.later, False))
    return tree.total()


@pytest.mark.parametrize("holes", [False, True])
def test_three_parts_and_their_joints_say_what_the_whole_sequence_says(holes):
    manifold = Hyperbolic(2)
    model, X = iterate(manifold), stream(manifold, 3000)
    X = with_holes(X) if holes else X
    ours = joined_sums(model, *np.split(X, [900, 2100]))
    assert_same_sums(ours, part(model, X).sums(np.array([3000])))


def test_parts_of_a_chain_with_impossible_transitions_are_joined_too():
    """The recursions run on logarithms then."""
    manifold = Hyperbolic(2)
    transmat = np.array([[0.7, 0.3, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    model, X = iterate(manifold)._replace(transmat=transmat), stream(manifold, 1500)
    ours = joined_sums(model, *np.split(X, [500, 1000]))
    assert_same_sums(ours, part(model, X).sums(np.array([1500])))


def test_tight_states_with_impossible_transitions_are_joined_too():
    """Densities of the other states are below e^{−700}, and no number holds them."""
    manifold = Hyperbolic(2)
    transmat = np.array([[0.7, 0.3, 0.0], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    tight = chain_on(manifold, sigmas=(0.03, 0.02, 0.04))
    X, _ = tight.sample(900, random_state=0)
    X[::50] = stream(manifold, 18)  # far from every state
    model = Iterate(tight.startprob_, transmat, tight.law_)
    ours = joined_sums(model, *np.split(X, [300, 600]))
    assert_same_sums(ours, part(model, X).sums(np.array([900])))


def test_far_outliers_at_the_edges_of_parts_do_no_harm():
    """Densities there are below e^{−700}."""
    manifold = Euclidean(2)
    model, X = iterate(manifold), stream(manifold, 1500)
    X[498:502] += 1e3
    ours = joined_sums(model, *np.split(X, [500, 1000]))
    assert_same_sums(ours, part(model, X).sums(np.array([1500])))


def test_parts_of_a_chain_that_never_mixes_are_joined_too():
    """States 0 and 1 never lead to state 2, so that all is left to the joint."""
    manifold = Hyperbolic(2)
    transmat = np.array([[0.6, 0.4, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])
    model, X = iterate(manifold)._replace(transmat=transmat), stream(manifold, 300)
    assert part(model, X[:150]).contribution(True, False).sums is None
    whole = part(model, X).joined(model.startprob, None, True)
    assert_same_sums(whole, part(model, X).sums(np.array([300])))


def test_a_part_that_is_too_short_to_forget_gives_all_it_has_to_its_neighbours():
    manifold = Hyperbolic(2)
    X = stream(manifold, 3)
    found = part(iterate(manifold), X).contribution(False, False)
    assert found.sums is None
    np.testing.assert_array_equal(found.head, X)


def test_a_tree_adds_neighbours_first():
    """0.1 + 0.2 + 0.3 + 0.4 + 0.5 = ((0.1 + 0.2) + (0.3 + 0.4)) + 0.5, to the last digit."""
    tree, nothing = Tree(), np.zeros(1)
    assert tree.total() is None
    for value in (0.1, 0.2, 0.3, 0.4, 0.5):
        tree.add(Sums(value, nothing, nothing, nothing, nothing))
    assert tree.total().log_likelihood == ((0.1 + 0.2) + (0.3 + 0.4)) + 0.5
