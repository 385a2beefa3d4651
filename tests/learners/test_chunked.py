"""EM on chunks against EM in memory."""

import dask.array
import dask.bag
import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic, RiemannianHMM, open_executor
from rhmm.chunks import ArrayChunks, ParquetChunks
from rhmm.learners import chunked
from tests.chunks.files import write_parquet
from tests.learners.chains import chain_on, stream, with_holes
from tests.learners.fits import assert_same_parameters, quietly
from tests.manifolds.bare import BareHyperbolic

DISK = Hyperbolic(2)
MANIFOLDS = [Euclidean(2), DISK, Hyperbolic(3), SPD(2)]


def settled(manifold, X, **options) -> RiemannianHMM:
    """A fit from the true parameters that has come to rest: the last digits of the likelihood end
    a fit too early, so that it is begun anew several times."""
    model = chain_on(manifold)
    for _ in range(15):
        model = quietly(RiemannianHMM(manifold, 3, init=model, tol=0.0), X, **options)
    return model


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_whole_sequences_in_chunks_lead_to_the_same_maximum(manifold):
    X = with_holes(stream(manifold, 1500))
    ours = settled(manifold, np.split(X, [400, 450, 900]))
    theirs = settled(manifold, X, lengths=[400, 50, 450, 600])
    assert_same_parameters(ours, theirs, 1e-9)
    assert ours.monitor_.log_likelihood[-1] == pytest.approx(
        theirs.monitor_.log_likelihood[-1], rel=1e-12
    )


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_one_long_sequence_in_chunks_leads_to_the_same_maximum(manifold):
    """Some chunks are too short to forget what came before."""
    X = with_holes(stream(manifold, 1500))
    ours = settled(manifold, ArrayChunks(np.split(X, [1, 3, 400, 410, 900]), one_sequence=True))
    assert_same_parameters(ours, settled(manifold, X), 1e-9)


def three_steps(X) -> RiemannianHMM:
    return quietly(RiemannianHMM(DISK, 3, init=chain_on(DISK), n_iter=3, tol=0.0), X)


def test_files_and_dask_arrays_are_what_arrays_with_the_same_cuts_are(tmp_path):
    X = stream(DISK, 1200)
    write_parquet(tmp_path / "x.parquet", X, 350)
    cuts = np.split(X, [350, 700, 1050])
    expected = three_steps(ArrayChunks(cuts, one_sequence=True))
    for source in (tmp_path, dask.array.from_array(X, chunks=(350, 2))):
        assert_same_parameters(three_steps(source), expected, 0.0)


def test_a_bag_is_what_a_list_of_its_sequences_is():
    cuts = np.split(stream(DISK, 1200), 3)
    bag = dask.bag.from_sequence(cuts, npartitions=2)
    assert_same_parameters(three_steps(bag), three_steps(cuts), 1e-11)


def test_steps_on_a_flat_space_are_those_of_em():
    manifold = Euclidean(2)
    X = stream(manifold, 900)
    options = {"init": chain_on(manifold), "n_iter": 3, "tol": 0.0}
    ours = quietly(RiemannianHMM(manifold, 3, **options), [X[:500], X[500:]])
    theirs = quietly(RiemannianHMM(manifold, 3, **options), X, lengths=[500, 400])
    assert_same_parameters(ours, theirs, 1e-11)
    np.testing.assert_allclose(
        ours.monitor_.log_likelihood, theirs.monitor_.log_likelihood, rtol=1e-12
    )


def test_the_search_finds_the_states_from_a_sample_of_all_chunks():
    """No chunk has all the states: it takes several to see them."""
    truth = chain_on(DISK)
    X, states = truth.sample(12000, random_state=3)
    chunks = [X[states == i] for i in range(3)]
    model = RiemannianHMM(DISK, 3, random_state=0).fit(chunks)
    model = model.align_to(truth)
    assert DISK.dist(model.means_, truth.means_).max() < 0.05
    np.testing.assert_allclose(model.sigmas_, truth.sigmas_, rtol=0.05)


