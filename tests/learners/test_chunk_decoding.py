"""States and scores of chunks against those of all observations in memory."""

import numpy as np
import pytest

from rhmm import ArrayChunks, Hyperbolic, RiemannianHMM, predict_chunks, score_chunks
from rhmm.chunks import ParquetChunks
from tests.chunks.files import write_parquet
from tests.learners.chains import chain_on, stream, with_holes

DISK = Hyperbolic(2)
CUTS = [1, 3, 400, 410, 900]


@pytest.fixture(scope="module")
def model():
    return chain_on(DISK)


@pytest.fixture(scope="module")
def points():
    return with_holes(stream(DISK, 1500))


def test_one_sequence_over_chunks_has_the_states_and_the_score_of_the_whole(model, points):
    """Some chunks are too short to forget what came before."""
    chunks = np.split(points, CUTS)
    source = ArrayChunks(chunks, one_sequence=True)

    states = list(predict_chunks(model, source))

    assert [len(part) for part in states] == [len(chunk) for chunk in chunks]
    np.testing.assert_array_equal(np.concatenate(states), model.predict(points))
    assert score_chunks(model, source) == pytest.approx(model.score(points), rel=1e-12)


def test_a_sequence_ends_with_its_chunk_unless_told_otherwise(model, points):
    lengths = [400, 50, 450, 600]
    chunks = np.split(points, np.cumsum(lengths)[:-1])

    states = np.concatenate(list(predict_chunks(model, chunks)))

    np.testing.assert_array_equal(states, model.predict(points, lengths=lengths))
    assert score_chunks(model, chunks) == pytest.approx(
        model.score(points, lengths=lengths), rel=1e-12
    )


def test_files_are_decoded_a_row_group_at_a_time(model, tmp_path):
    points = stream(DISK, 1200)
    write_parquet(tmp_path / "x.parquet", points, 350)

    states = list(predict_chunks(model, ParquetChunks(tmp_path)))

    assert [len(part) for part in states] == [350, 350, 350, 150]
    np.testing.assert_array_equal(np.concatenate(states), model.predict(points))


def test_a_chain_that_never_forgets_is_decoded_as_a_whole():
    """Its states have no way between them."""
    chain = chain_on(DISK)
    model = RiemannianHMM.from_parameters(
        DISK, chain.startprob_, np.eye(3), chain.means_, 3.0 * chain.sigmas_
    )
    points, _ = model.sample(200, random_state=1)

    states = list(
        predict_chunks(model, ArrayChunks(np.split(points, [50, 120]), one_sequence=True))
    )

    assert [len(part) for part in states] == [50, 70, 80]
    np.testing.assert_array_equal(np.concatenate(states), model.predict(points))


def test_states_come_before_the_last_chunk_is_read(model, points):
    read = []

    class Watched:
        def __iter__(self):
            for number, chunk in enumerate(np.split(points, 5)):
                read.append(number)
                yield chunk

    states = predict_chunks(model, ArrayChunks(Watched(), one_sequence=True))
    read.clear()

    next(states)

    assert len(read) <= 3  # of 5: its own, the next one, and one to see whether that is the last


def test_arrays_and_empty_sources_are_refused_by_name(model, points):
    with pytest.raises(ValueError, match="X must come in chunks"):
        predict_chunks(model, points)
    with pytest.raises(ValueError, match="X must hold at least one chunk"):
        score_chunks(model, ArrayChunks([]))
