"""``rhmm select``: how many states are behind a file of observations?"""

import argparse

from rhmm.commands.common import columns, positive, progress_bar, write
from rhmm.commands.data import add_search_arguments, read_data
from rhmm.recording import Recording
from rhmm.selection import CRITERIA, PREDICTIVE, Selection, select_n_components

MOST_STATES = 12
"""That are tried, unless told otherwise."""


def add(commands) -> None:
    """Say which arguments it takes."""
    command = commands.add_parser("select", help="how many states a file of observations has")
    command.set_defaults(command=run)
    add_search_arguments(command)
    command.add_argument(
        "--most", type=positive, default=MOST_STATES, help=f"states to try ({MOST_STATES})"
    )
    command.add_argument(
        "--criterion",
        choices=CRITERIA,
        default="bic",
        help=f"{PREDICTIVE} holds observations out and predicts them (bic)",
    )


def run(options: argparse.Namespace) -> None:
    recording, _ = read_data(options, options.space)
    found = select(recording, options.most, options.criterion, options.emission, options.seed)
    write(_curve(found))
    write(found.explanation())


def select(recording: Recording, most: int, criterion: str, emission: str, seed: int) -> Selection:
    """Try every number of states under a progress bar."""
    most = min(most, int(recording.observed.sum()))
    with progress_bar(1.0, counts=False) as update:
        update(0.0, "searching")
        return select_n_components(
            recording.manifold,
            recording.points,
            range(1, most + 1),
            criterion=criterion,
            emission=emission,
            lengths=recording.lengths,
            random_state=seed,
            callback=lambda done, total: update(done / total, f"{done} of {total} models"),
        )


def _curve(found: Selection):
    """The criterion and the likelihood of each number of states."""
    name = "−2 log p held out" if found.criterion == PREDICTIVE else found.criterion.upper()
    content = columns("log p", name, "above the least")
    for model, likelihood, value in zip(
        found.models, found.log_likelihood, found.values, strict=True
    ):
        above = value - found.values.min()
        content.add_row(
            f"{model.n_components}", f"{likelihood:,.1f}", f"{value:,.1f}", f"{above:,.1f}"
        )
    return content
