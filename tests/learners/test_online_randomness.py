"""Random numbers of online learners: any seed or generator serves, and can be replayed."""

import numpy as np
import pytest

from rhmm import Hyperbolic
from tests.learners.chains import LEARNERS, content, is_sound, learner, stream

every_learner = pytest.mark.parametrize("name", LEARNERS)


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

    def test_can_be_used(self, name, bit_generator):
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
        loaded = type(online).load(tmp_path / "online.npz").partial_fit(X[seen:])
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
