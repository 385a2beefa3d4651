"""The files that the Data page hands out: states, the model, and a script that computes both."""

import io
import tempfile
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from dashboard.compute.counting import CRITERIA, most_states
from dashboard.compute.fits import Fitted
from dashboard.model.analysis import (
    AUTO,
    EM,
    LAST_STEPS,
    ROUND,
    SEED,
    streaming_window,
    thinned_size,
)
from dashboard.text.files import NEEDS_RHMM, csv_of, recording_lines

INSTALL = "pip install . (in the folder of the project rhmm, the one with pyproject.toml)"
REFERENCE = (
    "Reference: Q. Tupker, S. Said and C. Mostajeran, Online learning of Riemannian hidden Markov\n"
    "models in homogeneous Hadamard spaces, 2021."
)
_AFTERWARDS = "probabilities = model.predict_proba(points, lengths=lengths)\n"
_AS_THEY_CAME = """\
# what it said of the state of each observation when that came, and of the first when it had a start
first = int((probabilities.max(axis=1) > probabilities.min(axis=1)).argmax())
if first:
    ends = [min(int(end), first) for end in lengths.cumsum()]
    past = [b - a for a, b in zip([0, *ends], ends) if b > a]
    start = clone(learner).fit(points[:first], lengths=past).to_hmm()
    probabilities[:first] = start.predict_proba(points[:first], lengths=past)
"""
_SCORED = "model.score(points, lengths=lengths) / recording.observed.sum()"
_PREDICTED = "learner.log_likelihood_ / (recording.observed.sum() - learner.start_size)"
_TEMPLATE = Template((Path(__file__).parent / "fit_again.txt").read_text(encoding="utf-8"))


def _table(fitted: Fitted) -> pyarrow.Table:
    columns: dict[str, Any] = fitted.recording.states_table(fitted.probabilities)
    return pyarrow.table({name: np.asarray(c).tolist() for name, c in columns.items()})


def states_csv(fitted: Fitted) -> bytes:
    """A line for each observation: its state and the probabilities of all states."""
    return csv_of(_table(fitted))


def states_parquet(fitted: Fitted) -> bytes:
    """The same as a Parquet file."""
    out = io.BytesIO()
    parquet.write_table(_table(fitted), out)
    return out.getvalue()


def model_json(fitted: Fitted) -> bytes:
    """The model as `RiemannianHMM.load` reads it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        fitted.model.save(path)
        return path.read_bytes()


def script(fitted: Fitted) -> str:
    """A program that computes the numbers on the page again, with rhmm alone."""
    imports, recording = recording_lines(fitted.request.held)
    more, learning = _learning(fitted)
    recentring = ""
    if fitted.request.is_recentred:
        more.append("from rhmm import recentred")
        recentring = "points, _ = recentred(recording.manifold, points, lengths=lengths)\n"
    is_auto = fitted.request.method == AUTO
    return _TEMPLATE.substitute(
        install=INSTALL,
        reference=REFERENCE,
        needs_rhmm=NEEDS_RHMM,
        imports="\n".join(sorted([*imports, *more])),
        recording=recording,
        recentring=recentring,
        learning=learning,
        probabilities=_AS_THEY_CAME if is_auto else _AFTERWARDS,
        density=_PREDICTED if is_auto else _SCORED,
    )


def _learning(fitted: Fitted) -> tuple[list[str], str]:
    """Imports, and the lines that learn the model."""
    request = fitted.request
    lines, more, n = [], [], repr(request.n_states)
    init, shape = "", "" if request.emission == ROUND else f", emission={request.emission!r}"
    size, data = thinned_size(fitted.recording), "points, lengths=lengths"
    if size is not None and (request.method == EM or isinstance(request.n_states, str)):
        more.append("from dataclasses import replace")
        lines.append(
            f"few = replace(recording, points=points).thinned({size})  # blocks from all over it"
        )
        data = "few.points, lengths=few.lengths"
    if isinstance(request.n_states, str):
        part = fitted.recording if size is None else fitted.recording.thinned(size)
        most = most_states(int(part.observed.sum()), request.n_states)
        criterion = CRITERIA.get(request.n_states)
        asked = "" if criterion is None else f", criterion={criterion!r}"
        points, _, ends = data.partition(", ")
        more.append("from rhmm.selection import select_n_components")
        lines.append(
            "found = select_n_components(\n"
            f"    recording.manifold, {points}, range(1, {most + 1}){asked}{shape},\n"
            f"    {ends}, random_state={SEED},\n)\n"
            "print(found.explanation())"
        )
        n, init = "found.best.n_components", ", init=found.best"
    if request.method == EM:
        more.append("from rhmm import RiemannianHMM")
        lines.append(
            f"model = RiemannianHMM(recording.manifold, {n}{shape}{init}, random_state={SEED})\n"
            f"model.fit({data})"
        )
        if size is not None:
            lines.append(
                f"model = RiemannianHMM(recording.manifold, model.n_components{shape}, init=model, "
                f"n_iter={LAST_STEPS})\nmodel.fit(points, lengths=lengths)"
            )
    elif request.method == AUTO:
        more += ["from rhmm import AutoMemoryRiemannianHMM", "from sklearn.base import clone"]
        lines.append(
            f"learner = AutoMemoryRiemannianHMM(recording.manifold, {n}{shape}, "
            f"random_state={SEED})\n"
            "probabilities = learner.partial_fit_predict_proba(points, lengths=lengths)\n"
            "model = learner.to_hmm()\n"
            'print("started anew after", learner.restarts_ or "none", "of the observations")'
        )
    else:
        more.append("from rhmm import StreamingRiemannianHMM")
        window = streaming_window(fitted.n_observed, fitted.n_states)
        lines.append(
            f"learner = StreamingRiemannianHMM(recording.manifold, {n}, window={window}{shape}, "
            f"random_state={SEED})\nmodel = learner.fit(points, lengths=lengths).to_hmm()"
        )
    return more, "\n".join(lines)
