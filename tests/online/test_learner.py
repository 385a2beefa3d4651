"""What every online learner promises, whatever its algorithm and its manifold."""

from itertools import product

import numpy as np
import pytest

from rhmm import DegenerateWarning, Euclidean, Hyperbolic, OnlineRiemannianHMM
from rhmm.parameters import stationary_law
from tests import brute_force
from tests.online.streams import (
    LEARNERS,
    MANIFOLDS,
    STREAMING,
    chain_on,
    content,
    is_sound,
    learner,
    stream,
    with_holes,
)

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
every_learner = pytest.mark.parametrize("name", LEARNERS)


def in_chunks(X, sizes):
    return np.split(X, np.cumsum(sizes))


CHUNKINGS = {
    "one by one": np.ones(699, int),
    "by sevens": np.full(99, 7),
    "unequal": [1, 38, 1, 1, 150, 9, 50, 230, 1, 120],
}


@every_manifold
@every_learner
@pytest.mark.parametrize("chunking", CHUNKINGS)
def test_any_chunking_gives_the_same_to_the_last_bit(manifold, name, chunking, tmp_path):
    X = stream(manifold)
    whole, parts = learner(manifold, name), learner(manifold, name)
    probabilities = whole.partial_fit_predict_proba(X)
    pieces = [parts.partial_fit_predict_proba(piece) for piece in in_chunks(X, CHUNKINGS[chunking])]
    assert np.concatenate(pieces).tobytes() == probabilities.tobytes()
    assert content(parts, tmp_path) == content(whole, tmp_path)
    assert parts.window_ == whole.window_


@every_learner
def test_any_chunking_of_a_stream_with_holes_gives_the_same(name, tmp_path):
    X = with_holes(stream(Hyperbolic(2)))
    whole, parts = learner(Hyperbolic(2), name), learner(Hyperbolic(2), name)
    probabilities = whole.partial_fit_predict_proba(X)
    pieces = [parts.partial_fit_predict_proba(piece) for piece in in_chunks(X, [2, 30, 10, 280])]
    assert np.concatenate(pieces).tobytes() == probabilities.tobytes()
    assert content(parts, tmp_path) == content(whole, tmp_path)


@every_learner
def test_asking_for_probabilities_does_not_change_what_is_learned(name, tmp_path):
    X = stream(Hyperbolic(2))
    plain, asked = learner(Hyperbolic(2), name), learner(Hyperbolic(2), name)
    asked.partial_fit_predict_proba(X)
    assert content(plain.partial_fit(X), tmp_path) == content(asked, tmp_path)


@every_manifold
@every_learner
def test_learn_one_is_partial_fit_of_one(manifold, name, tmp_path):
    X = stream(manifold, 520)
    whole, single = learner(manifold, name).partial_fit(X), learner(manifold, name)
    for y in X:
        assert single.learn_one(y) is single
    assert content(single, tmp_path) == content(whole, tmp_path)


def test_a_stream_longer_than_the_inner_chunks_is_chunked_freely(tmp_path):
    X = stream(Hyperbolic(2), 9_000)
    whole, parts = learner(Hyperbolic(2), "auto"), learner(Hyperbolic(2), "auto")
    whole.partial_fit(X)
    for piece in in_chunks(X, [4096, 1, 4095]):
        parts.partial_fit(piece)
    assert content(parts, tmp_path) == content(whole, tmp_path)


@every_manifold
@every_learner
def test_probabilities_as_the_stream_went_are_a_causal_filter(manifold, name):
    X = stream(manifold)
    probabilities = learner(manifold, name).partial_fit_predict_proba(X)
    assert probabilities.shape == (700, 3)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert (probabilities >= 0).all()
    other = X.copy()
    other[600:] = X[:100]
    again = learner(manifold, name).partial_fit_predict_proba(other)
    assert again[:600].tobytes() == probabilities[:600].tobytes()
    assert (probabilities[:20] == 1 / 3).all()


# Predictions


@every_manifold
@every_learner
@pytest.mark.parametrize("seen", [300, 600])
def test_predict_proba_one_is_a_step_of_the_filter(manifold, name, seen):
    X = stream(manifold)
    online = learner(manifold, name)
    alpha = online.partial_fit_predict_proba(X[:seen])[-1]
    for y in X[seen : seen + 5]:
        log_density = brute_force.log_density(online.to_hmm(), y[None])[0]
        joint = alpha @ online.transmat_ * np.exp(log_density - log_density.max())
        expected = joint / joint.sum()
        np.testing.assert_allclose(online.predict_proba_one(y), expected, rtol=0, atol=1e-12)
        assert online.predict_one(y) == expected.argmax()
        assert type(online.predict_one(y)) is int


