"""Sentences of the Stream page."""

HELP = (
    "A hidden Markov chain without an end, or a recording that is played. Observations appear on "
    "the map and fade; crosses are the true means, and each learner’s means follow them with a "
    "trail."
)

CAPTION = (
    "All learners see every observation once. The dotted ceiling is the filter under the true "
    "parameters of the moment. The link holds the model, the seed and all events, also those that "
    "you add: it gives the same run to the last digit, at any pace and with any pauses. Leaving "
    "the page ends the stream."
)

LABELLED = (
    "All learners see every observation once, and are told where sequences end, but no label. "
    "States have the names of the labels that they agree with most, and accuracy is how often "
    "they do. The true parameters are not known: there is no ceiling, and no error of the means "
    "or of A. "
)

UNLABELLED = (
    "All learners see every observation once, and are told where sequences end. Nothing is known "
    "of the truth: what can be compared is how well they predict the next observation. States have "
    "the names of the first learner, and observations its colours. "
)

SAME_LINK = (
    "The link gives the same run to the last digit, at any pace and with any pauses. Leaving the "
    "page ends the stream."
)

OWN_FILE = (
    "Your file stays in your session, in the memory of this server; the link opens it only there."
)


def caption(has_truth: bool, has_labels: bool, is_own: bool) -> str:
    """What there is to know about a stream, below its picture."""
    if has_truth:
        return CAPTION
    known = LABELLED if has_labels else UNLABELLED
    return known + (OWN_FILE if is_own else SAME_LINK)


SHORT_NAMES = {
    "turn": "Jump",
    "slow-turn": "Slow turn",
    "transitions": "Another A",
    "away": "State away",
    "new-state": "New state",
    "outliers": "Outliers",
    "missing": "Missing data",
    "stuck": "Stuck sensor",
}
"""What the button of each kind of events says."""
