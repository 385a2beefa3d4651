"""Streams with other emissions than the paper's: shapes that are learned as observations come.

What all online learners promise is tested with them in `test_online` and `test_online_sequences`.
"""

import warnings

import numpy as np
import pytest

from rhmm import (
    SPD,
    AutoMemoryRiemannianHMM,
    Configuration,
    ConvergenceWarning,
    Hyperbolic,
    Manifold,
    RiemannianHMM,
    StreamingRiemannianHMM,
    sweep,
)
from rhmm.emissions import EMISSIONS
from rhmm.paper import paper_model
from rhmm.scoring import accuracy
from tests.learners.chains import content
from tests.learners.test_degenerate_streams import STREAMS
from tests.learners.test_em_invariance import move_disk
from tests.manifolds.cases import congruence
from tests.streams.altering import altered

DISK = Hyperbolic(2)
SHAPED = EMISSIONS[1:]


class WithoutCoordinates(Hyperbolic):
    normal_coordinates = Manifold.normal_coordinates


def thin_clusters(emission="full", degrees=None) -> RiemannianHMM:
    """Two long thin clusters that cross: only their directions tell them apart."""
    thin = np.array([[[0.3, 0.0], [0.0, 0.01]], [[0.01, 0.0], [0.0, 0.3]]])
    return RiemannianHMM.from_parameters(
        DISK, [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], [[0.3, 0.0], [0.3, 0.1]],
        emission=emission, covariances=thin, degrees=degrees,
    )  # fmt: skip


