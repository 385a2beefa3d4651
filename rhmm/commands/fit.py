"""``rhmm fit``: learn a model from a file of observations."""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

from rhmm import RiemannianHMM
from rhmm.commands.common import columns, positive, progress_bar, write
from rhmm.commands.data import add_search_arguments, read_data
from rhmm.commands.select import MOST_STATES, select
from rhmm.estimator import AUTO
from rhmm.learners.baum_welch import Monitor
from rhmm.recording import Recording
from rhmm.scoring import accuracy
from rhmm.storage import model_path


def add(commands) -> None:
    """Say which arguments it takes."""
    command = commands.add_parser("fit", help="learn a model from a file of observations, by EM")
    command.set_defaults(command=run)
    add_search_arguments(command)
    command.add_argument(
        "--states", type=_states, required=True, help="number of hidden states, or auto: by BIC"
    )
    command.add_argument("--iterations", type=positive, default=100, help="of EM at most (100)")
    command.add_argument("--out", required=True, help="the model, a .json or .npz file")


def run(options: argparse.Namespace) -> None:
    path = model_path(options.out)
    recording, _ = read_data(options, options.space)
    found = None
    if options.states == AUTO:
        found = select(recording, MOST_STATES, "bic", options.emission, options.seed)
        write(found.explanation())
    model = RiemannianHMM(
        recording.manifold,
        options.states if found is None else found.best.n_components,
        emission=options.emission,
        n_iter=options.iterations,
        init=None if found is None else found.best,
        random_state=options.seed,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit(model, recording)
    model.save(path)
    write(_states_table(model, recording))
    write(_summary(model, recording, path))
    for warning in caught:
        print(f"{warning.category.__name__}: {warning.message}", file=sys.stderr)


def _states(text: str) -> int | str:
    return AUTO if text == AUTO else positive(text)


def fit(model: RiemannianHMM, recording: Recording) -> None:
    """Learn by EM under a progress bar; how many iterations that takes is not known before."""
    count = recording.observed.sum()
    with progress_bar(model.n_iter, counts=False) as update:
        update(0, "looking for a start")

        def show(monitor: Monitor) -> None:
            log_likelihood = monitor.log_likelihood[-1] / count
            update(monitor.n_iter, f"iteration {monitor.n_iter}, log p = {log_likelihood:.4f}")

        model.callback = show
        model.fit(recording.points, lengths=recording.lengths)
        model.callback = None


def _states_table(model: RiemannianHMM, recording: Recording):
    """How often each state is, how long it stays and how wide it is."""
    shares = model.predict_proba(recording.points, lengths=recording.lengths).mean(axis=0)
    stays = 1.0 / np.maximum(1.0 - np.diag(model.transmat_), 1e-12)
    content = columns("share", "dwell time", "σ")
    for i, (share, stay, sigma) in enumerate(zip(shares, stays, model.sigmas_, strict=True)):
        content.add_row(f"state {i + 1}", f"{share:.3f}", f"{stay:,.1f}", f"{sigma:.3f}")
    return content


def _summary(model: RiemannianHMM, recording: Recording, path: Path) -> str:
    points, lengths = recording.points, recording.lengths
    per_point = model.score(points, lengths=lengths) / recording.observed.sum()
    sentence = f"log p = {per_point:.4f} per observation; the model is in {path}."
    if recording.labels is None:
        return sentence
    known = recording.labels >= 0
    predicted = model.predict(points, lengths=lengths)
    n = max(model.n_components_, len(recording.label_names))
    found = accuracy(recording.labels[known], predicted[known], n)
    return f"{sentence} The states agree with {found:.1%} of the labels."
