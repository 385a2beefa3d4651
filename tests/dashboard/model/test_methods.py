import pytest

from dashboard.model import methods
from dashboard.model.experiment import Experiment
from dashboard.model.methods import BASELINES, CEILING, ONLINE_LEARNERS, VARIANTS, variant_of
from rhmm import Configuration
from rhmm.learners.registry import LEARNERS
from tests.dashboard.made_runs import WAYS, configured


def test_every_method_has_a_name_and_a_place_in_every_table():
    order = Experiment(algorithms=tuple(ONLINE_LEARNERS)).methods
    assert order == ("windowed", "streaming", "auto", "kmeans", "em", "ceiling")
    names = [methods.method_name(key) for key in order]
    assert names == [
        "Windowed", "Streaming", "Automatic memory", "K-means", "EM", "True parameters",
    ]  # fmt: skip


def test_only_a_clustering_has_no_posterior():
    assert [key for key in LEARNERS if not methods.has_posterior(key)] == ["kmeans"]


def test_the_ceiling_is_the_one_that_is_told_the_truth():
    assert CEILING == "ceiling"
    assert [key for key, learner in BASELINES.items() if learner.needs_truth] == ["ceiling"]


def test_the_variants_are_those_of_the_engine():
    assert list(VARIANTS) == list(WAYS)
    assert [key for key, variant in VARIANTS.items() if not variant.has_window] == ["auto"]


@pytest.mark.parametrize("key", VARIANTS)
def test_a_variant_is_known_by_its_configuration(key):
    window = 60 if VARIANTS[key].has_window else None
    way = configured(key, 500, window)

    assert VARIANTS[key].configuration(500, 60) == way
    assert variant_of(way) is VARIANTS[key]


@pytest.mark.parametrize(
    "way",
    [
        *(Configuration(key, 500) for key in BASELINES),
        Configuration("streaming", 500, window=60, init="cold"),
        Configuration("auto", 500, init="cold"),
    ],
)
def test_baselines_and_other_options_are_no_variant(way):
    assert variant_of(way) is None
