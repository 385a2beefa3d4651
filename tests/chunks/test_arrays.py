import numpy as np
import pytest

from rhmm.chunks import ArrayChunks, as_chunks

ARRAYS = [np.zeros((k, 2)) for k in (1, 2, 3)]


class Anew:
    def __iter__(self):
        return iter(ARRAYS)


@pytest.mark.parametrize("arrays", [ARRAYS, tuple(ARRAYS), Anew()])
def test_each_array_is_a_sequence_unless_all_are_one(arrays):
    apart, together = ArrayChunks(arrays), ArrayChunks(arrays, one_sequence=True)
    assert [(p.begins, p.ends) for p in apart.pieces()] == [(True, True)] * 3
    ends = [(True, False), (False, False), (False, True)]
    assert [(p.begins, p.ends) for p in together.pieces()] == ends
    for _ in range(2):  # passes
        assert [len(piece.loader.load((2,))[0]) for piece in apart.pieces()] == [1, 2, 3]
    assert [piece.name for piece in together.pieces()] == ["X[0]", "X[1]", "X[2]"]


def test_a_single_array_is_a_whole_sequence():
    (piece,) = ArrayChunks(ARRAYS[:1], one_sequence=True).pieces()
    assert piece.begins
    assert piece.ends


def test_a_generator_is_refused_with_a_way_out():
    with pytest.raises(ValueError, match=r"^X must give its chunks again .* __iter__ begins anew"):
        as_chunks((array for array in ARRAYS), 1)
    with pytest.raises(ValueError, match="arrays must hold arrays, not 3"):
        ArrayChunks(3)
