"""Label powerset: its own facts."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from colabel import LabelPowerset
from colabel.datasets import load
from colabel.reduction import BatchLogisticRegression


def test_equals_multiclass_classification_of_label_sets():
    train, test = load("yeast:train"), load("yeast:test")
    train, test = train.take(slice(0, 300)), test.take(slice(0, 200))
    sets, codes = np.unique(train.Y, axis=0, return_inverse=True)
    model = LogisticRegression(tol=1e-10, max_iter=10000).fit(train.X, codes.ravel())
    ours = LabelPowerset(BatchLogisticRegression(tol=1e-13)).fit(train.X, train.Y)
    np.testing.assert_array_equal(ours.predict(test.X), sets[model.predict(test.X)])
    joint = ours.predict_joint(test.X)
    p = model.predict_proba(test.X)
    np.testing.assert_allclose(ours.predict_proba(test.X), p @ sets, atol=1e-6)
    np.testing.assert_allclose(np.exp(joint.scores), p, atol=1e-6)


def test_unseen_label_sets_have_probability_zero_and_break_nothing(toy):
    X, Y = toy
    model = LabelPowerset().fit(X, Y)
    unseen = 1 - Y
    assert np.isneginf(model.predict_joint(X).log_prob(unseen)).all()
    assert model.score(X, unseen) == 0.0
    seen = {row.tobytes() for row in Y.astype(np.int8)}
    assert {row.tobytes() for row in model.predict(X).astype(np.int8)} <= seen


def test_a_single_label_set_is_predicted_everywhere(toy):
    X, _ = toy
    Y = np.tile([1, 0, 1], (60, 1))
    model = LabelPowerset().fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)
    np.testing.assert_allclose(model.predict_proba(X), Y, atol=1e-9)


def test_classifiers_without_probabilities_choose_by_score(toy):
    X, Y = toy
    model = LabelPowerset(LinearSVC()).fit(X, Y)
    assert not hasattr(model, "predict_proba")
    assert not model.predict_joint(X).is_distribution
    assert (model.predict(X) == Y).mean() > 0.8
    two_sets = np.column_stack([X[:, 0] > 0, X[:, 0] <= 0]).astype(int)
    assert (LabelPowerset(LinearSVC()).fit(X, two_sets).predict(X) == two_sets).mean() > 0.9


def test_empty_sets_can_be_forbidden(toy):
    X, _ = toy
    Y = np.column_stack([X[:, 0] > 1, X[:, 1] > 1]).astype(int)
    assert not LabelPowerset().fit(X, Y).predict(X).any(axis=1).all()
    assert LabelPowerset(empty="forbid").fit(X, Y).predict(X).any(axis=1).all()
    with pytest.raises(ValueError, match="no training row has a label"):
        LabelPowerset(empty="forbid").fit(X, 0 * Y)


def test_sample_weights_count_rows(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(1, 4, 60)
    weighted = LabelPowerset().fit(X, Y, sample_weight=weight).predict_proba(X)
    rows = np.repeat(np.arange(60), weight)
    repeated = LabelPowerset().fit(X[rows], Y[rows]).predict_proba(X)
    np.testing.assert_allclose(weighted, repeated, atol=1e-3)


def test_support_vector_machines_score_classes_not_pairs(toy):
    X, _ = toy
    Y = np.eye(3, dtype=int)[np.digitize(X[:, 0], [-0.5, 0.5])]
    pairs = LabelPowerset(SVC(decision_function_shape="ovo")).fit(X, Y).predict(X)
    classes = LabelPowerset(SVC(decision_function_shape="ovr")).fit(X, Y).predict(X)
    np.testing.assert_array_equal(pairs, classes)


def test_classifiers_that_only_predict_are_served(toy):
    X, Y = toy
    hard = VotingClassifier([("a", LogisticRegression()), ("b", LinearSVC())])
    model = LabelPowerset(hard).fit(X, Y)
    sets, codes = np.unique(Y, axis=0, return_inverse=True)
    expected = sets[hard.fit(X, codes.ravel()).predict(X)]
    np.testing.assert_array_equal(model.predict(X), expected)


def test_impossible_sets_are_not_chosen_for_want_of_a_better(toy):
    X, _ = toy
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] > 1]).astype(int)
    tree = DecisionTreeClassifier(random_state=0)
    for decoder in ("support_mode", "exhaustive"):
        model = LabelPowerset(tree, decoder=decoder, empty="forbid").fit(X, Y)
        assert model.predict(X).any(axis=1).all()


def test_rows_of_weight_zero_leave_no_label_set_behind(toy):
    X, Y = toy
    weight = (Y[:, 0] == 1).astype(float)
    model = LabelPowerset().fit(X, Y, sample_weight=weight)
    assert model.labelings_[:, 0].all()
    with pytest.raises(ValueError, match="non-zero"):
        LabelPowerset().fit(X, Y, sample_weight=0 * weight)


def test_sparse_labels_stay_sparse(monkeypatch):
    monkeypatch.setattr("colabel.numerics.distinct_labelings.BLOCK_ENTRIES", 2**16)
    n, n_labels = 3000, 8000
    Y = sparse.csr_array((np.ones(n), (np.arange(n), np.arange(n) % 5)), shape=(n, n_labels))
    tracemalloc.start()
    model = LabelPowerset(DummyClassifier()).fit(np.zeros((n, 1)), Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.labelings_.shape == (5, n_labels)
    assert peak < n * n_labels / 2


def test_log_probabilities_are_normalised_and_do_not_underflow():
    X = np.repeat([[0.0], [1e3]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    Y = np.repeat([[0, 1], [1, 0]], 20, axis=0)
    scores = LabelPowerset(GaussianNB()).fit(X, Y).predict_joint(X).scores
    assert scores.min() < -1000.0
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(logsumexp(scores, axis=1), 0.0, atol=1e-12)
