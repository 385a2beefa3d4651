"""Measures of a learned model, after its states are matched to the true ones."""

from dataclasses import fields
from itertools import permutations

import numpy as np
import pytest

from rhmm import (
    Hyperbolic,
    RiemannianHMM,
    StreamingRiemannianHMM,
    evaluate,
    evaluate_without_truth,
)
from rhmm.paper import paper_model
from rhmm.scoring import MEASURES, Evaluation, Measures, accuracy, match_states, path_errors
from tests.brute_force import MANIFOLDS, random_model


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_a_renaming_of_the_states_is_found_and_costs_nothing(order):
    truth = np.random.default_rng(0).integers(4, size=200)
    predicted = np.array(order)[truth]
    np.testing.assert_array_equal(match_states(truth, predicted, 4), order)
    assert accuracy(truth, predicted, 4) == 1.0


def test_the_matching_is_the_best_of_all_renamings():
    rng = np.random.default_rng(1)
    for _ in range(30):
        truth, predicted = rng.integers(4, size=(2, 25))
        best = max(np.mean(np.array(order)[truth] == predicted) for order in permutations(range(4)))
        assert accuracy(truth, predicted, 4) == best


def test_every_wrong_label_costs_its_share():
    truth = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2, 2])
    predicted = np.array([2, 2, 2, 0, 0, 0, 0, 0, 1, 1])
    np.testing.assert_array_equal(match_states(truth, predicted, 3), [2, 0, 1])
    assert accuracy(truth, predicted, 3) == 0.9


def test_states_that_were_never_predicted_are_matched_too():
    assert sorted(match_states([0, 1, 2], [1, 1, 1], 3)) == [0, 1, 2]
    assert accuracy([0, 1, 2], [1, 1, 1], 3) == 1 / 3


def test_a_missing_label_is_an_error_and_moves_no_other():
    """K-means labels a missing observation −1."""
    truth = np.array([0, 0, 1, 1, 1, 1, 1, 1, 1, 1])
    predicted = np.array([1, 1, 0, 0, -1, -1, -1, -1, -1, -1])
    np.testing.assert_array_equal(match_states(truth, predicted, 2), [1, 0])
    assert accuracy(truth, predicted, 2) == 0.4


@pytest.mark.parametrize("manifold", MANIFOLDS, ids=repr)
def test_the_fields_of_an_evaluation_follow_their_definitions(manifold):
    rng = np.random.default_rng(2)
    truth, learned = (random_model(manifold, 2, rng) for _ in range(2))
    X, states = truth.sample(300, random_state=0)
    result = evaluate(learned, truth, X, states)

    hits = (learned.predict(X) == states).sum()
    order = [0, 1] if hits >= 150 else [1, 0]
    matched = learned.permuted(order)
    assert result.accuracy == max(hits, 300 - hits) / 300
    assert result.ceiling == (truth.predict(X) == states).mean()
    difference = matched.transmat_ - truth.transmat_
    np.testing.assert_allclose(result.transition_error, np.sqrt((difference**2).sum()))
    for i in range(2):
        distance = manifold.dist(truth.means_[i], learned.means_[order[i]])
        np.testing.assert_allclose(result.mean_errors[i], distance, rtol=1e-12)
        error = (learned.sigmas_[order[i]] - truth.sigmas_[i]) / truth.sigmas_[i]
        np.testing.assert_allclose(result.sigma_errors[i], error, rtol=1e-9)
    np.testing.assert_allclose(result.log_likelihood, learned.score(X) / 300, rtol=1e-12)
    np.testing.assert_array_equal(result.model.means_, matched.means_)
    np.testing.assert_array_equal(result.order, order)
    np.testing.assert_array_equal(result.labels, matched.predict(X))
    np.testing.assert_allclose(result.mean_error, result.mean_errors.mean())
    np.testing.assert_allclose(result.sigma_error, np.abs(result.sigma_errors).mean())
    assert result.seconds is None
    assert result.nbytes is None


def test_what_learning_took_is_passed_on():
    X, states = paper_model().sample(50, random_state=0)
    result = evaluate(paper_model(), paper_model(), X, states, seconds=1.5, nbytes=7)
    assert (result.seconds, result.nbytes) == (1.5, 7)


