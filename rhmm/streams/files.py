"""An online learner on disk, in mid-stream: npz without pickles, every bit kept.

Kernels trust what they work on. So nothing in a file is believed that follows from the learner's
options, and everything else is checked before a learner goes on with it.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rhmm.manifolds import manifold_named
from rhmm.parameters import MIN_SIGMA
from rhmm.storage import parsed_json, read_npz, write_npz
from rhmm.streams.checks import (
    MOST,
    check_array,
    check_points,
    check_state,
    check_trace,
    check_whole,
)
from rhmm.streams.chunk import Present
from rhmm.streams.ensemble import Runner
from rhmm.streams.streaming_kernel import BURST
from rhmm.streams.trace import Trace

_FORMAT = "rhmm online learner 11"
_FORMAT_OF_05 = "rhmm online learner 5"
WRONG = (ValueError, LookupError, TypeError, AttributeError, OverflowError)
"""What reading a content that rhmm did not write can raise."""
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_POSITIONS = {"MT19937": ("state", "pos", 624), "Philox": (None, "buffer_pos", 4)}
"""Where a bit generator keeps the place that it reads at, and the largest: numpy believes it."""


def save(path, learner) -> None:
    path = _checked(path)
    head, arrays = content(learner)
    write_npz(path, {"head": json.dumps(head), **arrays})


def content(learner) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """All that a learner is: numbers and words that JSON can hold, and arrays."""
    stream = learner._open_stream()
    arrays = {
        "buffer": stream.buffer.points,
        "buffer_sequence": stream.buffer.sequence,
        **_prefixed("sensor", vars(stream.sensor)),
    }
    head = {
        "format": _FORMAT,
        "learner": type(learner).__name__,
        "manifold": [learner.manifold.name, learner.manifold.size],
        "options": learner.stored_options(),
        "rng_states": [_plain(stream.first_rng_state), _plain(stream.rng.bit_generator.state)],
        "min_sigma": stream.min_sigma,
        "sequence": stream.sequence,
        "has_ended": stream.has_ended,
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
        runner, arrays["latest.y"], observed, begins = stream.latest
        runners.append(runner)
        head["latest"] = {"observed": observed, "begins": begins}
    head["settings"] = [runner.settings._asdict() for runner in runners]
    for r, runner in enumerate(runners):
        arrays |= _prefixed(str(r), runner.state._asdict())
    if learner.trace_every and stream.traces:
        arrays |= _prefixed("trace", learner.trace_._asdict())
    return head, arrays


def load(path, learner_class):
    path = _checked(path)
    try:
        content, is_sealed = read_npz(path)
        head = parsed_json(str(content["head"]))
        if head["format"] not in (_FORMAT, _FORMAT_OF_05):
            raise ValueError("unknown format")
        if is_sealed != (head["format"] != _FORMAT_OF_05):
            raise ValueError("its checksum is missing, or its format was changed")
        if head["format"] == _FORMAT_OF_05:
            head = _converted(head, content)
        if head["learner"] != learner_class.__name__:
            raise ValueError(f"it is a {head['learner']}: use {head['learner']}.load")
        return restored(learner_class, head, content)
    except WRONG as error:
        raise ValueError(
            f"path {str(path)!r} is not a learner that rhmm saved ({error}): "
            "restore it from a copy, or save it again"
        ) from None


def restored(learner_class, head: dict, content: dict):
    """The learner with this `content`, after all of it was checked; if it is wrong, one of `WRONG`
    is raised.
    """
    manifold = manifold_named(*head["manifold"])
    first, present = head["rng_states"]
    generator_at(first)  # only to check it
    learner = learner_class(manifold, **head["options"], random_state=generator_at(present))
    buffer = content["buffer"]  # checked first: a stream takes its size from the manifold
    check_array("buffer", buffer, (len(buffer), *manifold.point_shape))
    stream = learner._open_stream()
    stream.first_rng_state = first
    stream.skipped, stream.peak_nbytes = head["skipped"], head["peak_nbytes"]
    stream.min_sigma = _checked_floor(learner, head["min_sigma"])
    stream.buffer = Present(buffer, content["buffer_sequence"])
    stream.sequence, stream.has_ended = head["sequence"], head["has_ended"]
    stream.sensor.last, stream.sensor.run = content["sensor.last"], content["sensor.run"]
    states = [
        learner.state_class(**_without_prefix(str(r), content))
        for r in range(len(head["settings"]))
    ]
    if head.get("is_old") and head["ensemble"] is not None:
        # The recursion has changed since: it goes on from what the leader had learned.
        check_whole("leader", head["ensemble"]["numbers"]["leader"], 0, len(states) - 1)
        leader = states[head["ensemble"]["numbers"]["leader"]]
        _check_state(learner, leader)
        stream.ensemble = learner.ensemble_from(leader)
        head["latest"] = head["ensemble"] = None
    if head["latest"] is not None:
        settings = learner._settings_from(head["settings"][-1])
        runner = Runner(settings, states.pop())
        told = head["latest"]
        stream.latest = runner, content["latest.y"], told["observed"], told["begins"]
    if head["ensemble"] is not None:
        stream.ensemble = _ensemble(learner, head["ensemble"], states, content)
    if "trace.step" in content:
        stream.traces = [Trace(**_without_prefix("trace", content))]
    _check(learner, stream)
    return learner


def _checked_floor(learner, stored) -> float:
    """The floor of σ that a file says, if the learner's options do not."""
    if learner.min_sigma is not None:
        return float(learner.min_sigma)
    if isinstance(stored, bool) or not isinstance(stored, float) or not 0.0 < stored <= MIN_SIGMA:
        raise ValueError(f"min_sigma must be above 0 and at most {MIN_SIGMA:g}")
    return learner.manifold.check_one_sigma("min_sigma", stored)


