"""The columns of every table: name, unit and definition, and the tables as HTML.

A heading carries its definition, which the browser shows when the pointer rests on it.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from dashboard.model import truth
from dashboard.model.spaces.space import Space
from dashboard.text import ceiling


class Column(NamedTuple):
    """What a column holds."""

    name: str
    definition: str
    unit: str = ""

    @property
    def heading(self) -> str:
        """The name with the unit of its numbers."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


METHOD = Column("Method", "How the model was learned. All methods see the same observations.")
SEED = Column("Seed", "The number that the random chain is drawn from: one seed, one chain.")
ACCURACY = Column(
    "Accuracy",
    "Share of the hidden states that are identified correctly, after the method’s states are "
    "matched with the true ones.",
    "%",
)
AGREEMENT = Column(
    "Agreement with the labels",
    "Share of the labelled observations whose state is the one matched with their label; each "
    "label is matched with one state.",
    "%",
)
CEILING = Column("Ceiling", f"{ceiling.MEANING} {ceiling.BY_CHANCE}", "%")
TRANSITION_ERROR = Column(
    "‖A − Â‖",
    "How far the learned transition matrix Â is from the true A: the root of the sum of all "
    "squared differences of their entries (Frobenius norm).",
)
MEAN_ERROR = Column(
    "Distance of means",
    "Distance d(c, ĉ) from a true mean c to the learned ĉ, along the geodesic between them; "
    "averaged over the states.",
)
SIGMA_ERROR = Column(
    "Error of σ",
    "By what share of the true σ the learned σ̂ is too large or too small, |σ̂ − σ| / σ; averaged "
    "over the states.",
    "%",
)
LOG_LIKELIHOOD = Column(
    "Log-likelihood per observation",
    "log p(all observations) under the learned model, divided by their number T. Higher is better.",
)
PREDICTIVE = Column(
    "Predictive log density",
    "log p(y_k | all before it): what a learner said of each observation before it saw it, "
    "averaged over the second half of the recording. EM and K-means have seen all of it when they "
    "are asked. Higher is better.",
)
TIME = Column(
    "Time",
    "Processor time of learning, without drawing the data, compiling and scoring.",
    "ms",
)
LONG_TIME = TIME._replace(unit="s")
MEMORY = Column(
    "Memory",
    "The most that the method holds at once: EM and K-means hold all observations, an online "
    "learner only what it needs to go on.",
    "KB",
)
DIAGONAL = Column(
    "Diagonal of Â",
    "Learned probabilities of staying in each state, Â₁₁, Â₂₂, …: means over seeds.",
)
RMSE = Column(
    "Paper’s RMSE",
    "As the paper prints it. It cannot be ‖A − Â‖ of one estimate: the remarks below say why.",
)

STATE = Column("State", "The number of a hidden state, in the colours and marks of all figures.")
SHARE_OF_TIME = Column(
    "Share of time",
    "Stationary law of A: the share of all observations that the chain spends in this state in the "
    "long run.",
    "%",
)
EXPECTED_STAY = Column(
    "Expected stay",
    "Dwell time: how many observations in a row the chain spends in this state on average, "
    "1 / (1 − A₁₁) for state 1.",
    "observations",
)
LABEL = Column("Label", "The label that fits the state best; each label goes to one state.")
SHARE = Column("Share", "Share of all observations that are decoded as this state.", "%")
VISITS = Column("Visits", "How often the state is entered: runs of observations in it.")
STAY = Column("Mean stay", "How many observations in a row a visit lasts on average.")
MEAN = Column("Mean", "cᵢ, the true mean of state i: the centre of its observations.")

SIGMA = Column(
    "σ",
    "Spread of the observations of a state around its mean: the dispersion of its Riemannian "
    "Gaussian, whose density falls as exp(−d² / 2σ²) with the distance d from the mean.",
)
PI = Column("π", "Probability that the chain starts in this state.")
TRANSMAT = Column(
    "A",
    "Transition matrix: row i, column j is the probability that the next state is j after state i. "
    "Each row sums to 1.",
)

_COLUMNS = (
    METHOD, SEED, ACCURACY, AGREEMENT, CEILING, TRANSITION_ERROR, MEAN_ERROR, SIGMA_ERROR,
    LOG_LIKELIHOOD, PREDICTIVE, TIME, LONG_TIME, MEMORY, DIAGONAL, RMSE, STATE, SHARE_OF_TIME,
    EXPECTED_STAY, MEAN, LABEL, SHARE, VISITS, STAY, SIGMA,
)  # fmt: skip
_DEFINITIONS = {column.heading: column.definition for column in _COLUMNS}


def in_the_paper(column: Column) -> Column:
    """The same as the paper prints it."""
    name = f"Paper’s {column.name[0].lower()}{column.name[1:]}"
    return Column(name, f"As the paper prints it. {column.definition}", column.unit)


PAPERS_ACCURACY = in_the_paper(ACCURACY)
PAPERS_TIME = in_the_paper(LONG_TIME)._replace(
    definition="As the paper prints it, on its authors’ machine."
)
PAPERS_DIAGONAL = in_the_paper(DIAGONAL)
_DEFINITIONS |= {
    column.heading: column.definition for column in (PAPERS_ACCURACY, PAPERS_TIME, PAPERS_DIAGONAL)
}


def of_transmat(n_states: int) -> dict[str, str]:
    """Headings of the table in which A is typed, each with its definition."""
    return {
        heading: f"Probability that the next state is {j + 1}; a row for each present state."
        for j, heading in enumerate(truth.transmat_columns(n_states))
    }


def of_states(space: Space) -> dict[str, str]:
    """Headings of the table in which states are typed, each with its definition."""
    mean = f"Of the state’s mean c, {space.words.mean}: the centre of its observations."
    typed = {SIGMA.heading: SIGMA.definition, PI.heading: PI.definition}
    return {heading: typed.get(heading, mean) for heading in truth.state_columns(space)}


Table = Mapping[str, Sequence[str]]
"""Cells by the headings of their columns."""


def defined(text: str, definition: str) -> str:
    """A word with its definition, in HTML."""
    return f'<abbr title="{escape(definition)}">{escape(text)}</abbr>'


def table_html(table: Table, label: str) -> str:
    """The table in HTML, in a box of its own that scrolls where the screen is too narrow.

    `label` names it for those who cannot see it. The first cell of each row is its heading.
    """
    heads = "".join(f'<th scope="col">{_heading(name)}</th>' for name in table)
    rows = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for first, *cells in zip(*table.values(), strict=True)
    )
    return (
        f'<div class="numbers" role="region" tabindex="0" aria-label="{escape(label)}"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _heading(name: str) -> str:
    definition = _DEFINITIONS.get(name)
    return escape(name) if definition is None else defined(name, definition)
