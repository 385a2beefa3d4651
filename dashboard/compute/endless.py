"""An endless stream: a world or a recording, the learners that follow it, and how well they do.

What it says after k observations depends on k and on the events before alone, not on the pieces in
which they were taken. It needs constant memory.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dashboard.compute.happenings import event_asked_for, move_to
from dashboard.compute.recording_map import MOST_DRAWN
from dashboard.compute.refitting import Refitted
from dashboard.compute.tracks import OWN_MEASURES, WINDOW, Judged, Level, Track, slope
from dashboard.model.endless import MOST_EVENTS, Chain, Played, Refit, Setup, check_births
from dashboard.model.followers import COUNTING, FOLLOWERS
from dashboard.model.kinds import Invalid
from dashboard.model.model_checks import MOST_STATES
from dashboard.model.spaces.chart import Chart
from dashboard.model.spaces.recorded import RecordedSpace
from dashboard.model.spaces.registry import SPACES
from dashboard.model.spaces.space import Space
from rhmm.recording import Recording
from rhmm.worlds import BLOCK, Event, Part, Playback, StateAway

MOST_POINTS = 60
"""Observations that one message shows, at most."""

_GRIDS = ((1_000, BLOCK), (5_000, 5 * BLOCK))
"""Up to which pace rows of the curves lie how many observations apart; beyond, as many windows as
leave the rows that a message has."""

RECORDED_WINDOW = 100
"""Observations of every rolling measure of a recording: some have only a few hundred."""

_MOST_ROWS = 4
"""Rows of the curves in one message."""

_MESSAGES = 10
"""How many there are in a second; with many streams, fewer."""


class Place(NamedTuple):
    """Where a visitor has dropped the mean of a state, on the map of the stream."""

    state: int
    x: float
    y: float


class Points(NamedTuple):
    """The observations of a message: every `stride`-th, M in all."""

    first: int
    """The number of the first one."""
    stride: int
    xy: np.ndarray
    """Places on the map, shape (M, 2); NaN where an observation is missing."""
    glyphs: np.ndarray | None
    """Their ellipses, shape (M, 3), where the map draws such."""
    states: np.ndarray
    """The true states, shape (M,); −1 unknown. Of a recording without labels those of the first
    learner."""
    decoded: np.ndarray
    """What each of the L learners takes them for, in the names of the true states, shape (L, M);
    −1 where it does not know."""


class Rows(NamedTuple):
    """R points of all curves."""

    steps: np.ndarray
    """Observations before each, shape (R,)."""
    measures: np.ndarray
    """Of each learner, shape (R, L, 5): see `tracks.OWN_MEASURES`."""
    ceiling: np.ndarray
    """Rolling accuracy, predictive density and number of states of the true parameters, shape
    (R, 3); NaN where these are not known."""


class Moment(NamedTuple):
    """The truth and what the learners believe, on the map."""

    means: np.ndarray
    """Of the N true states, shape (N, 2); of a recording none is known."""
    sigmas: np.ndarray
    exists: np.ndarray
    """Which of them are there, shape (N,)."""
    balls: np.ndarray | None
    """Ellipses of radius σ around them, shape (N, 5), where the map needs such."""
    glyphs: np.ndarray | None
    learned: np.ndarray
    """The learners' means of the states that have a name, shape (L, M, 2); NaN where a learner has
    none."""


class News(NamedTuple):
    """What a stream has to say since it spoke last."""

    taken: int
    """Observations so far."""
    points: Points | None
    rows: Rows
    moment: Moment
    judged: tuple[Judged, ...]
    """Of each learner."""
    script: tuple[Event, ...]
    """All events so far and to come."""
    acknowledged: int
    """The number of the last drop of a mean that has taken effect or was refused."""
    refused: str
    """Why the last wish of the visitor cannot be; empty if it can."""
    is_over: bool
    """Whether a recording has come to its end."""
    chart: dict
    """What the browser must know of the map."""


class EndlessStream:
    """One stream, at work."""

    def __init__(self, setup: Setup):
        self.setup = setup
        source = setup.source
        self._space: Space | None = None
        self._is_labelled = True
        """Whether true states are known; if not, states have the names of the first learner."""
        if isinstance(source, Chain):
            self._space = SPACES[source.space]
            self._chart = self._space.chart_for(source.means, source.sigmas)
        else:
            self._chart = _map_of(source.held.recording)
            self._is_labelled = source.has_labels
        self._about_map = self._chart.about()
        self._source = setup.opened()
        self._rng = np.random.default_rng(setup.seed)
        """For what exactly an event is that a button asks for: the script then says it."""
        manifold, n, seed = source.manifold, source.n_states, setup.seed
        plays = isinstance(source, Played)
        self._window = RECORDED_WINDOW if plays else WINDOW
        self._em = Refitted(manifold, n, seed)
        made = [FOLLOWERS[key].make(manifold, n, seed, setup.window) for key in setup.learners]
        self._tracks = [
            Track(estimator, manifold, self._window, names_all=plays)
            for estimator in (*made, self._em)
        ]
        """Of the chosen learners, and last that of EM."""
        self._density = 0.0
        """Σ of the log densities under the true parameters."""
        self._heard = 0
        """Observations that were neither missing nor disturbed: those that have such a density."""
        self._levels: deque[Level] = deque(maxlen=1 + self._window // BLOCK)
        self._grid = BLOCK
        self._stride = 1
        self._pieces: list[Points] = []
        self._rows: deque[tuple[int, np.ndarray, tuple[float, ...]]] = deque(maxlen=_MOST_ROWS)
        self._refits: list[int] = []
        """When EM is to be fitted, the times to come."""
        self._drops: list[tuple[int, int]] = []
        """Numbers of drops that have not taken effect, and when they do."""
        self._dropped: dict[int, tuple[float, float]] = {}
        self._acknowledged = 0
        self._refused = ""
        for event in setup.events:
            self._expect(event)

    @property
    def taken(self) -> int:
        """Observations so far."""
        return self._source.n_taken

    # What the visitor does

    def set_pace(self, pace: float) -> None:
        """So many observations a second are to come: how finely to show them follows from it."""
        fine = (grid for most, grid in _GRIDS if pace <= most and self._window % grid == 0)
        shown = round(pace / (_MESSAGES * _MOST_ROWS * self._window))
        self._grid = next(fine, self._window * max(1, shown))
        self._stride = max(1, round(pace / (_MESSAGES * MOST_POINTS)))

    def happen(self, kind: str) -> None:
        """Let an event of this kind happen, as soon as possible."""
        self._dropped.clear()
        try:
            self._add(event_asked_for(kind, self._space, self._source.truth, self._rng))
        except ValueError as problem:
            self._refused = str(problem)

    def refit(self) -> None:
        """Fit EM to the latest observations, at a time that the script then says."""
        try:
            if self.taken < self._em.least_size:
                raise Invalid("EM needs more observations first.")
            self._add(Refit())
        except ValueError as problem:
            self._refused = str(problem)

    def drop(self, number: int, places: Sequence[Place]) -> None:
        """Move true means; `number` is acknowledged when they are there."""
        now, space, at = self._source.truth, self._space, -1
        for state, x, y in places:
            if self._dropped.get(state) == (x, y):
                continue  # a message repeats what was not acknowledged when it was sent
            try:
                if now is None or space is None or state >= now.n_states:
                    raise Invalid("There is no such state.")
                near = tuple(space.coords(now.means[state : state + 1])[0].tolist())
                at = self._add(move_to(space, state, self._chart.from_map(x, y, near)))
                self._dropped[state] = (x, y)
            except ValueError as problem:
                self._refused = str(problem)
        self._drops.append((number, at))

    def _add(self, event: Event) -> int:
        """Add an event; returns after how many observations it happens."""
        if len(self._source.events) >= MOST_EVENTS:
            raise Invalid(f"There can be at most {MOST_EVENTS} events.")
        if self._space is not None:
            check_births(self.setup.source.n_states, (*self._source.events, event))
        self._refused = ""
        return self._expect(self._source.add(event))

    def _expect(self, event: Event) -> int:
        """Let the learners be measured from this event on; a state that comes back is another."""
        at = event.at or 0
        if isinstance(event, Refit):
            self._refits = sorted([*self._refits, at])
        elif self._source.truth is not None:
            for track in self._tracks:
                track.recovery.mark(at)
                if isinstance(event, StateAway):
                    track.recovery.mark(at + event.length)
        return at

    # The stream

    def advance(self, most: int) -> int:
        """Take the next observations, at most so many and up to the next row; returns how many.

        None come while EM is being fitted, and after the end of a recording.
        """
        if self._waits_for_em():
            return 0
        first, until_end = self.taken, self._source.until_end
        left = (most, self._until_stop(), until_end, *(at - first for at in self._refits))
        part = self._source.take(int(min(left)))
        count = len(part.states)
        if not count:
            return 0
        labels = np.stack([track.learn(part.X, ends=count == until_end) for track in self._tracks])
        states = part.states if self._is_labelled else labels[0]
        for track, own in zip(self._tracks, labels, strict=True):
            track.judge(states, own, part.ceiling)
        # in order, so that the sum is the same in whatever pieces it is made
        self._density = float(np.append(self._density, part.log_density).cumsum()[-1])
        self._heard += int(np.count_nonzero(part.intact))
        self._show(first, part, labels)
        if self.taken % BLOCK == 0:
            self._levels.append(Level(self.taken, self._density, self._heard))
            for track in self._tracks:
                track.note(self.taken, self._heard)
        if self.taken % self._grid == 0:
            self._note_row()
        return count

    def _until_stop(self) -> int:
        """Observations until the next row, or until its window begins: sums are noted there."""
        row = self._grid - self.taken % self._grid
        return row - self._window if row > self._window else row

    def _waits_for_em(self) -> bool:
        """Whether a fit of this moment is under way; begins it when its time has come."""
        if self._refits and self._refits[0] <= self.taken and not self._em.is_busy:
            self._refits = [at for at in self._refits if at > self.taken]
            self._em.refit()
        return self._em.is_busy

    @property
    def _n_names(self) -> int:
        """How many states have a name that the learners share."""
        if self._source.truth is not None:
            return self._source.truth.n_states
        source = self.setup.source
        assert isinstance(source, Played)  # all others have a truth
        most = MOST_STATES if COUNTING in self.setup.learners else source.n_states
        return max(most, len(source.held.recording.label_names))

    def _show(self, first: int, part: Part, labels: np.ndarray) -> None:
        """Keep every `stride`-th observation for the next message."""
        shown = np.arange(-first % self._stride, len(part.states), self._stride)
        if not len(shown):
            return
        X = part.X[shown]
        there = ~np.isnan(X).reshape(len(X), -1).any(axis=1)
        known = np.where(
            there.reshape(-1, *[1] * (X.ndim - 1)), X, self.setup.source.manifold.origin
        )
        xy = np.where(there[:, None], self._chart.places(known), np.nan)
        glyphs = self._chart.glyphs(known)
        decoded = [
            track.in_true_names(names[shown], self._n_names)
            for track, names in zip(self._tracks, labels, strict=True)
        ]
        states = part.states[shown] if self._is_labelled else decoded[0]
        self._pieces.append(
            Points(first + int(shown[0]), self._stride, xy, glyphs, states, np.stack(decoded))
        )

    def _note_row(self) -> None:
        truth = self._source.truth
        measures = np.array([track.measures(truth, self.taken) for track in self._tracks])
        ceiling: tuple[float, ...] = (float("nan"),) * 3
        if truth is not None:
            density = slope(self._levels, self.taken, self._window)
            count = float(np.count_nonzero(truth.exists))
            ceiling = self._tracks[0].recovery.ceiling, density, count
        elif not self._is_labelled:
            measures[:, 0] = np.nan
        self._rows.append((self.taken, measures, ceiling))

    # What it says

    def news(self) -> News:
        """All since the last time; of too much, the latest."""
        self._acknowledge()
        points, self._pieces = _latest(self._pieces), []
        rows, refused = list(self._rows), self._refused
        self._rows.clear()
        self._refused = ""
        return News(
            self.taken,
            points,
            Rows(
                np.array([step for step, _, _ in rows], np.int64),
                np.array([m for _, m, _ in rows]).reshape(-1, len(self._tracks), OWN_MEASURES),
                np.array([ceiling for _, _, ceiling in rows]).reshape(-1, 3),
            ),
            self._moment(),
            tuple(track.judged() for track in self._tracks),
            self._source.events,
            self._acknowledged,
            refused,
            isinstance(self._source, Playback) and self._source.is_over,
            self._about_map,
        )

    def _acknowledge(self) -> None:
        while self._drops and self._drops[0][1] < self.taken:
            self._acknowledged = max(self._acknowledged, self._drops.pop(0)[0])
        if not self._drops:
            self._dropped.clear()

    def _moment(self) -> Moment:
        learned = np.full((len(self._tracks), self._n_names, 2), np.nan)
        for places, track in zip(learned, self._tracks, strict=True):
            named, means = track.means_of(self._n_names)
            places[named] = self._chart.places(means) if len(named) else 0.0
        truth = self._source.truth
        if truth is None:
            return Moment(np.empty((0, 2)), np.empty(0), np.empty(0, bool), None, None, learned)
        return Moment(
            self._chart.places(truth.means), truth.sigmas, truth.exists,
            self._chart.balls(truth.means, truth.sigmas), self._chart.glyphs(truth.means), learned,
        )  # fmt: skip


def _map_of(recording: Recording) -> Chart:
    """The map on which a recording flows: it shows all of it."""
    shown = np.flatnonzero(recording.observed)
    points = recording.points[shown[:: -(-len(shown) // MOST_DRAWN)]]
    return RecordedSpace(recording.manifold, "").chart_of(points)


def _latest(pieces: list[Points]) -> Points | None:
    """Pieces of equal stride joined: the latest, at most `MOST_POINTS` observations."""
    if not pieces:
        return None
    stride = pieces[-1].stride
    alike = [piece for piece in pieces if piece.stride == stride]
    xy = np.concatenate([piece.xy for piece in alike])[-MOST_POINTS:]
    glyphs = [piece.glyphs for piece in alike if piece.glyphs is not None]
    last = alike[-1].first + stride * (len(alike[-1].xy) - 1)
    return Points(
        last - stride * (len(xy) - 1),
        stride,
        xy,
        np.concatenate(glyphs)[-MOST_POINTS:] if glyphs else None,
        np.concatenate([piece.states for piece in alike])[-MOST_POINTS:],
        np.concatenate([piece.decoded for piece in alike], axis=1)[:, -MOST_POINTS:],
    )
