"""Models on disk: every bit comes back, and wrong files are refused."""

import json
import tracemalloc
import zipfile

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rhmm import SPD, Hyperbolic, RiemannianHMM
from rhmm.paper import paper_model
from tests.brute_force import MANIFOLDS, random_model
from tests.emissions.models import WRAPPED, wrapped_model

both_formats = pytest.mark.parametrize("suffix", [".json", ".npz"])


@both_formats
@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_a_saved_model_comes_back_to_the_last_bit(manifold, suffix, tmp_path):
    model = random_model(manifold, 3, np.random.default_rng(0))
    path = tmp_path / f"model{suffix}"
    model.save(path)
    loaded = RiemannianHMM.load(path)
    assert loaded.manifold == manifold
    for ours, theirs in zip(loaded.parameters_, model.parameters_, strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()


@both_formats
@pytest.mark.parametrize("kind", WRAPPED)
@pytest.mark.parametrize("manifold", [Hyperbolic(3), SPD(2)], ids=repr)
def test_a_saved_emission_comes_back_to_the_last_bit(manifold, kind, suffix, tmp_path):
    model = wrapped_model(manifold, kind)
    X, _ = model.sample(30, random_state=0)
    model.save(tmp_path / f"model{suffix}")
    loaded = RiemannianHMM.load(tmp_path / f"model{suffix}")
    assert loaded.emission == kind
    assert loaded.covariances_.tobytes() == model.covariances_.tobytes()
    assert loaded.law_.degrees == model.law_.degrees
    assert loaded.score(X) == model.score(X)


def test_wrong_covariances_in_a_file_are_named(tmp_path):
    path = tmp_path / "model.json"
    wrapped_model(Hyperbolic(2), "tied").save(path)
    content = json.loads(path.read_text(encoding="utf-8"))
    del content["checksum"]
    content |= {"format": "rhmm model 1", "covariances": [[1.0, 0.0], [0.0, -1.0]]}
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ValueError, match="covariances must be positive definite"):
        RiemannianHMM.load(path)


def test_files_of_the_paper_s_emission_have_the_same_format_as_before(tmp_path):
    paper_model().save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert content["format"] == "rhmm model 2"
    assert set(content) == {
        "format", "manifold", "size", "startprob", "transmat", "means", "sigmas", "checksum"
    }  # fmt: skip


@both_formats
def test_extreme_digits_survive(suffix, tmp_path):
    tiny = np.nextafter(0.0, 1.0)
    model = RiemannianHMM.from_parameters(
        MANIFOLDS[0],
        [1 - 2**-53, 2**-53],
        [[1, tiny], [1 / 3, 2 / 3]],
        [[-0.0], [1e30]],
        [0.1, 7e-5],
    )
    model.save(tmp_path / f"model{suffix}")
    loaded = RiemannianHMM.load(str(tmp_path / f"model{suffix}"))
    for ours, theirs in zip(loaded.parameters_, model.parameters_, strict=True):
        assert ours.tobytes() == theirs.tobytes()


@both_formats
def test_a_loaded_model_is_ready_to_use(suffix, tmp_path):
    truth = paper_model()
    X, _ = truth.sample(50, random_state=0)
    truth.save(tmp_path / f"model{suffix}")
    assert RiemannianHMM.load(tmp_path / f"model{suffix}").score(X) == truth.score(X)


def test_a_json_file_is_readable(tmp_path):
    paper_model().save(tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
    assert content["manifold"] == "Hyperbolic"
    assert content["size"] == 2
    assert content["transmat"] == [[0.4, 0.3, 0.3], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]]


@pytest.mark.parametrize("name", ["model", "model.pkl", "model.json.gz"])
def test_a_file_of_another_kind_is_refused(name, tmp_path):
    message = f"path must end in .json or .npz, not '{name}'"
    with pytest.raises(ValueError, match=message):
        paper_model().save(tmp_path / name)
    with pytest.raises(ValueError, match=message):
        RiemannianHMM.load(tmp_path / name)


def test_a_model_without_parameters_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError, match="has learned nothing yet: call fit, or use"):
        RiemannianHMM(MANIFOLDS[0], 2).save(tmp_path / "model.json")
    assert not (tmp_path / "model.json").exists()


def test_a_missing_file_is_a_file_not_found_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        RiemannianHMM.load(tmp_path / "nothing.json")


def broken_json(content) -> str:
    return content if isinstance(content, str) else json.dumps(content)