@every_learner
@pytest.mark.parametrize("seen", [10, 300, 600])
def test_predictions_change_nothing(name, seen, tmp_path):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name).partial_fit(X[:seen])
    before = content(online, tmp_path)
    for y in X[seen : seen + 10]:
        online.predict_one(y)
        online.predict_proba_one(y)
    assert content(online, tmp_path) == before


@every_learner
def test_a_missing_observation_is_predicted_by_the_transitions_alone(name):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name)
    alpha = online.partial_fit_predict_proba(X)[-1]
    missing = np.full(2, np.nan)
    expected = alpha @ online.transmat_
    np.testing.assert_allclose(online.predict_proba_one(missing), expected, rtol=1e-12)
    assert online.predict_one(missing) == expected.argmax()


@every_learner
def test_a_masked_observation_is_missing(name, tmp_path):
    X = stream(Hyperbolic(2))
    holed, masked = with_holes(X), np.ma.array(X, mask=np.isnan(with_holes(X)))
    plain, other = learner(Hyperbolic(2), name), learner(Hyperbolic(2), name)
    plain.partial_fit(holed[:-1]).learn_one([np.nan, np.nan])
    other.partial_fit(masked[:-1]).learn_one(np.ma.masked_all(2))
    assert content(plain, tmp_path) == content(other, tmp_path)


@every_learner
def test_a_missing_observation_is_filtered_by_the_transitions_alone(name):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name)
    alpha = online.partial_fit_predict_proba(X)[-1]
    expected = alpha @ online.transmat_
    filtered = online.partial_fit_predict_proba(np.full((1, 2), np.nan))[0]
    np.testing.assert_allclose(filtered, expected, rtol=1e-12)


@every_learner
def test_what_was_given_away_is_a_copy(name):
    online = learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2)))
    kept = online.transmat_.copy(), online.means_.copy()
    online.transmat_[:] = 0
    online.means_[:] = 0
    online.to_hmm().transmat_[:] = 0
    assert np.array_equal(online.transmat_, kept[0])
    assert np.array_equal(online.means_, kept[1])


@every_manifold
@every_learner
def test_the_model_it_hands_out_holds_its_parameters_and_starts_stationary(manifold, name):
    online = learner(manifold, name).partial_fit(stream(manifold))
    model = online.to_hmm()
    assert np.array_equal(model.transmat_, online.transmat_)
    assert np.array_equal(model.means_, online.means_)
    assert np.array_equal(model.sigmas_, online.sigmas_)
    np.testing.assert_allclose(model.startprob_ @ model.transmat_, model.startprob_, atol=1e-10)
    np.testing.assert_allclose(model.startprob_, stationary_law(model.transmat_))


# Before the start


@every_manifold
@every_learner
def test_before_the_start_it_says_that_it_knows_nothing(manifold, name):
    X = stream(manifold)
    online = learner(manifold, name)
    for seen, piece in ((0, X[:20]), (20, X[20:25])):
        assert online.n_samples_seen_ == seen
        assert online.predict_one(X[0]) is None
        assert np.array_equal(online.predict_proba_one(X[0]), np.full(3, 1 / 3))
        for attribute in ("transmat_", "means_", "sigmas_"):
            with pytest.raises(AttributeError, match=f"nothing is learned before .* {seen} have"):
                getattr(online, attribute)
        with pytest.raises(AttributeError, match="nothing is learned before"):
            online.to_hmm()
        online.partial_fit(piece)
    assert len(online.trace_.step) == 0
    assert online.trace_.means.shape == (0, 3, *manifold.point_shape)


def test_explain_before_the_start_is_refused():
    with pytest.raises(ValueError, match=r"k=10 cannot be explained: .*collecting"):
        learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2))[:10]).explain()


def test_only_the_latest_observation_is_explained_without_the_stream():
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2)))
    with pytest.raises(ValueError, match="k must be the latest observation, 700"):
        online.explain(650)


# Size, count, trace


@every_manifold
@every_learner
def test_its_size_does_not_depend_on_what_it_has_seen(manifold, name):
    X = stream(manifold, 2_000)
    online = learner(manifold, name).partial_fit(X[:800])  # any race is over by then
    sizes = {online.state_nbytes_}
    for piece in np.split(X[800:], 5):
        sizes.add(online.partial_fit(piece).state_nbytes_)
    assert len(sizes) == 1
    assert sizes.pop() > 0


