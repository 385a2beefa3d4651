"""What a file says is checked: kernels trust the sizes, kinds and ranges of what they get."""

import json
import shutil

import numpy as np
import pytest

from rhmm import Hyperbolic
from tests.learners.chains import content, learner, stream
from tests.streams.altering import altered, with_other_entry, with_other_head


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A file of each kind of learner and ensemble, by name."""
    folder = tmp_path_factory.mktemp("learners")
    seen = {"growing": 700, "cold": 300, "auto": 1_000, "windowed convex": 700}
    for name, size in seen.items():
        learner(Hyperbolic(2), name).partial_fit(stream(Hyperbolic(2), size)).save(
            folder / f"{name}.npz"
        )
    return folder


def copied(files, name: str, folder):
    """A copy of a file, and the class that reads it."""
    shutil.copy(files / f"{name}.npz", folder / "online.npz")
    return folder / "online.npz", type(learner(Hyperbolic(2), name))


@pytest.mark.parametrize("name", ["growing", "cold", "auto", "windowed convex"])
def test_settings_follow_from_the_options_whatever_a_file_says(name, files, tmp_path):
    path, kind = copied(files, name, tmp_path)
    honest = content(kind.load(path), tmp_path)
    with np.load(path) as file:
        head = json.loads(str(file["head"]))
    for settings in head["settings"][:-1]:
        settings.update(dict.fromkeys(settings, 10**9))
    head["settings"][-1].update(trace_every=1, least_delta=-1.0)
    altered(path, head=json.dumps(head))
    online = kind.load(path)
    assert content(online, tmp_path) == honest
    online.partial_fit(stream(Hyperbolic(2), 100, seed=1))


def test_settings_of_the_latest_state_that_no_runner_has_are_refused(files, tmp_path):
    path, kind = copied(files, "growing", tmp_path)
    with_other_head(path, '"gain": 1.5', '"gain": 1e9')
    with pytest.raises(ValueError, match="settings must follow from the options"):
        kind.load(path)


@pytest.mark.parametrize(
    ("name", "array", "at", "value", "message"),
    [
        ("growing", "0.counters", 1, 16, r"counters\[1\] must be .* from 0 to 15"),
        ("growing", "0.counters", 0, -1, r"counters\[0\]"),
        ("growing", "0.counters", 0, 2**62, r"counters\[0\]"),
        ("growing", "0.counters", 0, 699, "counters of the latest"),
        ("auto", "2.counters", 0, 200, "counters of all runners"),
        ("windowed convex", "0.counters", 1, 39, r"counters\[1\]"),
        ("growing", "0.transmat", 0, np.nan, "transmat must be finite"),
        ("growing", "0.transmat", 0, 0.9999, "transmat must hold probabilities"),
        ("growing", "0.means", 0, np.inf, "means must be finite"),
        ("growing", "0.means", 0, 1.5, "means must hold points"),
        ("growing", "0.delta", 0, -1.0, "delta must be positive"),
        ("growing", "0.log_z", 0, 99.0, "must be those of delta"),
        ("growing", "0.visits", 0, 0.0, "visits must be positive"),
        ("growing", "0.filtered", 0, 3.0, "filtered must hold probabilities"),
        ("growing", "0.points", 0, 1.0, "points must hold points"),
        ("growing", "0.credit", 0, 5.5, "credit must be from 0 to 5"),
        ("growing", "0.log_likelihood", 0, np.nan, "log_likelihood must be finite"),
        ("growing", "sensor.run", 1, 0, r"run\[1\] must be"),
        ("growing", "sensor.last", 0, np.inf, "last must be finite"),
        ("growing", "latest.y", 0, 2.0, "y must hold points"),
        ("growing", "trace.step", 3, 21, "step must rise"),
        ("growing", "trace.delta", 0, np.nan, "delta must be finite"),
        ("cold", "ensemble.scores", 0, np.nan, "scores must be finite"),
        ("auto", "ensemble.level", 2, -1.0, "level must have"),
        ("auto", "ensemble.recent", -1, 2.0, "recent must hold points"),
    ],
)
def test_states_that_cannot_have_come_about_are_refused(
    name, array, at, value, message, files, tmp_path
):
    path, kind = copied(files, name, tmp_path)
    with_other_entry(path, array, at, value)
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{message}"):
        kind.load(path)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("growing", '"kind": "Reviewed"', '"kind": "Bank"', "kind must be one of"),
        ("growing", '"leader": 0', '"leader": 0, "learn": 0', "and nothing else"),
        ("growing", '"skipped": 0', '"skipped": -1', "skipped must be"),
        ("growing", '"skipped": 0', '"skipped": Infinity', "skipped must be"),
        ("growing", '"skipped": 0', '"skipped": ' + "9" * 400, "skipped must be"),
        (
            "growing",
            '["Hyperbolic", 2]',
            '["Hyperbolic", 1' + "0" * 30 + "]",
            "must be below 2",
        ),
        ("growing", '"reviewed": 416', '"reviewed": 7000', "reviewed must be"),
        ("growing", '"trial_ends": 0', '"trial_ends": 90000', "trial_ends must be"),
        ("auto", '"due": -1', '"due": 1', "due must be"),
        ("growing", '"lag": 8', '"lag": 10000000', "points must be of shape"),
    ],
)
def test_heads_that_cannot_have_come_about_are_refused(name, old, new, message, files, tmp_path):
    path, kind = copied(files, name, tmp_path)
    with_other_head(path, old, new)
    with pytest.raises(ValueError, match=f"is not a learner that rhmm saved.*{message}"):
        kind.load(path)


def test_a_head_nested_too_deeply_is_refused_with_a_sentence(files, tmp_path):
    path, kind = copied(files, "growing", tmp_path)
    altered(path, head='{"format":' + "[" * 100_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        kind.load(path)


@pytest.mark.parametrize("name", ["growing", "windowed convex"])
def test_kernels_refuse_counters_outside_of_the_room(name):
    X = stream(Hyperbolic(2))
    for held in (-1, 10_000):
        online = learner(Hyperbolic(2), name).partial_fit(X)
        online._state.counters[1] = held
        with pytest.raises(ValueError, match="counters"):
            online.partial_fit(X)
