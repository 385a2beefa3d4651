"""What every online learner promises, whatever its algorithm and its manifold."""

import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from rhmm import Hyperbolic, RiemannianHMM
from rhmm.parameters import stationary_law
from tests import brute_force
from tests.learners.chains import (
    LEARNERS,
    MANIFOLDS,
    ON_THE_DISK,
    content,
    learner,
    stream,
    with_holes,
)

every_manifold = pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
every_learner = pytest.mark.parametrize("name", LEARNERS)
on_the_disk = pytest.mark.parametrize("name", ON_THE_DISK)


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


@on_the_disk
def test_any_chunking_of_a_stream_with_holes_gives_the_same(name, tmp_path):
    X = with_holes(stream(Hyperbolic(2)))
    whole, parts = learner(Hyperbolic(2), name), learner(Hyperbolic(2), name)
    probabilities = whole.partial_fit_predict_proba(X)
    pieces = [parts.partial_fit_predict_proba(piece) for piece in in_chunks(X, [2, 30, 10, 280])]
    assert np.concatenate(pieces).tobytes() == probabilities.tobytes()
    assert content(parts, tmp_path) == content(whole, tmp_path)


@on_the_disk
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


def test_a_stream_longer_than_the_inner_chunks_can_be_chunked_in_any_way(tmp_path):
    X = stream(Hyperbolic(2), 9_000)
    whole, parts = learner(Hyperbolic(2), "auto"), learner(Hyperbolic(2), "auto")
    whole.partial_fit(X)
    for piece in in_chunks(X, [4096, 1, 4095]):
        parts.partial_fit(piece)
    assert content(parts, tmp_path) == content(whole, tmp_path)
    assert parts.memory_ == whole.memory_


@every_manifold
@every_learner
def test_probabilities_do_not_depend_on_later_observations(manifold, name):
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


# scikit-learn's verbs


@on_the_disk
def test_fit_forgets_what_was_learned_before(name, tmp_path):
    X = stream(Hyperbolic(2))
    fitted = learner(Hyperbolic(2), name).fit(X[::-1]).fit(X)
    once = learner(Hyperbolic(2), name).partial_fit(X)
    assert content(fitted, tmp_path) == content(once, tmp_path)


@on_the_disk
def test_labels_are_ignored(name, tmp_path):
    X = stream(Hyperbolic(2))
    given = learner(Hyperbolic(2), name).fit(X[:400], np.arange(400))
    given.partial_fit(X[400:], np.arange(300))
    plain = learner(Hyperbolic(2), name).fit(X)
    assert content(given, tmp_path) == content(plain, tmp_path)


@every_learner
def test_it_scores_and_decodes_with_the_model_that_it_hands_out(name):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name).fit(X)
    model = RiemannianHMM.from_parameters(
        Hyperbolic(2),
        stationary_law(online.transmat_),
        online.transmat_,
        online.means_,
        online.sigmas_,
    )
    lengths = [200, 500]
    assert online.score(X) == model.score(X)
    assert online.score(X, lengths=lengths) == model.score(X, lengths=lengths)
    for verb in ("predict", "predict_proba"):
        expected = getattr(model, verb)(X, lengths=lengths)
        assert np.array_equal(getattr(online, verb)(X, lengths=lengths), expected)


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


@on_the_disk
@pytest.mark.parametrize("seen", [10, 300, 600])
def test_predictions_change_nothing(name, seen, tmp_path):
    X = stream(Hyperbolic(2))
    online = learner(Hyperbolic(2), name).partial_fit(X[:seen])
    before = content(online, tmp_path)
    for y in X[seen : seen + 10]:
        online.predict_one(y)
        online.predict_proba_one(y)
    assert content(online, tmp_path) == before


@on_the_disk
def test_changing_what_it_returned_does_not_change_the_learner(name):
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
    start = f"it starts from {online.start_size} observations, and has seen"
    for piece, message in ((X[:20], "call fit or partial_fit first"), (X[20:25], f"{start} 20")):
        assert online.predict_one(X[0]) is None
        assert np.array_equal(online.predict_proba_one(X[0]), np.full(3, 1 / 3))
        for attribute in ("transmat_", "means_", "sigmas_"):
            with pytest.raises(NotFittedError, match=message):
                getattr(online, attribute)
        for use in (online.to_hmm, lambda: online.predict(X), lambda: online.score(X)):
            with pytest.raises(NotFittedError, match=message):
                use()
        online.partial_fit(piece)
    assert online.n_samples_seen_ == 25


