"""Files of models, learners and sweeps that were damaged or forged, and whether that is noticed.

A case is drawn from a seed: one of the sample files, and what happens to it. Damage is what disks
and lines do: bits flip, an end or a block is lost. It must be refused with a ValueError, unless
nothing changed. A forged file was edited and has right checksums. It may be refused too; what is
loaded must work.
"""

import csv
import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Euclidean,
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
    WindowedRiemannianHMM,
)
from rhmm.paper import paper_model
from rhmm.storage import checksum, write_npz
from rhmm.sweeping import Configuration, load_runs, run_once, save_runs

TRUTH = paper_model()
_ODD = (0, -1, 1, 0.5, 2, 9, 300, 2**31, 2**62, 10**30, -(2**63), 1e-320, 1e308, np.nan, np.inf)
"""Numbers that a forger tries."""
_ODD_JSON = (*_ODD, True, None, "", "Bank", [], {}, [[0.5]])


class Sample(NamedTuple):
    """A good file, and how it is read."""

    path: Path
    load: Callable[[Path], Any]
    """Reads such a file."""
    content: Callable[[Any, Path], Any]
    """All that was read, in a form that can be compared; the path is of a file to scribble on."""


class Case(NamedTuple):
    """A changed file."""

    sample: Sample
    how: str
    changed: bytes

    @property
    def is_forged(self) -> bool:
        return self.how.startswith("forged")


# Good files


def make_samples(folder: Path) -> list[Sample]:
    """One file of each kind, in `folder`."""
    samples = []
    for name in ("model.json", "model.npz"):
        TRUTH.save(folder / name)
        samples.append(Sample(folder / name, RiemannianHMM.load, _model_content))
    X, _ = TRUTH.sample(900, random_state=0)
    matrices = SPD(2).sample(np.eye(2), 0.5, 150, np.random.default_rng(0))
    disk = Hyperbolic(2)
    fitted = {
        "collecting": StreamingRiemannianHMM(disk, 3, random_state=0).fit(X[:20]),
        "racing": StreamingRiemannianHMM(disk, 3, init="cold", random_state=0).fit(X[:99]),
        "settled": StreamingRiemannianHMM(
            SPD(2), 2, window=60, memory="fixed", lag=2, trace_every=10, random_state=0
        ).fit(matrices),
        "bank": AutoMemoryRiemannianHMM(Euclidean(2), 2, random_state=0, trace_every=50).fit(X),
        "windowed": WindowedRiemannianHMM(disk, 3, window=20, random_state=0).fit(X[:75]),
    }
    for name, learner in fitted.items():
        path = folder / f"{name}.npz"
        learner.save(path)
        samples.append(Sample(path, type(learner).load, _learner_content))
    ways = [Configuration("ceiling", 50), Configuration("kmeans", 60)]
    runs = [run_once(TRUTH, way, seed) for way in ways for seed in (1, 2)]
    for name in ("runs.csv", "runs.parquet"):
        save_runs(folder / name, TRUTH, runs)
        samples.append(Sample(folder / name, _runs, lambda runs, _: runs))
    return samples


def _runs(path: Path):
    return load_runs(path, TRUTH)


def _model_content(model: RiemannianHMM, _):
    return repr(model.manifold), *(value.tobytes() for value in model.parameters_)


def _learner_content(learner, scratch: Path):
    """Everything that a file of the learner holds."""
    learner.save(scratch)
    with np.load(scratch) as file:
        return {name: file[name].tobytes() for name in file.files}


# Changes


def draw_case(samples: list[Sample], seed: int, folder: Path) -> Case:
    """The case of that seed; the same on every machine but for the times in sweep files."""
    rng = np.random.default_rng(seed)
    sample = samples[rng.integers(len(samples))]
    how = str(rng.choice(["flips", "flips", "cut", "block", "swapped", "forged"]))
    content = sample.path.read_bytes()
    if how != "forged":
        return Case(sample, how, _DAMAGE[how](content, rng))
    forge = _FORGE[sample.path.suffix]
    return Case(sample, f"forged {sample.path.suffix}", forge(content, rng, folder))


def _flips(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for _ in range(int(rng.choice([1, 1, 1, 2, 8]))):
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: rng.integers(len(content))]


def _block(content: bytes, rng: np.random.Generator) -> bytes:
    """A block of zeros where a sector was lost."""
    size = int(rng.choice([8, 64, 512]))
    begin = int(rng.integers(len(content)))
    return content[:begin] + bytes(len(content[begin : begin + size])) + content[begin + size :]


def _swapped(content: bytes, rng: np.random.Generator) -> bytes:
    """Two blocks that follow one another, the other way round."""
    size = int(rng.choice([1, 8, 64]))
    a = int(rng.integers(max(len(content) - 2 * size, 1)))
    b, c = a + size, a + 2 * size
    return content[:a] + content[b:c] + content[a:b] + content[c:]


_DAMAGE = {"flips": _flips, "cut": _cut, "block": _block, "swapped": _swapped}


def _forge_json(content: bytes, rng: np.random.Generator, _) -> bytes:
    """A model with something else in one place, as a person could have written it."""
    model = json.loads(content)
    del model["checksum"]
    model["format"] = "rhmm model 1"
    _alter(model, rng)
    text = json.dumps(model)
    if rng.random() < 0.1:
        text = text.replace("[", "[" * int(rng.choice([100, 5_000, 200_000])), 1)
    return text.encode()


