"""The automatic memory: which memory is followed, and what happens when the chain jumps."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from benchmarks.accuracy import JUMPS, jumping
from rhmm import SPD, AutoMemoryRiemannianHMM, Euclidean, Hyperbolic
from rhmm.learners.auto import BANK, Bank
from rhmm.scoring import accuracy
from tests.learners.chains import (
    content,
    is_sound,
    learner,
    sensors,
    sticky_chain,
    stream,
    with_holes,
)


def auto(seed=0) -> AutoMemoryRiemannianHMM:
    return AutoMemoryRiemannianHMM(Hyperbolic(2), 3, random_state=seed)


@pytest.fixture(scope="module")
def far_jump():
    """The means turn by 90° after 5,000 of 10,000 observations."""
    return jumping(JUMPS["90°"], seed=0)


@pytest.mark.parametrize(
    ("seen", "message"),
    [(0, "call fit or partial_fit first"), (50, "its memories begin after the start")],
)
@pytest.mark.parametrize("attribute", ["memory_", "bank_", "restarts_"])
def test_before_its_memories_begin_it_says_so(seen, message, attribute):
    online = auto()
    assert online.start_size == 60
    if seen:
        online.partial_fit(stream(Hyperbolic(2), seen))
    with pytest.raises(NotFittedError, match=message):
        getattr(online, attribute)


def test_the_growing_memory_is_followed_unless_another_predicts_clearly_better():
    X, followed = jumping(JUMPS["10°"], seed=0)[0][3_000:6_000], set()
    online = auto().partial_fit(X[:1_800])
    assert tuple(online.bank_) == BANK
    for piece in np.split(X[1_800:], 30):
        scores = online.partial_fit(piece).bank_
        best = max(BANK, key=scores.__getitem__)
        clearly = 100.0 * (scores[best] - scores["growing"]) > 3.0
        assert online.memory_ == (best if clearly else "growing")
        followed.add(online.memory_)
    assert len(followed) > 1
    assert all(np.isfinite(score) for score in online.bank_.values())


def test_scores_are_weighted_means_from_the_first_observation_on():
    """As long as all members are alike, each score is the leader's weighted mean log density."""
    X = stream(Hyperbolic(2), 3_000)
    online = learner(Hyperbolic(2), "auto", trace_every=1)
    begun = None
    for k in range(len(X)):
        online.learn_one(X[k])
        try:
            scores = online.bank_
        except AttributeError:
            continue
        begun = begun or k + 1
        if k + 1 >= begun + 3:
            break
    gained = np.diff(online.trace_.log_likelihood, prepend=0.0)[-3:]
    weights = 0.99 ** np.arange(2, -1, -1)
    assert scores["growing"] == pytest.approx(weights @ gained / weights.sum(), rel=0.05)


def test_it_starts_anew_after_a_far_jump_and_keeps_the_names_of_the_states(far_jump):
    X, states = far_jump
    online = auto()
    labels = online.partial_fit_predict_proba(X).argmax(axis=1)
    (restart,) = online.restarts_
    assert 5_200 <= restart <= 5_600
    assert accuracy(states, labels, 3) > 0.95
    assert online.bank_[online.memory_] > max(online.bank_.values()) - 0.03


def test_a_steady_chain_is_never_started_anew():
    for seed in range(4):
        X, _ = jumping(np.eye(2), seed)
        assert auto(seed).partial_fit(X).restarts_ == []


@pytest.mark.parametrize("stay", [0.9, 0.95])
def test_a_steady_chain_that_wanders_is_never_started_anew(stay):
    for seed in range(2):
        X, _ = sticky_chain(stay).sample(10_000, random_state=seed)
        assert auto(seed).partial_fit(X).restarts_ == []


def test_a_newcomer_that_does_not_predict_better_is_dropped():
    """An alarm on a steady chain: for a while there is one more runner, and then as before."""
    X, _ = sticky_chain(0.95).sample(10_000, random_state=0)
    online, sizes = auto(), []
    for piece in np.split(X, 200):
        online.partial_fit(piece)
        if isinstance(online._stream.ensemble, Bank):
            sizes.append(len(online._stream.ensemble.runners))
    assert set(sizes) == {len(BANK), len(BANK) + 1}
    assert online.restarts_ == []


def test_an_outlier_does_not_hide_a_jump(far_jump):
    X = far_jump[0].copy()
    X[2_000] = (1.0 - 1e-9) * np.array([0.6, -0.8])
    (restart,) = auto().partial_fit(X).restarts_
    assert 5_200 <= restart <= 5_600


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_an_outlier_on_the_plane_does_not_hide_a_jump(far):
    X = stream(Euclidean(2), 4_000)
    X[2_000:] += [30.0, -50.0]
    X[1_000] = [far, 0.0]
    online = learner(Euclidean(2), "auto").partial_fit(X)
    assert any(2_200 <= restart <= 2_600 for restart in online.restarts_)
    gap = np.abs(np.sort(online.means_[:, 0]) - (np.array([-2.0, 0.0, 2.0]) + 30.0))
    assert gap.max() < 0.3