@on_the_disk
def test_before_it_has_seen_anything_it_has_no_count_no_size_and_no_trace(name):
    online = learner(Hyperbolic(2), name)
    for attribute in ("n_samples_seen_", "state_nbytes_", "peak_nbytes_", "trace_"):
        with pytest.raises(NotFittedError, match="call fit or partial_fit first"):
            getattr(online, attribute)
    with pytest.raises(NotFittedError, match="call fit or partial_fit first"):
        online.explain()


# Size and count


@on_the_disk
def test_its_log_likelihood_is_that_of_the_last_row_of_its_trace(name):
    X = stream(Hyperbolic(2), 2_000)
    online = learner(Hyperbolic(2), name, trace_every=1)
    assert online.partial_fit(X[:2]).log_likelihood_ == 0.0
    for piece in np.split(X[2:], [500, 501, 1_300]):
        online.partial_fit(piece)
        assert online.log_likelihood_ == online.trace_.log_likelihood[-1]


@every_manifold
@every_learner
def test_its_size_does_not_depend_on_what_it_has_seen(manifold, name):
    X = stream(manifold, 2_000)
    online = learner(manifold, name).partial_fit(X[:800])
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
    online = learner(Hyperbolic(2), "growing", window=1_000)
    assert online.partial_fit(stream(Hyperbolic(2), 950)).peak_nbytes_ == 950 * 16
    online.partial_fit(stream(Hyperbolic(2), 450)).save(tmp_path / "online.npz")
    for each in (online, type(online).load(tmp_path / "online.npz")):
        assert each.peak_nbytes_ == 1_000 * 16 > each.state_nbytes_


@on_the_disk
def test_missing_observations_are_counted(name):
    X = with_holes(stream(Hyperbolic(2)))
    online, seen = learner(Hyperbolic(2), name), 0
    for piece in in_chunks(X, [2, 30, 10, 280]):
        seen += len(piece)
        assert online.partial_fit(piece).n_samples_seen_ == seen


# Progress


@on_the_disk
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


@on_the_disk
def test_a_copy_goes_on_by_itself_with_the_same_kernel(name, tmp_path):
    X = stream(Hyperbolic(2), 900)
    online = learner(Hyperbolic(2), name).partial_fit(X[:600])
    before, copied = content(online, tmp_path), copy.deepcopy(online)
    copied.partial_fit(X[600:])
    assert content(online, tmp_path) == before
    assert content(copied, tmp_path) == content(online.partial_fit(X[600:]), tmp_path)
    assert copied._stream.ensemble._learn is online._stream.ensemble._learn


@on_the_disk
def test_a_cancelled_learner_goes_on_where_it_stopped(name, tmp_path):
    X = stream(Hyperbolic(2), 9_000)
    online = learner(Hyperbolic(2), name, callback=cancel_after(1_000)).partial_fit(X)
    done = online.n_samples_seen_
    assert 1_000 <= done < 9_000
    online.callback = None
    online.partial_fit(X[done:])
    whole = learner(Hyperbolic(2), name).partial_fit(X)
    assert content(online, tmp_path) == content(whole, tmp_path)


@on_the_disk
def test_the_sensor_of_a_cancelled_learner_has_not_seen_what_was_left_alone(name):
    X = stream(Hyperbolic(2), 9_000)
    X[995:] = X[995]
    online = learner(Hyperbolic(2), name, callback=cancel_after(1_000)).partial_fit(X)
    done = online.n_samples_seen_
    assert done < 9_000
    direct = learner(Hyperbolic(2), name).partial_fit(X[:done])
    assert np.array_equal(online._stream.sensor.run, direct._stream.sensor.run)
    assert np.array_equal(online._stream.sensor.last, direct._stream.sensor.last)


@on_the_disk
def test_explain_never_explains_an_older_step_after_a_cancel(name):
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
