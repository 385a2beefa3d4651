import numpy as np
import pytest

from dashboard.compute import refitting
from dashboard.compute.refitting import Refitted
from dashboard.model.spaces.registry import DEFAULT
from rhmm.paper import paper_model


@pytest.fixture(scope="module")
def points():
    return paper_model().sample(3_000, random_state=0)[0]


@pytest.fixture
def fitted(points):
    em = Refitted(DEFAULT.manifold, 3, 0)
    em.partial_fit_predict_proba(points[:2_000])
    em.refit()
    em._thread.join()
    em.partial_fit_predict_proba(points[2_000:2_001])  # it takes over what was found
    return em


def test_before_its_first_fit_it_knows_nothing(points):
    em = Refitted(DEFAULT.manifold, 3, 0)

    assert (em.partial_fit_predict_proba(points[:100]) == 1 / 3).all()
    assert not em.__sklearn_is_fitted__()
    assert em.fitted_at_ is None


def test_it_says_when_it_was_fitted(fitted):
    assert fitted.fitted_at_ == 2_000
    assert fitted.micros_ > 0.0
    assert not fitted.is_busy


def test_it_goes_on_filtering_in_any_pieces(fitted, points):
    model = fitted._model
    pieces = np.split(points[2_001:], [1, 300, 800])
    rest = np.concatenate([fitted.partial_fit_predict_proba(piece) for piece in pieces])

    whole = model.filter_proba(points[1_000:])[1_001:]
    np.testing.assert_allclose(rest[50:], whole[50:], atol=1e-9)  # how it began is forgotten


def test_time_passes_while_all_is_missing(fitted, points):
    (law,) = fitted.partial_fit_predict_proba(points[2_001:2_002])
    missing = np.full((3, 2), np.nan)

    laws = fitted.partial_fit_predict_proba(missing)

    transmat = fitted.transmat_
    np.testing.assert_allclose(laws[2], law @ transmat @ transmat @ transmat)


def test_it_keeps_the_latest_observations_alone(monkeypatch, points):
    monkeypatch.setattr(refitting, "RECENT", 500)
    em = Refitted(DEFAULT.manifold, 3, 0)
    for piece in np.split(points, [7, 300, 1_250, 1_800]):
        em.partial_fit_predict_proba(piece)
    seen = []
    monkeypatch.setattr(em, "_fit", lambda *fit: seen.append(fit))

    em.refit()
    em._thread.join()

    ((latest, lengths, count),) = seen
    np.testing.assert_array_equal(latest, points[-500:])
    assert (list(lengths), count) == ([500], 3_000)
    assert em.state_nbytes_ == 500 * 2 * 8


def test_too_few_observations_are_not_fitted(points):
    em = Refitted(DEFAULT.manifold, 3, 0)
    em.partial_fit_predict_proba(points[:20])
    em.refit()
    em._thread.join()

    em.partial_fit_predict_proba(points[20:30])

    assert em.fitted_at_ is None
