"""A learner that was saved and loaded goes on as if nothing had happened."""

import json
from pathlib import Path

import numpy as np
import pytest

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Hyperbolic,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.paper import paper_model
from tests.learners.chains import LEARNERS, MANIFOLDS, content, learner, stream, with_holes
from tests.streams.altering import altered, with_other_head


def loaded(online, folder):
    online.save(folder / "online.npz")
    return type(online).load(folder / "online.npz")


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seen", [0, 10, 100, 300, 600])
def test_a_loaded_learner_goes_on_to_the_last_bit(manifold, name, seen, tmp_path):
    """Before the start, after it, and after the first review."""
    X = with_holes(stream(manifold))
    online = learner(manifold, name)
    if seen:
        online.partial_fit(X[:seen])
    other = loaded(online, tmp_path)
    assert other.manifold == manifold
    assert other.stored_options() == online.stored_options()
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
        StreamingRiemannianHMM.load(path)
    assert not path.exists()


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
    online = learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2)))
    online.save(path)
    altered(path, **{f"0.{array}": value})
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{array}"):
        type(online).load(path)


@pytest.mark.parametrize(
    ("name", "array", "value"),
    [
        ("windowed convex", "0.counters", np.array([700, 5])),
        ("growing", "sensor.last", np.zeros(3)),
        ("growing", "sensor.run", np.zeros(1, np.int64)),
        ("growing", "buffer", np.zeros((1, 3))),
        ("growing", "buffer", np.zeros((200, 2))),
        ("growing", "latest.y", np.zeros(3)),
        ("auto", "ensemble.scores", np.zeros(2)),
        ("auto", "ensemble.recent", np.zeros((200, 3))),
        ("auto", "ensemble.level", np.zeros(3)),
    ],
)
def test_other_arrays_of_another_size_are_refused(name, array, value, tmp_path):
    path = tmp_path / "online.npz"
    online = learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2), 1_000))
    online.save(path)
    altered(path, **{array: value})
    with pytest.raises(ValueError, match=f"not a learner that rhmm saved.*{array.split('.')[-1]}"):
        type(online).load(path)


@pytest.mark.parametrize(
    ("array", "value", "named"),
    [
        ("earlier0.means", np.zeros((3, 2, 2)), "means"),
        ("earlier1.transmat", np.eye(2), "transmat"),
        ("earlier0.counters", np.array([10_000, 0]), "counters"),
        ("earlier2.means", np.zeros((3, 2, 2)), "means|missing"),
    ],
)
def test_wrong_states_of_some_time_ago_are_refused(array, value, named, tmp_path):
    path = tmp_path / "online.npz"
    online = learner(SPD(2), "auto").partial_fit(stream(SPD(2)))
    online.save(path)
    altered(path, **{f"ensemble.{array}": value})
    with pytest.raises(ValueError, match=f"not a learner that rhmm saved.*({named})"):
        type(online).load(path)


def test_a_leader_that_does_not_run_is_refused(tmp_path):
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2))).save(path)
    with_other_head(path, '"leader": 0', '"leader": 9')
    with pytest.raises(ValueError, match="leader"):
        StreamingRiemannianHMM.load(path)


def test_a_random_generator_that_numpy_does_not_have_is_refused(tmp_path):
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), "growing").save(path)
    with_other_head(path, '"PCG64"', '"seed"')
    with pytest.raises(ValueError, match=r"is not a learner that rhmm saved.*'seed' is unknown"):
        StreamingRiemannianHMM.load(path)


@pytest.mark.parametrize(
    ("kind", "name", "place"),
    [
        (np.random.MT19937, "pos", 625),
        (np.random.MT19937, "pos", -1),
        (np.random.Philox, "buffer_pos", 5),
    ],
)
def test_a_random_generator_that_would_read_beyond_its_memory_is_refused(
    kind, name, place, tmp_path
):
    path = tmp_path / "online.npz"
    rng = np.random.Generator(kind(1))
    before = rng.bit_generator.state.get("state", {}).get(name, rng.bit_generator.state.get(name))
    learner(Hyperbolic(2), "growing", random_state=rng).save(path)
    with_other_head(path, f'"{name}": {before}', f'"{name}": {place}')
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{name} must be"):
        StreamingRiemannianHMM.load(path)


def test_a_file_of_this_format_without_its_checksum_is_refused(tmp_path):
    learner(Hyperbolic(2), "growing").save(tmp_path / "online.npz")
    with np.load(tmp_path / "online.npz") as file:
        np.savez(tmp_path / "bare.npz", **file)
    with pytest.raises(ValueError, match="its checksum is missing"):
        StreamingRiemannianHMM.load(tmp_path / "bare.npz")


