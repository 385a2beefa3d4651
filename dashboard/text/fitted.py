"""What the Data page says: the recordings, what was found in a file, and what was learned."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dashboard.compute.counting import Curve
from dashboard.compute.fits import Fitted
from dashboard.model.analysis import AUTO, LEAST_ONLINE, ROUND, HeldFile, HeldRecording
from dashboard.text import columns, formatting, tables
from rhmm import Hyperbolic
from rhmm.datasets.dataset import Dataset
from rhmm.reading import LAYOUTS, Report, WrongFileError
from rhmm.recording import Recording

SPACE_NAMES = {
    "hyperbolic": "Hyperbolic: points of the disk or ball",
    "spd": "SPD: positive definite matrices",
    "log-euclidean": "SPD, log-Euclidean metric",
    "euclidean": "Euclidean: points without curvature",
}
LAYOUT_NAMES = {key: words[0].upper() + words[1:] for key, words in LAYOUTS.items()}
SHRINKAGE_NAMES = {"oas": "OAS", "ledoit-wolf": "Ledoit–Wolf", "none": "None"}

KEPT = (
    "The file is kept in the memory of this server for you alone, and is gone a few minutes after "
    "you close the page. At most 52 MB; nothing in it is run."
)
FORMATS = (
    "CSV, NPY, NPZ or Parquet, a row for each observation: points of the disk or ball, positive "
    "definite matrices (m² columns, one triangle, or an array T × m × m), or the channels of a raw "
    "signal, which is cut into windows. Columns called label, sequence and time are understood; an "
    "empty cell or NaN is a missing observation."
)
_MOST_ROWS = 200
"""Wrong rows that are listed; a file may have a hundred thousand."""


SHARPER = {
    "emg": "Re-centre, and learn one shape for all",
    "emg_refitted": "Learn with the automatic memory, one shape for all",
}
"""Buttons beside the stories of recordings for which that is right."""


class Story(NamedTuple):
    """What there is to see in a recording."""

    about: str
    states: str
    """What the states mean."""


_SIGNS = (
    "Eight electrodes around a forearm while the hand rests and makes the signs rock, paper, "
    "scissors and ok, six times over. Each observation is the covariance of 100 samples. A state "
    "is a way in which muscles work together."
)

TOO_SHORT = f"A file of at least {LEAST_ONLINE} observations also opens in the Live lab."

STORIES = {
    "emg": Story(
        _SIGNS,
        "Here five states are the five signs: rest is quiet on all electrodes, and each sign has "
        "muscles of its own. With the paper’s round Gaussians about one window in ten is taken for "
        "another sign, because muscles do not vary alike in all directions, and because the six "
        "sequences differ as a whole. Re-centred, and with one shape for all states, it is about "
        "one in a hundred.",
    ),
    "emg_refitted": Story(
        _SIGNS,
        "Here it fails. After the fourth cycle the armband was put on again, its electrodes "
        "shifted by one: the same sign then looks different. So the model spends some states on "
        "the second position of the armband, and signs must share the others. The automatic memory "
        "learns in one pass. After a while it finds that the electrodes are in another order, and "
        "goes on with the signs that it knows: a dashed line shows where.",
    ),
    "watch": Story(
        "A watch at the wrist during seven exercises of the shoulder, by ten people with each arm. "
        "Each observation is the covariance of six axes over two seconds.",
        "A state is a way of moving: which axes move, how strongly, and together with which. "
        "Left and right arms mirror each other, and people differ, so that one exercise may take "
        "several states.",
    ),
    "weather": Story(
        "A year of weather in Greensboro, North Carolina. Each observation is a day: how sunshine, "
        "temperature, dew point, pressure and wind move together through its 24 hours.",
        "A state is a kind of day: clear with large swings, dull, or with a front that comes "
        "through. They are no seasons, but seasons prefer some of them, so the agreement with the "
        "labels is low and need not be high.",
    ),
}
"""By the keys of the recordings."""

SIMULATED = (
    "Three hidden states, simulated by the engine. Their labels are the true states, so the "
    "agreement with the labels is the accuracy."
)


def origin(recording: Recording) -> str:
    """Who made a recording, its licence, and how it was processed."""
    if not isinstance(recording, Dataset):
        return ""
    return (
        f"**Source.** {recording.source}.  \n**Licence.** {recording.licence}.  \n"
        f"**How it was processed.** {recording.description}"
    )


# Files


def found_in(file: HeldFile, report: Report, held: HeldRecording) -> str:
    """One sentence on what was detected."""
    recording = held.recording
    several = f" in {len(recording.lengths):,} sequences" if len(recording.lengths) > 1 else ""
    missing = len(recording.points) - held.n_observed
    gaps = f", {missing:,} of them missing" if missing else ""
    named = {"labels": report.label, "sequences": report.sequence, "times": report.time}
    roles = [f"{what} from “{formatting.unmarked(n)}”" for what, n in named.items() if n]
    extra = f" With {formatting.listed(roles)}." if roles else ""
    name, size = formatting.unmarked(file.name), formatting.size(len(file.content))
    return (
        f"**{name}** ({report.format.upper()}, {size}): "
        f"{len(recording.points):,} observations on {recording.manifold!r}{several}{gaps}. Each "
        f"row holds {LAYOUTS[report.layout]}.{extra}"
    )


def notes(report: Report) -> str:
    """All that was left out, marked as missing, or changed; a line for each."""
    return "\n".join(f"- {formatting.unmarked(note)}" for note in report.notes)


def refusal(file: HeldFile, problem: WrongFileError) -> str:
    """One sentence on why a file cannot be used."""
    return formatting.unmarked(f"{file.name}: {problem}.")


def wrong_rows(problem: WrongFileError) -> dict[str, list[str]]:
    """Every wrong row by its number, with the reason; the first of very many."""
    rows = problem.rows[:_MOST_ROWS]
    return {"Row": [str(row.number) for row in rows], "Why": [row.reason for row in rows]}


def further_rows(problem: WrongFileError) -> str:
    """A word on wrong rows beyond those listed."""
    more = len(problem.rows) - _MOST_ROWS
    return f"And {more:,} more." if more > 0 else ""


# What was learned

_OF_STATES = (columns.SHARE, columns.VISITS, columns.STAY, columns.SIGMA)


def states_table(fitted: Fitted) -> dict[str, list[str]]:
    """A row for each state."""
    found = fitted.visits
    of = [columns.STATE, *_OF_STATES]
    if fitted.agreement is not None:
        of.insert(1, columns.LABEL)
    if fitted.recording.manifold == Hyperbolic(2):
        of.append(columns.MEAN)
    lines = (_line(fitted, state, found.of(state)) for state in range(fitted.n_states))
    return tables.in_columns(of, lines)


def _line(fitted: Fitted, state: int, stays: np.ndarray) -> list[str]:
    line = [f"{state + 1}"]
    if fitted.agreement is not None:
        label = fitted.agreement.label_of(state)
        line.append("–" if label is None else fitted.recording.label_names[label])
    line += [
        formatting.hundredths(stays.sum() / len(fitted.states)),
        f"{len(stays):,}",
        f"{stays.mean():,.1f}" if len(stays) else "–",
        f"{fitted.model.sigmas_[state]:.3f}",
    ]
    if fitted.recording.manifold == Hyperbolic(2):
        x, y = fitted.model.means_[state]
        line.append(f"({formatting.number(x, 3)}, {formatting.number(y, 3)})")
    return line


ASK_FOR_REFERENCE = "Compare with a model that was taught the labels"


def summary(fitted: Fitted) -> str:
    """How good the model is, as far as that is known."""
    words = f"log p = {formatting.number(fitted.log_likelihood)} per observation"
    words += ", said before each was seen." if fitted.request.method == AUTO else "."
    if fitted.agreement is not None:
        words = (
            f"The states agree with **{formatting.percent(fitted.agreement.accuracy)}** of the "
            f"labels, each label matched with the state that fits it best. {words}"
        )
    if fitted.request.emission != ROUND:
        words += " σ is that of a round state as wide."
    degrees = fitted.model.law_.degrees
    if degrees is not None:
        words += f" The tails have ν = {formatting.number(degrees, 1)} degrees of freedom."
    return f"{words} {fitted.remark}".rstrip()


def reference(share: float) -> str:
    """What labels would have been worth: the share of them that a model tells right."""
    return (
        f"A model of the same kind that was taught the labels, with a state for each, tells "
        f"**{formatting.percent(share)}** of them right on the same observations."
    )


def how_many(curve: Curve) -> str:
    """Why BIC, prediction and one pass prefer their numbers of states."""
    sentences = [*curve.explanations]
    if curve.online is not None:
        states = "1 state" if curve.online == 1 else f"{curve.online} states"
        sentences.append(
            f"The streaming learner, which lets states be born and die in one pass, ends with "
            f"{states}."
        )
    sentences.append(
        "BIC charges for every parameter and asks for the number behind the data. Prediction asks "
        "only what foretells best, and often takes more."
        if "predictive" in curve.values
        else "BIC charges for every parameter; “prediction” holds observations out instead."
    )
    return " ".join([*sentences, "The ring is the number in use: the choice is yours."])


def map_note(fitted: Fitted) -> str:
    """What the map shows, and what it does not."""
    picture, total = fitted.picture, fitted.n_observed
    is_round = fitted.request.emission == ROUND
    if picture.is_solid or fitted.recording.manifold == Hyperbolic(2):
        space, round_one = (
            ("The ball, which can be turned,", "sphere")
            if picture.is_solid
            else ("The disk", "circle")
        )
        outline = f"{round_one} has radius σ" if is_round else "outline is one deviation away"
        words = f"{space} is its own map. A large mark is a mean, its {outline}."
    elif picture.share == 1.0:
        outline = "has radius σ" if is_round else "is one deviation away"
        words = f"A large mark is a mean, its outline {outline}."
    else:
        words = (
            f"A large mark is a mean, its outline what the map shows of "
            f"{'σ' if is_round else 'one deviation'} in all directions. The map is flat: it has "
            "the two directions in which the observations spread most around their centre of "
            f"mass, and shows {formatting.percent(picture.share)} of their variance. No distance "
            "looks longer than it is."
        )
    if picture.matrices is not None:
        words += " A small ellipse is an observation: its form and how it is turned, not its size."
    words += " Transitions with a probability below 0.005 have no arrow."
    if len(picture.shown) < total:
        words += f" {len(picture.shown):,} of {total:,} observations are drawn, evenly spread."
    return words


def means_note(fitted: Fitted) -> str:
    """How the means of matrices are drawn."""
    if fitted.recording.manifold.size == 2:
        words = (
            "The mean of each state is a matrix, drawn as its ellipse: all in the same scale. "
            "Dashed are the larger and the smaller one at distance σ."
        )
    else:
        words = (
            "The mean of each state is a matrix: its correlations as colours, violet below 0 and "
            "brown above, and its standard deviations as bars."
        )
    if fitted.recording.manifold.size == 3:
        words += " Above, each is an ellipsoid in a size of its own; they turn together."
    if fitted.request.is_recentred:
        words += (
            " Re-centred, it says how the state differs from the middle of its sequence, which is "
            "the identity: no correlations, and 1 for every standard deviation."
        )
    return words


def overview_note(stride: int, has_lines: bool, restarts: Sequence[int] = ()) -> str:
    """What the picture of the whole recording shows: one observation of `stride`."""
    every = "" if stride == 1 else f" One observation of {stride} is drawn."
    lines = " Thin lines are where sequences end." if has_lines else ""
    anew = ""
    if restarts:
        times = formatting.listed([f"{k:,}" for k in restarts])
        anew = f" Dashed: the automatic memory started anew after observation {times}."
    return f"All observations from the first to the last.{every}{lines}{anew}"