def test_an_evaluation_cannot_change():
    X, states = paper_model().sample(50, random_state=0)
    result = evaluate(paper_model(), paper_model(), X, states)
    assert isinstance(result, Measures)
    with pytest.raises(AttributeError):
        result.accuracy = 1.0


def test_the_names_of_the_measures_are_the_fields_that_all_results_share():
    own = {"mean_errors", "sigma_errors", "model", "order", "labels", "names"}
    assert set(MEASURES) == {field.name for field in fields(Evaluation)} - own


def test_a_ceiling_that_is_known_is_not_computed_again(monkeypatch):
    X, states = paper_model().sample(50, random_state=0)
    truth = paper_model()
    monkeypatch.setattr(truth, "predict", None)
    assert evaluate(paper_model(), truth, X, states, ceiling=0.75).ceiling == 0.75


def test_the_errors_along_a_path_are_those_of_each_of_its_models():
    rng = np.random.default_rng(0)
    truth, *path = (random_model(Hyperbolic(3), 2, rng) for _ in range(6))
    transition, mean = path_errors(
        [model.transmat_ for model in path], [model.means_ for model in path], truth
    )
    for row, model in enumerate(path):
        difference = ((model.transmat_ - truth.transmat_) ** 2).sum()
        np.testing.assert_allclose(transition[row], np.sqrt(difference))
        distances = truth.manifold.dist(model.means_, truth.means_)
        np.testing.assert_allclose(mean[row], distances.mean())


def test_the_truth_under_other_names_is_at_the_ceiling_without_errors():
    truth = paper_model()
    X, states = truth.sample(2000, random_state=0)
    result = evaluate(truth.permuted([1, 2, 0]), truth, X, states)
    assert result.accuracy == result.ceiling == np.mean(truth.predict(X) == states)
    assert result.transition_error == 0.0
    assert (result.sigma_errors == 0.0).all()
    np.testing.assert_allclose(result.mean_errors, 0.0, atol=1e-12)


def test_an_evaluation_respects_where_sequences_end():
    truth = paper_model()
    lengths = [50, 1, 149]
    pieces = [truth.sample(length, random_state=length) for length in lengths]
    X, states = (np.concatenate(part) for part in zip(*pieces, strict=True))
    result = evaluate(truth, truth, X, states, lengths=lengths)
    total = sum(truth.score(piece) for piece, _ in pieces)
    np.testing.assert_allclose(result.log_likelihood, total / 200, rtol=1e-12)
    hits = np.concatenate([truth.predict(piece) == hidden for piece, hidden in pieces])
    assert result.ceiling == hits.mean()


RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("model", "states", "message"),
    [
        (
            random_model(Hyperbolic(3), 3, RNG),
            [0, 0],
            r"model must have 3 states on Hyperbolic\(2\)",
        ),
        (
            random_model(Hyperbolic(2), 2, RNG),
            [0, 0],
            r"model must have 3 states on Hyperbolic\(2\)",
        ),
        (paper_model(), [0], r"states must have shape \(2,\), not \(1,\)"),
        (paper_model(), [0, 3], "states must"),
        (paper_model(), [0, -1], "states must"),
        (paper_model(), [0.5, 0.5], "states must"),
        (paper_model(), [[0], [0, 1]], "states must"),
        (RiemannianHMM(Hyperbolic(2), 3), [0, 0], "has learned nothing yet"),
        (StreamingRiemannianHMM(Hyperbolic(2), 3), [0, 0], "model must be a RiemannianHMM, not"),
        (None, [0, 0], "model must be a RiemannianHMM, not None"),
    ],
)
def test_a_wrong_argument_is_named(model, states, message):
    with pytest.raises(ValueError, match=message):
        evaluate(model, paper_model(), [[0.0, 0.0], [0.1, 0.1]], states)


X = [[0.0, 0.0], [0.1, 0.1]]


@pytest.mark.parametrize("labels", [[0, 5], [0, -2], [0.0, 1.0], ["a", "b"], [True, False]])
def test_labels_that_are_not_states_are_refused(labels):
    message = "labels must be whole numbers from -1 to 2"
    with pytest.raises(ValueError, match=message):
        evaluate(paper_model(), paper_model(), X, [0, 1], labels=labels)
    with pytest.raises(ValueError, match="predicted must be whole numbers from -1 to 2"):
        match_states([0, 1], labels, 3)
    missing = evaluate(paper_model(), paper_model(), X, [0, 1], labels=[0, -1])
    assert missing.labels.tolist() == [0, -1]


