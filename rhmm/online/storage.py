"""An online learner on disk, in mid-stream: npz without pickles, every bit kept."""

import json
import math
import os
from pathlib import Path

import numpy as np

from rhmm.manifolds import manifold_named
from rhmm.online.bank import BANK, Bank
from rhmm.online.race import Race
from rhmm.online.runner import Field, Runner, Settings
from rhmm.online.streaming import StreamingState
from rhmm.online.trace import Trace
from rhmm.online.windowed import WindowedState
from rhmm.storage import read_npz

_FORMAT = "rhmm online learner 5"
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_FIELDS = {kind.__name__: kind for kind in (Field, Race, Bank)}


def save(path, learner) -> None:
    path = _checked(path)
    arrays = {"buffer": learner._buffer, **_prefixed("sensor", vars(learner._sensor))}
    head = {
        "format": _FORMAT,
        "manifold": [learner.manifold.name, learner.manifold.size],
        "options": learner._options(),
        "luck": [_plain(learner._first_luck), _plain(learner._rng.bit_generator.state)],
        "skipped": learner._skipped,
        "peak_nbytes": learner.peak_nbytes_,
        "field": None,
        "settings": [],
        "latest": None,
    }
    runners = []
    if learner._field is not None:
        content = dict(vars(learner._field))
        runners = list(content.pop("runners"))
        numbers = {name: value for name, value in content.items() if isinstance(value, int)}
        head["field"] = {"kind": type(learner._field).__name__, "numbers": numbers}
        content = {name: value for name, value in content.items() if name not in numbers}
        arrays |= _prefixed("field", content)
    if learner._latest is not None:
        runner, arrays["latest.y"], observed = learner._latest
        runners.append(runner)
        head["latest"] = {"observed": observed}
    head["settings"] = [list(runner.settings) for runner in runners]
    for r, runner in enumerate(runners):
        arrays |= _prefixed(str(r), runner.state._asdict())
    if learner.trace_every and learner._traces:
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
        if head["format"] != _FORMAT:
            raise ValueError("unknown format")
        learner = learner_class(manifold_named(*head["manifold"]), **head["options"])
        learner._first_luck, luck = head["luck"]
        learner._rng = generator_at(luck)
        learner._skipped, learner.peak_nbytes_ = head["skipped"], head["peak_nbytes"]
        learner._buffer = content["buffer"]
        vars(learner._sensor).update(_without_prefix("sensor", content))
        state_class = StreamingState if learner.algorithm == "streaming" else WindowedState
        runners = [
            Runner(Settings(*settings), state_class(**_without_prefix(str(r), content)))
            for r, settings in enumerate(head["settings"])
        ]
        if head["latest"] is not None:
            learner._latest = runners.pop(), content["latest.y"], head["latest"]["observed"]
        if head["field"] is not None:
            kind = _FIELDS[head["field"]["kind"]]
            learner._field = kind.__new__(kind)
            vars(learner._field).update(
                runners=runners, **head["field"]["numbers"], **_without_prefix("field", content)
            )
        if "trace.step" in content:
            learner._traces = [Trace(**_without_prefix("trace", content))]
        _check(learner)
        return learner
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"path {str(path)!r} is not a learner that rhmm saved ({error})") from None


def _prefixed(prefix: str, arrays: dict) -> dict:
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def _without_prefix(prefix: str, content: dict) -> dict:
    whole = prefix + "."
    return {name[len(whole) :]: x for name, x in content.items() if name.startswith(whole)}


def _plain(luck):
    """The state of a bit generator as JSON can hold it."""
    if isinstance(luck, dict):
        return {key: _plain(value) for key, value in luck.items()}
    return luck.tolist() if isinstance(luck, np.ndarray) else luck


def _check(learner) -> None:
    """Kernels trust their arrays: refuse those of another size or kind."""
    n, point = learner.n_components, learner.manifold.point_shape
    _check_array("buffer", learner._buffer, (len(learner._buffer), *point))
    if len(learner._buffer) >= learner.start_size:
        raise ValueError(f"buffer must hold fewer than {learner.start_size} observations")
    _check_array("last", learner._sensor.last, (math.prod(point),))
    _check_array("run", learner._sensor.run, (2,), np.int64)
    field = learner._field
    if field is not None:
        _check_array("scores", field.scores, (len(field.runners),))
        _check_array("log_likelihood", field.log_likelihood, (1,))
        if not 0 <= field.leader < len(field.runners):
            raise ValueError(f"leader must be one of {len(field.runners)}")
        for runner in field.runners:
            _check_state(learner, runner.state)
    if isinstance(field, Bank):
        if not 0 <= len(field.runners) - len(BANK) <= 1:
            raise ValueError(f"a bank has {len(BANK)} memories, and at most one newcomer")
        _check_array("recent", field.recent, (len(field.recent), *point))
        _check_array("transmat", field.transmat, (n, n))
        _check_array("means", field.means, (n, *point))
        _check_array("delta", field.delta, (n,))
        _check_array("level", field.level, (4,))
        _check_array("restarts", field.restarts, (len(field.restarts),), np.int64)
    if learner._latest is not None:
        runner, y, _ = learner._latest
        _check_state(learner, runner.state)
        _check_array("y", y, point)


def _check_state(learner, state) -> None:
    n, point = learner.n_components, learner.manifold.point_shape
    streaming = isinstance(state, StreamingState)
    least, room = (0, 2 * learner.lag) if streaming else (learner.window, 2 * learner.window)
    shapes = {
        "transmat": (n, n), "means": (n, *point), "points": (room, *point), "missing": (room,),
        "alpha": (room, n), "density": (room, n), "counters": (2,), "log_likelihood": (1,),
    }  # fmt: skip
    kinds = {"missing": np.bool_, "counters": np.int64}
    for name, array in state._asdict().items():
        _check_array(name, array, shapes.get(name, (n,)), kinds.get(name, np.float64))
    if not least <= state.counters[1] <= room:
        raise ValueError(f"counters must be from {least} to {room}")


def _check_array(name: str, array, shape: tuple[int, ...], kind: type = np.float64) -> None:
    if array.shape != shape or array.dtype != kind or not array.flags.c_contiguous:
        raise ValueError(f"{name} must be of shape {shape} and {kind.__name__}")


def generator_at(luck: dict) -> np.random.Generator:
    """A Generator of the kind and in the state that `luck` tells."""
    if luck["bit_generator"] not in _BIT_GENERATORS:
        raise ValueError(f"random generator {luck['bit_generator']!r} is unknown")
    bit_generator = getattr(np.random, luck["bit_generator"])()
    bit_generator.state = luck
    return np.random.Generator(bit_generator)


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"path must end in .npz, not {path.name!r}")
    return path
