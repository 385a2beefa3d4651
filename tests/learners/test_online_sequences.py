"""Streams of several sequences: where one ends, nothing is learned about what follows."""

import numpy as np
import pytest

from rhmm import Euclidean, Hyperbolic, StreamingRiemannianHMM, WindowedRiemannianHMM
from rhmm.parameters import stationary_law
from tests.learners.chains import ON_THE_DISK, content, learner, stream, with_holes

DISK = Hyperbolic(2)
every_learner = pytest.mark.parametrize("name", ON_THE_DISK)
LENGTHS = [3, 130, 1, 1, 65, 230, 270]


def open_chunks(X, lengths, sizes):
    """X in chunks of these sizes, and the lengths that each call is told: None while a sequence
    goes on, its rest where it ends."""
    ends, begin = np.cumsum(lengths), 0
    for size in sizes:
        end = begin + size
        inside = ends[(ends > begin) & (ends <= end)]
        closed = inside[-1] if len(inside) else begin
        if closed > begin:
            yield X[begin:closed], np.diff(inside, prepend=begin)
        if closed < end:
            yield X[closed:end], None
        begin = end


@every_learner
@pytest.mark.parametrize("holes", [False, True])
def test_any_chunking_gives_the_same_to_the_bit(name, holes, tmp_path):
    X = with_holes(stream(DISK)) if holes else stream(DISK)
    whole = learner(DISK, name).partial_fit(X, lengths=LENGTHS)
    parts = learner(DISK, name)
    for piece, lengths in open_chunks(X, LENGTHS, [3, 140, 57, 1, 299, 200]):
        parts.partial_fit(piece, lengths=lengths)
    assert content(parts, tmp_path) == content(whole, tmp_path)
    assert content(learner(DISK, name).partial_fit(X), tmp_path) != content(whole, tmp_path)


@every_learner
def test_one_sequence_is_the_same_with_and_without_its_length(name, tmp_path):
    X = stream(DISK)
    told, plain = learner(DISK, name).fit(X, lengths=[700]), learner(DISK, name).fit(X)
    for ours, theirs in zip(told.to_hmm().parameters_, plain.to_hmm().parameters_, strict=True):
        assert ours.tobytes() == theirs.tobytes()


@every_learner
def test_a_saved_learner_goes_on_in_the_middle_of_a_sequence_and_after_its_end(name, tmp_path):
    X = stream(DISK)
    for stop, told in ((430, [430]), (430, [200, 230]), (290, None), (2, [2]), (30, None)):
        whole, half = (learner(DISK, name).partial_fit(X[:stop], lengths=told) for _ in range(2))
        half.save(tmp_path / "half.npz")
        half = type(half).load(tmp_path / "half.npz")
        for online in (whole, half):
            online.partial_fit(X[stop:], lengths=[5, 695 - stop])
        assert content(half, tmp_path) == content(whole, tmp_path)


@every_learner
def test_a_sequence_begins_with_the_stationary_law(name):
    X = stream(DISK)
    online = learner(DISK, name).partial_fit(X[:600], lengths=[600])
    filtered = online.predict_proba_one(X[600])
    model = online.to_hmm()
    expected = stationary_law(model.transmat_) * np.exp(model.log_density(X[600:601])[0])
    np.testing.assert_allclose(filtered, expected / expected.sum(), atol=1e-9)
    online.partial_fit(X[600:601])
    assert not np.allclose(online.predict_proba_one(X[601]), online.predict_proba_one(X[600]))
    causal = learner(DISK, name)
    causal.partial_fit(X[:600], lengths=[600])
    np.testing.assert_allclose(
        causal.partial_fit_predict_proba(X[600:601])[0], filtered, atol=1e-12
    )


@every_learner
def test_steps_around_an_end_are_explained(name):
    X, lengths = stream(DISK), [3, 397, 5, 4, 291]
    online = learner(DISK, name, trace_every=1).partial_fit(X, lengths=lengths)
    steps = online.trace_.step.tolist()
    for k in (399, 400, 401, 402, 405, 406, 407, 409, 410, 411, 412, 415, 420, 430):
        explained, row = online.explain(k, X, lengths=lengths), steps.index(k)
        for field in ("transmat", "means", "delta"):
            np.testing.assert_allclose(
                getattr(explained.after, field), getattr(online.trace_, field)[row], atol=1e-7
            )
    assert (explained.zeta.sum(axis=(1, 2)) < 0.5).sum() <= 3


@pytest.mark.parametrize("name", ["growing", "fixed", "windowed convex"])
def test_no_transition_is_counted_between_sequences(name):
    """Sequences of 20 that stay in one of two states: across their ends there are many jumps."""
    rng, manifold = np.random.default_rng(0), Euclidean(1)
    states = np.repeat(rng.permutation(np.tile([0, 1], 60)), 20)
    X = (4.0 * states + 0.3 * rng.normal(size=len(states)))[:, None]
    lengths = np.full(120, 20)
    stays = {}
    for told in (None, lengths):
        online = learner(manifold, name, n_components=2).partial_fit(X, lengths=told)
        stays[told is None] = np.diagonal(online.transmat_).min()
    assert stays[False] > 0.998
    assert stays[True] < 0.99


def test_a_learner_that_a_callback_stops_knows_where_it_is():
    X = stream(DISK)

    def stop(online):
        raise StopIteration

    for lengths in ([200, 1, 499], [200, 499, 1], [416, 284]):
        online = StreamingRiemannianHMM(DISK, 3, random_state=0, callback=stop)
        online.fit(X, lengths=lengths)
        assert online.n_samples_seen_ < 700
        assert online._stream.has_ended == (online.n_samples_seen_ in np.cumsum(lengths))


@pytest.mark.parametrize("kind", [StreamingRiemannianHMM, WindowedRiemannianHMM])
@pytest.mark.parametrize("lengths", [[3], [699, 2], [0, 700], "all"])
def test_wrong_lengths_are_named(kind, lengths):
    with pytest.raises(ValueError, match=r"^lengths must"):
        kind(DISK, 3).fit(stream(DISK), lengths=lengths)


def test_states_that_are_counted_and_reviews_see_sequences(tmp_path):
    X, lengths = stream(DISK, 3_000), np.full(60, 50)
    for options in ({"n_components": "auto"}, {"window": 60}):
        made = [
            StreamingRiemannianHMM(DISK, **{"n_components": 3, "random_state": 0} | options)
            for _ in range(2)
        ]
        made[0].fit(X, lengths=lengths)
        for piece in np.split(X, 60):
            made[1].partial_fit(piece, lengths=[50])
        assert content(made[0], tmp_path) == content(made[1], tmp_path)
        assert made[0].n_components_ == 3