@pytest.mark.parametrize("n_states", [0, 2.5, "a", None])
def test_a_wrong_number_of_states_is_refused(n_states):
    for score in (accuracy, match_states):
        with pytest.raises(ValueError, match=r"^n_states must be"):
            score([0, 1], [0, 1], n_states)


@pytest.mark.parametrize("ceiling", ["x", float("nan"), -0.1, [0.5, 0.5]])
def test_a_ceiling_that_is_not_a_number_is_refused(ceiling):
    with pytest.raises(ValueError, match=r"^ceiling must be"):
        evaluate(paper_model(), paper_model(), X, [0, 1], ceiling=ceiling)


def test_labels_of_another_length_and_a_missing_truth_are_named():
    with pytest.raises(ValueError, match=r"labels must have shape \(2,\), not \(3,\)"):
        evaluate(paper_model(), paper_model(), X, [0, 1], labels=[0, 1, 2])
    with pytest.raises(ValueError, match="truth must be a RiemannianHMM, not None"):
        evaluate(paper_model(), None, X, [0, 1])


# Without a truth


def labelled_chain(length=600):
    truth = paper_model()
    return truth, *truth.sample(length, random_state=3)


def test_without_a_truth_labels_are_matched_as_states_are_with_one():
    truth, X, states = labelled_chain()
    learned = truth.permuted([2, 0, 1])

    found = evaluate_without_truth(learned, X, states)

    expected = evaluate(learned, truth, X, states)
    assert found.accuracy == expected.accuracy
    assert found.log_likelihood == expected.log_likelihood
    np.testing.assert_array_equal(found.order, expected.order)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.model.means_, expected.model.means_)


def test_without_a_truth_what_would_need_it_is_unknown():
    truth, X, _ = labelled_chain(50)

    found = evaluate_without_truth(truth, X, seconds=1.5, nbytes=7)

    unknown = (
        found.accuracy, found.ceiling, found.transition_error, found.mean_error, found.sigma_error,
    )  # fmt: skip
    assert np.isnan(unknown).all()
    assert (found.seconds, found.nbytes) == (1.5, 7)
    np.testing.assert_array_equal(found.order, [0, 1, 2])
    np.testing.assert_array_equal(found.labels, truth.predict(X))


def test_only_labelled_observations_count():
    truth, X, states = labelled_chain()
    known = states.copy()
    known[::2] = -1

    found = evaluate_without_truth(truth, X, known)

    assert found.accuracy == np.mean(truth.predict(X)[1::2] == states[1::2])


@pytest.mark.parametrize("names", [[0, 1, 1], [0, 2, 3]])
def test_there_may_be_fewer_or_more_labels_than_states(names):
    truth, X, states = labelled_chain()
    labels = np.array(names)[states]

    found = evaluate_without_truth(truth, X, labels)

    best = max(
        np.mean(np.array(guess)[truth.predict(X)] == labels)
        for guess in permutations(range(max(3, max(names) + 1)), 3)
    )
    assert found.accuracy == best
    assert sorted(found.order) == [0, 1, 2]
    assert found.accuracy == np.mean(found.labels == labels)
    np.testing.assert_array_equal(found.labels, found.names[found.model.predict(X)])


def test_without_a_truth_sequences_are_scored_apart():
    truth, X, _ = labelled_chain(90)
    lengths = [30, 60]

    found = evaluate_without_truth(truth, X, lengths=lengths)

    apart = truth.score(X[:30]) + truth.score(X[30:])
    np.testing.assert_allclose(found.log_likelihood, apart / 90, rtol=1e-12)


def test_missing_observations_do_not_count_in_the_likelihood():
    truth, X, states = labelled_chain(60)
    X[5] = np.nan

    for found in (evaluate_without_truth(truth, X), evaluate(truth, truth, X, states)):
        np.testing.assert_allclose(found.log_likelihood, truth.score(X) / 59, rtol=1e-12)


def test_wrong_input_without_a_truth_is_named():
    truth, X, _ = labelled_chain(4)
    with pytest.raises(ValueError, match="model must be a RiemannianHMM, not None"):
        evaluate_without_truth(None, X)
    with pytest.raises(ValueError, match="states must be whole numbers from -1 to 3"):
        evaluate_without_truth(truth, X, [0, 1, 2, 4])
