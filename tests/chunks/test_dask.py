import pickle

import dask.array
import dask.bag
import numpy as np
import pytest

from rhmm.chunks import DaskChunks

ROWS = np.arange(20.0).reshape(10, 2)


def loaded(chunks: DaskChunks) -> list:
    """What other processes would load."""
    pieces = [pickle.loads(pickle.dumps(piece)) for piece in chunks.pieces()]
    return [piece.loader.load((2,)) for piece in pieces]


def test_blocks_of_an_array_are_one_sequence():
    array = dask.array.from_array(ROWS, chunks=(4, 1)).map_blocks(lambda block: block + 1.0)
    chunks = DaskChunks(array)
    assert [(p.begins, p.ends) for p in chunks.pieces()] == [
        (True, False),
        (False, False),
        (False, True),
    ]
    np.testing.assert_array_equal(
        np.concatenate([block for (block,) in loaded(chunks)]), ROWS + 1.0
    )


def test_arrays_in_a_bag_are_a_sequence_each():
    bag = dask.bag.from_sequence([ROWS[:3], ROWS[3:4], ROWS[4:]], npartitions=2)
    chunks = DaskChunks(bag)
    assert [(p.begins, p.ends) for p in chunks.pieces()] == [(True, True)] * 2
    arrays = [array for partition in loaded(chunks) for array in partition]
    assert [len(array) for array in arrays] == [3, 1, 6]


def test_a_part_travels_without_the_others():
    array = dask.array.concatenate([dask.array.zeros((2, 2)) + k for k in range(200)])
    first = next(DaskChunks(array).pieces())
    assert first.loader.nbytes < 5000


def test_other_collections_are_refused():
    with pytest.raises(ValueError, match="X must be a Dask array or a Dask bag"):
        DaskChunks(dask.delayed(3))
