"""The paper's symbols and the words of the pages, each explained in one sentence."""

import html
from typing import NamedTuple

PAPER = (
    "Q. Tupker, S. Said, C. Mostajeran: Online learning of Riemannian hidden Markov models in "
    "homogeneous Hadamard spaces"
)
"""The paper that equations and tables are of."""


class Entry(NamedTuple):
    """One symbol or word."""

    key: str
    """Its name in letters, for anchors."""
    symbol: str
    """As pages write it."""
    sentence: str
    where: str = ""
    """In the paper."""


_ENTRIES = (
    Entry("a", "A", "Transition matrix: A_ij is the probability that state j follows state i; "
          "each row sums to 1.", "section 2"),
    Entry("pi", "π", "Initial distribution: π_i is the probability that the chain begins in "
          "state i.", "section 3"),
    Entry("n", "N", "The number of hidden states.", "section 3"),
    Entry("t", "T", "The length of the chain: how many observations there are.", "section 4"),
    Entry("k", "k", "The newest observation: how many the online algorithm has seen.", "section 3"),
    Entry("y", "y", "An observation: a point of the space, for example of the Poincaré disk.",
          "section 2"),
    Entry("d", "d", "Distance in the space, measured along the geodesic: on the disk it grows "
          "without bound towards the rim.", "eqs. (2) and (18)"),
    Entry("c", "c", "Mean of a state: the point around which its observations lie.", "eq. (1)"),
    Entry("sigma", "σ", "Spread of a state: how far from its mean its observations lie.",
          "eq. (1)"),
    Entry("delta", "δ", "Mean squared distance of a state’s observations from its mean; σ follows "
          "from it.", "eqs. (5) and (13)"),
    Entry("z", "Z", "Normalisation of the Gaussian: the total of exp(−d²/2σ²) over the whole "
          "space.", "eqs. (1) and (19)"),
    Entry("p", "p", "Density of an observation if the chain is in a given state.", "eq. (1)"),
    Entry("alpha", "α", "Forward probability: how likely each state is, given the observations up "
          "to that time.", "table 1"),
    Entry("beta", "β", "Backward probability: how well each state explains the observations after "
          "that time.", "table 1"),
    Entry("gamma", "γ", "Probability of each state given all observations in the window: α times "
          "β, made to sum to 1.", "table 1"),
    Entry("zeta", "ζ", "Probability of a pair: state i now and state j next, given all "
          "observations in the window.", "table 1"),
    Entry("tau", "τ", "Step: the share of the way to the new observation that a mean moves, γ "
          "divided by the sum of γ.", "eq. (12)"),
    Entry("geodesic", "x #τ z", "The point on the geodesic from x to z at the share τ of the way.",
          "eq. (14)"),
    Entry("mu", "μ", "Information about A_ij in the window, Σζ/A²: its inverse is the size of the "
          "step.", "eq. (7)"),
    Entry("g", "g", "Direction in which the newest pair of states pulls A_ij: ζ/A.", "eq. (8)"),
    Entry("window", "Δ", "How many observations the paper’s algorithm starts from and looks back "
          "over at each step.", "section 3"),
    Entry("kappa", "κ", "Curvature that the streaming algorithm divides the step of a mean by: in "
          "curved space the full step would be too long."),
    Entry("ceiling", "ceiling", "Accuracy with the true parameters: on average no method that "
          "must learn them does better."),
    Entry("accuracy", "accuracy", "Share of observations that get their true state, after the "
          "states are matched."),
    Entry("kmeans", "K-means", "Gives each observation to the nearest centre and ignores the order "
          "in time.", "section 3"),
    Entry("em", "EM", "Expectation–maximisation: goes over all observations again and again until "
          "the parameters settle.", "section 2"),
    Entry("online", "online", "Learns from each observation once, as it comes, and holds only a "
          "few.", "section 3"),
    Entry("rim", "rim", "Edge of the disk: infinitely far away from every point of it."),
)  # fmt: skip

_BY_NAME = {name: entry for entry in _ENTRIES for name in (entry.key, entry.symbol)}

SYMBOLS = tuple(entry.symbol for entry in _ENTRIES)
"""All that `define` knows, in the order of the glossary."""


def define(symbol: str) -> str:
    """The sentence about a symbol, given as ``τ`` or as ``tau``; a KeyError if there is none."""
    entry = _BY_NAME[symbol]
    return f"{entry.sentence} (Paper, {entry.where}.)" if entry.where else entry.sentence


def anchor(symbol: str) -> str:
    """The id of a symbol's entry on the page."""
    return f"glossary-{_BY_NAME[symbol].key}"


def link(symbol: str) -> str:
    """The symbol in Markdown, linked to its entry."""
    return f"[{symbol}](#{anchor(symbol)})"


def glossary_table() -> str:
    """All entries in HTML, each with its anchor."""
    rows = "".join(
        f'<dt id="{anchor(entry.symbol)}">{html.escape(entry.symbol)}</dt>'
        f"<dd>{html.escape(define(entry.symbol))}</dd>"
        for entry in _ENTRIES
    )
    return f'<dl class="glossary">{rows}</dl>'
