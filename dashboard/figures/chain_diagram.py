"""The Markov chain as a picture: states in a ring, an arrow for each transition that can happen.

It is SVG without a colour of its own except the states': lines and letters take the page's.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plotly.colors import hex_to_rgb

from dashboard.figures.states import ink
from dashboard.model.marks import STATE_COLOURS

_SIZE = 460
_MIDDLE = _SIZE / 2
_LETTER = 16
_LETTER_WIDTH = 0.56 * _LETTER
_MARGIN = 12  # around what is drawn
_CROWDED = 5  # with more states than this, only arrows that matter get their number
_LEAST_IN_A_CROWD = 0.1


class _Point(NamedTuple):
    x: float
    y: float

    def moved(self, angle: float, by: float) -> "_Point":
        return _Point(self.x + by * math.cos(angle), self.y + by * math.sin(angle))

    def angle_to(self, other: "_Point") -> float:
        return math.atan2(other.y - self.y, other.x - self.x)

    def __str__(self) -> str:
        return f"{self.x:.1f} {self.y:.1f}"


class _Arrow(NamedTuple):
    ends: tuple[int, int]
    probability: float
    path: str
    head: str
    places: tuple[_Point, ...]
    """Where its probability may be written, best first."""


class _Label(NamedTuple):
    text: str
    at: _Point

    def overlaps(self, other: "_Label") -> bool:
        wide = _LETTER_WIDTH * (len(self.text) + len(other.text)) / 2
        return abs(self.at.x - other.at.x) < wide and abs(self.at.y - other.at.y) < _LETTER

    def touches(self, node: _Point, radius: float) -> bool:
        aside = max(0.0, abs(self.at.x - node.x) - _LETTER_WIDTH * len(self.text) / 2)
        above = max(0.0, abs(self.at.y - node.y) - _LETTER / 2)
        return math.hypot(aside, above) < radius + 2


def probability(value: float) -> str:
    """Two digits, or as many as it takes not to call the unsure sure."""
    if value < 0.1:
        return f"{value:.2g}"
    digits = 2
    while value < 1.0 and float(f"{value:.{digits}f}") == 1.0 and digits < 16:
        digits += 1
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def chain_in_words(transmat: Sequence[Sequence[float]]) -> str:
    """What the picture shows, for those who do not see it."""
    count = "1 state" if len(transmat) == 1 else f"{len(transmat)} states"
    sentences = [f"Chain with {count}."]
    for i, row in enumerate(transmat):
        ways = [f"to {j + 1} with {probability(p)}" for j, p in enumerate(row) if p > 0]
        sentences.append(f"From state {i + 1} {', '.join(ways)}.")
    return " ".join(sentences)


def chain_svg(transmat: Sequence[Sequence[float]]) -> str:
    n = len(transmat)
    radius = 25.0 if n <= 6 else 22.0
    nodes = _ring(n)
    arrows = sorted(_arrows(transmat, nodes, radius), key=lambda arrow: -arrow.probability)
    labels = _placed(arrows, nodes, radius)
    heights = [place.y for arrow in arrows for place in arrow.places]
    heights += [node.y + side * radius for node in nodes for side in (-1, 1)]
    top, bottom = min(heights) - _MARGIN, max(heights) + _MARGIN
    gaps = "".join(
        f'<rect x="{at.x - width / 2:.1f}" y="{at.y - _LETTER / 2:.1f}" width="{width:.1f}" '
        f'height="{_LETTER}" rx="3" fill="black"/>'
        for text, at in labels
        for width in [_LETTER_WIDTH * len(text) + 4]
    )
    return (
        f'<svg viewBox="0 {top:.1f} {_SIZE} {bottom - top:.1f}" role="img" '
        f'aria-label="{chain_in_words(transmat)}" font-family="sans-serif" '
        'xmlns="http://www.w3.org/2000/svg">'
        # lines stop short of what is written on them, whatever the colour of the page
        f'<mask id="chain-gaps" maskUnits="userSpaceOnUse" x="0" y="0" width="{_SIZE}" '
        f'height="{_SIZE}"><rect width="{_SIZE}" height="{_SIZE}" fill="white"/>{gaps}</mask>'
        f'<g mask="url(#chain-gaps)">{"".join(map(_drawn, reversed(arrows)))}</g>'
        f"{''.join(_drawn_node(i, node, radius) for i, node in enumerate(nodes))}"
        f"{''.join(_written(label) for label in labels)}</svg>"
    )


def _ring(n: int) -> list[_Point]:
    middle = _Point(_MIDDLE, _MIDDLE)
    if n == 1:
        return [middle]
    turn = math.pi if n == 2 else -math.pi / 2  # two states stand side by side
    reach = 105.0 if n == 2 else 135.0
    return [middle.moved(turn + 2 * math.pi * i / n, reach) for i in range(n)]


def _arrows(transmat, nodes: list[_Point], radius: float) -> Iterator[_Arrow]:
    for i, row in enumerate(transmat):
        for j, p in enumerate(row):
            if p > 0:
                yield (
                    _loop(i, p, nodes[i], radius, len(nodes))
                    if i == j
                    else _bow((i, j), p, nodes[i], nodes[j], radius)
                )


def _thickness(p: float) -> float:
    return 1.0 + 5.0 * p


def _head_length(p: float) -> float:
    return 8.0 + 6.0 * p


def _bow(ends: tuple[int, int], p: float, start: _Point, end: _Point, radius: float) -> _Arrow:
    """An arrow that keeps to the left of the straight way."""
    way, distance = start.angle_to(end), math.dist(start, end)
    middle = _Point((start.x + end.x) / 2, (start.y + end.y) / 2)
    # there and back are two arrows, and the longer the way, the more room there is between them
    bend = middle.moved(way - math.pi / 2, 24 + 0.14 * distance)
    out, back = start.angle_to(bend), end.angle_to(bend)
    begin, tip = start.moved(out, radius), end.moved(back, radius + 1)
    neck = end.moved(back, radius + _head_length(p))

    def on_curve(t: float) -> _Point:
        weights = ((1 - t) ** 2, 2 * t * (1 - t), t**2)
        three = (begin, bend, neck)
        return _Point(
            sum(w * point.x for w, point in zip(weights, three, strict=True)),
            sum(w * point.y for w, point in zip(weights, three, strict=True)),
        )

    places = tuple(map(on_curve, (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2)))
    return _Arrow(ends, p, f"M{begin} Q{bend} {neck}", _head(p, tip, back), places)


def _loop(state: int, p: float, node: _Point, radius: float, n: int) -> _Arrow:
    """An arrow from a state to itself, on the far side from the others."""
    outwards = -math.pi / 2 if n == 1 else _Point(_MIDDLE, _MIDDLE).angle_to(node)
    spread = 0.52
    begin = node.moved(outwards - spread, radius)
    tip = node.moved(outwards + spread, radius + 1)
    reach = radius + 48
    bends = node.moved(outwards - 0.62, reach), node.moved(outwards + 0.62, reach)
    back = outwards + 0.36  # the way in which the curve comes home
    neck = tip.moved(back, _head_length(p) - 1)
    label = node.moved(outwards, radius + 49)
    path = f"M{begin} C{bends[0]} {bends[1]} {neck}"
    return _Arrow((state, state), p, path, _head(p, tip, back), (label,))


def _head(p: float, tip: _Point, back: float) -> str:
    length = _head_length(p) + 1
    half = 3.5 + 4.0 * p
    neck = tip.moved(back, length)
    corners = neck.moved(back + math.pi / 2, half), neck.moved(back - math.pi / 2, half)
    return f"M{tip} L{corners[0]} L{corners[1]} Z"


def _placed(arrows: list[_Arrow], nodes: list[_Point], radius: float) -> list[_Label]:
    """The probabilities that can be written without covering another or a state."""
    labels: list[_Label] = []
    least = _LEAST_IN_A_CROWD if len(nodes) > _CROWDED else 0.0
    for arrow in arrows:
        if arrow.probability < least:
            continue
        for place in arrow.places:
            label = _Label(probability(arrow.probability), place)
            taken = any(label.overlaps(other) for other in labels)
            if not taken and not any(label.touches(node, radius) for node in nodes):
                labels.append(label)
                break
    return labels


def _drawn(arrow: _Arrow) -> str:
    start, end = arrow.ends
    return (
        f'<g opacity="{0.35 + 0.45 * arrow.probability:.2f}">'
        f'<path data-from="{start + 1}" data-to="{end + 1}" d="{arrow.path}" fill="none" '
        'stroke="currentColor" '
        f'stroke-width="{_thickness(arrow.probability):.2f}"/>'
        f'<path d="{arrow.head}" fill="currentColor"/></g>'
    )


def _drawn_node(state: int, at: _Point, radius: float) -> str:
    colour = STATE_COLOURS[state]
    letter = ink([channel / 255 for channel in hex_to_rgb(colour)])
    return (
        f'<circle data-state="{state + 1}" cx="{at.x:.1f}" cy="{at.y:.1f}" r="{radius}" '
        f'fill="{colour}"/>'
        f'<text x="{at.x:.1f}" y="{at.y:.1f}" dy="0.36em" text-anchor="middle" font-size="20" '
        f'font-weight="700" fill="{letter}">{state + 1}</text>'
    )


def _written(label: _Label) -> str:
    return (
        f'<text x="{label.at.x:.1f}" y="{label.at.y:.1f}" dy="0.35em" text-anchor="middle" '
        f'font-size="{_LETTER}" fill="currentColor">{label.text}</text>'
    )
