"""Valid settings of every kind, and forged ones, for tests of what holds for all of them."""

import math

from hypothesis import assume
from hypothesis import strategies as st

from dashboard.model.experiment import MOST_LENGTH, MOST_WINDOW, Experiment
from dashboard.model.methods import ONLINE_LEARNERS, VARIANTS
from dashboard.model.model_checks import MOST_STATES, normalised
from dashboard.model.plan import MOST_RUNS, Plan
from dashboard.model.spaces.registry import SPACES
from dashboard.model.view import COLOURS, SHOWN, View

HUGE = int("9" * 400)
"""JSON has such numbers; a float does not."""


def nested(depth: int) -> list:
    """A list in a list in a list, and so on."""
    inmost: list = []
    for _ in range(depth):
        inmost = [inmost]
    return inmost


_WORDS = (*SHOWN, *COLOURS, *VARIANTS, *SPACES)

forged = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
    | st.sampled_from([HUGE, -HUGE, 2**31, 20.5, nested(100), *_WORDS]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=8,
)  # fmt: skip
"""What a forged message may have in the place of any value."""


@st.composite
def experiments(draw):
    n = draw(st.integers(1, MOST_STATES))
    weights = st.lists(st.floats(0.01, 1.0), min_size=n, max_size=n)
    radius = st.floats(0.0, 0.99)
    angle = st.floats(0.0, 2 * math.pi)
    places = draw(st.lists(st.tuples(radius, angle), min_size=n, max_size=n))
    means = tuple((r * math.cos(a), r * math.sin(a)) for r, a in places)
    apart = (math.dist(a, b) > 1e-5 for i, a in enumerate(means) for b in means[:i])
    assume(all(apart))
    window = draw(st.integers(max(20, 5 * n), 5000))
    return Experiment(
        transmat=tuple(normalised(draw(weights)) for _ in range(n)),
        means=means,
        sigmas=tuple(draw(st.lists(st.floats(0.01, 3.0), min_size=n, max_size=n))),
        startprob=normalised(draw(weights)),
        length=draw(st.integers(max(500, window), 100_000)),
        seed=draw(st.integers(0, 2**31 - 1)),
        window=window,
        algorithms=tuple(
            draw(st.lists(st.sampled_from(list(ONLINE_LEARNERS)), min_size=1, unique=True))
        ),
        transition_update=draw(st.sampled_from(["paper", "convex"])),
        memory=draw(st.sampled_from(["growing", "fixed"])),
    )


plans = st.builds(
    Plan,
    windows=st.lists(st.integers(2, MOST_WINDOW), min_size=1, max_size=12).map(tuple),
    learners=st.lists(st.sampled_from(list(VARIANTS)), min_size=1).map(tuple),
    runs=st.integers(1, MOST_RUNS),
)

views = st.builds(
    View,
    show=st.lists(st.sampled_from(SHOWN)).map(tuple),
    colour=st.sampled_from(COLOURS),
    k=st.none() | st.integers(0, MOST_LENGTH),
    place=st.tuples(
        st.floats(-0.7, 0.7), st.floats(-0.7, 0.7), st.floats(1, 60), st.floats(-1, 1),
        st.floats(-1, 1),
    ),
    timeline=st.lists(st.integers(1, MOST_LENGTH), min_size=2, max_size=2).map(sorted).map(tuple),
)  # fmt: skip
