import pickle
import re
import warnings

import numpy as np
import pytest

from dashboard.compute import counting, fits
from dashboard.compute.fits import FileRead, FitRequest, Fitted, ReadRequest
from dashboard.compute.jobs import Expected
from dashboard.compute.labels import agreement, taught
from dashboard.model import analysis
from dashboard.model.analysis import (
    BIC,
    EM,
    FULL,
    PREDICTION,
    ROUND,
    STREAMING,
    TIED,
    HeldFile,
    HeldRecording,
    ReadOptions,
)
from rhmm import (
    ConvergenceWarning,
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
    recentred,
)
from rhmm.paper import paper_model
from rhmm.recording import Recording
from rhmm.scoring import accuracy
from rhmm.selection import select_n_components
from tests.dashboard.made_recordings import matrix_fit, of_the_disk
from tests.reading.files import csv_bytes, named
from tests.reading.test_wrong import FILES


def ignore(*_):
    pass


def test_em_gives_the_numbers_of_the_engine():
    held = of_the_disk()
    recording = held.recording
    model = RiemannianHMM(recording.manifold, 3, random_state=0)
    model.fit(recording.points, lengths=recording.lengths)

    result = fits.compute(FitRequest(held, 3, EM), ignore)

    assert isinstance(result, Fitted)
    np.testing.assert_array_equal(result.model.means_, model.means_)
    expected = model.predict_proba(recording.points, lengths=recording.lengths)
    np.testing.assert_array_equal(result.probabilities, expected)
    known = recording.labels >= 0
    found = accuracy(recording.labels[known], expected.argmax(axis=1)[known], 3)
    assert result.agreement.accuracy == found
    assert result.curve is None


def test_re_centring_and_other_shapes_give_the_numbers_of_the_engine():
    held = of_the_disk()
    recording = held.recording
    X, _ = recentred(recording.manifold, recording.points, lengths=recording.lengths)
    model = RiemannianHMM(recording.manifold, 3, emission="full", random_state=0)
    model.fit(X, lengths=recording.lengths)

    result = fits.compute(FitRequest(held, 3, EM, FULL, True), ignore)

    np.testing.assert_array_equal(result.model.means_, model.means_)
    np.testing.assert_array_equal(result.model.covariances_, model.covariances_)
    expected = model.predict_proba(X, lengths=recording.lengths)
    np.testing.assert_array_equal(result.probabilities, expected)
    np.testing.assert_array_equal(result.picture.places, X[recording.observed])
    assert "each re-centred" in result.request.in_words()


def test_bic_is_that_of_the_shape_that_was_chosen(monkeypatch):
    monkeypatch.setattr(counting, "MOST_STATES", 4)
    held = of_the_disk(200)
    recording = held.recording
    found = select_n_components(
        recording.manifold, recording.points, range(1, 5), emission="tied",
        lengths=recording.lengths, random_state=0,
    )  # fmt: skip

    result = fits.compute(FitRequest(held, BIC, EM, TIED), ignore)

    np.testing.assert_array_equal(result.curve.values["bic"], found.values)
    assert result.curve.online is None  # states are counted with the paper's emission


@pytest.mark.parametrize("emission", [ROUND, TIED])
def test_streaming_learns_in_one_pass_and_knows_where_sequences_end(emission):
    held = of_the_disk()
    points, lengths = held.recording.points, held.recording.lengths
    learner = StreamingRiemannianHMM(
        held.recording.manifold, 3, window=74, emission=emission, random_state=0
    )

    result = fits.compute(FitRequest(held, 3, STREAMING, emission), ignore)

    expected = learner.fit(points, lengths=lengths).to_hmm().means_
    np.testing.assert_array_equal(result.model.means_, expected)
    assert (expected != learner.fit(points).to_hmm().means_).any()


@pytest.mark.parametrize("chooser", [BIC, PREDICTION])
def test_the_number_of_states_is_that_which_the_engine_chooses(chooser):
    held = of_the_disk(200)
    recording, seen = held.recording, []
    criterion = "bic" if chooser == BIC else "predictive"
    found = select_n_components(
        recording.manifold, recording.points, range(1, 13), criterion=criterion,
        lengths=recording.lengths, random_state=0,
    )  # fmt: skip
    online = StreamingRiemannianHMM(recording.manifold, "auto", window=49, random_state=0)

    result = fits.compute(FitRequest(held, chooser, EM), lambda *said: seen.append(said))

    assert result.n_states == found.best.n_components
    np.testing.assert_array_equal(result.curve.values[criterion], found.values)
    assert result.curve.explanations[-1] == found.explanation()
    assert next(iter(result.curve.values)) == "bic"
    assert result.curve.online == online.fit(
        recording.points, lengths=recording.lengths
    ).n_components_  # fmt: skip
    shares = [share for _, doing, share in seen if doing.startswith(("BIC", "Prediction"))]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(0.95)


def test_a_large_recording_is_learned_from_a_part_before_all_of_it(monkeypatch):
    monkeypatch.setattr(analysis, "LARGE", 1_000)
    monkeypatch.setattr(analysis, "_THINNED", 600)
    held = of_the_disk(1_200)
    recording = held.recording
    few = recording.thinned(300)
    first = RiemannianHMM(recording.manifold, 3, random_state=0)
    first.fit(few.points, lengths=few.lengths)
    model = RiemannianHMM(recording.manifold, 3, init=first, n_iter=5)
    model.fit(recording.points, lengths=recording.lengths)

    result = fits.compute(FitRequest(held, 3, EM), ignore)

    np.testing.assert_allclose(result.model.means_, model.means_, atol=1e-12)
    assert f"on {len(few.points)} of them" in result.remark
    assert "5 times over all" in result.remark