GOOD = {  # as a person may write it, without a checksum
    "format": "rhmm model 1",
    "manifold": "Hyperbolic",
    "size": 2,
    "startprob": [1.0],
    "transmat": [[1.0]],
    "means": [[0.0, 0.0]],
    "sigmas": [1.0],
}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "5",
        "null",
        {},
        GOOD | {"format": "rhmm model 99"},
        GOOD | {"manifold": "Sphere"},
        GOOD | {"size": "two"},
        GOOD | {"size": 0},
        GOOD | {"size": None},
        GOOD | {"size": 2.5},
        GOOD | {"size": float("inf")},
        GOOD | {"size": float("nan")},
        GOOD | {"format": "rhmm model 2"},
        GOOD | {"means": [[0.0, 0.0]], "checksum": "0" * 64},
        "[" * 100_000,
        '{"format": "rhmm model 1", "size": ' + "9" * 5_000 + "}",
        {name: value for name, value in GOOD.items() if name != "sigmas"},
    ],
    ids=lambda content: json.dumps(content)[:60],
)
def test_a_broken_json_file_is_refused_with_a_sentence(content, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(broken_json(content), encoding="utf-8")
    with pytest.raises(ValueError, match=r"path '.*model.json' is not a model that rhmm saved"):
        RiemannianHMM.load(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sigmas": [-1.0]}, "sigmas must be positive"),
        ({"transmat": [[0.5]]}, "row 0 of transmat must sum to 1"),
        ({"means": [[2.0, 0.0]]}, r"means\[0\] is not a point of Hyperbolic"),
        ({"startprob": "one"}, "startprob must be an array of probabilities"),
        ({"sigmas": [float("inf")]}, "sigmas must be positive and finite"),
        ({"sigmas": [10**400]}, "sigmas must be a positive number"),
        ({"means": [[float("nan"), 0.0]]}, r"means\[0\] is not a point"),
        ({"size": 10**30}, "size must be below 2"),
    ],
)
def test_wrong_parameters_in_a_file_are_named(change, message, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(GOOD | change), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        RiemannianHMM.load(path)


def saved(tmp_path) -> bytes:
    paper_model().save(tmp_path / "good.npz")
    return (tmp_path / "good.npz").read_bytes()


def in_directory(data: bytes, offset: int, flip: int) -> bytes:
    """A bit flipped in the first entry of the directory of a zip file."""
    at = data.index(b"PK\1\2") + offset
    return data[:at] + bytes([data[at] ^ flip]) + data[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"not a zip file",
        lambda data: data[: len(data) // 2],
        lambda data: data[:200] + bytes(200) + data[400:],
        lambda data: bytes(len(data)),
        lambda data: in_directory(data, 6, 64),
        lambda data: in_directory(data, 8, 1),
        lambda data: in_directory(data, 10, 1),
        lambda data: data[300:],
    ],
    ids=[
        "empty",
        "text",
        "cut",
        "overwritten",
        "zeros",
        "other version",
        "encrypted",
        "other compression",
        "beheaded",
    ],
)
def test_a_broken_npz_file_is_refused_with_a_sentence(damage, tmp_path):
    path = tmp_path / "model.npz"
    path.write_bytes(damage(saved(tmp_path)))
    with pytest.raises(ValueError, match=r"path '.*model.npz' is not a model that rhmm saved"):
        RiemannianHMM.load(path)


def test_a_single_array_is_not_a_model(tmp_path):
    with (tmp_path / "model.npz").open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="is not a model that rhmm saved"):
        RiemannianHMM.load(tmp_path / "model.npz")


def test_loading_a_file_runs_no_code(tmp_path):
    class Bomb:
        def __reduce__(self):
            return print, ("boom",)

    np.savez(tmp_path / "model.npz", **{**GOOD, "means": np.array([Bomb()], dtype=object)})
    with pytest.raises(ValueError, match="is not a model that rhmm saved"):
        RiemannianHMM.load(tmp_path / "model.npz")


# Damage


@both_formats
def test_no_bit_of_a_model_flips_unnoticed(suffix, tmp_path):
    """Every 7th bit, so that the place in a byte changes too."""
    path = tmp_path / f"model{suffix}"
    paper_model().save(path)
    content = path.read_bytes()
    for bit in range(0, 8 * len(content), 7):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        with pytest.raises(ValueError, match=r"is not a model that rhmm saved .*: restore it from"):
            RiemannianHMM.load(path)


def test_a_json_file_with_other_line_ends_is_the_same_model(tmp_path):
    path = tmp_path / "model.json"
    paper_model().save(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert RiemannianHMM.load(path).means_.tolist() == paper_model().means_.tolist()


def test_a_json_file_that_was_edited_says_how_to_edit_it(tmp_path):
    path = tmp_path / "model.json"
    paper_model().save(path)
    path.write_text(path.read_text().replace("0.4,", "0.5,", 1))
    with pytest.raises(ValueError, match="remove its checksum and name 'rhmm model 1'"):
        RiemannianHMM.load(path)


def test_an_npz_file_without_checksum_is_read_if_its_format_has_none(tmp_path):
    arrays = {name: np.array(value) for name, value in GOOD.items()}
    np.savez(tmp_path / "old.npz", **arrays)
    assert RiemannianHMM.load(tmp_path / "old.npz").sigmas_.tolist() == [1.0]
    np.savez(tmp_path / "new.npz", **arrays | {"format": "rhmm model 2"})
    with pytest.raises(ValueError, match="its checksum is missing"):
        RiemannianHMM.load(tmp_path / "new.npz")


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("means.npy", bytes(10_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"claim to unpack to 10,000,000, and rhmm compresses"):
            RiemannianHMM.load(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@both_formats
def test_a_model_that_cannot_be_written_leaves_the_one_before(suffix, tmp_path, monkeypatch):
    path = tmp_path / f"model{suffix}"
    paper_model().save(path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("rhmm.storage.os.replace", fail)
    with pytest.raises(OSError, match="No space left"):
        RiemannianHMM.from_parameters(MANIFOLDS[0], [1.0], [[1.0]], [[0.0]], [1.0]).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
