"""What runs the members of a bank, piece by piece, and follows how well the leader predicts.

Members learn and are scored 40 observations at a time, within one kernel: Python is asked only when
a member is far behind or an alarm is due.
"""

import math
from typing import NamedTuple

import numpy as np

from rhmm._jit import copy_into, kernel, lean_kernel
from rhmm.manifolds import verbs
from rhmm.streams.ensemble import follow
from rhmm.streams.streaming_kernel import hold, room_for, take_in

HORIZON = 100.0
FORGET = 1.0 / HORIZON
"""Scores are weighted by e^{−age/100}."""
EVERY = 40
"""Observations between two looks at the scores: whole groups of the usual lag."""
BEHIND = 20.0
"""Nats behind the leader at which a member takes over the leader's state."""
ALARM, _DOUBT = 4.0, 1.0
"""Standard deviations that the leader's recent prediction falls below its mean to raise alarm, and
to doubt that the parameters are worth remembering."""
_OUTLIER = 6.0
"""Standard deviations that one observation counts for at most."""
FRESH = 100
"""How many observations those before an alarm count for in the mean when a newcomer has started."""


class Clock(NamedTuple):
    """Observations that were not missing, counted since the start."""

    seen: int
    """So far."""
    calm_until: int
    """When there may be an alarm, or a trial ends."""
    due: int
    """When a newcomer starts; −1 if none will."""


class Remembered(NamedTuple):
    """The leader's parameters when it predicted well: a restart recognises its states by them."""

    transmat: np.ndarray
    means: np.ndarray
    delta: np.ndarray


@lean_kernel
def has_fallen(level, deviations):
    """Whether the recent mean of the leader's log density is so many deviations below the mean."""
    return level[3] < level[1] - deviations * math.sqrt(level[2] / (2.0 * HORIZON))


@lean_kernel
def follow_level(predictive, observed, led, level):
    """Add the log densities of those who led to the level, see `Bank.level`."""
    count, mean, variance, recent = level[0], level[1], level[2], level[3]
    for t in range(len(led)):
        if not observed[t]:
            continue
        value = predictive[led[t], t]
        count += 1.0
        if count == 1.0:
            mean = recent = value
            continue
        offset = value - mean
        if count > FRESH and offset * offset > _OUTLIER * _OUTLIER * variance:
            offset = math.copysign(_OUTLIER * math.sqrt(variance), offset)
        recent += (mean + offset - recent) * (1.0 / min(count, HORIZON))
        mean += offset * (1.0 / count)
        variance += (offset * offset - variance) * (1.0 / (count - 1.0))
    level[0], level[1], level[2], level[3] = count, mean, variance, recent


@kernel
def run_pieces(
    geometry, table, settings, states, X, observed, begins, filtered, predictive, traces, handicaps,
    scores, level, leader, leaders, remembered, clock, done, first,
):  # fmt: skip
    """Let all members learn from X[done:], piece by piece, until there is something to decide.

    `settings`, `states`, `filtered` and `traces` have one entry for each member; `first`
    observations had been seen before X. Returns how many of X are done, and how many observations
    that were not missing have been seen.
    """
    led, held_from = np.empty(len(X), np.int64), np.empty(len(states), np.int64)
    room = room_for(len(states[0].alpha), len(states[0].visits))
    before, points, missing, starts = _side_by_side(
        states, X[done:], observed[done:], begins[done:]
    )
    layout = verbs.prepared(geometry, points)
    for r in range(len(states)):
        held_from[r] = before - states[r].counters[1]
    done, seen = _run_all(
        geometry, table, settings, states, layout, missing, starts, held_from, observed, filtered,
        predictive, traces, handicaps, scores, level, leader, leaders, led, remembered, clock, done,
        first, room,
    )  # fmt: skip
    for r in range(len(states)):
        hold(
            states[r].points, states[r].missing, states[r].begins, states[r].counters[1], points,
            missing[r], starts, held_from[r],
        )  # fmt: skip
    return done, seen


@lean_kernel
def _run_all(
    geometry, table, settings, states, layout, missing, starts, held_from, observed, filtered,
    predictive, traces, handicaps, scores, level, leader, leaders, led, remembered, clock, done,
    first, room,
):  # fmt: skip
    """The loop of `run_pieces`; the points of each member begin at `held_from` in the layout.

    Counting references would take half as long as learning.
    """
    seen, every = clock.seen, settings[0].trace_every
    while done < len(observed):
        end, left = done, EVERY - seen % EVERY
        while end < len(observed) and left > 0:
            if observed[end]:
                left, seen = left - 1, seen + 1
            end += 1
        row = (first + done) // every - first // every if every > 0 else 0
        for r in range(len(states)):
            held_from[r] = take_in(
                geometry, table, settings[r], layout, missing[r], starts, held_from[r], end - done,
                states[r], filtered[r][done:end], predictive[r, done:end], traces[r], row, room,
            )  # fmt: skip
        scored, there = predictive[:, done:end], observed[done:end]
        follow(scored, there, FORGET, handicaps, scores, leader, leaders[done:end])
        for t in range(done, end):
            led[t] = leader
            leader = leaders[t]
        follow_level(scored, there, led[done:end], level)
        done = end
        if left > 0:
            break
        if clock.due < 0 and not has_fallen(level, _DOUBT):
            copy_into(remembered.transmat, states[leader].transmat)
            copy_into(remembered.means, states[leader].means)
            copy_into(remembered.delta, states[leader].delta)
        is_alarmed = seen >= clock.calm_until and has_fallen(level, ALARM)
        least = scores[leader]
        for r in range(len(scores)):
            least = min(least, scores[r])
        if least < scores[leader] - BEHIND or (clock.due < 0 and is_alarmed):
            break
    return done, seen


@kernel
def _side_by_side(states, X, observed, begins):
    """How many observations members hold, these and what is new in one row for all of them, which
    of it is missing for each, shape (R, T), and where sequences begin. An outlier is missing for
    some members only.

    Members may hold different numbers of the same latest observations.
    """
    count, most, longest = len(states), np.int64(0), np.int64(0)
    for r in range(count):
        if states[r].counters[1] > most:
            most, longest = states[r].counters[1], r
    points = np.concatenate((states[longest].points[:most], X))
    starts = np.concatenate((states[longest].begins[:most], begins))
    missing = np.empty((count, len(points)), np.bool_)
    for t in range(len(points)):
        known = False
        for r in range(count):
            place = t - (most - states[r].counters[1])
            if t >= most:
                missing[r, t] = not observed[t - most]
            elif place >= 0:
                missing[r, t] = states[r].missing[place]
                if not missing[r, t]:
                    copy_into(points[t], states[r].points[place])
            else:
                missing[r, t] = True
            known |= not missing[r, t]
        if not known:
            copy_into(points[t], states[0].means[0])  # of no weight, but a point
    return most, points, missing, starts