def test_heavy_tails_come_with_their_degrees_of_freedom():
    held = of_the_disk(150)
    recording = held.recording
    model = RiemannianHMM(recording.manifold, 2, emission="student", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(recording.points, lengths=recording.lengths)

    result = fits.compute(FitRequest(held, 2, EM, "student"), ignore)

    assert result.model.degrees_ == model.degrees_
    np.testing.assert_array_equal(result.model.means_, model.means_)


def test_a_state_that_was_lost_is_named_as_pages_count():
    points = of_the_disk(120).recording.points.copy()
    points[40:80] = [0.5, -0.5]  # so often that it is a state of its own, without any spread
    recording = Recording(Hyperbolic(2), points, np.array([120]), ("1",))

    result = fits.compute(FitRequest(HeldRecording(("stuck",), recording), 4, EM), ignore)

    collapsed = np.flatnonzero(result.model.sigmas_ <= 1e-3)
    assert len(collapsed)
    for state in collapsed:
        assert f"State {state + 1} has collapsed onto a point" in result.remark


def test_streaming_needs_observations_that_differ():
    points = np.tile([0.1, 0.2], (50, 1))
    recording = Recording(Hyperbolic(2), points, np.array([50]), ("1",))

    with pytest.raises(Expected, match="use EM"):
        fits.compute(FitRequest(HeldRecording(("same",), recording), 2, STREAMING), ignore)


@pytest.mark.parametrize(("n_states", "expected"), [(2, [1, 0]), (3, [1, 0, None]), (1, [1])])
def test_labels_go_to_the_states_that_fit_them(n_states, expected):
    held = of_the_disk(labelled=True)
    labels = held.recording.labels
    states = np.select([labels == 1, labels == 0], [0, 1], n_states - 1).clip(0, n_states - 1)
    two = labels < 2
    recording = type(held.recording)(
        **vars(held.recording) | {"labels": np.where(two, labels, -1), "label_names": ("a", "b")}
    )

    found = agreement(recording, states, n_states)

    assert [found.label_of(state) for state in range(n_states)] == expected


def test_there_is_no_agreement_without_labels():
    assert matrix_fit().agreement is None


def test_a_model_that_was_taught_the_labels_tells_them_as_counting_says():
    # Taught all labels, EM takes a single step: means and spreads of the labels, and their counts.
    points, labels = paper_model().sample(400, random_state=3)
    recording = Recording(
        Hyperbolic(2), points, np.array([400]), ("1",), labels=labels, label_names=("a", "b", "c")
    )
    manifold = recording.manifold
    means = np.stack([manifold.mean(points[labels == k]) for k in range(3)])
    d2 = manifold.squared_distances(points, means)[labels, np.arange(400)]
    sigmas = manifold.sigma(np.array([d2[labels == k].mean() for k in range(3)]))
    counts = np.zeros((3, 3))
    np.add.at(counts, (labels[:-1], labels[1:]), 1.0)
    model = RiemannianHMM.from_parameters(
        manifold, np.eye(3)[labels[0]], counts / counts.sum(axis=1, keepdims=True), means, sigmas
    )

    found = taught(recording, recording, "riemannian")

    assert found == pytest.approx((model.predict(points) == labels).mean(), abs=0.005)
    assert taught(matrix_fit().recording, matrix_fit().recording, "riemannian") is None


def read(name, content, **options) -> FileRead:
    result = fits.compute(ReadRequest(HeldFile.of(name, content), ReadOptions(**options)), ignore)
    assert isinstance(result, FileRead)
    return result


def test_a_file_is_read_as_the_engine_reads_it():
    points = of_the_disk().recording.points

    found = read("a.csv", csv_bytes(named(points)))

    np.testing.assert_array_equal(found.reading.recording.points, points)
    assert found.names == ("c0", "c1")
    assert found.problem is None


def test_a_file_that_cannot_be_read_still_names_its_columns():
    content = b"x,y,activity\n0.1,0.2,walk\n0.2,0.1,run\n"

    found = read("a.csv", content)
    said = read("a.csv", content, label="activity")

    assert found.reading is None
    assert "say that it is the label" in str(found.problem)
    assert found.names == ("x", "y", "activity")
    assert said.reading.recording.label_names == ("walk", "run")


def test_what_is_wrong_with_a_file_comes_back_from_a_process_with_its_rows():
    found = read("a.csv", b"x,y\n0.1,0.2\n0.3,oops\n5,5\n0.1,0.1\n")

    again = pickle.loads(pickle.dumps(found))

    assert [row.number for row in again.problem.rows] == [3, 4]


def test_requests_for_the_same_content_are_equal():
    one, other = HeldFile.of("a.csv", b"1,2\n"), HeldFile.of("a.csv", b"1,2\n")

    assert ReadRequest(one, ReadOptions()) == ReadRequest(other, ReadOptions())
    assert ReadRequest(one, ReadOptions()) != ReadRequest(one, ReadOptions(space="spd"))
    assert FitRequest(of_the_disk(), 3, EM) == FitRequest(of_the_disk(), 3, EM)
    assert "1,2" not in repr(one)


@pytest.mark.parametrize("kind", FILES)
def test_a_bad_file_is_a_problem_and_no_failure(kind):
    name, content, options, sentence = FILES[kind]

    content = content() if callable(content) else content

    found = fits.read_file(name, content, ReadOptions(**options), ignore)

    assert found.reading is None
    assert re.search(sentence, str(found.problem))
