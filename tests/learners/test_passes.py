"""Passes over chunks: on one process and on many, checked, in a fixed order."""

import os
import signal

import numpy as np
import pytest

from rhmm import Hyperbolic, RiemannianHMM, open_executor
from rhmm.chunks import ArrayChunks, ParquetChunks
from rhmm.learners.passes import draw_sample
from tests.chunks.files import write_parquet
from tests.clusters import one_worker, two_workers
from tests.learners.chains import chain_on, stream, with_holes
from tests.learners.fits import quietly

DISK = Hyperbolic(2)


def learned(X, **options) -> RiemannianHMM:
    model = RiemannianHMM(DISK, 3, init=chain_on(DISK), n_iter=4, tol=0.0)
    return quietly(model, X, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two files of a sequence each, in row groups that cut them, with missing observations."""
    folder = tmp_path_factory.mktemp("rows")
    for k in range(2):
        write_parquet(folder / f"{k}.parquet", with_holes(stream(DISK, 2000, seed=k)), 450)
    return folder


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as cluster:
        yield cluster


def assert_bit_for_bit(left: RiemannianHMM, right: RiemannianHMM):
    for ours, theirs in zip(left.parameters_, right.parameters_, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert left.monitor_.log_likelihood == right.monitor_.log_likelihood


def test_a_pool_gives_the_same_bits_as_one_process(folder):
    with open_executor(workers=2) as executor:
        model = learned(folder, executor=executor)
    assert_bit_for_bit(model, learned(folder))


def test_a_cluster_that_loses_a_worker_gives_the_same_bits_as_one_process(folder, cluster):
    victim = one_worker(cluster)

    def kill(monitor):
        if monitor.n_iter == 1:
            os.kill(victim, signal.SIGKILL)

    model = RiemannianHMM(DISK, 3, init=chain_on(DISK), n_iter=4, tol=0.0, callback=kill)
    with open_executor(cluster.scheduler_address) as executor:
        quietly(model, folder, executor=executor)
    assert_bit_for_bit(model, learned(folder))


def test_chunks_of_arrays_travel_to_other_processes():
    chunks = np.array_split(stream(DISK, 1200), 5)
    with open_executor(workers=1) as executor:
        model = learned(chunks, executor=executor)
    assert_bit_for_bit(model, learned(chunks))


def test_an_error_in_a_worker_names_the_chunk():
    chunks = [stream(DISK, 40, seed=k) for k in range(20)]
    chunks[17] = np.zeros((5, 3))
    with open_executor(workers=1) as executor, pytest.raises(ValueError, match=r"X\[17\] must be"):
        learned(chunks, executor=executor)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (np.zeros((5, 3)), r"X\[17\] must be of shape \(\.\.\., 2\)"),
        (np.zeros((0, 2)), r"X\[17\] must hold observations"),
        (np.zeros(2), r"X\[17\] must hold observations"),
        (np.full((4, 2), 2.0), r"X\[17\]\[0\] is not a point"),
        ("words", r"X\[17\] must be an array of numbers"),
    ],
)
def test_a_wrong_chunk_is_named_by_its_number(wrong, sentence):
    chunks = [stream(DISK, 40, seed=k) for k in range(20)]
    chunks[17] = wrong
    with pytest.raises(ValueError, match=sentence):
        learned(chunks)


class Restless:
    """Chunks that are others in the third pass."""

    def __init__(self, *passes):
        self.passes = list(passes)

    def __iter__(self):
        return iter(self.passes.pop(0) if len(self.passes) > 1 else self.passes[0])


def test_chunks_that_change_between_passes_are_refused():
    chunks = [stream(DISK, 40, seed=k) for k in range(4)]
    altered = [*chunks[:2], chunks[2][::-1].copy(), chunks[3]]
    with pytest.raises(ValueError, match=r"X\[2\] has changed since an earlier pass"):
        learned(ArrayChunks(Restless(chunks, chunks, chunks, altered)))


@pytest.mark.parametrize(("size", "word"), [(3, "3"), (5, "more")])
def test_another_number_of_chunks_is_refused(size, word):
    chunks = [stream(DISK, 40, seed=k) for k in range(5)]
    with pytest.raises(ValueError, match=f"there were 4, and then {word}"):
        learned(ArrayChunks(Restless(chunks[:4], chunks[:4], chunks[:4], chunks[:size])))


def test_no_chunk_and_no_observation_are_refused():
    with pytest.raises(ValueError, match="X must hold at least one chunk"):
        learned(ArrayChunks([]))
    with pytest.raises(ValueError, match="X must hold at least one observation"):
        learned([np.full((4, 2), np.nan)])


def test_the_sample_has_blocks_of_all_chunks_with_equal_chances():
    """Each of 40 chunks has 10 of 400 blocks. 100 are drawn, 2.5 of each chunk on average."""
    chunks = [np.full((320, 2), k / 100) for k in range(40)]
    counts = np.zeros(40)
    for seed in range(20):
        sample = draw_sample(DISK, ArrayChunks(chunks), 3200, seed, None)
        assert (sample.lengths == 32).all()
        assert len(sample.X) == 3200
        assert (np.diff(sample.X[:, 0]) >= 0).all()  # in the order of the chunks
        counts += np.bincount(np.rint(sample.X[::32, 0] * 100).astype(int), minlength=40)
    # Of 200 blocks a quarter is drawn: 50 ± 6.1. Four deviations, 40 times.
    assert (np.abs(counts - 50) < 4.5 * 6.1).all()


def test_the_sample_leaves_out_what_is_missing():
    X = with_holes(stream(DISK, 900))
    sample = draw_sample(DISK, ArrayChunks([X]), 2000, 0, None)
    np.testing.assert_array_equal(sample.X, X[~np.isnan(X[:, 0])])


def test_parquet_files_without_a_shared_sequence_are_independent(folder):
    """All files as one sequence have one start, and so another likelihood."""
    apart, together = learned(folder), learned(ParquetChunks(folder, one_sequence=True))
    assert apart.monitor_.log_likelihood[0] != together.monitor_.log_likelihood[0]
