"""What a true model implies, in tables and sentences."""

from collections.abc import Sequence

import numpy as np

from dashboard.compute.implications import Ceiling, separations, time_shares
from dashboard.model.experiment import Experiment
from dashboard.model.model_checks import indexed
from dashboard.model.spaces.registry import SPACES
from dashboard.model.truth import Rows, is_law
from dashboard.text import columns, formatting


def sum_in_words(law: Sequence) -> tuple[str, str]:
    """The sum of a row, and a check mark or what is wrong with it."""
    given = [value for value in law if value is not None]
    total = f"{sum(given):.10g}"
    if is_law(law):
        return "1", "✓"
    if len(given) < len(law):
        return total, "a blank"
    if min(law) < 0:
        return total, "a negative"
    gap = 1.0 - sum(law)
    size = f"{abs(gap):.10f}".rstrip("0").rstrip(".")
    return total, f"{size} {'missing' if gap > 0 else 'too much'}"


def sums_table(transmat: Rows, row_height: int) -> str:
    """The sums of the rows as HTML, each as high as the row of the editor that it stands beside."""
    cell = f'style="height: {row_height}px"'
    rows = []
    for row in transmat:
        total, remark = sum_in_words(row)
        mark = f" {remark}" if remark == "✓" else f"<br><small>{remark}</small>"
        rows.append(f"<tr><td {cell}>{total}{mark}</td></tr>")
    return (
        '<table class="truth-sums" aria-label="Sums of the rows of A">'
        f'<thead><tr><th scope="col" {cell}>Sum</th></tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def dwell_time(stay: float) -> str:
    """The expected number of observations before the chain leaves a state."""
    if stay >= 1.0:  # a row may sum to a little more than 1
        return "never leaves"
    stays = 1.0 / (1.0 - stay)
    return f"{stays:.2f}" if stays < 1_000 else f"{stays:,.0f}"


def chain_table(experiment: Experiment) -> dict[str, list[str]]:
    """For each state its share of time and its expected stay."""
    shares = time_shares(experiment.transmat)
    return {
        columns.STATE.heading: [str(i + 1) for i in range(experiment.n_states)],
        columns.SHARE_OF_TIME.heading: ["depends on the start"] * experiment.n_states
        if shares is None
        else [formatting.hundredths(share) for share in shares],
        columns.EXPECTED_STAY.heading: [
            dwell_time(row[i]) for i, row in enumerate(experiment.transmat)
        ],
    }


def separations_table(experiment: Experiment) -> dict[str, list[str]]:
    """The distances between all means, in units of their σ."""
    values = separations(experiment)
    n = len(values)
    table = {columns.MEAN.heading: [indexed("c", i) for i in range(n)]}
    for j in range(n):
        table[indexed("c", j)] = ["–" if i == j else f"{values[i, j]:.2f}" for i in range(n)]
    return table


def separations_in_words(experiment: Experiment) -> str:
    """Which two states are hardest to tell apart, and what the unit is."""
    values = separations(experiment) + np.diag([np.inf] * experiment.n_states)
    i, j = np.unravel_index(values.argmin(), values.shape)
    nearest = f"{indexed('c', int(i))} and {indexed('c', int(j))}"
    balls = SPACES[experiment.space].words.balls
    if values[i, j] < 2.0:
        return f"{nearest} are nearest: at {values[i, j]:.2f}, their {balls} overlap."
    return f"{nearest} are nearest: even their {balls} do not overlap."


def ceiling_in_words(best: Ceiling) -> str:
    """The best possible accuracy as a sentence."""
    share, error = formatting.percent(best.accuracy), 100.0 * best.standard_error
    if error:
        share += " ± less than 0.01" if error < 0.005 else f" ± {error:.2f}"
    return f"A decoder that knows this model identifies **{share}** of the hidden states correctly."


def floor_in_words(experiment: Experiment) -> str:
    """The accuracy of a guess without looking at the data."""
    if experiment.n_states == 1:
        return "With a single state there is nothing to tell apart."
    shares = time_shares(experiment.transmat)
    if shares is None:
        return "Where this chain ends up depends on chance: the simulation is one such case."
    return (
        f"Always naming state {shares.argmax() + 1}, without looking, is right "
        f"{formatting.percent(shares.max())} of the time."
    )
