"""The formulas of one step of an online learner, with the step's numbers in them, in TeX."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from dashboard.compute.steps import CONVEX, PAPER, STREAMING, Step
from rhmm.streams.explanation import Explanation

_CLOSE = 1e-9
_WITHIN = "A step towards a law, and never beyond it: it cannot leave [0, 1]."


class Formula(NamedTuple):
    """One line of the step."""

    title: str
    tex: str
    words: str = ""
    is_wide: bool = False
    """Whether it needs the whole width of a page."""


def formulas(step: Step, state: int, coords: Callable[[np.ndarray], Any]) -> list[Formula]:
    """What the step does to this state, line by line.

    `coords` writes points of the space, shape (M, *point_shape), as pages do, shape (M, D).
    """
    e = step.explanation
    if not len(e.learned):
        return [*_newest(e, state), Formula("Nothing moves yet", r"\tau = 0", _waiting(step))]
    means = np.stack([e.before.means[state], e.after.means[state]])
    mean = _mean(step, state, np.asarray(coords(means)))
    if step.kind == STREAMING:
        return [*_newest(e, state), *_memory(e, state), mean, _streaming_delta(step, state),
                _sigma(e, state), _streaming_row(step, state)]  # fmt: skip
    row = _printed_row(step, state) if step.kind == PAPER else [_convex_row(step, state)]
    return [*_newest(e, state), _tau(e, state), mean, _delta(step, state), _sigma(e, state), *row]


def number(value: float) -> str:
    """Four digits, or a power of ten for what is smaller or larger than these can say."""
    value = float(value)
    if value and not 1e-3 <= abs(value) < 1e5:
        mantissa, exponent = f"{value:.3e}".split("e")
        return rf"{mantissa} \times 10^{{{int(exponent)}}}"
    return f"{value:.4f}"


def _signed(value: float) -> str:
    """A number that can stand behind a sign."""
    return f"({number(value)})" if value < 0 else number(value)


def _probability(value: float) -> str:
    """Red if it is none."""
    inside = 0.0 <= value <= 1.0
    return number(value) if inside else rf"\textcolor{{red}}{{\mathbf{{{number(value)}}}}}"


def _vector(values: np.ndarray) -> str:
    inside = r",\ ".join(number(v) for v in values)
    return rf"\left({inside}\right)"


def _waiting(step: Step) -> str:
    if step.kind == STREAMING:
        return (
            "The streaming algorithm learns observations in groups, each with as many later ones "
            "known. This one waits for its group: A, c and σ stay as they are."
        )
    return "This observation is missing: A, c and σ stay as they are."


def _newest(e: Explanation, i: int) -> list[Formula]:
    """γ of the newest observation; β is 1 there."""
    if len(e.alpha) < 2:
        return []
    predicted = e.alpha[-2] @ e.before.transmat
    joint = predicted * e.density[-1]
    if not np.allclose(joint / joint.sum(), e.alpha[-1], atol=_CLOSE):
        return []  # A has moved since, and the learner filters on with what it had
    s = i + 1
    lines = [
        rf"\gamma_{{k|k}}({s}) = \alpha_k({s}) &= \frac{{p_{s}(y_k) \sum_h \alpha_{{k-1}}(h)\,"
        rf"A_{{h{s}}}}}{{\sum_j p_j(y_k) \sum_h \alpha_{{k-1}}(h)\,A_{{hj}}}}",
        rf"&= \frac{{{number(e.density[-1, i])} \cdot {number(predicted[i])}}}"
        rf"{{{number(joint.sum())}}} = {number(e.alpha[-1, i])}",
    ]
    words = "Densities are divided by the largest of them: only their ratios count."
    return [Formula("Is the new point from this state?", _aligned(lines), words)]


def _tau(e: Explanation, i: int) -> Formula:
    s = i + 1
    tex = (
        rf"\tau = \frac{{\gamma_{{k|k}}({s})}}{{\sum_t \gamma_{{t|k}}({s})}} = "
        rf"\frac{{{number(e.gamma[-1, i])}}}{{{number(e.visits[i])}}} = {number(e.tau[i])}"
    )
    return Formula("How much of this state’s points is the new one?", tex)


def _memory(e: Explanation, i: int) -> list[Formula]:
    """τ of the streaming algorithm."""
    s, visited = i + 1, e.weight[:, i].sum()
    parts = [number(w) for w in e.weight[:, i]]
    half = -(-len(parts) // 2)
    lines = [rf"w &= \sum_t \gamma_t({s}) = {number(visited)}", f"&= {' + '.join(parts[:half])}"]
    if parts[half:]:
        lines.append(rf"&\quad + {' + '.join(parts[half:])}")
    title = f"How much of the {len(e.learned)} learned points is this state’s?"
    weight = Formula(title, _aligned(lines), is_wide=True)
    if e.tau[i] == 0.0:
        return [weight]
    gain = -np.log1p(-e.tau[i]) * e.visits[i] / visited
    lines = [
        rf"\tau &= 1 - e^{{-{gain:.2f}\,w / n}}",
        rf"&= 1 - \exp\!\left(-{gain:.2f} \cdot \frac{{{number(visited)}}}"
        rf"{{{number(e.visits[i])}}}\right) = {number(e.tau[i])}",
    ]
    words = "n is how much of all observations so far the state has had."
    return [weight, Formula("How far does it move?", _aligned(lines), words)]


def _mean(step: Step, i: int, coordinates: np.ndarray) -> Formula:
    e, s = step.explanation, i + 1
    way = float(step.manifold.dist(e.before.means[i], e.after.means[i]))
    is_wide = coordinates.shape[1] > 2
    places = rf"{_vector(coordinates[0])} \;\longrightarrow\; {_vector(coordinates[1])}"
    if step.kind == STREAMING:
        lines = [
            rf"c_{s}' &= \exp_{{c_{s}}}\!\Big(\frac{{\tau}}{{\kappa}} \sum_t "
            rf"\frac{{\gamma_t}}{{w}} \log_{{c_{s}}} y_t\Big), \quad \kappa = {number(e.kappa[i])}",
            rf"c_{s}: \quad & {places}",
        ]
        words = f"By the distance {way:.4f} along a geodesic."
        return Formula("The mean moves", _aligned(lines), words, is_wide)
    d = step.distances[i, 0]
    lines = [rf"c_{s}' &= c_{s} \,\#_\tau\, y_k", rf"c_{s}: \quad & {places}"]
    return Formula(
        "The mean moves along its geodesic",
        _aligned(lines),
        f"d(c, y) = {d:.4f}, and it goes τ · d = {e.tau[i]:.4f} · {d:.4f} = {way:.4f} of that.",
        is_wide,
    )


def _delta(step: Step, i: int) -> Formula:
    e, s = step.explanation, i + 1
    old, d2, gamma = e.before.delta[i], step.distances[i, 0] ** 2, e.gamma[-1, i]
    new = old + gamma * (d2 - old) / np.sqrt(e.step)
    lines = [
        rf"\delta_{s}' &= \delta_{s} + \frac{{\gamma\,(d^2 - \delta_{s})}}{{\sqrt{{k}}}}",
        rf"&= {number(old)} + \frac{{{number(gamma)}\,({number(d2)} - {number(old)})}}"
        rf"{{\sqrt{{{e.step}}}}} = {number(new)}",
    ]
    return Formula("Its mean squared distance", _aligned(lines), _floored(new, e.after.delta[i]))


def _streaming_delta(step: Step, i: int) -> Formula:
    e, s = step.explanation, i + 1
    old, visited = e.before.delta[i], max(e.weight[:, i].sum(), 1e-300)
    d2 = float(e.weight[:, i] / visited @ step.distances[i] ** 2)
    new = (1.0 - e.tau[i]) * old + e.tau[i] * d2
    lines = [
        rf"\delta_{s}' &= (1 - \tau)\,\delta_{s} + \tau \sum_t \frac{{\gamma_t}}{{w}} d^2",
        rf"&= {number(1 - e.tau[i])} \cdot {number(old)} + {number(e.tau[i])} \cdot {number(d2)} = "
        rf"{number(new)}",
    ]
    return Formula("Its mean squared distance", _aligned(lines), _floored(new, e.after.delta[i]))


def _floored(new: float, kept: float) -> str:
    return "" if abs(new - kept) < _CLOSE * max(1.0, kept) else f"Kept at the least, {kept:.4g}."


def _sigma(e: Explanation, i: int) -> Formula:
    s = i + 1
    before, after = number(e.before.sigmas[i]), number(e.after.sigmas[i])
    tex = rf"\sigma_{s}: \quad {before} \;\longrightarrow\; {after} = \delta^{{-1}}(\delta_{s}')"
    return Formula("Its spread follows from δ", tex)


def _printed_row(step: Step, i: int) -> list[Formula]:
    """The paper's update of row i of A."""
    e, s, n = step.explanation, i + 1, len(step.raw)
    if e.mu is None or e.g is None:
        raise ValueError("the paper's update has μ and g")
    mu, g, old = e.mu[i], e.g[i], e.before.transmat[i]
    counts = e.zeta.sum(axis=0)[i]
    pull = (g / mu).sum() / (1.0 / mu).sum()
    infos = [
        rf"\mu_j &= \frac{{\sum_t \zeta_t({s},j)}}{{A_{{{s}j}}^2}}, & g_j &= "
        rf"\frac{{\zeta_{{k-1}}({s},j)}}{{A_{{{s}j}}}}"
    ]
    infos += [
        rf"\mu_{j + 1} &= \frac{{{number(counts[j])}}}{{{number(old[j])}^2}} = {number(mu[j])}, & "
        rf"g_{j + 1} &= \frac{{{number(e.pair[i, j])}}}{{{number(old[j])}}} = {number(g[j])}"
        for j in range(n)
    ]
    middle = rf"\bar g = \frac{{\sum_h g_h / \mu_h}}{{\sum_h 1 / \mu_h}} = {number(pull)}"
    steps = [rf"A_{{{s}j}}' &= A_{{{s}j}} + \frac{{1}}{{\mu_j}}\,(g_j - \bar g)"]
    steps += [
        rf"A_{{{s}{j + 1}}}' &= {number(old[j])} + \frac{{1}}{{{number(mu[j])}}}"
        rf"\,({number(g[j])} - {_signed(pull)}) = {_probability(step.raw[i, j])}"
        for j in range(n)
    ]
    return [
        Formula(f"Row {s} of A: what the window knows of it", _aligned(infos), is_wide=True),
        Formula("The pull that all entries of the row share", middle),
        Formula(
            f"Row {s} of A moves", _aligned([*steps, _kept(step, i)]), _clipped(step.raw[i]), True
        ),
    ]


