"""The pure step of a stream: bytes and observations in, bytes and probabilities out."""

import json

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM, StreamingRiemannianHMM, advance, pack, unpack
from rhmm.learners import advance as module
from tests.learners.chains import ON_THE_DISK, content, learner, stream, with_holes

DISK = Hyperbolic(2)


@pytest.mark.parametrize("name", ON_THE_DISK)
@pytest.mark.parametrize("seen", [0, 10, 300, 600])
def test_a_packed_learner_goes_on_to_the_last_bit(name, seen, tmp_path):
    """Before the start, after it, and after the first review; its trace comes along."""
    X = with_holes(stream(DISK))
    online = learner(DISK, name)
    if seen:
        online.partial_fit(X[:seen])
    other = unpack(pack(online))
    assert type(other) is type(online)
    assert content(other, tmp_path) == content(online, tmp_path)
    filtered = other.partial_fit_predict_proba(X[seen:])
    assert filtered.tobytes() == online.partial_fit_predict_proba(X[seen:]).tobytes()


def test_steps_in_any_chunks_give_what_the_learner_gives_by_itself():
    X = with_holes(stream(DISK))
    online = learner(DISK, "growing")
    expected = online.partial_fit_predict_proba(X)
    state, filtered = pack(learner(DISK, "growing")), []
    for chunk in np.split(X, [3, 150, 151, 500]):
        state, probabilities = advance(state, chunk)
        filtered.append(probabilities)
    assert np.concatenate(filtered).tobytes() == expected.tobytes()
    assert unpack(state).means_.tobytes() == online.means_.tobytes()


def test_steps_that_end_sequences_give_what_the_learner_gives_by_itself():
    X = with_holes(stream(DISK))
    state, filtered = pack(learner(DISK, "growing")), []
    for chunk, told in zip(
        np.split(X, [150, 400, 500]), ([3, 147], None, [100], [200]), strict=True
    ):
        state, probabilities = advance(state, chunk, lengths=told)
        filtered.append(probabilities)
    whole = [3, 147, 350, 200]
    expected = learner(DISK, "growing").partial_fit_predict_proba(X, lengths=whole)
    assert np.concatenate(filtered).tobytes() == expected.tobytes()
    ended, going_on = (advance(state, X[3:4], lengths=told).state for told in ([1], None))
    assert not np.allclose(advance(ended, X[4:5]).filtered, advance(going_on, X[4:5]).filtered)
    with pytest.raises(ValueError, match=r"^lengths must"):
        advance(state, X[:5], lengths=[4])


def test_a_step_is_pure():
    """The same arguments give the same bytes, and stay as they are."""
    X = stream(DISK, 300)
    state = advance(pack(learner(DISK, "growing")), X[:200]).state
    before, copy = bytes(bytearray(state)), X.copy()
    first, again = advance(state, X[200:]), advance(state, X[200:])
    assert first.state == again.state
    assert first.filtered.tobytes() == again.filtered.tobytes()
    assert state == before
    np.testing.assert_array_equal(X, copy)


def test_a_state_does_not_grow_with_its_stream():
    state = pack(StreamingRiemannianHMM(DISK, 3, memory="fixed", window=60, random_state=0))
    X = stream(DISK, 3000)
    sizes = []
    for chunk in np.split(X, 6):
        state = advance(state, chunk).state
        sizes.append(len(state))
    assert max(sizes[1:]) - min(sizes[1:]) < 64  # digits of counters and of random numbers


@pytest.mark.parametrize("place", [0, 5, 20, 200, -1])
def test_any_changed_byte_is_noticed(place):
    state = bytearray(pack(learner(DISK, "growing").partial_fit(stream(DISK, 300))))
    state[place] ^= 1
    with pytest.raises(ValueError, match=r"^state is not a learner that rhmm has packed"):
        unpack(bytes(state))


@pytest.mark.parametrize("state", [b"", b"rhmm stream 1\n", b"x" * 100, None, 3])
def test_what_is_no_learner_is_refused_by_name(state):
    with pytest.raises(ValueError, match=r"^state is not a learner"):
        advance(state, stream(DISK, 10))


def sealed(listed: dict, rest: bytes = b"") -> bytes:
    """Bytes with a checksum that is right, whatever they say."""
    text = json.dumps(listed).encode()
    body = len(text).to_bytes(4, "little") + text + rest
    return module._FORMAT + module._checksum(body) + body


@pytest.mark.parametrize(
    ("listed", "rest", "why"),
    [
        ({"head": {"learner": "Nobody"}, "arrays": []}, b"", "no registered learner is a Nobody"),
        ({"head": {"learner": "RiemannianHMM"}, "arrays": []}, b"", "no registered learner"),
        ({"head": {}, "arrays": [["x", "|O", [1]]]}, b"12345678", "must not be of type"),
        ({"head": {}, "arrays": [["x", "<f8", [2]]]}, b"12345678", "buffer"),
        ({"head": {}, "arrays": []}, b"1", "its length is wrong"),
        ({"head": {"learner": "StreamingRiemannianHMM"}, "arrays": []}, b"", "manifold"),
    ],
)
def test_forged_bytes_are_refused(listed, rest, why):
    with pytest.raises(ValueError, match=f"^state is not a learner .*{why}"):
        unpack(sealed(listed, rest))


def test_wrong_observations_are_refused_and_nothing_is_learned():
    state = pack(learner(DISK, "growing"))
    with pytest.raises(ValueError, match=r"^X\[1\] is not a point"):
        advance(state, [[0.0, 0.0], [2.0, 0.0]])


def test_only_online_learners_are_packed():
    with pytest.raises(ValueError, match=r"^learner must be an online learner"):
        pack(RiemannianHMM(DISK, 3))
