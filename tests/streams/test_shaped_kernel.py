"""What the streaming recursion asks of states and settings with shapes; numba needs both classes
written out."""

import pytest

from rhmm.streams.shaped_kernel import ShapedSettings, ShapedState
from rhmm.streams.streaming_kernel import StreamingSettings, StreamingState


@pytest.mark.parametrize(
    ("shaped", "plain"), [(ShapedState, StreamingState), (ShapedSettings, StreamingSettings)]
)
def test_what_shapes_add_comes_after_all_fields_of_the_papers_emission(shaped, plain):
    assert shaped._fields[: len(plain._fields)] == plain._fields
