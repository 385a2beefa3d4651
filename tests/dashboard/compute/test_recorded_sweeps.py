"""How well the next observation of a recording is predicted."""

import numpy as np
import pytest

from dashboard.compute.recorded_sweeps import predictive_density
from rhmm import RiemannianHMM, StreamingRiemannianHMM, WindowedRiemannianHMM
from tests.dashboard.made_recordings import of_the_disk

RECORDING = of_the_disk().recording
HALF = len(RECORDING.points) // 2
MANIFOLD = RECORDING.manifold


def fitted(kind, **options):
    return kind(MANIFOLD, 3, random_state=0, **options).fit(
        RECORDING.points, lengths=RECORDING.lengths
    )


@pytest.mark.parametrize("kind", [StreamingRiemannianHMM, WindowedRiemannianHMM])
def test_a_learner_is_judged_by_what_it_said_before_it_saw_the_second_half(kind):
    learner = fitted(kind, window=60, trace_every=HALF)
    again = kind(MANIFOLD, 3, window=60, random_state=0)
    again.partial_fit(RECORDING.points[:100], lengths=[100]).partial_fit(RECORDING.points[100:HALF])
    before = again.log_likelihood_
    again.partial_fit(RECORDING.points[HALF:])

    found = predictive_density(learner, RECORDING, HALF)

    assert found == pytest.approx((again.log_likelihood_ - before) / (len(RECORDING.points) - HALF))


def test_a_learner_that_starts_late_is_judged_from_its_start_on():
    learner = fitted(StreamingRiemannianHMM, window=200, trace_every=HALF)

    found = predictive_density(learner, RECORDING, HALF)

    assert found == pytest.approx(learner.log_likelihood_ / (299 - 200))  # one is missing


@pytest.mark.filterwarnings("ignore::rhmm.ConvergenceWarning")
def test_without_a_step_and_for_em_it_is_the_density_of_the_model_given_the_first_half():
    learner = fitted(StreamingRiemannianHMM, window=299, trace_every=HALF)
    em = fitted(RiemannianHMM, n_iter=2)

    for estimator in (learner, em):
        model = estimator.to_hmm()
        # the predictive law of each state, by the filter of all that came before in its sequence
        logs = []
        for t in range(HALF, len(RECORDING.points)):
            past = RECORDING.points[100:t]
            logs.append(model.score(RECORDING.points[100 : t + 1]) - model.score(past))
        assert predictive_density(estimator, RECORDING, HALF) == pytest.approx(np.mean(logs))
