"""A learner that is not told the number of states finds it, and keeps the names of its states."""

import numpy as np
import pytest
from sklearn.base import clone

from benchmarks import hard
from benchmarks.states import visits_needed
from rhmm import SPD, Hyperbolic, RiemannianHMM, StreamingRiemannianHMM
from rhmm.paper import paper_model
from rhmm.scoring import accuracy
from rhmm.streams.start import dispersion
from tests.learners.chains import chain_on, content, is_sound, with_holes
from tests.streams.altering import with_other_entry, with_other_head

DISK = Hyperbolic(2)


def counting(manifold=DISK, **options) -> StreamingRiemannianHMM:
    return StreamingRiemannianHMM(manifold, "auto", **{"random_state": 0, **options})


def stream(size: int, seed: int = 0) -> np.ndarray:
    return chain_on(DISK).sample(size, random_state=seed)[0]


def late_state(before: int, after: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A chain whose third state does not appear before so many observations of the others."""
    truth = chain_on(DISK)
    X, states = truth.sample(3 * before + after, random_state=seed)
    two = np.flatnonzero(states != 2)[:before]
    order = np.concatenate([two, np.arange(two[-1] + 1, two[-1] + 1 + after)])
    return X[order], states[order]


def doubled(online: StreamingRiemannianHMM) -> None:
    """Make the learner count its first state twice: two means in one cluster."""
    ensemble = online._stream.ensemble
    (settings, state), names = ensemble.runners[0], ensemble.names
    n = len(state.delta)
    twice = np.append(np.arange(n), 0)
    transmat = state.transmat[np.ix_(twice, twice)]
    transmat[:, [0, n]] /= 2.0
    delta = state.delta[twice]
    half_precision, log_z = dispersion(DISK, delta)
    ensemble.runners[0] = type(ensemble.runners[0])(
        settings,
        state._replace(
            transmat=transmat, means=state.means[twice], delta=delta,
            half_precision=half_precision, log_z=log_z, visits=state.visits[twice] / 2.0,
            alpha=np.ascontiguousarray(state.alpha[:, twice]),
            density=np.ascontiguousarray(state.density[:, twice]),
            filtered=state.filtered[twice],
        ),
    )  # fmt: skip
    names[0, n] = n


# How many


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_the_number_of_states_is_found(n):
    truth = hard.ring(n, 0.5) if n > 1 else hard.ring(2, 0.5)
    X, states = truth.sample(4_000, random_state=n)
    X = X[states == 0] if n == 1 else X
    assert counting().fit(X).n_components_ == n


@pytest.mark.parametrize("manifold", [SPD(2), Hyperbolic(3)], ids=repr)
def test_it_is_found_on_other_manifolds(manifold):
    X, _ = chain_on(manifold).sample(3_000, random_state=1)
    assert counting(manifold).fit(X).n_components_ == 3


def test_states_are_as_good_as_those_of_a_learner_that_was_told():
    truth = paper_model()
    X, states = truth.sample(6_000, random_state=2)
    online = counting().fit(X)
    assert online.n_components_ == 3
    assert accuracy(states, online.predict(X), 3) > accuracy(states, truth.predict(X), 3) - 0.005


def test_clusters_that_were_undercounted_are_parted():
    """Two of the states do not move apart before the record is thinned: one state explains both."""
    truth = chain_on(DISK)
    X, states = truth.sample(8_000, random_state=3)
    online = counting(max_components=2).fit(X[:4_000])
    assert online.n_components_ == 2
    online.set_params(max_components=12)
    ensemble = online._stream.ensemble
    ensemble.names = np.concatenate([ensemble.names, np.full((2, 10), -1)], axis=1)
    online.partial_fit(X[4_000:])
    assert online.n_components_ == 3
    assert accuracy(states, online.predict(X), 3) > accuracy(states, truth.predict(X), 3) - 0.01


def test_a_cluster_that_was_counted_twice_is_counted_once():
    X = stream(9_000, seed=4)
    online = counting().partial_fit(X[:3_000])
    assert online.n_components_ == 3
    doubled(online)
    assert online.n_components_ == 4
    online.partial_fit(X[3_000:])
    assert online.n_components_ == 3
    assert is_sound(online)


@pytest.mark.parametrize("before", [1_500, 3_000, 20_000])
@pytest.mark.parametrize("seed", range(2))
def test_a_state_that_appears_in_mid_stream_is_found_within_500_visits(before, seed):
    X, states = late_state(before, 3_000, seed)
    online = counting().partial_fit(X[:before])
    assert online.n_components_ == 2
    done, visits = before, 0
    while online.n_components_ == 2 and done < len(X):
        online.partial_fit(X[done : done + 50])
        visits += int((states[done : done + 50] == 2).sum())
        done += 50
    assert online.n_components_ == 3
    assert visits <= 500


@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_state_between_wide_ones_is_found_within_500_visits(seed):
    """Predictions hardly suffer: a little at each look, and no review is near."""
    assert visits_needed(0, 5_000, seed) <= 500


def test_a_few_outliers_do_not_hide_the_states():
    X = stream(4_000)
    angle = np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 40)
    X[::100] = (1 - 1e-9) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    assert counting().fit(X).n_components_ == 3


def test_there_are_never_more_states_than_allowed():
    X, _ = hard.ring(8, 0.4).sample(3_000, random_state=0)
    assert counting(max_components=4).fit(X).n_components_ == 4


# Names


def test_a_birth_leaves_the_other_states_their_names_and_places():
    X, _ = late_state(2_000, 2_000, 0)
    online = counting().partial_fit(X[:2_000])
    before, names = online.means_, online.names_
    online.partial_fit(X[2_000:])
    assert online.n_components_ == 3
    assert online.names_.tolist() == [*names, 2]
    assert (DISK.dist(online.means_[:2], before) < 0.3).all()


def test_the_names_of_the_states_that_survive_a_merge_are_kept():
    X = stream(9_000, seed=4)
    online = counting().partial_fit(X[:3_000])
    before = online.means_
    doubled(online)
    online.partial_fit(X[3_000:])
    names = online.names_
    assert len(names) == 3
    assert set(names[1:]) == {1, 2} or set(names[:-1]) == {1, 2}
    for name, mean in zip(names, online.means_, strict=True):
        assert DISK.dist(mean, before[name % 3]) < 0.3


def test_each_state_has_the_column_of_its_name():
    X, _ = late_state(2_000, 2_000, 0)
    online = counting(trace_every=10)
    probabilities = online.partial_fit_predict_proba(X)
    assert probabilities.shape == (4_000, 12)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert not probabilities[200:2_000, 2:].any()
    assert probabilities[-500:, 2].max() > 0.9
    trace, names = online.trace_, online.names_
    assert trace.means.shape == (len(trace.step), 12, 2)
    assert np.isnan(trace.means[trace.step == 2_000][0, 2:]).all()
    np.testing.assert_array_equal(trace.transmat[-1][np.ix_(names, names)], online.transmat_)
    np.testing.assert_array_equal(trace.means[-1][names], online.means_)
    predicted = online.predict_proba_one(X[0])
    assert predicted.shape == (12,)
    assert predicted[names].sum() == pytest.approx(1.0)


def test_a_number_of_states_has_plain_names():
    X = stream(300)
    online = StreamingRiemannianHMM(DISK, 3, random_state=0).fit(X)
    assert online.n_components_ == 3
    assert online.names_.tolist() == [0, 1, 2]


# What every online learner promises


@pytest.fixture(scope="module")
def growing_chain():
    """States appear one after another, some observations are missing."""
    X, _ = late_state(1_500, 1_500, 1)
    return with_holes(X)


@pytest.mark.parametrize("sizes", [np.full(428, 7), [1, 199, 1, 1_000, 350, 49, 1, 999]])
def test_any_chunking_gives_the_same_to_the_last_bit(sizes, growing_chain, tmp_path):
    whole, parts = counting(trace_every=5), counting(trace_every=5)
    probabilities = whole.partial_fit_predict_proba(growing_chain)
    pieces = np.split(growing_chain, np.cumsum(sizes))
    found = [parts.partial_fit_predict_proba(piece) for piece in pieces]
    assert np.concatenate(found).tobytes() == probabilities.tobytes()
    assert content(parts, tmp_path) == content(whole, tmp_path)
    assert whole.n_components_ > 2  # there were births on the way


@pytest.mark.parametrize("seen", [0, 100, 700, 1_450, 2_310])
def test_a_loaded_learner_goes_on_to_the_last_bit(seen, growing_chain, tmp_path):
    online = counting(trace_every=5)
    if seen:
        online.partial_fit(growing_chain[:seen])
    online.save(tmp_path / "online.npz")
    other = StreamingRiemannianHMM.load(tmp_path / "online.npz")
    assert other.n_components == "auto"
    ours, theirs = (o.partial_fit_predict_proba(growing_chain[seen:]) for o in (online, other))
    assert ours.tobytes() == theirs.tobytes()
    assert content(other, tmp_path) == content(online, tmp_path)


def on_trial(X) -> StreamingRiemannianHMM:
    """A learner with a challenger beside it."""
    online = counting().partial_fit(X[:1_600])
    for y in np.array_split(X[1_600:], len(X) // 50):
        online.partial_fit(y)
        if len(online._stream.ensemble.runners) == 2:
            return online
    raise AssertionError("there was no trial")


def test_a_learner_is_saved_during_a_trial(tmp_path):
    X, _ = late_state(2_000, 1_500, 0)
    online = on_trial(X)
    sizes = [len(runner.state.delta) for runner in online._stream.ensemble.runners]
    assert sizes == [2, 3]
    online.save(tmp_path / "online.npz")
    other = StreamingRiemannianHMM.load(tmp_path / "online.npz")
    rest = X[online.n_samples_seen_ :]
    ours, theirs = (o.partial_fit_predict_proba(rest) for o in (online, other))
    assert ours.tobytes() == theirs.tobytes()
    assert other.n_components_ == 3


@pytest.mark.parametrize(
    ("array", "at", "value", "message"),
    [
        ("ensemble.names", 0, 12, "names must be different"),
        ("ensemble.names", 0, 1, "names must be different"),
        ("ensemble.names", 11, 5, "names must be -1"),
        ("ensemble.recent", 0, 2.0, "recent must hold points"),
        ("ensemble.level", 3, -1.0, "level must have"),
        ("ensemble.record", 0, 3.0, "record must hold points"),
        ("0.delta", 0, -1.0, "delta must be positive"),
    ],
)
def test_what_cannot_have_come_about_is_refused(array, at, value, message, tmp_path):
    path = tmp_path / "online.npz"
    counting().partial_fit(stream(900)).save(path)
    with_other_entry(path, array, at, value)
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{message}"):
        StreamingRiemannianHMM.load(path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"max_components": 12', '"max_components": 2', "must be of shape"),
        ('"n_components": "auto"', '"n_components": 3', "kind must be one of Reviewed"),
        ('"due": -1', '"due": -2', "due must be"),
        ('"looked": 800', '"looked": 901', "looked must be"),
        ('"trial_ends": 0', '"trial_ends": 99999', "trial_ends must be"),
    ],
)
def test_a_head_that_cannot_have_come_about_is_refused(old, new, message, tmp_path):
    path = tmp_path / "online.npz"
    counting().partial_fit(stream(900)).save(path)
    with_other_head(path, old, new)
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{message}"):
        StreamingRiemannianHMM.load(path)


def test_memory_does_not_grow_with_the_stream():
    X = stream(30_000)
    online = counting()
    sizes = []
    for part in np.split(X, 30):
        sizes.append(online.partial_fit(part).state_nbytes_)
    assert max(sizes[15:]) <= max(sizes[:15])
    twelve = StreamingRiemannianHMM(DISK, 12, random_state=0).fit(X[:2_000])
    assert max(sizes) < 2 * twelve.state_nbytes_


def test_its_latest_step_is_explained(growing_chain):
    online = counting().partial_fit(growing_chain)
    explained = online.explain()
    assert explained.gamma.shape[1] == online.n_components_
    assert np.array_equal(online.explain(len(growing_chain), growing_chain).gamma, explained.gamma)


def test_a_cold_start_finds_the_states_too():
    online = counting(init="cold")
    assert online.start_size == 30
    assert online.fit(stream(3_000)).n_components_ == 3


def test_a_clone_has_learned_nothing():
    online = counting().fit(stream(500))
    copy = clone(online)
    assert copy.get_params() == online.get_params()
    assert copy.n_components == "auto"
    assert isinstance(online.to_hmm(), RiemannianHMM)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": "many"}, "n_components must be a whole number"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"max_components": 0}, "max_components must be at least 1"),
        ({"max_components": 2.5}, "max_components must be a whole number"),
        ({"memory": "fixed"}, "memory must be 'growing' where n_components is 'auto'"),
        ({"window": 0}, "window must be at least 2"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    given = {"n_components": "auto", **options}
    with pytest.raises(ValueError, match=f"^{message}"):
        StreamingRiemannianHMM(DISK, **given).fit(stream(300))