def _convex_row(step: Step, i: int) -> Formula:
    e, s = step.explanation, i + 1
    old, total = e.before.transmat[i], e.pair[i].sum()
    symbols = (
        rf"A_{{{s}j}} + \frac{{\zeta({s},j) - A_{{{s}j}} \sum_h \zeta({s},h)}}"
        rf"{{\sum_t \gamma_t({s})}}"
    )

    def terms(j: int) -> str:
        pull = rf"{number(e.pair[i, j])} - {number(old[j])} \cdot {number(total)}"
        return rf"{number(old[j])} + \frac{{{pull}}}{{{number(e.visits[i])}}}"

    return _lawful_row(step, i, symbols, terms)


def _streaming_row(step: Step, i: int) -> Formula:
    e, s = step.explanation, i + 1
    kept, tau, visited = number(1 - e.tau[i]), number(e.tau[i]), number(e.weight[:, i].sum())
    symbols = rf"(1 - \tau) A_{{{s}j}} + \tau\,\frac{{\sum_t \zeta_t({s},j)}}{{w}}"

    def terms(j: int) -> str:
        share = rf"\frac{{{number(e.pair[i, j])}}}{{{visited}}}"
        return rf"{kept} \cdot {number(e.before.transmat[i, j])} + {tau} \cdot {share}"

    return _lawful_row(step, i, symbols, terms)


