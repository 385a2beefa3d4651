import numpy as np
import pytest
from scipy.integrate import quad

from dashboard.compute import lesson
from rhmm.learners import kmeans


def test_the_tables_of_the_gaussian_are_integrals():
    tables = lesson.gaussian_tables()
    for row in (0, 10, 18, 38):
        sigma = tables.sigmas[row]

        def weight(r, sigma=sigma):
            return 2 * np.pi * np.sinh(r) * np.exp(-(r**2) / (2 * sigma**2))

        total = quad(weight, 0, 40 * sigma)[0]
        assert tables.z[row] == pytest.approx(total, rel=1e-7)
        squares = quad(lambda r, w=weight: r**2 * w(r), 0, 40 * sigma)[0]
        assert tables.delta[row] == pytest.approx(squares / total, rel=1e-7)
        np.testing.assert_allclose(
            tables.law[row, ::30], weight(tables.radii[::30]) / total, rtol=1e-7, atol=1e-12
        )


def test_samples_are_spread_as_delta_says():
    tables = lesson.gaussian_tables()
    d2 = (2 * np.arctanh(np.linalg.norm(tables.samples, axis=2))) ** 2
    np.testing.assert_allclose(d2.mean(axis=1), tables.delta, rtol=0.25)


def test_delta_is_larger_than_in_the_plane():
    tables = lesson.gaussian_tables()
    assert (tables.delta > 2 * tables.sigmas**2).all()


def test_the_walk_is_the_beginning_of_the_papers_chain():
    points, states, _ = lesson.PAPERS.source.observe()
    walk = lesson.walk()
    assert np.array_equal(walk.points, points[: len(walk.points)])
    assert np.array_equal(walk.states, states[: len(walk.states)])


def test_only_the_short_window_with_the_printed_update_collapses():
    accuracies = {run.key: run.accuracy for run in lesson.windows().runs}
    assert accuracies["short"] < 0.8
    assert min(accuracies[key] for key in ("long", "convex", "streaming")) > 0.95


def test_the_first_exit_is_the_first():
    found = lesson.windows().exit
    raw = found.step.raw
    assert not 0.0 <= found.raw <= 1.0
    assert found.raw == raw[found.row, found.column]
    steps = lesson.replay(
        lesson.PAPERS.source,
        lesson.windowed.LEARNER,
        {"transition_update": "paper", "window": lesson.SHORT},
        lesson.PAPERS.seed,
        lesson.PAPERS.n_states,
    )
    for k in range(steps.first, found.k):
        earlier = steps.step(k).raw
        assert ((earlier >= 0.0) & (earlier <= 1.0)).all()


def test_the_exit_follows_from_its_mu_and_g():
    found = lesson.windows().exit
    e = found.step.explanation
    pull = (e.g[found.row] / e.mu[found.row]).sum() / (1 / e.mu[found.row]).sum()
    assert found.raw == pytest.approx(found.before + (found.g - pull) / found.mu)


def test_k_means_is_wrong_and_the_chain_right_about_the_mistake():
    case = lesson.mistake()
    points, states, _ = lesson.PAPERS.source.observe()
    truth = lesson.PAPERS.source.true_model()
    t = case.t - 1

    assert np.array_equal(case.point, points[t])
    assert case.state == states[t] != case.label
    assert case.both.argmax() == case.state
    np.testing.assert_allclose(case.both, truth.predict_proba(points)[t])
    assert case.distances.argmin() == case.label
    clusters = kmeans.LEARNER.estimator(truth.manifold, 3, random_state=lesson.PAPERS.seed)
    centres = clusters.fit(points).cluster_centers_
    np.testing.assert_allclose(
        np.sort(case.distances), np.sort(truth.manifold.dist(np.stack([points[t]] * 3), centres))
    )


def test_point_past_and_future_make_the_probability_of_the_state():
    case = lesson.mistake()
    product = case.density * case.past * case.future
    np.testing.assert_allclose(product / product.sum(), case.both, atol=1e-9)
