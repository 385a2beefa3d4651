"""Sentences of the Stream page."""

HELP = (
    "A hidden Markov chain without an end. Observations appear on the map and fade; crosses are "
    "the true means, and each learner’s means follow them with a trail."
)

CAPTION = (
    "All learners see every observation once. The dotted ceiling is the filter under the true "
    "parameters of the moment. The link holds the model, the seed and all events, also those that "
    "you add: it gives the same run to the last digit, at any pace and with any pauses. Leaving "
    "the page ends the stream."
)

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