def matrices() -> RiemannianHMM:
    return RiemannianHMM.from_parameters(
        SPD(2), [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [np.eye(2), [[2.0, 0.5], [0.5, 1.0]]],
        emission="tied", covariances=np.diag([0.2, 0.05, 0.01]),
    )  # fmt: skip


def streaming(emission, manifold=DISK, **options):
    return StreamingRiemannianHMM(
        manifold, 2, **{"random_state": 0, "emission": emission} | options
    )


@pytest.mark.parametrize("emission", ["isotropic", "diag", "tied", "full", "student-full"])
def test_one_pass_is_nearly_as_likely_as_em_with_the_same_emission(emission):
    """EM is the likeliest there is. Tails that are not there are unlearned by reviews only."""
    X, _ = thin_clusters().sample(1_500, random_state=1)
    em = RiemannianHMM(DISK, 2, emission=emission, n_init=4, n_iter=30, tol=0.1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        em.fit(X)
    online = streaming(emission).fit(X)
    loss = em.score(X) / len(X) - online.score(X) / len(X)
    assert loss < (0.03 if emission == "student-full" else 0.01)
    assert online.covariances_.shape == em.covariances_.shape


def test_shapes_that_the_paper_has_no_word_for_are_found():
    truth = thin_clusters()
    X, states = truth.sample(4_000, random_state=0)
    online = streaming("full").fit(X)
    ceiling = accuracy(states, truth.predict(X), 2)
    assert accuracy(states, online.predict(X), 2) > ceiling - 0.01
    assert accuracy(states, streaming("riemannian").fit(X).predict(X), 2) < ceiling - 0.1
    model = online.to_hmm().align_to(truth)
    # from about 1,300 visits a variance is known to 4 %
    np.testing.assert_allclose(
        np.diagonal(model.covariances_, axis1=1, axis2=2),
        np.diagonal(truth.covariances_, axis1=1, axis2=2),
        rtol=0.15,
    )


def test_a_fixed_memory_follows_a_shape_that_changes():
    first, _ = thin_clusters().sample(1_500, random_state=0)
    turned = RiemannianHMM.from_parameters(
        DISK, [0.5, 0.5], [[0.95, 0.05], [0.1, 0.9]], [[0.3, 0.0], [0.3, 0.1]],
        emission="full", covariances=4.0 * thin_clusters().covariances_,
    )  # fmt: skip
    later, _ = turned.sample(3_000, random_state=1)
    online = streaming("full", memory="fixed").fit(np.concatenate([first, later]))
    largest = np.linalg.eigvalsh(online.covariances_)[:, 1]
    np.testing.assert_allclose(largest, 1.2, rtol=0.4)  # .3 before


def test_heavy_tails_are_learned_at_the_start_and_kept_if_they_are_given():
    X, _ = thin_clusters("student-full", degrees=3.0).sample(1_000, random_state=0)
    learned = streaming("student-full", window=600).fit(X)
    assert 2.0 < learned.degrees_ < 5.0
    given = streaming("student-full", degrees=7.0).fit(X)
    assert given.degrees_ == pytest.approx(7.0, rel=1e-12)
    plain = streaming("full").fit(X)
    assert learned.score(X) > plain.score(X) + 50.0


def test_a_state_that_the_start_has_not_seen_is_found_by_a_review():
    """The first 250 observations are of two states; the third appears later."""
    manifold, rng = SPD(2), np.random.default_rng(0)
    states = np.concatenate([rng.integers(0, 2, 250), rng.integers(0, 3, 2_750)])
    means = np.stack([np.eye(2), np.diag([8.0, 1.0]), np.diag([1.0, 8.0])])
    noise = 0.3 * rng.standard_normal((3_000, 3)) * [1.0, 0.3, 0.3]
    X = np.concatenate(
        [
            manifold.from_normal_coordinates(means[s], u[None])
            for s, u in zip(states, noise, strict=True)
        ]
    )
    online = StreamingRiemannianHMM(manifold, 3, emission="tied", random_state=0)
    online.partial_fit(X[:400])
    before = accuracy(states[:400], online.predict(X[:400]), 3)
    online.partial_fit(X[400:])
    assert accuracy(states, online.predict(X), 3) > 0.98 > before


# Invariance


def test_rotations_about_the_origin_rotate_a_tied_law_and_change_no_probability():
    X, _ = thin_clusters().sample(900, random_state=0)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    one, other = streaming("tied"), streaming("tied")
    ours, theirs = one.partial_fit_predict_proba(X), other.partial_fit_predict_proba(X @ turn.T)
    np.testing.assert_allclose(theirs, ours, atol=1e-6)
    np.testing.assert_allclose(other.means_, one.means_ @ turn.T, atol=1e-7)
    np.testing.assert_allclose(other.covariances_, turn @ one.covariances_ @ turn.T, atol=1e-7)


@pytest.mark.parametrize("emission", ["isotropic", "full", "student", "student-full"])
@pytest.mark.parametrize("space", ["disk", "matrices"])
def test_any_isometry_moves_laws_along(space, emission):
    """Own shapes go along the geodesics of their means, which an isometry moves along."""
    if space == "disk":
        (X, _), manifold, move = thin_clusters().sample(900, random_state=0), DISK, move_disk
    else:
        (X, _), manifold = matrices().sample(900, random_state=0), SPD(2)
        move = congruence(np.random.default_rng(0), 2)
    one, other = streaming(emission, manifold), streaming(emission, manifold)
    ours, theirs = one.partial_fit_predict_proba(X), other.partial_fit_predict_proba(move(X))
    np.testing.assert_allclose(theirs, ours, atol=1e-6)
    np.testing.assert_allclose(other.means_, move(one.means_), atol=1e-6)


# The kernel against the formulas, and against the law


@pytest.mark.parametrize("emission", SHAPED)
def test_steps_are_those_of_the_formulas(emission):
    X, _ = thin_clusters().sample(260, random_state=0)
    online = streaming(emission, trace_every=1).fit(X)
    for k in (215, 216, 217, 232, 260):
        explained = online.explain(k, X)
        (row,) = np.flatnonzero(online.trace_.step == k)
        for name in ("transmat", "means", "delta", "sigmas"):
            expected = getattr(online.trace_, name)[row]
            np.testing.assert_allclose(getattr(explained.after, name), expected, rtol=1e-9)
        np.testing.assert_allclose(explained.gamma[-1], online.trace_.gamma[row], atol=1e-9)
    assert len(online.explain(216, X).learned) == 8


def test_on_matrices_a_stream_is_chunked_saved_and_explained_as_on_the_disk(tmp_path):
    truth = matrices()
    X, states = truth.sample(700, random_state=0)
    X[[5, 300, 301]] = np.nan
    whole, parts = (streaming("tied", SPD(2), trace_every=1) for _ in range(2))
    probabilities = whole.partial_fit_predict_proba(X, lengths=[250, 450])
    parts.partial_fit(X[:250], lengths=[250]).partial_fit(X[250:431])
    parts.save(tmp_path / "parts.npz")
    parts = StreamingRiemannianHMM.load(tmp_path / "parts.npz")
    rest = parts.partial_fit_predict_proba(X[431:], lengths=[269])
    assert rest.tobytes() == probabilities[431:].tobytes()
    assert content(parts, tmp_path) == content(whole, tmp_path)
    explained = whole.explain()
    np.testing.assert_allclose(explained.after.means, whole.means_, rtol=1e-10)
    np.testing.assert_allclose(explained.after.delta, whole.trace_.delta[-1], rtol=1e-10)
    seen = ~np.isnan(X[:, 0, 0])
    assert accuracy(states[seen], whole.predict(X)[seen], 2) > 0.97


@pytest.mark.parametrize(
    ("truth", "emission"), [(matrices(), "tied"), (thin_clusters(), "student-diag")]
)
def test_the_filter_uses_the_densities_of_the_model_that_it_hands_out(truth, emission):
    X, _ = truth.sample(405, random_state=3)
    online = streaming(emission, truth.manifold)
    alpha = online.partial_fit_predict_proba(X[:400])[-1]
    log_density = online.to_hmm().log_density(X[400:401])[0]
    joint = alpha @ online.transmat_ * np.exp(log_density - log_density.max())
    np.testing.assert_allclose(online.predict_proba_one(X[400]), joint / joint.sum(), atol=1e-10)
    filtered = online.partial_fit_predict_proba(X[400:401])[0]
    np.testing.assert_allclose(filtered, joint / joint.sum(), atol=1e-10)


# Hard data, and what is refused


@pytest.mark.parametrize("stream", STREAMS)
def test_a_degenerate_stream_ends_in_finite_parameters(stream):
    manifold, X = STREAMS[stream]
    if manifold.dim == 1:
        return  # the same code as on the disk, which would be compiled once more
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        online = StreamingRiemannianHMM(manifold, 1, window=20, emission="full", random_state=0)
        model = online.fit(np.tile(X, (3,) + (1,) * (X.ndim - 1))).to_hmm()
    assert np.isfinite(model.covariances_).all()
    assert (np.linalg.eigvalsh(model.covariances_) > 0.0).all()
    assert manifold.belongs(model.means_).all()
    assert np.isfinite(model.score(X))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"init": "cold"}, r"^init must be 'kmeans' for emission='tied'"),
        ({"n_components": "auto"}, r"^n_components must be a number for emission='tied'"),
        ({"emission": "round"}, r"^emission must be one of"),
        ({"degrees": 0.01}, r"^degrees must be a finite number"),
        ({"shrinkage": -1.0}, r"^shrinkage must be a finite number"),
        ({"emission": "riemannian", "shrinkage": 1.0}, r"^shrinkage must be None"),
        ({"emission": "riemannian", "degrees": 3.0}, r"^degrees must be None"),
        ({"manifold": WithoutCoordinates(2)}, "has no normal coordinates"),
    ],
)
def test_what_shapes_cannot_go_with_is_named(options, sentence):
    given = {"manifold": DISK, "n_components": 2, "emission": "tied"} | options
    with pytest.raises(ValueError, match=sentence):
        StreamingRiemannianHMM(**given).check_options()


