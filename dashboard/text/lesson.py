"""The words of the lesson: about sixty for each screen, a question to guess, and its answer."""

from collections.abc import Callable
from typing import NamedTuple

from dashboard.compute import lesson as results
from dashboard.model.model_checks import indexed
from dashboard.text import formatting
from dashboard.text.glossary import link


class Question(NamedTuple):
    """What a visitor may guess before the answer is shown."""

    text: str
    options: tuple[str, ...]
    right: int
    """Which option is true."""
    because: str


class Screen(NamedTuple):
    """One screen of the lesson."""

    title: str
    words: str
    question: Callable[[], Question]
    """Called when the screen is shown: some answers are computed."""


def _fixed(text: str, options: tuple[str, ...], right: int, because: str) -> Callable:
    return lambda: Question(text, options, right, because)


def _first_row_to_fail() -> Question:
    found = results.windows()
    n, out = len(results.PAPERS.means), found.exit
    name, raw = indexed("A", out.row, out.column), formatting.number(out.raw, 3)
    return Question(
        f"Δ = {results.SHORT}, A updated as printed: which row of A fails first?",
        tuple(f"Row {i + 1}" for i in range(n)),
        out.row,
        f"At k = {out.k} the step takes {name} from {out.before:.3f} to :red[**{raw}**], "
        f"which is no probability. Its μ is only {out.mu:.1f}, so the step 1/μ is long; g = "
        f"{out.g:.3f} pulls less than its row does on average. Clipped to almost 0, "
        "it hardly ever comes back.",
    )


def _what_the_chain_says() -> Question:
    case = results.mistake()
    n = len(case.both)
    return Question(
        f"K-means says state {case.label + 1}, the nearest centre. What does the chain say?",
        tuple(f"State {i + 1}" for i in range(n)),
        case.state,
        f"The point alone prefers state {case.label + 1} by a hair, {case.density[case.label]:.3f} "
        f"to {case.density[case.state]:.3f}. But its neighbours in time speak for state "
        f"{case.state + 1}: the past with {case.past[case.state]:.2f}, the future with "
        f"{case.future[case.state]:.2f}. Together γ = {case.both[case.state]:.3f}.",
    )