def _alter(tree, rng: np.random.Generator) -> None:
    """Change one leaf or branch of nested lists and dictionaries."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if isinstance(tree[key], (dict, list)) and rng.random() < 0.9:
            tree = tree[key]
            continue
        if rng.random() < 0.1:
            del tree[key]
        else:
            tree[key] = _ODD_JSON[rng.integers(len(_ODD_JSON))]
        return


def _forge_npz(content: bytes, rng: np.random.Generator, folder: Path) -> bytes:
    """Arrays with other numbers, shapes or names, and all checksums right."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: file[name] for name in file.files}
    names, head = list(arrays), json.loads(str(arrays["head"])) if "head" in arrays else None
    for _ in range(int(rng.choice([1, 1, 2]))):
        name, other = names[rng.integers(len(names))], names[rng.integers(len(names))]
        array = arrays[name]
        match rng.integers(6):
            case 0:
                arrays[name], arrays[other] = arrays[other], arrays[name]
            case 1 | 2 if head is not None:
                _alter(head, rng)
                arrays["head"] = np.array(json.dumps(head))
            case 3:
                arrays[name] = np.resize(array, rng.integers(0, 5, array.ndim))
            case _ if array.size and array.dtype.kind in "fib":
                changed = array.copy()
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    odd = np.array(_ODD[rng.integers(len(_ODD))], float).astype(array.dtype)
                changed.flat[rng.integers(array.size)] = odd
                arrays[name] = changed
    path = folder / "forged.npz"
    write_npz(path, arrays)
    forged = path.read_bytes()
    return _bomb() if rng.random() < 0.01 else forged


def _bomb() -> bytes:
    """A small archive of many zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("head.npy", bytes(50_000_000))
    return out.getvalue()


def _forge_csv(content: bytes, rng: np.random.Generator, _) -> bytes:
    """A row with another value, and the right checksum."""
    lines = content.decode().splitlines()
    row = int(rng.integers(1, len(lines)))
    (values,) = csv.reader([lines[row]])
    values = values[:-1]
    odd = _ODD_JSON[rng.integers(len(_ODD_JSON))]
    values[rng.integers(len(values))] = str(odd)
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(values)
    line = out.getvalue()
    lines[row] = f"{line},{checksum(line.encode())[:16]}"
    return ("\n".join(lines) + "\n").encode()


def _forge_parquet(content: bytes, rng: np.random.Generator, folder: Path) -> bytes:
    """A file as versions without checksums wrote it, with another value in one row."""
    import pyarrow
    from pyarrow import parquet

    table = parquet.read_table(io.BytesIO(content)).replace_schema_metadata(None)
    column = int(rng.integers(table.num_columns))
    values, kind = table.column(column).to_pylist(), table.schema.field(column).type
    odd = _ODD[rng.integers(len(_ODD))]
    try:
        values[rng.integers(len(values))] = str(odd) if kind == pyarrow.string() else odd
        changed = pyarrow.array(values, kind)
    except (pyarrow.ArrowException, OverflowError):  # no such number of that type
        changed = pyarrow.nulls(len(values), kind)
    out = io.BytesIO()
    parquet.write_table(table.set_column(column, table.schema.field(column), changed), out)
    return out.getvalue()


_FORGE = {
    ".json": _forge_json,
    ".npz": _forge_npz,
    ".csv": _forge_csv,
    ".parquet": _forge_parquet,
}


# Verdicts


def verdict(case: Case, folder: Path) -> str:
    """``"refused"``, ``"unchanged"``, ``"works"`` for a forged file, or what went wrong."""
    sample, scratch = case.sample, folder / "scratch.npz"
    path = folder / f"changed{sample.path.suffix}"
    path.write_bytes(case.changed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            loaded = sample.load(path)
        except ValueError as error:
            return "refused" if str(path) in str(error) or case.is_forged else f"unclear: {error}"
        except Exception as error:
            return f"wrong error: {type(error).__name__}"
        good = sample.content(sample.load(sample.path), scratch)
        if sample.content(loaded, scratch) == good:
            return "unchanged"
        if case.is_forged:
            return _trial(loaded)
    if case.how == "cut" and path.suffix == ".csv" and loaded == good[: len(loaded)]:
        return "unchanged"  # as far as the file goes: a sweep that was interrupted
    return "silent change"


def _trial(loaded) -> str:
    """Whether a loaded learner or model works on."""
    if isinstance(loaded, list):
        return "works"
    try:
        X = loaded.manifold.sample(_harmless_point(loaded.manifold), 0.3, 300, 0)
        if hasattr(loaded, "partial_fit"):
            loaded.partial_fit(X)
        score = loaded.to_hmm().score(X)
    except (ValueError, MemoryError):  # sizes of a learner that has not begun are options
        return "refused later"
    except Exception as error:
        return f"wrong error later: {type(error).__name__}"
    return "works" if np.isfinite(score) else "not finite later"


def _harmless_point(manifold) -> np.ndarray:
    shape = manifold.point_shape
    return np.eye(shape[0]) if len(shape) == 2 else np.zeros(shape)