def test_the_size_of_a_streaming_learner_does_not_depend_on_the_window():
    X = stream(Hyperbolic(2), 2_000)
    sizes = [
        learner(Hyperbolic(2), "growing", window=window).partial_fit(X).state_nbytes_
        for window in (60, 200, 1_000)
    ]
    assert sizes[0] == sizes[1] == sizes[2]


def test_the_largest_size_is_remembered_and_kept_in_files(tmp_path):
    """Δ points of two numbers, while they are collected, are more than the state that follows."""
    online = learner(Hyperbolic(2), "growing")
    assert online.peak_nbytes_ == 0
    assert online.partial_fit(stream(Hyperbolic(2), 150)).peak_nbytes_ == 150 * 16
    online.partial_fit(stream(Hyperbolic(2), 450)).save(tmp_path / "online.npz")
    for each in (online, OnlineRiemannianHMM.load(tmp_path / "online.npz")):
        assert each.peak_nbytes_ == 200 * 16 > each.state_nbytes_


def test_the_largest_size_counts_the_candidates_of_a_race():
    online = learner(Hyperbolic(2), "cold").partial_fit(stream(Hyperbolic(2), 31))
    assert online.peak_nbytes_ == online.state_nbytes_ > 16 * 31
    during = online.state_nbytes_
    online.partial_fit(stream(Hyperbolic(2), 1_000))
    assert online.peak_nbytes_ == during > online.state_nbytes_


@every_learner
def test_it_counts_all_observations_also_missing_ones(name):
    X = with_holes(stream(Hyperbolic(2)))
    online, seen = learner(Hyperbolic(2), name), 0
    for piece in in_chunks(X, [2, 30, 10, 280]):
        seen += len(piece)
        assert online.partial_fit(piece).n_samples_seen_ == seen


@every_manifold
@every_learner
def test_the_trace_holds_the_parameters_at_its_stride(manifold, name):
    X = stream(manifold)
    online = learner(manifold, name, trace_every=50)
    online.partial_fit(X[:600])
    at_600 = online.transmat_, online.means_, online.sigmas_
    trace = online.partial_fit(X[600:]).trace_
    assert (trace.step % 50 == 0).all()
    assert (np.diff(trace.step) == 50).all()
    assert trace.step[-1] == 700
    row = int(np.flatnonzero(trace.step == 600).item())
    assert np.array_equal(trace.transmat[row], at_600[0])
    assert np.array_equal(trace.means[row], at_600[1])
    np.testing.assert_allclose(trace.sigmas[row], at_600[2], rtol=1e-8)
    np.testing.assert_allclose(trace.gamma.sum(axis=1), 1.0, atol=1e-12)
    assert np.isfinite(trace.log_likelihood).all()
    assert (trace.visits > 0).all()


