"""``python -m benchmarks.forged [count]``: forged messages and links against a live server.

A browser can be made to send anything. Each visitor here sends reports of canvases, drops, numbers
and links with wrong types, huge numbers, deep nesting and texts that are no JSON. The page must
never show an exception, and the server's log must stay empty. Values of a form that Streamlit's own
widgets never have are not sent: they raise within Streamlit, on the forger's page alone.
"""

import asyncio
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from urllib.parse import quote, urlencode

from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.visitor import EVENTS, PAGES, Visitor
from dashboard.model.experiment import Experiment
from dashboard.model.lesson import Lesson
from dashboard.model.plan import Plan
from dashboard.model.view import COLOURS, SHOWN, View
from tests.browser.serving import started_server

COUNT = 10_000
VISITORS = 4

_VIEW = {**View().for_browser(), "version": 1}
_DROP = {"state": 1, "x": 0.3, "y": 0.2, "chart": ""}
_SCALARS = (
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, -(10**400), 0.5, 20.5, -1e300, 5e-324,
    float("nan"), float("inf"), "", "9", "disk", "\x00", "é" * 50, "<script>", *SHOWN, *COLOURS,
)  # fmt: skip
_NO_JSON = ("", "{", "nonsense", "[" * 100_000, '{"view": ' + "9" * 5_000 + "}", "\ufffd", "[1,]")
_LINK_KEYS = [
    key for kind in (Experiment, Plan, View, Lesson) for key in kind.link_keys()
]  # fmt: skip


class Forger:
    """Makes forged things, the same ones from the same seed."""

    def __init__(self, seed: int):
        self._random = Random(seed)
        self.counts: Counter[str] = Counter()

    def value(self, depth: int = 0):
        """Any value that JSON can have, and some that it cannot."""
        kind = self._random.random()
        if kind < 0.7 or depth > 3:
            return self._random.choice(_SCALARS)
        if kind < 0.73:
            return _nested(self._random.choice((10, 300)))
        size = self._random.randrange(4)
        if kind < 0.87:
            return [self.value(depth + 1) for _ in range(size)]
        return {self._random.choice([*_VIEW, *_DROP]): self.value(depth + 1) for _ in range(size)}

    def mutated(self, whole: dict) -> dict:
        """The same with some fields forged, left out or added."""
        forged = dict(whole)
        for _ in range(self._random.randint(1, 3)):
            name = self._random.choice([*whole, "other"])
            if self._random.random() < 0.15:
                forged.pop(name, None)
            else:
                forged[name] = self.value()
        return forged

    def state(self, canvas: str) -> WidgetState:
        """A report or an event of a canvas."""
        chance = self._random.random()
        if chance < 0.05:
            self.counts["texts that are no JSON"] += 1
            return WidgetState(id=canvas, json_value=self._random.choice(_NO_JSON))
        if chance < 0.1:
            self.counts["values that are no report"] += 1
            text = json.dumps(self.value())
            if chance < 0.075:
                return WidgetState(id=canvas, json_value=text)
            return WidgetState(id=EVENTS.format(canvas), json_trigger_value=text)
        if chance < 0.5:
            self.counts["reports of a canvas"] += 1
            view = self.mutated(_VIEW) if chance < 0.4 else self.value()
            return WidgetState(id=canvas, json_value=json.dumps({"view": view}))
        self.counts["drops on a canvas"] += 1
        drops = [self.mutated(_DROP) for _ in range(self._random.randint(1, 3))]
        moved = self.mutated({"number": self._random.randrange(100), "pending": drops})
        events = [{"event": "moved", "value": moved if chance < 0.9 else self.value()}]
        return WidgetState(id=EVENTS.format(canvas), json_trigger_value=json.dumps(events))

    def number(self, name: str) -> WidgetState:
        """A number in a field, whatever its limits are."""
        self.counts["numbers in fields"] += 1
        number = self._random.choice((0, -1, 3, 10**6, 2**31, 2**52))
        return WidgetState(id=name, int_value=number)

    def query(self) -> str:
        """A link whose parts are forged, or those of a valid link with letters changed."""
        self.counts["links"] += 1
        valid = Experiment().to_query() | Plan(runs=3).to_query()
        asked = {}
        for key in self._random.sample(_LINK_KEYS, self._random.randint(1, 4)):
            text = valid.get(key, "1")
            at = self._random.randint(0, len(text))
            inserted = self._random.choice(
                ["", ",", ";", "-", "e999", "9" * 400, "\x00", "é", "nan"]
            )
            asked[key] = str(self.value())[:3_000] if at % 2 else text[:at] + inserted + text[at:]
        return urlencode(asked, quote_via=quote, errors="replace")

    def page(self) -> str:
        return self._random.choice(PAGES)

    def chance(self) -> float:
        return self._random.random()


def _nested(depth: int) -> list:
    inmost: list = []
    for _ in range(depth):
        inmost = [inmost]
    return inmost


async def attack(address: str, count: int, seed: int) -> tuple[Counter, list[str]]:
    """Send so many forged things; what was sent, and the exceptions that pages have shown."""
    forger, shown = Forger(seed), []
    visitor = await Visitor.arrive(address, "", "T=500&delta=60")
    while forger.counts.total() < count:
        canvases = [c for c, (name, _) in visitor.canvases.items() if "lesson" not in name]
        fields = [w for w, (kind, _) in visitor.widgets.items() if kind == "number_input"]
        if canvases and forger.chance() < 0.75:
            canvas = canvases[int(forger.chance() * len(canvases))]
            await visitor.rerun([forger.state(canvas)], visitor.canvases[canvas][1])
        elif fields and forger.chance() < 0.2:
            await visitor.rerun([forger.number(fields[int(forger.chance() * len(fields))])])
        elif forger.chance() < 0.9:
            await visitor.go(visitor.page, forger.query())
        else:
            await visitor.go(forger.page(), "T=500&delta=60")
        shown += visitor.exceptions
        visitor.exceptions.clear()
    await visitor.leave()
    return forger.counts, shown


async def _attack_all(address: str, count: int) -> tuple[Counter, list[str]]:
    each = -(-count // VISITORS)
    done = await asyncio.gather(*(attack(address, each, seed) for seed in range(VISITORS)))
    return sum((counts for counts, _ in done), Counter()), [e for _, shown in done for e in shown]


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    with tempfile.TemporaryDirectory() as folder, started_server(Path(folder)) as server:
        counts, shown = asyncio.run(_attack_all(server.address, count))
        complaints = server.complaints()
    for what, number in counts.items():
        print(f"{number:7,} {what}")
    print(f"{len(shown):7,} exceptions on pages")
    for sentence, number in Counter(shown).most_common(10):
        print(f"        {number} × {sentence[:300]}")
    print(f"{len(complaints):7,} lines in the server's log")
    for line in complaints[:20]:
        print(f"        {line[:200]}")


if __name__ == "__main__":
    main()