def test_the_same_seed_gives_the_same_fit():
    chunks = np.array_split(stream(DISK, 5000), 7)
    first, again = (RiemannianHMM(DISK, 3, random_state=5).fit(chunks) for _ in range(2))
    for ours, theirs in zip(first.parameters_, again.parameters_, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_steps_that_go_too_far_are_shortened_until_nothing_is_lost():
    """Without curvature, steps across far points overshoot on a curved space."""
    manifold = BareHyperbolic(2)
    rng = np.random.default_rng(0)
    angles = rng.uniform(0.0, 2 * np.pi, 400)
    X = np.tanh(4.0) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    start = RiemannianHMM.from_parameters(manifold, [1.0], [[1.0]], [[0.9, 0.0]], [1.0])
    model = RiemannianHMM(manifold, 1, init=start, tol=1e-9, n_iter=2000).fit([X[:150], X[150:]])
    likelihood = np.array(model.monitor_.log_likelihood)
    assert (np.diff(likelihood) > -1e-9 * abs(likelihood[-1])).all()
    centre = Hyperbolic(2).mean(X)
    assert Hyperbolic(2).dist(model.means_[0], centre) < 1e-4


def test_the_callback_sees_each_step_and_can_stop():
    seen = []

    def watch(monitor):
        seen.append(monitor.n_iter)
        if monitor.n_iter == 2:
            raise StopIteration

    model = RiemannianHMM(DISK, 3, init=chain_on(DISK), tol=0.0, callback=watch)
    model.fit([stream(DISK, 300)])
    assert seen == [0, 1, 2]
    assert model.monitor_.cancelled
    assert len(model.monitor_.parameters) == 3


def test_the_memory_it_tells_is_that_of_the_largest_chunk():
    X = stream(DISK, 900)
    few = RiemannianHMM(DISK, 3, init=chain_on(DISK)).fit([X[:500], X[500:]])
    whole = RiemannianHMM(DISK, 3, init=chain_on(DISK)).fit(X[:500])
    assert few.peak_nbytes_ == whole.peak_nbytes_


@pytest.mark.parametrize(
    ("options", "arguments", "name"),
    [
        ({}, {"lengths": [200, 100]}, "lengths"),
        ({"emission": "full"}, {}, "emission"),
        ({"n_components": "auto"}, {}, "n_components"),
        ({}, {"checkpoint": "fit.json"}, "checkpoint"),
        ({}, {"checkpoint": "/nowhere/fit.npz"}, "checkpoint"),
    ],
)
def test_what_chunks_cannot_have_is_refused_by_name(options, arguments, name):
    model = RiemannianHMM(DISK, **({"n_components": 3} | options))
    with pytest.raises(ValueError, match=rf"^{name}"):
        model.fit([stream(DISK, 200), stream(DISK, 100)], **arguments)


def test_what_is_for_chunks_only_is_refused_with_an_array():
    X = stream(DISK, 200)
    with (
        open_executor(workers=1) as executor,
        pytest.raises(ValueError, match=r"^executor must be"),
    ):
        RiemannianHMM(DISK, 3).fit(X, executor=executor)
    with pytest.raises(ValueError, match=r"^checkpoint must be None"):
        RiemannianHMM(DISK, 3).fit(X, checkpoint="fit.npz")


def test_a_generator_is_refused():
    with pytest.raises(ValueError, match=r"^X must give its chunks again"):
        RiemannianHMM(DISK, 3).fit(stream(DISK, 100) for _ in range(3))


def test_fewer_observations_than_states_are_refused():
    with pytest.raises(ValueError, match=r"^X must hold at least n_components=3"):
        RiemannianHMM(DISK, 3).fit([stream(DISK, 1), stream(DISK, 1)])


def test_a_state_that_explains_nothing_keeps_its_parameters():
    start = chain_on(DISK)
    far = RiemannianHMM.from_parameters(
        DISK,
        start.startprob_,
        start.transmat_,
        [*start.means_[:2], [0.0, 0.999999]],
        [0.4, 0.3, 0.1],
    )
    model = quietly(RiemannianHMM(DISK, 3, init=far), [stream(DISK, 300)])
    np.testing.assert_array_equal(model.means_[2], far.means_[2])
    assert model.sigmas_[2] == 0.1
    assert np.isfinite(model.means_).all()


def test_a_step_does_not_change_what_it_starts_from():
    truth = chain_on(DISK)
    present = chunked.Iterate(truth.startprob_, truth.transmat_, truth.law_)
    before = [value.copy() for value in present.parameters]
    part = np.ones((3, DISK.n_centre_sums))
    part[:, 3:] = np.eye(2).reshape(-1)
    sums = chunked.Sums(0.0, np.ones(3), np.ones((3, 3)), np.ones(3), part)
    chunked.stepped(present, sums, 1.0, 1e-3)
    for value, old in zip(present.parameters, before, strict=True):
        np.testing.assert_array_equal(value, old)


def test_parquet_columns_can_be_chosen(tmp_path):
    X = stream(DISK, 600)
    write_parquet(tmp_path / "x.parquet", np.column_stack([X[:, 1], np.zeros(600), X[:, 0]]), 200)
    ours = three_steps(ParquetChunks(tmp_path, columns=["c", "a"]))
    cuts = ArrayChunks(np.split(X, 3), one_sequence=True)
    assert_same_parameters(ours, three_steps(cuts), 0.0)
    with pytest.raises(ValueError, match=r"^X \(row group 0 of x.parquet\) must be of shape"):
        RiemannianHMM(DISK, 3).fit(tmp_path)
