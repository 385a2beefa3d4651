"""protocol.js, the browser's half of the protocol, against Python's half."""

import base64

import numpy as np

from dashboard.canvas.protocol import Moved, pack, read_moved

BYTES = "const bytes = Uint8Array.from(atob(a[0]), (letter) => letter.charCodeAt(0));"


def as_text(message: bytes) -> str:
    return base64.b64encode(message).decode()


# From Python to the browser


def test_the_browser_unpacks_what_python_packs(js):
    arrays = {
        "odd": np.array([1, -2, 3], np.int8),
        "reals": np.array([[0.1, -1.0], [2.0, 3.5]], np.float32),
        "none": np.zeros(0, np.float32),
        "counts": np.array([7, 2**30], np.int32),
    }
    message = pack({"title": "Δ = 5", "deep": {"list": [1, None]}}, arrays)

    back = js.run(
        "protocol.js",
        BYTES
        + """
        const shifted = new Uint8Array(bytes.length + 3).subarray(3); // begins at no multiple of 8
        shifted.set(bytes);
        const { odd, reals, none, counts, ...about } = m.unpack(shifted);
        const kinds = [odd, reals, none, counts].map((array) => array.constructor.name);
        return [about, kinds, [odd, reals, none, counts].map((array) => [...array])];
        """,
        as_text(message),
    )

    about, kinds, values = back
    assert about == {"title": "Δ = 5", "deep": {"list": [1, None]}}
    assert kinds == ["Int8Array", "Float32Array", "Float32Array", "Int32Array"]
    for value, array in zip(values, arrays.values(), strict=True):
        assert value == array.ravel().tolist()


def run_text(version, continues, rows, **baselines):
    """A message about a run with these rows of its path, and means of these baselines."""
    about = {
        "version": version,
        "continues": continues,
        "learners": [{"key": "windowed"}, {"key": "streaming"}],
        "baselines": [{"key": "em", "path": True}, {"key": "kmeans", "path": False}],
    }
    numbers = np.array(rows)
    floats = ("means", "transmat", "sigmas", "errors")
    path = {f"streaming.{name}": numbers.astype(np.float32) for name in floats}
    means = {f"{key}.means": np.array(value, np.float32) for key, value in baselines.items()}
    return as_text(pack(about, {"streaming.steps": numbers.astype(np.int32)} | path | means))


RECEIVE = """
let known = null;
const replies = a.map((text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const run = m.received(known, m.unpackRun(bytes), m.joinedRun);
  const same = run !== null && run === known;
  known = run ?? known;
  const means = known.baselines.map((baseline) => [...(baseline.means ?? [])]);
  const steps = [...known.learners[1].steps];
  return { lost: run === null, same, version: known.version, steps, means };
});
return replies;
"""


def test_a_message_adds_to_the_one_before(js):
    replies = js.run(
        "protocol.js",
        RECEIVE,
        run_text(1, None, [10, 20]),
        run_text(2, 1, [30], em=[1, 2]),
        run_text(3, 2, [40, 50], kmeans=[3]),
    )

    assert [reply["steps"] for reply in replies] == [
        [10, 20],
        [10, 20, 30],
        [10, 20, 30, 40, 50],
    ]
    assert [reply["means"] for reply in replies] == [[[], []], [[1, 2], []], [[1, 2], [3]]]


def test_the_same_message_twice_changes_nothing(js):
    messages = [run_text(1, None, [10]), run_text(2, 1, [20]), run_text(2, 1, [20])]

    replies = js.run("protocol.js", RECEIVE, *messages)

    assert [reply["same"] for reply in replies] == [False, False, True]
    assert replies[-1]["steps"] == [10, 20]


def test_a_message_after_one_that_was_lost_is_not_used(js):
    replies = js.run(
        "protocol.js",
        RECEIVE,
        run_text(1, None, [10]),
        run_text(3, 2, [30]),
        run_text(4, None, [10, 20, 30]),
    )

    assert [reply["lost"] for reply in replies] == [False, True, False]
    assert [reply["steps"] for reply in replies] == [[10], [10], [10, 20, 30]]


def test_a_whole_message_forgets_what_was_known(js):
    first = run_text(1, None, [10, 20], em=[1, 2])

    replies = js.run("protocol.js", RECEIVE, first, run_text(2, None, [5]))

    assert replies[-1]["steps"] == [5]
    assert replies[-1]["means"] == [[], []]


def test_the_feed_asks_for_observations_that_it_does_not_have(js):
    whole = {"version": "b", "continues": None, "id": "run", "stride": 1}
    observations = {"xy": np.zeros((2, 2), np.float32), "states": np.zeros(2, np.int8)}
    known = as_text(pack({"version": "b", "continues": "b"}, {}))

    asked = js.run(
        "feed.js",
        """
        const asked = [];
        for (const text of a) {
          const data = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
          const setStateValue = (name) => asked.push(name);
          m.feed({ data, setStateValue });
          asked.push("|");
        }
        return asked;
        """,
        known,
        as_text(pack(whole, observations)),
        known,
    )

    assert asked == ["missing", "|", "|", "|"]


# Means that were dropped


def test_a_drop_is_pending_until_it_is_acknowledged(js):
    seen = js.run(
        "protocol.js",
        """
        const pending = new m.Pending(), seen = [];
        const message = pending.add(new Map([[1, [0.5, 0.25]]]));
        seen.push(message, pending.placeOf(1));
        pending.acknowledge(0);
        seen.push(pending.placeOf(1));
        pending.acknowledge(1);
        seen.push(pending.placeOf(1) ?? "gone");
        return seen;
        """,
    )

    drop = {"number": 1, "pending": [{"state": 1, "x": 0.5, "y": 0.25}]}
    assert seen == [drop, [0.5, 0.25], [0.5, 0.25], "gone"]


def test_each_drop_repeats_those_that_are_still_pending(js):
    messages = js.run(
        "protocol.js",
        """
        const pending = new m.Pending();
        pending.acknowledge(7); // by a canvas before this one
        const messages = [pending.add(new Map([[0, [0.1, 0.1]]]))];
        messages.push(pending.add(new Map([[2, [0.2, 0.2]]])));
        pending.acknowledge(8);
        messages.push(pending.add(new Map([[1, [0.3, 0.3]]])));
        return messages;
        """,
    )

    assert [message["number"] for message in messages] == [8, 9, 10]
    states = [[drop["state"] for drop in message["pending"]] for message in messages]
    assert states == [[0], [0, 2], [2, 1]]


def test_python_reads_the_drops_that_the_browser_sends(js):
    sent = js.run("protocol.js", "return new m.Pending().add(new Map([[1, [0.5, -0.25]]]))")

    assert read_moved(sent) == Moved(1, ({"state": 1, "x": 0.5, "y": -0.25},))
