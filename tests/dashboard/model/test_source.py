"""What every source must do, and what follows when an experiment has a source of its own."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from dashboard.compute import runs
from dashboard.compute.sample import sample_to_draw
from dashboard.compute.steps import replay
from dashboard.model.analysis import shipped
from dashboard.model.experiment import Experiment
from dashboard.model.methods import CEILING, ONLINE_LEARNERS
from dashboard.model.source import Observations, Recorded, Simulated, Source
from rhmm import Hyperbolic, RiemannianHMM
from rhmm.paper import paper_model


@dataclass(frozen=True)
class Alternating:
    """The toy that follows CONTRIBUTING.md: two points of the disk in turn."""

    apart: float
    length: int
    manifold = Hyperbolic(2)

    def true_model(self) -> RiemannianHMM:
        swap, means = [[0.1, 0.9], [0.9, 0.1]], [[-self.apart, 0], [self.apart, 0]]
        return RiemannianHMM.from_parameters(Hyperbolic(2), [0.5, 0.5], swap, means, [0.2, 0.2])

    def observe(self) -> Observations:
        states = np.arange(self.length) % 2
        nudge = np.random.default_rng(0).uniform(-0.05, 0.05, self.length)
        x = np.where(states, self.apart, -self.apart)
        return Observations(np.column_stack([x, nudge]), states)


class OnToy(Experiment):
    """An experiment whose settings ask for the toy."""

    @property
    def source(self) -> Source:
        return Alternating(0.5, self.length)


CASES = {
    # each with a source that differs from it in one field
    "simulated": (
        Simulated(**Experiment().truth, length=70, seed=3),
        Simulated(**Experiment().truth, length=70, seed=4),
    ),
    "toy": (Alternating(0.5, 60), Alternating(0.6, 60)),
    "recorded": (Recorded(shipped("weather")), Recorded(shipped("plane"))),
}


@pytest.fixture(params=CASES.values(), ids=CASES)
def pair(request):
    return request.param


@pytest.fixture
def source(pair):
    return pair[0]


def test_points_lie_in_the_space_and_states_are_those_of_the_true_model(source):
    points, states, lengths = source.observe()
    truth = source.true_model()

    assert np.all(source.manifold.belongs(points))
    assert points.shape[1:] == source.manifold.point_shape
    assert states.shape == (len(points),)
    assert lengths is None or sum(lengths) == len(points)
    if truth is not None:
        assert truth.manifold == source.manifold
        assert set(states) <= set(range(len(truth.startprob_)))


def test_a_source_gives_the_same_each_time_and_so_does_its_equal(source):
    other = replace(source)

    assert other == source
    assert hash(other) == hash(source)
    for one, again in zip(source.observe(), other.observe(), strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(again))


def test_sources_that_give_other_points_differ(pair):
    one, other = pair

    assert one != other
    assert not np.array_equal(one.observe().points, other.observe().points)


def test_a_source_cannot_be_changed(source):
    with pytest.raises(AttributeError):
        setattr(source, fields(source)[-1].name, 5)


def test_steps_are_explained_on_any_source(source):
    options, truth = {"window": 20}, source.true_model()
    n_states = 3 if truth is None else len(truth.startprob_)
    steps = replay(source, ONLINE_LEARNERS["windowed"], options, 0, n_states)

    assert steps.last == len(source.observe().points)
    np.testing.assert_array_equal(steps.step(40).held[-1], source.observe().points[39])


def test_an_experiment_draws_and_learns_what_its_source_gives():
    experiment = OnToy(length=600, algorithms=("streaming",))
    points, states, _ = experiment.source.observe()

    run = runs.compute(experiment, lambda run, doing, share: None)
    drawn, _ = sample_to_draw(experiment)

    np.testing.assert_array_equal(run.points, points)
    np.testing.assert_array_equal(run.true_states, states)
    np.testing.assert_array_equal(drawn, points.astype(drawn.dtype))
    assert run.method("streaming").accuracy == run.method(CEILING).accuracy == 1.0


def test_a_simulated_source_draws_from_its_true_model():
    source = Simulated(**Experiment().truth, length=700, seed=3)
    points, states = paper_model().sample(700, random_state=3)

    drawn = source.observe()

    np.testing.assert_array_equal(drawn.points, points)
    np.testing.assert_array_equal(drawn.states, states)


def test_experiments_that_differ_in_their_learner_alone_share_a_source():
    assert Experiment(window=60, algorithms=("windowed",)).source == Experiment().source
    assert Experiment(seed=1).source != Experiment().source