def _ensemble(learner, head: dict, states: list, content: dict):
    """The runners with these states, under the settings that the learner's options lead to."""
    kinds = {kind.__name__: kind for kind in learner.ensembles}
    if head["kind"] not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}, not {head['kind']!r}")
    kind = kinds[head["kind"]]
    runners = [Runner(learner._settings_of(kind, r), state) for r, state in enumerate(states)]
    return kind.restored(
        learner.kernel, runners, head["numbers"] | _without_prefix("ensemble", content)
    )


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
    # It knew a single sequence.
    content["buffer_sequence"] = np.zeros(len(content["buffer"]), np.int64)
    for name in [name for name in content if name.endswith(".missing")]:
        content[name.removesuffix("missing") + "begins"] = np.zeros_like(content[name])
        if not windowed:
            content[name.removesuffix("missing") + "credit"] = np.full(1, BURST)
    latest = None if head["latest"] is None else head["latest"] | {"begins": False}
    for name in [name for name in content if name.startswith("field.")]:
        content["ensemble." + name.removeprefix("field.")] = content.pop(name)
    return {
        "is_old": not windowed,
        "learner": learner,
        "manifold": head["manifold"],
        "options": options,
        "rng_states": head["luck"],
        "min_sigma": options["min_sigma"],
        "sequence": 0,
        "has_ended": False,
        "skipped": head["skipped"],
        "peak_nbytes": head["peak_nbytes"],
        "ensemble": ensemble,
        "latest": latest,
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
    """Refuse arrays of another size or kind, numbers out of range, and counters that disagree."""
    (fewest, n), manifold = learner._sizes, learner.manifold
    most = learner.start_size - 1 if stream.ensemble is None else 0
    points, sequence = stream.buffer
    if len(points) > most:
        raise ValueError(f"buffer must hold at most {most} observations")
    check_points("buffer", points, manifold)
    check_array("buffer_sequence", sequence, (len(points),), np.int64)
    _check_flag("has_ended", stream.has_ended)
    check_array("last", stream.sensor.last, (math.prod(manifold.point_shape),), or_missing=True)
    check_array("run", stream.sensor.run, (2,), np.int64)
    for name, value, least in (
        ("run[0]", stream.sensor.run[0], 0),
        ("run[1]", stream.sensor.run[1], 1),
        ("sequence", stream.sequence, 0),
        ("skipped", stream.skipped, 0),
        ("peak_nbytes", stream.peak_nbytes, 0),
    ):
        check_whole(name, value, least, MOST)
    if stream.ensemble is not None:
        for runner in stream.ensemble.runners:
            _check_state(learner, runner.state)
        stream.ensemble.check(n, manifold)
    if stream.latest is not None:
        runner, y, observed, begins = stream.latest
        _check_flag("begins", begins)
        _check_state(learner, runner.state)
        check_array("y", y, manifold.point_shape, or_missing=True)
        if not isinstance(observed, bool) or observed:
            check_points("y", y, manifold)
        if runner.state.counters[0] != stream.n_samples_seen - 1:
            raise ValueError("counters of the latest state must be one behind")
    if stream.traces:
        check_trace(
            stream.traces[0], n, manifold, learner.trace_every, stream.n_samples_seen,
            or_missing=fewest < n,
        )  # fmt: skip


def _check_flag(name: str, value) -> None:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, not {value!r}")


def _check_state(learner, state) -> None:
    """Refuse a state of another size, or one that the kernel could not have left."""
    least, most = learner._sizes
    n = min(max(len(state.delta), least), most)
    check_state(state, n, learner.manifold, *learner._room)


def generator_at(rng_state: Mapping[str, Any]) -> np.random.Generator:
    """A Generator of the kind and in the state that `rng_state` tells."""
    if rng_state["bit_generator"] not in _BIT_GENERATORS:
        raise ValueError(f"random generator {rng_state['bit_generator']!r} is unknown")
    if rng_state["bit_generator"] in _POSITIONS:
        part, name, most = _POSITIONS[rng_state["bit_generator"]]
        check_whole(name, (rng_state[part] if part else rng_state)[name], 0, most)
    bit_generator = getattr(np.random, rng_state["bit_generator"])()
    bit_generator.state = rng_state
    return np.random.Generator(bit_generator)


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"path must end in .npz, not {path.name!r}")
    return path