def test_no_bit_of_a_file_flips_unnoticed(tmp_path):
    """Bits all over the file, so many that the place in a byte changes too."""
    path = tmp_path / "online.npz"
    learner(Hyperbolic(2), "cold").partial_fit(stream(Hyperbolic(2), 100)).save(path)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 8 * len(whole) // 1_000 | 1):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"is not a learner that rhmm saved .*: restore it"):
            StreamingRiemannianHMM.load(path)


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
            StreamingRiemannianHMM.load(tmp_path / f"{name}.npz")
    with pytest.raises(FileNotFoundError):
        StreamingRiemannianHMM.load(tmp_path / "absent.npz")


@pytest.mark.parametrize("name", ["growing", "auto", "windowed convex"])
def test_a_file_of_another_class_is_refused_with_the_name_of_its_class(name, tmp_path):
    path = tmp_path / "online.npz"
    online = learner(Hyperbolic(2), name)
    online.save(path)
    own = type(online)
    for other in {StreamingRiemannianHMM, AutoMemoryRiemannianHMM, WindowedRiemannianHMM} - {own}:
        message = f"it is a {own.__name__}: use {own.__name__}.load"
        with pytest.raises(ValueError, match=message):
            other.load(path)


# Files that rhmm 0.5 wrote, in tests/streams/data: see its README

DATA = Path(__file__).parent / "data"
FILES_OF_05 = {
    "racing": StreamingRiemannianHMM,
    "settled": StreamingRiemannianHMM,
    "bank": AutoMemoryRiemannianHMM,
    "windowed": WindowedRiemannianHMM,
}
every_file_of_05 = pytest.mark.parametrize(("name", "kind"), FILES_OF_05.items())


def test_every_bit_of_a_windowed_learner_of_05_is_kept(tmp_path):
    path = DATA / "windowed.npz"
    WindowedRiemannianHMM.load(path).save(tmp_path / "new.npz")
    with np.load(path) as old, np.load(tmp_path / "new.npz") as new:
        renamed = {array.replace("field.", "ensemble."): array for array in old.files}
        of_sequences = {"buffer_sequence", "0.begins", "1.begins"}  # 0.5 knew one alone
        assert set(renamed) | of_sequences == set(new.files)
        assert not any(new[name].any() for name in of_sequences)
        for ours, theirs in renamed.items():
            if ours != "head":
                assert new[ours].dtype == old[theirs].dtype
                assert new[ours].tobytes() == old[theirs].tobytes()
        theirs, ours = (json.loads(str(file["head"])) for file in (old, new))
    assert ours["rng_states"] == theirs["luck"]
    assert ours["latest"] == theirs["latest"] | {"begins": False}
    for part in ("manifold", "skipped", "peak_nbytes"):
        assert ours[part] == theirs[part]
    assert ours["options"].items() <= theirs["options"].items()


def test_a_windowed_learner_of_05_goes_on_as_05_did():
    """Another processor may round otherwise, and the table of σ that 0.5 had was right to 10⁻¹²."""
    online = WindowedRiemannianHMM.load(DATA / "windowed.npz")
    with np.load(DATA / "windowed_expected.npz") as expected:
        probabilities = online.partial_fit_predict_proba(expected["X"])
        np.testing.assert_allclose(probabilities, expected["probabilities"], rtol=0, atol=1e-11)
        for parameter in ("transmat", "means", "sigmas"):
            ours = getattr(online, f"{parameter}_")
            np.testing.assert_allclose(ours, expected[parameter], rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", ["racing", "settled", "bank"])
def test_a_streaming_learner_of_05_goes_on_from_what_it_had_learned(name):
    """The recursion has changed since, so only what had been learned is the same."""
    kind, path = FILES_OF_05[name], DATA / f"{name}.npz"
    online = kind.load(path)
    with np.load(path) as old:
        leader = json.loads(str(old["head"]))["field"]["numbers"]["leader"]
        assert np.array_equal(online.means_, old[f"{leader}.means"])
        assert np.array_equal(online.transmat_, old[f"{leader}.transmat"])
        seen = int(old[f"{leader}.counters"][0])
    with np.load(DATA / f"{name}_expected.npz") as expected:
        probabilities = online.partial_fit_predict_proba(expected["X"])
        agreement = probabilities.argmax(axis=1) == expected["probabilities"].argmax(axis=1)
    assert agreement.mean() > 0.95
    assert online.n_samples_seen_ == seen + 100


def test_the_trace_of_a_learner_of_05_goes_on():
    online = StreamingRiemannianHMM.load(DATA / "racing.npz")
    assert online.trace_.step.tolist() == list(range(50, 420, 50))
    with np.load(DATA / "racing_expected.npz") as expected:
        online.partial_fit(expected["X"])
    assert online.trace_.step.tolist() == list(range(50, 520, 50))


@every_file_of_05
def test_a_file_of_05_of_another_class_is_refused_with_the_name_of_its_class(name, kind):
    for other in set(FILES_OF_05.values()) - {kind}:
        with pytest.raises(ValueError, match=f"it is a {kind.__name__}: use {kind.__name__}.load"):
            other.load(DATA / f"{name}.npz")
