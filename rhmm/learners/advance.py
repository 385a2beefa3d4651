"""A learner as bytes, and its step as a pure function of them: for engines that keep a state for
each key and move it between machines.

The bytes hold what the file of a learner holds, in one block that is written and read in a fraction
of the time: a line that names the format, a checksum, the length of a head in JSON, the head, and
the arrays that it lists, one after another.
"""

import hashlib
import json
import math
from typing import Any, NamedTuple

import numpy as np

from rhmm.learners.online import OnlineHMM
from rhmm.learners.registry import LEARNERS
from rhmm.storage import parsed_json
from rhmm.streams import files

_FORMAT = b"rhmm stream 1\n"
_CHECKSUM = 16
_KINDS = ("<f8", "<i8", "|b1")
"""Types of arrays, as numpy writes them."""


class Advanced(NamedTuple):
    """What a step of `advance` leads to."""

    state: bytes
    """The learner after the observations."""
    filtered: np.ndarray
    """P(s_k = i | y_1..y_k) of each observation as the stream went, shape (T, N)."""


def advance(state: bytes, X, *, lengths=None) -> Advanced:
    """Learn from observations X (T, *point_shape): a pure function of its arguments.

    `lengths` say where sequences end, as for `partial_fit`: without them X goes on with the
    sequence of the step before; with them all sequences of X end, and the bytes remember it.

    `state` comes from `pack` or from an earlier call. The same arguments give the same bytes on any
    machine of one kind, so that a step which is lost can be taken again; and any division of a
    stream into chunks leads to the same parameters, bit for bit.
    """
    learner = unpack(state)
    filtered = learner.partial_fit_predict_proba(X, lengths=lengths)
    return Advanced(pack(learner), filtered)


def pack(learner: OnlineHMM) -> bytes:
    """Everything that a learner is, as bytes; it has no callback any more."""
    if not isinstance(learner, OnlineHMM):
        raise ValueError(f"learner must be an online learner, not {learner!r}")
    head, arrays = files.content(learner)
    contiguous = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, array.shape] for name, array in contiguous.items()]
    text = json.dumps({"head": head, "arrays": listed}, separators=(",", ":")).encode()
    body = b"".join(
        [len(text).to_bytes(4, "little"), text, *(array.tobytes() for array in contiguous.values())]
    )
    return _FORMAT + _checksum(body) + body


def unpack(state: bytes) -> OnlineHMM:
    """The learner that `pack` was given; it goes on bit for bit."""
    try:
        head, arrays = _parsed(state)
        return files.restored(_class_named(head["learner"]), head, arrays)
    except files.WRONG as error:
        raise ValueError(f"state is not a learner that rhmm has packed ({error})") from None


def _parsed(state: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    body_at = len(_FORMAT) + _CHECKSUM
    body = memoryview(state)[body_at:]
    if bytes(state[: len(_FORMAT)]) != _FORMAT:
        raise ValueError("unknown format")
    if bytes(state[len(_FORMAT) : body_at]) != _checksum(body):
        raise ValueError("damaged: its checksum differs")
    place = 4 + int.from_bytes(body[:4], "little")
    listed = parsed_json(str(body[4:place], "utf-8"))
    arrays = {}
    for name, kind, shape in listed["arrays"]:
        if kind not in _KINDS:
            raise ValueError(f"{name} must not be of type {kind}")
        # A copy: kernels write into it, and bytes cannot be changed.
        flat = np.frombuffer(body, kind, math.prod(shape), place).copy()
        arrays[name] = flat.reshape(shape)
        place += flat.nbytes
    if place != len(body):
        raise ValueError("its length is wrong")
    return listed["head"], arrays


def _checksum(body) -> bytes:
    return hashlib.blake2b(body, digest_size=_CHECKSUM).digest()


def _class_named(name: str) -> type[OnlineHMM]:
    for entry in LEARNERS.values():
        if entry.estimator.__name__ == name and issubclass(entry.estimator, OnlineHMM):
            return entry.estimator
    raise ValueError(f"no registered learner is a {name}")