def test_a_file_whose_shapes_cannot_be_is_refused(tmp_path):
    X, _ = thin_clusters().sample(300, random_state=0)
    path = tmp_path / "online.npz"
    good = streaming("tied").fit(X)
    for name, value in (
        ("scatter", np.zeros((2, 3, 3))),
        ("scatter", np.array([[[1.0, 0.5], [0.0, 1.0]]] * 2)),
        ("whiteners", np.array([[[1.0, 0.5], [0.0, 1.0]]] * 2)),
        ("whiteners", -np.stack([np.eye(2)] * 2)),
        ("log_det", np.full(2, 9.0)),
        ("tail", np.array([-1.0, 0.0])),
        ("prior_variance", np.zeros(1)),
    ):
        good.save(path)
        altered(path, **{f"0.{name}": value})
        with pytest.raises(ValueError, match=rf"is not a learner that rhmm saved.*{name}"):
            StreamingRiemannianHMM.load(path)


def test_start_sizes_leave_room_for_shapes():
    assert streaming("tied", window=30).start_size == 120
    assert streaming("tied", window=500).start_size == 500
    assert AutoMemoryRiemannianHMM(DISK, 4, emission="full").start_size == 240


def test_a_sweep_varies_the_emission():
    configurations = [
        Configuration("streaming", 400, emission=emission) for emission in ("riemannian", "tied")
    ]
    runs = sweep(paper_model(), configurations, 1)
    assert [run.configuration.name for run in runs] == [
        "streaming, Δ=200",
        "streaming, Δ=200, tied",
    ]
    assert all(run.accuracy > 0.9 for run in runs)