def _lawful_row(step: Step, i: int, symbols: str, terms: Callable[[int], str]) -> Formula:
    """A row of A that moves towards a law: its formula in symbols, and the terms of each entry."""
    s = i + 1
    lines = [rf"A_{{{s}j}}' &= {symbols}"]
    lines += [
        rf"A_{{{s}{j + 1}}}' &= {terms(j)} = {_probability(raw)}"
        for j, raw in enumerate(step.raw[i])
    ]
    return Formula(f"Row {s} of A moves", _aligned([*lines, _kept(step, i)]), _WITHIN, True)


def _kept(step: Step, i: int) -> str:
    after = step.explanation.after.transmat[i]
    return rf"A_{{{i + 1}\cdot}}' &\;\longrightarrow\; {_vector(after)}"


def _clipped(raw: np.ndarray) -> str:
    if ((raw >= 0.0) & (raw <= 1.0)).all():
        return "All entries are probabilities: the row stays as it is."
    return "What has left [0, 1] is clipped, and the row is scaled to the sum 1."


def _aligned(lines: list[str]) -> str:
    return r"\begin{aligned}" + r" \\[4pt] ".join(lines) + r"\end{aligned}"


def kind_in_words(kind: str) -> str:
    """Which formulas these are."""
    return {
        PAPER: "The paper’s algorithm, with A updated as printed.",
        CONVEX: "The paper’s algorithm, with the convex update of A.",
        STREAMING: "The streaming algorithm, ours.",
    }[kind]
