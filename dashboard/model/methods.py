"""The methods that pages compare, and the online learners that a sweep can run."""

from rhmm import Configuration

ONLINE, EM, KMEANS, CEILING = "Online", "EM", "K-means", "True parameters"

ORDER = (ONLINE, EM, KMEANS, CEILING)
"""The order of the methods in every table and every row of figures."""

LEARNERS = {
    "streaming": {"method": "streaming"},
    "paper": {"method": "windowed", "transition_update": "paper"},
    "convex": {"method": "windowed", "transition_update": "convex"},
    "fixed": {"method": "streaming", "memory": "fixed"},
}
"""The options of the online learners that a sweep can compare, by their names in a link."""

LEARNER_NAMES = {
    "streaming": "streaming",
    "paper": "windowed, the paper’s update",
    "convex": "windowed, convex update",
    "fixed": "streaming with a fixed memory",
}

BASELINES = {"em": "EM", "kmeans": "K-means", "ceiling": "ceiling"}
"""What every sweep runs beside the online learners: the engine's names and those on a page."""


def learner_of(configuration: Configuration) -> str | None:
    """The name in `LEARNERS` of a configuration; None if it is not one of them."""
    for name, options in LEARNERS.items():
        plain = Configuration(
            length=configuration.length, window=configuration.window or 200, **options
        )
        if configuration.window is not None and plain == configuration:
            return name
    return None


def opens_in_the_lab(configuration: Configuration) -> bool:
    """Whether the Live lab can show this run: it knows the algorithms as they are by default."""
    return learner_of(configuration) in ("streaming", "paper", "convex")
