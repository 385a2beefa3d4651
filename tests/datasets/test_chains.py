import numpy as np
import pytest

from rhmm import SPD, Euclidean, Hyperbolic
from rhmm.datasets import make_chain
from rhmm.scoring import accuracy

SPACES = {
    "disk": Hyperbolic(2), "ball": Hyperbolic(3), "spd2": SPD(2), "spd3": SPD(3), "spd8": SPD(8),
    "plane": Euclidean(2),
}  # fmt: skip


@pytest.mark.parametrize("space", SPACES)
def test_a_chain_lies_on_its_space_and_its_labels_are_its_states(space):
    chain = make_chain(space, length=300)

    assert chain.manifold == SPACES[space]
    chain.manifold.points("points", chain.points)
    assert len(chain.labels) == 300
    # the centres of mass of the labels tell the states apart: they are no random marks
    centres = [chain.manifold.mean(chain.points[chain.labels == i]) for i in range(3)]
    nearest = chain.manifold.squared_distances(chain.points, np.stack(centres)).argmin(axis=0)
    assert accuracy(chain.labels, nearest, 3) > 0.8


def test_the_same_seed_gives_the_same_chain():
    again, other = make_chain("ball", 50, random_state=3), make_chain("ball", 50, random_state=4)

    np.testing.assert_array_equal(make_chain("ball", 50, random_state=3).points, again.points)
    assert (again.points != other.points).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"space": "torus"}, "space must be one of"), ({"length": 0}, "length must be at least 1")],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        make_chain(**options)