@every_learner
def test_the_trace_adds_up_the_predictive_log_densities(name):
    """Of whoever led before the observation came, also while candidates or memories compete."""
    X = stream(Hyperbolic(2), 1_200)
    online = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X)
    trace, expected = online.trace_, []
    some = np.arange(1, len(trace.step), 11)
    for k in some:
        y = X[trace.step[k] - 1]
        before = online.to_hmm()
        before.parameters_ = before.parameters_._replace(
            transmat=trace.transmat[k - 1], means=trace.means[k - 1], sigmas=trace.sigmas[k - 1]
        )
        predicted = trace.gamma[k - 1] @ trace.transmat[k - 1]
        expected.append(np.log(predicted @ np.exp(brute_force.log_density(before, y[None])[0])))
    gained = trace.log_likelihood[some] - trace.log_likelihood[some - 1]
    np.testing.assert_allclose(gained, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("pieces", [1, 3])
def test_nobody_can_write_into_the_trace(pieces):
    online = learner(Hyperbolic(2), "growing")
    for piece in np.array_split(stream(Hyperbolic(2)), pieces):
        online.partial_fit(piece)
    for array in online.trace_:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    online.partial_fit(stream(Hyperbolic(2)))
    assert online.trace_.step[-1] == 1_400


def test_without_a_stride_there_is_no_trace():
    online = learner(Hyperbolic(2), "growing", trace_every=None)
    with pytest.raises(AttributeError, match="trace_every"):
        _ = online.trace_


# Scale


@pytest.mark.parametrize(
    ("name", "unit"),
    # the windowed ones start from K-means, whose tolerance is a distance
    [*product(LEARNERS, [2.0**10]), *product(STREAMING, [2.0**-20])],
)
def test_the_unit_of_measurement_does_not_matter(name, unit):
    X = stream(Euclidean(2), 1_000)
    plain = learner(Euclidean(2), name).partial_fit(X)
    other = learner(Euclidean(2), name, min_sigma=1e-3 * unit).partial_fit(unit * X)
    np.testing.assert_allclose(other.transmat_, plain.transmat_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(other.means_ / unit, plain.means_, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(other.sigmas_ / unit, plain.sigmas_, rtol=1e-5)


@every_learner
def test_data_smaller_than_min_sigma_are_warned_of(name):
    with pytest.warns(
        DegenerateWarning, match=r"every state starts on a point .* min_sigma=0\.001"
    ):
        learner(Euclidean(2), name).partial_fit(2.0**-20 * stream(Euclidean(2)))


@every_learner
def test_a_point_at_the_end_of_the_world_does_no_harm_and_one_beyond_is_refused(name, tmp_path):
    X = stream(Euclidean(2))
    online = learner(Euclidean(2), name).partial_fit(X[:600])
    before = content(online, tmp_path)
    for far in (1.1e30, 1e100, 1e160):
        with pytest.raises(ValueError, match=r"^y is not a point .* at most 1e\+30 in size"):
            online.learn_one([0.0, far])
    assert content(online, tmp_path) == before
    online.learn_one([1e30, -1e30]).learn_one([-1e30, 1e30])
    assert is_sound(online)
    assert np.isfinite(online.partial_fit_predict_proba(X[600:])).all()
    assert is_sound(online)
    assert np.isfinite(online.predict_proba_one(X[0])).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_no_state_is_narrower_than_allowed(name):
    """The observations lie on three points: every spread would be zero."""
    X = np.random.default_rng(0).choice([0.0, 10.0, 20.0], size=(700, 1))
    online = OnlineRiemannianHMM(Euclidean(1), 3, random_state=0, min_sigma=0.1, **LEARNERS[name])
    with pytest.warns(DegenerateWarning, match=r"min_sigma=0\.1"):
        online.partial_fit(X[:200])
    for piece in np.split(X[200:], 50):
        assert (online.partial_fit(piece).sigmas_ >= 0.1 * (1 - 1e-6)).all()


# Progress


@every_learner
def test_the_callback_sees_the_learner_advance_to_the_end(name):
    seen = []
    online = learner(
        Hyperbolic(2), name, callback=lambda online: seen.append(online.n_samples_seen_)
    )
    online.partial_fit(stream(Hyperbolic(2), 9_000))
    assert seen == sorted(set(seen))
    assert seen[-1] == 9_000
    assert len(seen) >= 3
    assert max(np.diff(seen)) <= 5_000


def cancel_after(most):
    def callback(online):
        if online.n_samples_seen_ >= most:
            raise StopIteration

    return callback


@every_learner
def test_a_cancelled_learner_goes_on_where_it_stopped(name, tmp_path):
    X = stream(Hyperbolic(2), 9_000)
    online = learner(Hyperbolic(2), name, callback=cancel_after(1_000)).partial_fit(X)
    done = online.n_samples_seen_
    assert 1_000 <= done < 9_000
    online.callback = None
    online.partial_fit(X[done:])
    whole = learner(Hyperbolic(2), name).partial_fit(X)
    assert content(online, tmp_path) == content(whole, tmp_path)


@every_learner
def test_after_a_cancel_explain_never_speaks_of_an_older_step(name):
    X = stream(Hyperbolic(2), 9_000)
    online = learner(Hyperbolic(2), name).partial_fit(X[:700])
    online.callback = cancel_after(701)
    online.partial_fit(X[700:])
    assert online.n_samples_seen_ < 9_000
    try:
        explained = online.explain()
    except ValueError:
        return
    assert explained.step == online.n_samples_seen_
    np.testing.assert_allclose(explained.after.transmat, online.transmat_, rtol=1e-12)


def test_other_errors_of_a_callback_pass_through():
    def callback(online):
        raise RuntimeError("the user's own")

    online = learner(Hyperbolic(2), "growing", callback=callback)
    with pytest.raises(RuntimeError, match="the user's own"):
        online.partial_fit(stream(Hyperbolic(2)))


# Randomness


@every_learner
def test_the_same_seed_gives_the_same_learner(name, tmp_path):
    X = stream(Hyperbolic(2))
    seeded = learner(Hyperbolic(2), name, random_state=3).partial_fit(X)
    generator = np.random.default_rng(3)
    same = learner(Hyperbolic(2), name, random_state=generator).partial_fit(X)
    assert content(seeded, tmp_path) == content(same, tmp_path)


def test_another_seed_gives_another_cold_start():
    X = stream(Hyperbolic(2), 31)
    means = [learner(Hyperbolic(2), "cold", random_state=s).partial_fit(X).means_ for s in range(4)]
    assert any(not np.array_equal(means[0], other) for other in means[1:])


BIT_GENERATORS = ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"]


@pytest.mark.parametrize("bit_generator", BIT_GENERATORS)
@pytest.mark.parametrize("name", ["cold", "windowed convex"])
class TestEveryGenerator:
    def online(self, name, bit_generator):
        generator = np.random.Generator(getattr(np.random, bit_generator)(5))
        return learner(Hyperbolic(2), name, random_state=generator)

    def test_serves(self, name, bit_generator):
        assert is_sound(self.online(name, bit_generator).partial_fit(stream(Hyperbolic(2))))

    def test_can_be_replayed(self, name, bit_generator):
        X = stream(Hyperbolic(2))
        online = self.online(name, bit_generator).partial_fit(X)
        explained = online.explain(700, X)
        np.testing.assert_allclose(explained.after.transmat, online.transmat_, rtol=1e-10)

    @pytest.mark.parametrize("seen", [10, 300])
    def test_is_kept_in_files(self, name, bit_generator, seen, tmp_path):
        X = stream(Hyperbolic(2))
        online = self.online(name, bit_generator).partial_fit(X[:seen])
        online.save(tmp_path / "online.npz")
        loaded = OnlineRiemannianHMM.load(tmp_path / "online.npz").partial_fit(X[seen:])
        online.partial_fit(X[seen:])
        assert np.array_equal(loaded.transmat_, online.transmat_)
        assert np.array_equal(loaded.means_, online.means_)


def test_learners_that_share_a_generator_can_be_replayed():
    X = stream(Hyperbolic(2), 60)
    generator = np.random.default_rng(3)
    both = [learner(Hyperbolic(2), "cold", random_state=generator) for _ in range(2)]
    for online in both:
        online.partial_fit(X)
    for online in both:
        replayed = online.explain(60, X).after
        np.testing.assert_allclose(replayed.means, online.means_, rtol=1e-10, atol=1e-12)


def test_the_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    learner(Hyperbolic(2), "cold", random_state=None).partial_fit(stream(Hyperbolic(2)))
    assert np.array_equal(np.random.get_state()[1], before)  # noqa: NPY002


# Missing observations


@every_manifold
@every_learner
def test_missing_observations_do_no_harm(manifold, name):
    online = learner(manifold, name)
    probabilities = online.partial_fit_predict_proba(with_holes(stream(manifold)))
    assert is_sound(online)
    assert np.isfinite(probabilities).all()
    for array in online.trace_:
        assert np.isfinite(array).all()


@every_learner
def test_a_chunk_with_nothing_in_it_is_survived_at_any_time(name):
    X, nothing = stream(Hyperbolic(2)), np.full((120, 2), np.nan)
    online = learner(Hyperbolic(2), name).partial_fit(nothing)
    assert online.n_samples_seen_ == 120
    assert online.predict_one(X[0]) is None
    for piece in in_chunks(X, [10, 290, 300]):
        online.partial_fit(piece).partial_fit(nothing)
    assert online.n_samples_seen_ == 700 + 5 * 120
    assert is_sound(online)


@every_learner
def test_observations_that_are_missing_before_the_start_only_delay_it(name):
    X = stream(Hyperbolic(2))
    delayed = np.concatenate([np.full((50, 2), np.nan), X[:10], np.full((50, 2), np.nan), X[10:]])
    plain = learner(Hyperbolic(2), name, trace_every=1).partial_fit(X[:250])
    late = learner(Hyperbolic(2), name, trace_every=1).partial_fit(delayed[:350])
    assert late.trace_.step[0] == plain.trace_.step[0] + 100


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("growing", {"lag": 1}),
        ("fixed", {"lag": 1}),
        ("windowed convex", {}),
        ("windowed paper", {}),
    ],
)
def test_nothing_is_learned_from_a_missing_observation(name, options):
    online = learner(Hyperbolic(2), name, **options).partial_fit(stream(Hyperbolic(2)))
    online.partial_fit(np.full((1, 2), np.nan))  # what a lag of one had left to learn
    before = online.transmat_, online.means_, online.sigmas_
    online.partial_fit(np.full((30, 2), np.nan))
    after = online.transmat_, online.means_, online.sigmas_
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("name", ["cold", "growing, short start"])
def test_a_race_is_not_decided_while_nothing_is_observed(name):
    """The candidates of a start are told apart by observations, so holes must not end the race."""
    truth = chain_on(Hyperbolic(2))
    X, _ = truth.sample(2_000, random_state=0)
    for seed in range(8):
        online = learner(Hyperbolic(2), name, random_state=seed).partial_fit(X[:40])
        online.partial_fit(np.full((1_000, 2), np.nan)).partial_fit(X[40:])
        assert truth.score(X) - online.to_hmm().score(X) < 60.0


# Bad arguments


BAD = {
    "manifold": [None, "Hyperbolic", 2],
    "n_components": [0, -1, 2.5, "three", None, True],
    "window": [1, 2, 0, -5, 20.5, "automatic", None, True],
    "algorithm": ["stream", None, 3],
    "memory": ["shrinking", None],
    "transition_update": ["plain", None],
    "lag": [0, -1, 1.5, None],
    "init": ["warm", None],
    "min_sigma": [0.0, -1.0, np.nan, np.inf, "small", [0.1, 0.2], 1e-200, 1e100],
    "random_state": [-1, "seed", 1.5],
    "trace_every": [0, -3, 2.5, "often"],
    "callback": [3, "print"],
}


@pytest.mark.parametrize(
    ("argument", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_a_bad_argument_is_named(argument, value):
    arguments = {"manifold": Hyperbolic(2), "n_components": 3, argument: value}
    with pytest.raises(ValueError, match=rf"^{argument}\b"):
        OnlineRiemannianHMM(**arguments)


@pytest.mark.parametrize("options", [{"window": "auto"}, {"init": "cold"}])
def test_the_windowed_algorithm_says_what_it_cannot_do(options):
    with pytest.raises(ValueError, match="algorithm='windowed' needs"):
        OnlineRiemannianHMM(Hyperbolic(2), 3, algorithm="windowed", **options)


@pytest.mark.parametrize("seen", [10, 300])
@pytest.mark.parametrize(
    "bad", [[[0.1, 0.2, 0.3]], [[2.0, 0.0]], [[np.inf, 0.0]], "abc", [0.1, 0.2], np.empty((0, 2))]
)
def test_a_bad_chunk_is_refused_whole(bad, seen, tmp_path):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), "growing").partial_fit(X[:seen])
    before = content(online, tmp_path)
    for method in (online.partial_fit, online.partial_fit_predict_proba):
        with pytest.raises(ValueError, match=r"^X"):
            method(bad)
    assert content(online, tmp_path) == before


@pytest.mark.parametrize("seen", [10, 300])
@pytest.mark.parametrize("method", ["learn_one", "predict_one", "predict_proba_one"])
@pytest.mark.parametrize("bad", [[0.1, 0.2, 0.3], [2.0, 0.0], [np.inf, 0.0], "abc"], ids=repr)
def test_a_bad_single_observation_is_named(bad, method, seen):
    online = learner(Hyperbolic(2), "growing").partial_fit(stream(Hyperbolic(2))[:seen])
    with pytest.raises(ValueError, match=r"^y\b"):
        getattr(online, method)(bad)


def test_complex_numbers_serve_on_the_disk(tmp_path):
    X = stream(Hyperbolic(2))
    plain, complex_ = learner(Hyperbolic(2), "growing"), learner(Hyperbolic(2), "growing")
    z = X[:, 0] + 1j * X[:, 1]
    complex_.partial_fit(z[:-1]).learn_one(z[-1])
    assert content(complex_, tmp_path) == content(plain.partial_fit(X), tmp_path)
    assert np.array_equal(complex_.predict_proba_one(z[0]), plain.predict_proba_one(X[0]))


# Names


@pytest.mark.parametrize("name", LEARNERS)
def test_one_line_tells_what_a_learner_is(name):
    text = repr(learner(Euclidean(2), name))
    window = LEARNERS[name].get("window", 200)
    assert text.startswith(f"OnlineRiemannianHMM(Euclidean(2), n_components=3, window={window!r}")