def test_jumps_are_noticed_in_any_unit():
    X = stream(Euclidean(2), 4_000)
    X[1_500:] += [30.0, -50.0]
    restarts = [
        learner(Euclidean(2), "auto", min_sigma=1e-3 * unit).partial_fit(unit * X).restarts_
        for unit in (1.0, 2.0**40, 2.0**-40)
    ]
    assert restarts[0]
    assert restarts[0] == restarts[1] == restarts[2]


def test_any_chunking_gives_the_same_through_a_restart(far_jump, tmp_path):
    X = with_holes(far_jump[0][3_000:6_500])
    whole = auto().partial_fit(X)
    assert len(whole.restarts_) == 1
    sizes = np.random.default_rng(0).integers(1, 90, 200)
    parts = auto()
    for piece in np.split(X, np.cumsum(sizes)[np.cumsum(sizes) < len(X)]):
        parts.partial_fit(piece)
    assert content(parts, tmp_path) == content(whole, tmp_path)


@pytest.mark.parametrize("seen", [1_440, 1_550, 1_700, 1_900])
def test_a_loaded_bank_goes_on_through_alarm_and_restart(far_jump, seen, tmp_path):
    X = far_jump[0][3_600:6_000]
    online = auto().partial_fit(X[:seen])
    online.save(tmp_path / "bank.npz")
    loaded = AutoMemoryRiemannianHMM.load(tmp_path / "bank.npz")
    for one in (online, loaded):
        one.partial_fit(X[seen:])
    assert len(loaded.restarts_) == 1
    assert content(loaded, tmp_path) == content(online, tmp_path)


def test_its_size_stays_the_same_through_a_restart(far_jump):
    online, sizes = auto().partial_fit(far_jump[0][:1_400]), set()
    for piece in np.split(far_jump[0][4_000:6_000], 10):
        sizes.add(online.partial_fit(piece).state_nbytes_)
    assert online.restarts_
    assert is_sound(online)
    assert len(sizes) == 1


# Sensors that are refitted


@pytest.fixture(scope="module")
def refitted():
    """Three sensors that are shifted by one after 1,000 of 2,000 observations."""
    X, states = sensors(SPD(3)).sample(2_000, random_state=0)
    X[1_000:] = SPD(3).rearranged(X[1_000:], [1, 2, 0])
    return X, states


@pytest.mark.parametrize("emission", ["riemannian", "tied"])
def test_it_goes_on_with_all_states_when_sensors_were_refitted(refitted, emission):
    X, states = refitted
    online = AutoMemoryRiemannianHMM(SPD(3), 3, emission=emission, random_state=0)
    labels = online.partial_fit_predict_proba(X).argmax(axis=1)
    (restart,) = online.restarts_
    assert 1_000 < restart < 1_300
    names = np.concatenate([states[500:1_000], states[restart:]])
    assert accuracy(names, np.concatenate([labels[500:1_000], labels[restart:]]), 3) > 0.97


def test_it_does_not_start_anew_where_sensors_stay():
    X, _ = sensors(SPD(3)).sample(5_000, random_state=1)
    assert AutoMemoryRiemannianHMM(SPD(3), 3, random_state=0).fit(X).restarts_ == []


@pytest.mark.parametrize("emission", ["riemannian", "tied"])
def test_any_chunking_gives_the_same_where_sensors_are_refitted(refitted, emission, tmp_path):
    X = with_holes(refitted[0])

    def online():
        return AutoMemoryRiemannianHMM(SPD(3), 3, emission=emission, random_state=0)

    whole, pieces = online().partial_fit(X), online()
    for piece in np.split(X, np.cumsum(np.random.default_rng(0).integers(1, 60, 60))):
        if len(piece):
            pieces.partial_fit(piece)
    assert whole.restarts_ == pieces.restarts_ != []
    assert content(whole, tmp_path) == content(pieces, tmp_path)


def test_a_learner_that_is_loaded_while_it_tries_another_order_goes_on(refitted, tmp_path):
    X, _ = refitted
    online = AutoMemoryRiemannianHMM(SPD(3), 3, random_state=0).partial_fit(X[:1_000])
    k = 1_000
    while len(online._bank.runners) == len(BANK):
        online.learn_one(X[k])
        k += 1
    online.save(tmp_path / "online.npz")
    other = AutoMemoryRiemannianHMM.load(tmp_path / "online.npz")
    ours, theirs = (one.partial_fit_predict_proba(X[k:]) for one in (online, other))
    assert ours.tobytes() == theirs.tobytes()
    assert online.restarts_ == other.restarts_ != []


def test_what_it_holds_does_not_grow_where_sensors_are_refitted(refitted):
    X, _ = refitted
    online = AutoMemoryRiemannianHMM(SPD(3), 3, random_state=0)
    sizes = {online.partial_fit(piece).state_nbytes_ for piece in np.split(X, 20)[1:]}
    assert len(sizes) == 1