SCREENS = {
    "distance": Screen(
        "Distance",
        "The disk is a map of a curved plane, and like every map it lies. The shortest way from x "
        f"to z is the blue arc, a geodesic; its length is {link('d')}. Near the "
        f"{link('rim')} a small step on the map is a long way. The orange point is {link('x #τ z')}"
        f": it has gone the share {link('τ')} of the way. The algorithm moves its means like that. "
        "Drag x or z.",
        _fixed(
            "From the middle, z goes half of what is left to the rim, again and again. What does "
            "d do?",
            ("It settles at a limit", "It grows by the same amount each time", "It doubles"),
            1,
            "Each time by about ln 2 = 0.69: halving what is left to the rim is one more step of "
            "the same length. So the rim is never reached.",
        ),
    ),
    "circle": Screen(
        "Circle",
        f"All points at distance {link('σ')} from {link('c')} make a circle, also on this map. But "
        "its centre is not where the eye expects it. Every point of the space is as good as any "
        "other: an isometry moves all of the map so that c comes to the middle, and no distance "
        "changes. Seen from there the circle is in the middle too. Drag c, or re-centre.",
        _fixed(
            "The circle is drawn off the middle of the disk. Where is its centre c?",
            ("In the middle of the circle", "Nearer the rim", "Nearer the middle of the disk"),
            1,
            "Towards the rim the map shrinks lengths, so the same σ looks shorter on that side.",
        ),
    ),
    "gaussian": Screen(
        "Gaussian",
        f"A state emits points around its mean with density p = exp(−d²/2σ²) / {link('Z')}. Along "
        "a ray that is the bell you know. But there is more and more room further out, so samples "
        f"lie further away than in the plane. {link('δ')} is their mean squared distance. The "
        "algorithm learns δ and reads σ off the curve. Move σ.",
        _fixed(
            "In the plane δ = 2σ². What is δ on the disk, for the same σ?",
            ("Smaller", "The same", "Larger"),
            2,
            "The circumference of a circle grows like sinh r instead of r. For small σ the "
            "difference vanishes: seen from close by, the disk is flat.",
        ),
    ),
    "centre": Screen(
        "Centre of mass",
        "What is the average of points on a curved space? Averaging coordinates depends on the "
        "map. The centre of mass does not: it is the point with the least sum of squared "
        f"{link('d')}. {link('K-means')} uses it for its centres, and each small step of the "
        "online algorithm moves a mean towards it. Drag the points, one of them far out.",
        _fixed(
            "One of the five points goes to the rim. Which average follows it?",
            ("The average of coordinates", "The centre of mass", "Neither, much"),
            1,
            "The centre of mass goes a fifth of the distance, however far that is. The average of "
            "coordinates stops after a fifth of the way on the map.",
        ),
    ),
    "chain": Screen(
        "The chain",
        f"A chain jumps between hidden states; row i of {link('A')} says where it goes from state "
        f"i. In each state it emits one point {link('y')} around that state’s mean {link('c')}. "
        "This is the paper’s chain. Now hide the states: what is left is a cloud of grey points in "
        "an order. From these alone A, c and σ must be learned.",
        _fixed(
            "In state 3 the chain stays with probability 0.8. How many steps does a stay last on "
            "average?",
            ("1.25", "5", "8"),
            1,
            "1 / (1 − 0.8) = 5. So neighbours in time often share a state, and that is what the "
            "chain knows and K-means does not.",
        ),
    ),
    "step": Screen(
        "One step",
        f"A new point y arrives. {link('α')} weighs the past, {link('β')} the future, and "
        f"{link('γ')} says from which state each point in the window is. Then each mean moves the "
        f"share {link('τ')} of the way to the new point, {link('δ')} and σ follow, and one row of "
        f"{link('A')} is nudged by {link('ζ')}. Below is every formula with its numbers.",
        _fixed(
            "What decides how far a mean moves towards the new point?",
            (
                "Only its distance",
                "How much of the new point is its own, among all it has in the window",
                "Its σ",
            ),
            1,
            "τ = γ / Σγ. A state that has hardly any points in the window gives the new one much "
            "weight: short windows make restless means.",
        ),
    ),
    "delta": Screen(
        "Δ",
        f"{link('Δ')} is how many points the window holds. The update of A as printed divides by "
        f"{link('μ')}, which counts pairs of states in the window. A short window has seen some "
        "pairs hardly ever: the step is then so long that an entry leaves [0, 1], and A collapses. "
        "Δ = 200 holds enough pairs. The convex update cannot leave [0, 1]. Ours needs Δ only to "
        "start.",
        _first_row_to_fail,
    ),
    "differ": Screen(
        "Why they differ",
        f"{link('K-means')} looks at one point at a time and takes the nearest centre. The chain "
        f"also asks what came before and after. Where two states overlap, a point says little, and "
        f"its neighbours in time say the rest. {link('γ')} is the product of the three: the point, "
        "the past, the future. This observation of the paper’s chain was found by a search.",
        _what_the_chain_says,
    ),
    "matrices": Screen(
        "The disk is matrices",
        "Why hyperbolic? Every point of the disk is a positive definite 2×2 matrix of determinant "
        "one, such as the shape of a covariance, drawn as an ellipse. The middle is the circle. "
        f"Distances agree up to a factor: {link('d')} of the matrices is √2 times d on the disk, a "
        "similarity. So all that you have seen here holds for covariances of brain signals or "
        "radar. Drag the point.",
        _fixed(
            "Move the point towards the rim. What becomes of its ellipse?",
            ("It grows in all directions", "Long and thin, of the same area", "It shrinks"),
            1,
            "The determinant stays one, and so does the area; d/2 is the logarithm of how long the "
            "ellipse is.",
        ),
    ),
}

DELTA_NAMES = {
    "short": f"Δ = {results.SHORT}, as printed",
    "long": f"Δ = {results.LONG}, as printed",
    "convex": f"Δ = {results.SHORT}, convex update",
    "streaming": f"Δ = {results.SHORT}, streaming (ours)",
}
"""The learners on the screen about Δ."""
