"""An online learner on disk goes on as if nothing had happened."""

import numpy as np
import pytest

from rhmm import Hyperbolic, OnlineRiemannianHMM
from rhmm.paper import paper_model
from tests.online.streams import LEARNERS, MANIFOLDS, content, learner, stream, with_holes


def loaded(online, folder):
    online.save(folder / "online.npz")
    return OnlineRiemannianHMM.load(folder / "online.npz")


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seen", [0, 10, 100, 300, 600])
def test_a_loaded_learner_goes_on_to_the_last_bit(manifold, name, seen, tmp_path):
    """Before the start, during the race of the candidates, and after it."""
    X = with_holes(stream(manifold))
    online = learner(manifold, name)
    if seen:
        online.partial_fit(X[:seen])
    other = loaded(online, tmp_path)
    assert other.manifold == manifold
    assert repr(other) == repr(online)
    assert other.n_samples_seen_ == seen
    assert content(other, tmp_path) == content(online, tmp_path)
    ours, theirs = (one.partial_fit_predict_proba(X[seen:]) for one in (online, other))
    assert ours.tobytes() == theirs.tobytes()
    assert content(other, tmp_path) == content(online, tmp_path)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_loaded_learner_predicts_and_explains_the_same(name, tmp_path):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name).partial_fit(X)
    other = loaded(online, tmp_path)
    assert other.window_ == online.window_
    assert np.array_equal(other.predict_proba_one(X[0]), online.predict_proba_one(X[0]))
    assert np.array_equal(other.explain().gamma, online.explain().gamma)
    assert np.array_equal(other.explain(550, X).zeta, online.explain(550, X).zeta)


def test_a_file_holds_no_pickles(tmp_path):
    online = learner(Hyperbolic(2), "cold").partial_fit(stream(Hyperbolic(2)))
    online.save(tmp_path / "online.npz")
    with np.load(tmp_path / "online.npz", allow_pickle=False) as file:
        assert all(file[name].dtype.kind in "fibU" for name in file.files)


@pytest.mark.parametrize("suffix", ["", ".json", ".pkl"])
def test_a_file_of_another_kind_is_refused(suffix, tmp_path):
    path = tmp_path / f"online{suffix}"
    online = learner(Hyperbolic(2), "growing")
    with pytest.raises(ValueError, match=r"^path must end in \.npz"):
        online.save(path)
    with pytest.raises(ValueError, match=r"^path must end in \.npz"):
        OnlineRiemannianHMM.load(path)
    assert not path.exists()


def altered(path, **arrays):
    """The file with other arrays in it, or another word in its head."""
    with np.load(path) as file:
        content = {name: file[name] for name in file.files}
    np.savez(path, **content | arrays)


@pytest.mark.parametrize("name", ["growing", "auto", "windowed convex"])
@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("transmat", np.full((2, 3), 1 / 3)),
        ("means", np.zeros((3, 3))),
        ("points", np.zeros((1, 2))),
        ("delta", np.ones(3, np.float32)),
        ("counters", np.array([700, 10_000])),
        ("counters", np.array([700, -1])),
    ],
)
def test_arrays_of_another_size_or_kind_are_refused(name, array, value, tmp_path):
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2))).save(path)
    altered(path, **{f"0.{array}": value})
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{array}"):
        OnlineRiemannianHMM.load(path)


@pytest.mark.parametrize(
    ("name", "array", "value"),
    [
        ("windowed convex", "0.counters", np.array([700, 5])),
        ("growing", "sensor.last", np.zeros(3)),
        ("growing", "sensor.run", np.zeros(1, np.int64)),
        ("growing", "buffer", np.zeros((1, 3))),
        ("growing", "buffer", np.zeros((200, 2))),
        ("growing", "latest.y", np.zeros(3)),
        ("auto", "field.scores", np.zeros(2)),
        ("auto", "field.recent", np.zeros((200, 3))),
        ("auto", "field.level", np.zeros(3)),
    ],
)
def test_other_arrays_of_another_size_are_refused(name, array, value, tmp_path):
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2), 1_000)).save(path)
    altered(path, **{array: value})
    with pytest.raises(ValueError, match=f"not a learner that rhmm saved.*{array.split('.')[-1]}"):
        OnlineRiemannianHMM.load(path)


def test_a_leader_that_does_not_run_is_refused(tmp_path):
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2))).save(path)
    with np.load(path) as file:
        head = str(file["head"])
    altered(path, head=head.replace('"leader": 0', '"leader": 9'))
    with pytest.raises(ValueError, match="leader"):
        OnlineRiemannianHMM.load(path)


def test_only_generators_of_numpy_are_made(tmp_path):
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), "growing").save(path)
    with np.load(path) as file:
        head = str(file["head"])
    altered(path, head=head.replace('"PCG64"', '"seed"'))
    with pytest.raises(ValueError, match=r"is not a learner that rhmm saved.*'seed' is unknown"):
        OnlineRiemannianHMM.load(path)


def test_a_file_that_cannot_be_finished_leaves_the_one_before(tmp_path, monkeypatch):
    path = tmp_path / "online.npz"
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2)))
    online.save(path)
    before = path.read_bytes()

    def fill_the_disk(file, **arrays):
        file.write_bytes(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(np, "savez", fill_the_disk)
    with pytest.raises(OSError, match="No space left"):
        online.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_are_not_learners_are_refused(tmp_path):
    paper_model().save(tmp_path / "model.npz")
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "text.npz").write_text("no learner")
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2)))
    online.save(tmp_path / "whole.npz")
    half = (tmp_path / "whole.npz").read_bytes()
    (tmp_path / "half.npz").write_bytes(half[: len(half) // 2])
    directory = half.index(b"PK\1\2")
    for name, offset in (("version", 6), ("encrypted", 8), ("compression", 10)):
        flipped = bytearray(half)
        flipped[directory + offset] ^= 65
        (tmp_path / f"{name}.npz").write_bytes(flipped)
    names = ("model", "empty", "text", "half", "version", "encrypted", "compression")
    for name in names:
        with pytest.raises(ValueError, match=rf"^path .*{name}.npz. is not a learner"):
            OnlineRiemannianHMM.load(tmp_path / f"{name}.npz")
    with pytest.raises(FileNotFoundError):
        OnlineRiemannianHMM.load(tmp_path / "absent.npz")
