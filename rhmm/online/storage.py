"""An online learner on disk, in mid-stream: npz without pickles, every bit kept."""

import json
import zipfile
from pathlib import Path

import numpy as np

from rhmm.manifolds import manifold_named
from rhmm.online.streaming import StreamingState
from rhmm.online.trace import Trace
from rhmm.online.windowed import WindowedState

_FORMAT = "rhmm online learner 1"


def save(path, learner) -> None:
    path = _checked(path)
    runners = list(learner._field)
    latest = None
    arrays = {}
    if learner._latest is not None:
        runner, y, observed = learner._latest
        runners.append(runner)
        latest = {"observed": observed}
        arrays["latest.y"] = y
    head = {
        "format": _FORMAT,
        "manifold": [learner.manifold.name, learner.manifold.size],
        "options": learner._options(),
        "luck": [_plain(learner._first_luck), _plain(learner._rng.bit_generator.state)],
        "skipped": learner._skipped,
        "leader": learner._leader,
        "raced": learner._raced,
        "racing_is_over": learner._racing_is_over,
        "settings": [list(runner.settings) for runner in runners],
        "latest": latest,
    }
    for r, runner in enumerate(runners):
        for name, array in runner.state._asdict().items():
            arrays[f"{r}.{name}"] = array
    arrays["buffer"] = learner._buffer
    arrays["scores"] = learner._scores
    arrays["last"], arrays["repeats"] = learner._last, learner._repeats
    if learner.trace_every and learner._traces:
        for name, array in learner.trace_._asdict().items():
            arrays[f"trace.{name}"] = array
    np.savez(path, head=json.dumps(head), **arrays)


def load(path, learner_class):
    from rhmm.online.learner import Runner, Settings

    path = _checked(path)
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            content = {name: file[name] for name in file.files}
        head = json.loads(str(content["head"]))
        if head["format"] != _FORMAT:
            raise ValueError("unknown format")
        learner = learner_class(manifold_named(*head["manifold"]), **head["options"])
        learner._first_luck, luck = head["luck"]
        learner._rng = generator_at(luck)
        state_class = StreamingState if learner.algorithm == "streaming" else WindowedState
        runners = [
            Runner(
                Settings(*settings),
                state_class(*(content[f"{r}.{name}"] for name in state_class._fields)),
            )
            for r, settings in enumerate(head["settings"])
        ]
        if head["latest"] is not None:
            learner._latest = runners.pop(), content["latest.y"], head["latest"]["observed"]
        learner._field = runners
        learner._buffer = content["buffer"]
        learner._scores = content["scores"]
        learner._last, learner._repeats = content["last"], content["repeats"]
        learner._skipped = head["skipped"]
        learner._leader = head["leader"]
        learner._raced = head["raced"]
        learner._racing_is_over = head["racing_is_over"]
        if "trace.step" in content:
            learner._traces = [Trace(*(content[f"trace.{name}"] for name in Trace._fields))]
        return learner
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"path {str(path)!r} is not a learner that rhmm saved ({error})") from None


def _plain(luck):
    """The state of a bit generator as JSON can hold it."""
    if isinstance(luck, dict):
        return {key: _plain(value) for key, value in luck.items()}
    return luck.tolist() if isinstance(luck, np.ndarray) else luck


def generator_at(luck: dict) -> np.random.Generator:
    """A Generator of the kind and in the state that `luck` tells."""
    bit_generator = getattr(np.random, luck["bit_generator"])()
    bit_generator.state = luck
    return np.random.Generator(bit_generator)


def _checked(path) -> Path:
    path = Path(path)
    if path.suffix != ".npz":
        raise ValueError(f"path must end in .npz, not {path.name!r}")
    return path
