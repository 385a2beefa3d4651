"""``window="auto"``: which memory is followed, and what happens when the chain jumps."""

import numpy as np
import pytest

from benchmarks.accuracy import JUMPS, jumping
from rhmm import Hyperbolic, OnlineRiemannianHMM
from rhmm.online import BANK
from rhmm.scoring import accuracy
from tests.online.streams import content, is_sound, learner, stream, with_holes


def auto(seed=0) -> OnlineRiemannianHMM:
    return OnlineRiemannianHMM(Hyperbolic(2), 3, window="auto", random_state=seed)


@pytest.fixture(scope="module")
def far_jump():
    """The means turn by 90° after 5,000 of 10,000 observations."""
    return jumping(JUMPS["90°"], seed=0)


def test_it_tells_which_memory_predicts_best():
    online = learner(Hyperbolic(2), "auto")
    assert online.window_ == 60
    for attribute in ("bank_", "restarts_"):
        with pytest.raises(AttributeError, match=attribute):
            getattr(online, attribute)
    online.partial_fit(stream(Hyperbolic(2), 3_000))
    assert tuple(online.bank_) == BANK
    assert online.window_ == max(online.bank_, key=online.bank_.get)
    assert all(np.isfinite(score) for score in online.bank_.values())
    assert online.restarts_ == []


def test_scores_are_means_from_the_first_observation_on():
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
    gained = np.diff(online.trace_.log_likelihood)[-3:]
    weights = 0.99 ** np.arange(2, -1, -1)
    assert scores["growing"] == pytest.approx(weights @ gained / weights.sum(), rel=0.05)


def test_learners_without_a_bank_say_so():
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2)))
    assert online.window_ == 200
    for attribute in ("bank_", "restarts_"):
        with pytest.raises(AttributeError, match=attribute):
            getattr(online, attribute)


def test_after_a_far_jump_it_starts_anew_and_keeps_the_names_of_the_states(far_jump):
    X, states = far_jump
    online = auto()
    labels = online.partial_fit_predict_proba(X).argmax(axis=1)
    (restart,) = online.restarts_
    assert 5_200 <= restart <= 5_600
    assert accuracy(states, labels, 3) > 0.95
    assert online.bank_[online.window_] == max(online.bank_.values())


def test_a_steady_chain_is_never_started_anew():
    for seed in range(4):
        X, _ = jumping(np.eye(2), seed)
        assert auto(seed).partial_fit(X).restarts_ == []


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
    loaded = OnlineRiemannianHMM.load(tmp_path / "bank.npz")
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
