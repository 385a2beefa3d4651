"""What the step inspector shows is what the kernel does."""

import numpy as np
import pytest

from dashboard.compute.steps import CONVEX, PAPER, STREAMING, Replay, replay
from dashboard.model.experiment import Experiment
from dashboard.model.lesson import INSPECTED
from dashboard.model.spaces.registry import SPACES

WINDOW, LENGTH, SEED, N = 60, 700, 3, 3
KINDS = {"paper": PAPER, "convex": CONVEX, "streaming": STREAMING, "fixed": STREAMING}
MOMENTS = (61, 62, 76, 84, 185, 499, 500, 501, 700)


def of(key, space="disk"):
    """The chain, the learner's entry and its options."""
    experiment = Experiment(**SPACES[space].truth, length=LENGTH, window=WINDOW, seed=SEED)
    variant = INSPECTED[key]
    options = {**variant.options, "window": WINDOW} if variant.has_window else dict(variant.options)
    return experiment.source, variant.learner, options


def learned(source, learner, options, k):
    """The learner itself after k observations, and how its states are called."""
    truth = source.true_model()
    estimator = learner.make(truth.manifold, len(truth.startprob_), SEED, options)
    estimator.fit(source.observe().points[:k])
    return estimator, estimator.to_hmm().order_like(truth)


def assert_is(estimate, estimator, order):
    pairs = (
        (estimate.transmat, estimator.transmat_[np.ix_(order, order)]),
        (estimate.means, estimator.means_[order]),
        (estimate.sigmas, estimator.sigmas_[order]),
    )
    for ours, kernels in pairs:
        np.testing.assert_allclose(ours, kernels, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("key", KINDS)
@pytest.mark.parametrize("k", MOMENTS)
def test_a_step_leads_from_the_kernel_s_state_before_to_its_state_after(key, k):
    way = of(key)
    step = Replay(*way, SEED, N).step(k)
    after, order = learned(*way, k)

    assert step.kind == KINDS[key]
    assert step.explanation.step == k
    assert_is(step.explanation.after, after, order)
    if k > WINDOW + 1:  # the start itself is no step
        before, _ = learned(*way, k - 1)
        assert_is(step.explanation.before, before, order)


@pytest.mark.parametrize("key", KINDS)
def test_matrices_are_explained_like_points_of_the_disk(key):
    way = of(key, "spd2")
    step = Replay(*way, SEED, N).step(300)

    assert_is(step.explanation.after, *learned(*way, 300))


@pytest.mark.parametrize("key", KINDS)
def test_the_raw_row_clipped_and_scaled_is_the_row_after(key):
    steps = Replay(*of(key), SEED, N)
    for k in MOMENTS:
        step = steps.step(k)
        new = np.maximum(step.raw, 1e-6)
        new /= new.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(step.explanation.after.transmat, new, atol=2e-6)


@pytest.mark.parametrize("key", KINDS)
def test_a_step_is_the_same_whichever_way_one_comes_to_it(key):
    there, back = Replay(*of(key), SEED, N), Replay(*of(key), SEED, N)
    forth = [there.step(k) for k in MOMENTS]
    reversed_steps = [back.step(k) for k in reversed(MOMENTS)][::-1]

    for one, other in zip(forth, reversed_steps, strict=True):
        assert np.array_equal(one.explanation.after.means, other.explanation.after.means)
        assert np.array_equal(one.explanation.gamma, other.explanation.gamma)


def test_a_step_after_another_replays_only_what_is_between(monkeypatch):
    source, learner, options = of("paper")
    steps = Replay(source, learner, options, SEED, N)
    steps.step(700)
    seen = []
    kind = learner.estimator
    learn = kind.partial_fit
    monkeypatch.setattr(
        kind, "partial_fit", lambda self, X, **rest: seen.append(len(X)) or learn(self, X, **rest)
    )
    steps.step(699)
    steps.step(350)

    assert sum(seen) <= 2 * (LENGTH // 25)


@pytest.mark.parametrize("key", ["paper", "streaming"])
def test_what_is_held_and_the_distances_are_of_the_step(key):
    source, learner, options = of(key)
    step = Replay(source, learner, options, SEED, N).step(172)
    e, points = step.explanation, source.observe().points

    assert np.array_equal(step.held, points[172 - len(e.alpha) : 172])
    assert step.distances.shape == (3, len(e.learned))
    for i, j in np.ndindex(step.distances.shape):
        expected = step.manifold.dist(e.before.means[i], e.learned[j])
        assert step.distances[i, j] == pytest.approx(expected, rel=1e-9)


def test_visitors_share_a_replay():
    assert replay(*of("paper"), SEED, N) is replay(*of("paper"), SEED, N)
    assert replay(*of("paper"), SEED, N) is not replay(*of("convex"), SEED, N)


def test_steps_are_those_after_the_start():
    steps = Replay(*of("paper"), SEED, N)

    assert (steps.first, steps.last) == (WINDOW + 1, LENGTH)


def test_sequences_of_a_recording_are_replayed_apart():
    experiment = Experiment.of_recording("weather")
    learner, options = INSPECTED["convex"].learner, {"transition_update": "convex", "window": 80}
    points, _, lengths = experiment.source.observe()
    ends = np.cumsum(lengths)
    steps = Replay(experiment.source, learner, options, SEED, 4)

    for k in (int(ends[5]) - 1, int(ends[5]), int(ends[5]) + 1, len(points)):
        whole = [int(end) for end in ends if end <= k]
        parts = np.diff([0, *whole, *([k] if k > max(whole) else [])])
        alone = learner.make(experiment.source.manifold, 4, SEED, options)
        alone.fit(points[:k], lengths=parts)
        np.testing.assert_allclose(
            steps.step(k).explanation.after.transmat, alone.transmat_, rtol=1e-10, atol=1e-13
        )
