"""A learner looks back, and finds what its start has missed."""

import numpy as np
import pytest

from benchmarks import hard
from rhmm import AutoMemoryRiemannianHMM, Hyperbolic, RiemannianHMM, StreamingRiemannianHMM
from rhmm.scoring import accuracy
from rhmm.streams.history import history_size
from tests.learners.chains import chain_on, learner, stream


def late_state(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A chain whose third state does not appear among the first 600 observations."""
    truth = chain_on(Hyperbolic(2))
    X, states = truth.sample(9_000, random_state=seed)
    two = np.flatnonzero(states != 2)[:600]
    rest = np.arange(two[-1] + 1, len(X))
    order = np.concatenate([two, rest])
    return X[order], states[order]


@pytest.mark.parametrize("kind", [StreamingRiemannianHMM, AutoMemoryRiemannianHMM])
@pytest.mark.parametrize("seed", range(3))
def test_a_state_that_the_start_has_not_seen_is_found(kind, seed):
    X, states = late_state(seed)
    model = kind(Hyperbolic(2), 3, random_state=seed).fit(X)
    truth = chain_on(Hyperbolic(2))
    ceiling = accuracy(states, truth.predict(X), 3)
    assert accuracy(states, model.predict(X), 3) > ceiling - 0.01


def test_a_sticky_chain_is_not_lost():
    """Without reviews three to seven of twenty such chains are lost for good."""
    truth = hard.at_papers_means(0.99, np.full(3, 1.2))
    for seed in range(6):
        X, states = truth.sample(10_000, random_state=1000 + seed)
        model = StreamingRiemannianHMM(Hyperbolic(2), 3, random_state=seed).fit(X)
        gap = accuracy(states, truth.predict(X), 3) - accuracy(states, model.predict(X), 3)
        assert gap < 0.01


@pytest.mark.parametrize("name", ["cold", "growing, short start"])
def test_a_start_from_few_is_made_afresh_when_there_are_enough(name):
    X = stream(Hyperbolic(2), 450)
    online = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X)
    size = history_size(3)
    assert online._stream.ensemble.reviewed == size
    from_all = StreamingRiemannianHMM(Hyperbolic(2), 3, window=size, random_state=7).fit(X[:size])
    just_after = online.trace_.means[online.trace_.step == size + 1][0]
    apart = Hyperbolic(2).squared_distances(just_after, from_all.means_)
    assert apart.min(axis=1).max() < 0.01


def test_a_trial_ends_and_one_model_goes_on():
    X, _ = late_state(0)
    online = StreamingRiemannianHMM(Hyperbolic(2), 3, random_state=0)
    tried, sizes = [], set()
    for part in np.array_split(X, 400):
        online.partial_fit(part)
        if online.__sklearn_is_fitted__():
            tried.append(len(online._stream.ensemble.runners) == 2)
            sizes.add(online.state_nbytes_)
    assert any(tried)
    assert not tried[-1]
    assert len(sizes) == 2  # with a challenger, and without one


def test_holes_do_not_count_for_a_review():
    X = stream(Hyperbolic(2), 390)
    online = learner(Hyperbolic(2), "growing").partial_fit(X)
    online.partial_fit(np.full((1_000, 2), np.nan))
    assert online._stream.ensemble.recorded == 390


def test_a_trial_is_the_same_in_any_chunks():
    X, _ = late_state(0)
    one = StreamingRiemannianHMM(Hyperbolic(2), 3, random_state=0)
    whole = one.partial_fit_predict_proba(X[:3_000])
    other = StreamingRiemannianHMM(Hyperbolic(2), 3, random_state=0)
    rng = np.random.default_rng(1)
    cuts = np.sort(rng.choice(np.arange(1, 3_000), 300, replace=False))
    parts = [other.partial_fit_predict_proba(part) for part in np.split(X[:3_000], cuts)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert one.means_.tobytes() == other.means_.tobytes()


def test_a_long_record_is_reviewed_at_a_half_and_then_whenever_it_is_full():
    X, _ = hard.ring(4, 0.6).sample(3_500, random_state=0)
    online, reviews = StreamingRiemannianHMM(Hyperbolic(2), 4, random_state=0), set()
    for part in np.array_split(X, 70):
        online.partial_fit(part)
        if online.__sklearn_is_fitted__():
            reviews.add(online._stream.ensemble.reviewed)
    assert reviews == {200, 800, 1_600, 3_200}


@pytest.mark.parametrize("memory", ["growing", "fixed"])
def test_em_rests_on_a_whole_record_of_many_states_unless_the_memory_is_short(memory):
    """Beyond that EM can gain about a nat, by the law of the first state."""
    X, _ = hard.ring(4, 0.8).sample(1_600, random_state=0)
    online = StreamingRiemannianHMM(Hyperbolic(2), 4, memory=memory, random_state=0).fit(X)
    begun = online.to_hmm()
    em = RiemannianHMM(Hyperbolic(2), 4, init=begun, n_iter=300, tol=0.02).fit(X)
    gained = em.score(X) - begun.score(X)
    assert gained < 2.0 if memory == "growing" else gained > 10.0
