"""An online learner on disk, in mid-stream: npz without pickles, every bit kept."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rhmm.manifolds import manifold_named
from rhmm.storage import read_npz
from rhmm.streams.checks import check_array, check_state
from rhmm.streams.ensemble import Runner
from rhmm.streams.trace import Trace

_FORMAT = "rhmm online learner 6"
_FORMAT_OF_05 = "rhmm online learner 5"
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def save(path, learner) -> None:
    path, stream = _checked(path), learner._open_stream()
    arrays = {"buffer": stream.buffer, **_prefixed("sensor", vars(stream.sensor))}
    head = {
        "format": _FORMAT,
        "learner": type(learner).__name__,
        "manifold": [learner.manifold.name, learner.manifold.size],
        "options": learner.stored_options(),
        "rng_states": [_plain(stream.first_rng_state), _plain(stream.rng.bit_generator.state)],
        "skipped": stream.skipped,
        "peak_nbytes": stream.peak_nbytes,
        "ensemble": None,
        "latest": None,
    }
    runners = []
    if stream.ensemble is not None:
        runners = list(stream.ensemble.runners)
        numbers, content = stream.ensemble.content()
        head["ensemble"] = {"kind": type(stream.ensemble).__name__, "numbers": numbers}
        arrays |= _prefixed("ensemble", content)
    if stream.latest is not None:
        runner, arrays["latest.y"], observed = stream.latest
        runners.append(runner)
        head["latest"] = {"observed": observed}
    head["settings"] = [runner.settings._asdict() for runner in runners]
    for r, runner in enumerate(runners):
        arrays |= _prefixed(str(r), runner.state._asdict())
    if learner.trace_every and stream.traces:
        arrays |= _prefixed("trace", learner.trace_._asdict())
    whole = path.with_name(path.name + ".new.npz")
    try:
        np.savez(whole, head=json.dumps(head), **arrays)
        os.replace(whole, path)
    finally:
        whole.unlink(missing_ok=True)


def load(path, learner_class):
    path = _checked(path)
    try:
        content = read_npz(path)
        head = json.loads(str(content["head"]))
        if head["format"] == _FORMAT_OF_05:
            head = _converted(head, content)
        if head["format"] != _FORMAT:
            raise ValueError("unknown format")
        if head["learner"] != learner_class.__name__:
            raise ValueError(f"it is a {head['learner']}: use {head['learner']}.load")
        return _restored(learner_class, head, content)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"path {str(path)!r} is not a learner that rhmm saved ({error})") from None


def _restored(learner_class, head: dict, content: dict):
    rng_state = head["rng_states"][1]
    learner = learner_class(
        manifold_named(*head["manifold"]), **head["options"], random_state=generator_at(rng_state)
    )
    stream = learner._open_stream()
    stream.first_rng_state = head["rng_states"][0]
    stream.skipped, stream.peak_nbytes = head["skipped"], head["peak_nbytes"]
    stream.buffer = content["buffer"]
    vars(stream.sensor).update(_without_prefix("sensor", content))
    runners = [
        Runner(
            learner._settings_from(settings),
            learner.state_class(**_without_prefix(str(r), content)),
        )
        for r, settings in enumerate(head["settings"])
    ]
    if head["latest"] is not None:
        stream.latest = runners.pop(), content["latest.y"], head["latest"]["observed"]
    if head["ensemble"] is not None:
        kinds = {kind.__name__: kind for kind in learner.ensembles}
        stream.ensemble = kinds[head["ensemble"]["kind"]].restored(
            learner.kernel,
            runners,
            head["ensemble"]["numbers"] | _without_prefix("ensemble", content),
        )
    if "trace.step" in content:
        stream.traces = [Trace(**_without_prefix("trace", content))]
    _check(learner, stream)
    return learner


def _converted(head: dict, content: dict) -> dict:
    """The head of a file that rhmm 0.5 wrote, as this version writes it; renames arrays too."""
    options = dict(head["options"])
    windowed = options.pop("algorithm") == "windowed"
    if windowed:
        learner, unused = "WindowedRiemannianHMM", "memory lag init"
    elif options["window"] == "auto":
        learner, unused = "AutoMemoryRiemannianHMM", "window memory transition_update"
    else:
        learner, unused = "StreamingRiemannianHMM", "transition_update"
    for name in unused.split():
        del options[name]
    names = ("window", "convex", "dim", "gain", "cap", "least_delta", "trace_every")
    ensemble = head["field"]
    if ensemble is not None:
        kind = "Ensemble" if ensemble["kind"] == "Field" else ensemble["kind"]
        ensemble = {"kind": kind, "numbers": ensemble["numbers"]}
    for name in [name for name in content if name.startswith("field.")]:
        content["ensemble." + name.removeprefix("field.")] = content.pop(name)
    return {
        "format": _FORMAT,
        "learner": learner,
        "manifold": head["manifold"],
        "options": options,
        "rng_states": head["luck"],
        "skipped": head["skipped"],
        "peak_nbytes": head["peak_nbytes"],
        "ensemble": ensemble,
        "latest": head["latest"],
        "settings": [dict(zip(names, values, strict=True)) for values in head["settings"]],
    }


def _prefixed(prefix: str, arrays: dict) -> dict:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, content: dict) -> dict:
    whole = prefix + "."
    return {name[len(whole) :]: x for name, x in content.items() if name.startswith(whole)}


def _plain(rng_state):
    """The state of a bit generator as JSON can hold it."""
    if isinstance(rng_state, dict):
        return {key: _plain(value) for key, value in rng_state.items()}
    return rng_state.tolist() if isinstance(rng_state, np.ndarray) else rng_state


def _check(learner, stream) -> None:
    """Kernels trust their arrays: refuse those of another size or kind."""
    n, point = learner.n_components, learner.manifold.point_shape
    check_array("buffer", stream.buffer, (len(stream.buffer), *point))
    if len(stream.buffer) >= learner.start_size:
        raise ValueError(f"buffer must hold fewer than {learner.start_size} observations")
    check_array("last", stream.sensor.last, (math.prod(point),))
    check_array("run", stream.sensor.run, (2,), np.int64)
    if stream.ensemble is not None:
        stream.ensemble.check(n, point)
        for runner in stream.ensemble.runners:
            check_state(runner.state, n, point, *learner._room)
    if stream.latest is not None:
        runner, y, _ = stream.latest
        check_state(runner.state, n, point, *learner._room)
        check_array("y", y, point)


def generator_at(rng_state: Mapping[str, Any]) -> np.random.Generator:
    """A Generator of the kind and in the state that `rng_state` tells."""
    if rng_state["bit_generator"] not in _BIT_GENERATORS:
        raise ValueError(f"random generator {rng_state['bit_generator']!r} is unknown")
    bit_generator = getattr(np.random, rng_state["bit_generator"])()
    bit_generator.state = rng_state
    return np.random.Generator(bit_generator)


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"path must end in .npz, not {path.name!r}")
    return path
