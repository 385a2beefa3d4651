"""A fit that is killed goes on where it was, to the last bit."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from rhmm import Euclidean, Hyperbolic, RiemannianHMM
from rhmm.storage import read_npz, write_npz
from tests.chunks.files import write_parquet
from tests.learners.chains import chain_on, stream
from tests.learners.fits import quietly

DISK = Hyperbolic(2)

KILLED = """
import os, signal, sys
from rhmm import Hyperbolic, RiemannianHMM

def kill(monitor):
    if monitor.n_iter == 3:
        os.kill(os.getpid(), signal.SIGKILL)

folder, checkpoint = sys.argv[1:]
model = RiemannianHMM(Hyperbolic(2), 3, n_iter=8, tol=0.0, random_state=0, callback=kill)
model.fit(folder, checkpoint=checkpoint)
"""


def learner(**options) -> RiemannianHMM:
    return RiemannianHMM(DISK, 3, **{"n_iter": 8, "tol": 0.0, "random_state": 0, **options})


def test_a_killed_fit_goes_on_bit_for_bit(tmp_path):
    folder, checkpoint = tmp_path / "rows", tmp_path / "fit.npz"
    folder.mkdir()
    write_parquet(folder / "x.parquet", stream(DISK, 2500), 600)
    arguments = [sys.executable, "-c", KILLED, str(folder), str(checkpoint)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(arguments, env=environment, check=False).returncode == -signal.SIGKILL
    steps = []
    resumed = learner(callback=lambda monitor: steps.append(monitor.n_iter))
    quietly(resumed, folder, checkpoint=checkpoint)
    whole = quietly(learner(), folder)
    assert steps[0] == 4
    assert resumed.monitor_.log_likelihood == whole.monitor_.log_likelihood
    for ours, theirs in zip(resumed.monitor_.parameters, whole.monitor_.parameters, strict=True):
        for left, right in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(left, right)


def test_a_finished_fit_is_only_read(tmp_path):
    checkpoint, chunks = tmp_path / "fit.npz", [stream(DISK, 400)]
    first = quietly(learner(), chunks, checkpoint=checkpoint)
    content = checkpoint.read_bytes()
    again = quietly(learner(), chunks, checkpoint=checkpoint)
    assert checkpoint.read_bytes() == content
    np.testing.assert_array_equal(again.means_, first.means_)


def test_more_iterations_go_on_from_a_finished_fit(tmp_path):
    checkpoint, chunks = tmp_path / "fit.npz", [stream(DISK, 400)]
    quietly(learner(n_iter=2), chunks, checkpoint=checkpoint)
    more = quietly(learner(n_iter=4), chunks, checkpoint=checkpoint)
    assert (
        more.monitor_.log_likelihood == quietly(learner(n_iter=4), chunks).monitor_.log_likelihood
    )


def test_other_data_are_refused(tmp_path):
    checkpoint, X = tmp_path / "fit.npz", stream(DISK, 400)
    quietly(learner(n_iter=2), [X], checkpoint=checkpoint)
    with pytest.raises(ValueError, match=r"X\[0\] has changed since an earlier pass"):
        quietly(learner(n_iter=4), [X[::-1].copy()], checkpoint=checkpoint)


@pytest.mark.parametrize("other", [RiemannianHMM(DISK, 2), RiemannianHMM(Euclidean(2), 3)])
def test_a_checkpoint_of_another_fit_is_refused(tmp_path, other):
    checkpoint = tmp_path / "fit.npz"
    quietly(learner(n_iter=1), [stream(DISK, 100)], checkpoint=checkpoint)
    X = stream(other.manifold, 100)
    with pytest.raises(ValueError, match=r"^checkpoint .*of 3 states on Hyperbolic\(2\)"):
        other.fit([X], checkpoint=checkpoint)


def test_a_damaged_checkpoint_and_another_file_are_refused(tmp_path):
    checkpoint, chunks = tmp_path / "fit.npz", [stream(DISK, 100)]
    quietly(learner(n_iter=1), chunks, checkpoint=checkpoint)
    content = bytearray(checkpoint.read_bytes())
    content[len(content) // 2] ^= 1
    checkpoint.write_bytes(content)
    with pytest.raises(ValueError, match=r"^checkpoint .* is not of such a fit .*damaged"):
        learner().fit(chunks, checkpoint=checkpoint)
    chain_on(DISK).save(checkpoint)
    with pytest.raises(ValueError, match=r"^checkpoint .* is not of such a fit"):
        learner().fit(chunks, checkpoint=checkpoint)


@pytest.mark.parametrize("share", [np.nan, np.inf, 1e308, 0.0, -1.0])
def test_a_checkpoint_whose_steps_would_never_become_short_is_refused(tmp_path, share):
    checkpoint, chunks = tmp_path / "fit.npz", [stream(DISK, 100)]
    quietly(learner(n_iter=1), chunks, checkpoint=checkpoint)
    content, _ = read_npz(checkpoint)
    head = json.loads(str(content["head"]))
    assert head["share"] == 1.0
    write_npz(checkpoint, content | {"head": json.dumps(head | {"share": share})})
    with pytest.raises(ValueError, match=r"^checkpoint .* is not of such a fit \(share must be"):
        learner().fit(chunks, checkpoint=checkpoint)
