"""Independent, co-occurrence and stacking against their definitions."""

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from colabel.datasets import make_facets
from colabel.facets import (
    CooccurrenceDecomposition,
    CoupledSets,
    DualSetBoosting,
    IndependentDecomposition,
    LabelStacking,
    OnePerSetClassifier,
)
from colabel.reduction import BinaryRelevance, LabelPowerset


def data(seed=0, n=120, sizes=(4, 2), **options):
    made = make_facets(n, 5, sizes, random_state=seed, **options)
    return made.X, made.classes + 10  # not 0 and 1


ALL = [
    IndependentDecomposition(),
    CooccurrenceDecomposition(),
    LabelStacking(),
    LabelStacking(search="exact"),
    DualSetBoosting(n_rounds=3, random_state=0),
    CoupledSets(n_folds=2, random_state=0),
    OnePerSetClassifier(BinaryRelevance()),
    OnePerSetClassifier(LabelPowerset(), rule="argmax"),
]
every = pytest.mark.parametrize("model", ALL, ids=str)


@every
def test_a_fit_that_fails_loses_nothing(model):
    X, Y = data()
    fresh, model = clone(model), clone(model).fit(X, Y)
    classes = model.predict(X)
    for one in (fresh, model):
        with pytest.raises(ValueError):
            one.fit(X[:, :3], Y[:50])
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    np.testing.assert_array_equal(model.predict(X), classes)


def test_independent_facets_are_separate_classifiers():
    X, Y = data(1)
    model = IndependentDecomposition(GaussianNB()).fit(X, Y)
    for s in range(2):
        alone = GaussianNB().fit(X, Y[:, s])
        np.testing.assert_array_equal(model.predict(X)[:, s], alone.predict(X))
        np.testing.assert_allclose(model.predict_proba(X)[s], alone.predict_proba(X))


def test_co_occurrence_is_one_classifier_of_combinations():
    X, Y = data(2)
    model = CooccurrenceDecomposition(GaussianNB()).fit(X, Y)
    pairs = ["-".join(map(str, row)) for row in Y]
    one = GaussianNB().fit(X, pairs)
    assert ["-".join(map(str, row)) for row in model.predict(X)] == list(one.predict(X))
    p = one.predict_proba(X)
    first = np.array([name.split("-")[0] for name in one.classes_])
    for c, label in enumerate(model.classes_[0]):
        total = p[:, first == str(label)].sum(axis=1)
        np.testing.assert_allclose(model.predict_proba(X)[0][:, c], total)
    np.testing.assert_allclose(np.exp(model.predict_joint(X).scores).sum(axis=1), 1.0)


def test_stacking_sees_true_classes_in_training_and_predicted_ones_later():
    X, Y = data(3)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = LabelStacking(tree).fit(X[:80], Y[:80])
    assert list(model.order_) == [1, 0]  # fewest classes first
    hot = np.eye(2)[Y[:, 1] - 10]
    second = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[:80], Y[:80, 1])
    first = DecisionTreeClassifier(max_depth=3, random_state=0).fit(
        np.hstack([X, hot])[:80], Y[:80, 0]
    )
    found = second.predict(X[80:])
    given = np.hstack([X[80:], np.eye(2)[found - 10]])
    np.testing.assert_array_equal(
        model.predict(X[80:]), np.column_stack([first.predict(given), found])
    )


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
def test_exact_stacking_is_the_chain_rule(order):
    X, Y = data(4, sizes=(3, 2, 2))
    model = LabelStacking(LogisticRegression(), order=order, search="exact").fit(X, Y)
    table = model.predict_joint(X[:5])
    sizes = (3, 2, 2)
    for row, z in enumerate(table.labelings):
        codes = [int(np.argmax(part)) for part in np.split(z, [3, 5])]
        log_p, given = 0.0, X[:5]
        for s, estimator in zip(order, model.estimators_, strict=True):
            log_p = log_p + np.log(estimator.predict_proba(given)[:, codes[s]])
            given = np.hstack([given, np.tile(np.eye(sizes[s])[codes[s]], (5, 1))])
        np.testing.assert_allclose(table.scores[:, row], log_p, atol=1e-9)
    best = table.labelings[np.argmax(table.scores, axis=1)]
    codes = np.column_stack([part.argmax(axis=1) for part in np.split(best, [3, 5], axis=1)])
    np.testing.assert_array_equal(model.predict(X[:5]), codes + 10)
    for s, part in enumerate(np.split(table.marginals(), [3, 5], axis=1)):
        np.testing.assert_allclose(model.predict_proba(X[:5])[s], part)


@every
def test_sparse_features_and_jobs_do_not_change_a_prediction(model):
    for seed in range(12):
        X, Y = data(seed)
        found = model.fit(X, Y).predict(X)
        np.testing.assert_array_equal(
            model.fit(sparse.csr_array(X), Y).predict(sparse.csr_matrix(X)), found
        )
    if "n_jobs" in model.get_params(deep=False):
        p = model.fit(X, Y).predict_proba(X)
        model.set_params(n_jobs=2)
        with parallel_config(backend="threading"):  # processes would take seconds to start
            model.fit(X, Y)
        for a, b in zip(p, model.predict_proba(X), strict=True):
            np.testing.assert_array_equal(a, b)
        model.set_params(n_jobs=None)


@every
def test_degenerate_data_is_normal_data(model):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(12, 2)), np.ones(12)])
    for Y in (
        np.full((12, 2), "a"),
        np.column_stack([np.full(12, "a"), ["b", "c"] * 6]),
        np.column_stack([np.arange(12) + 3, np.arange(12) % 2]),
        np.column_stack([["x"] * 11 + ["y"], ["u"] + ["v"] * 11, ["p", "q", "r"] * 4]),
    ):
        if isinstance(model, OnePerSetClassifier) and len(set(Y[:, 0])) == 12:
            continue  # a powerset of twelve classes with a row each is not this test's business
        found = model.fit(X, Y)
        assert found.predict(X).shape == Y.shape
        for part in found.predict_proba(X):
            np.testing.assert_allclose(part.sum(axis=1), 1.0)
    for n in (1, 2):
        assert model.fit(X[:n], Y[:n]).predict(X[:1]).shape == (1, 3)


@every
def test_a_joint_table_agrees_with_predictions_of_one_set(model):
    X, Y = data(6, sizes=(3, 3))
    table = model.fit(X, Y).predict_joint(X)
    assert table.n_labels == 6
    np.testing.assert_array_equal(table.labelings.sum(axis=1), 2)
    joint = isinstance(model, CooccurrenceDecomposition | CoupledSets | IndependentDecomposition)
    if joint or getattr(model, "search", "") == "exact":
        best = table.labelings[np.argmax(table.scores, axis=1)]
        codes = np.column_stack([part.argmax(axis=1) for part in np.split(best, [3], axis=1)])
        np.testing.assert_array_equal(model.predict(X), codes + 10)


@every
def test_unused_columns_of_an_indicator_are_never_predicted(model):
    X, Y = data(7)
    labels = np.hstack([np.eye(6, dtype=int)[Y[:, 0] - 10], np.eye(2, dtype=int)[Y[:, 1] - 10]])
    facets = {"a": range(6), "b": (6, 7)}
    model.set_params(facets=facets).fit(X, labels)
    found = model.predict(X)
    np.testing.assert_array_equal(found[:, :6].sum(axis=1), 1)
    np.testing.assert_array_equal(found[:, 6:].sum(axis=1), 1)
    assert not found[:, 4:6].any()
    assert model.predict_proba(X).shape == (120, 8)
    model.set_params(facets=None)


@pytest.mark.parametrize(
    "base", [RidgeClassifier(), SVC(), SVC(decision_function_shape="ovo"), DummyClassifier()]
)
def test_classifiers_without_probabilities_count_by_their_scores(base):
    X, Y = data(8)
    model = IndependentDecomposition(base).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X)[:, 1], type(base)().fit(X, Y[:, 1]).predict(X))
    for part in model.predict_proba(X):
        np.testing.assert_allclose(part.sum(axis=1), 1.0)


class Mute(DecisionTreeClassifier):
    """A classifier that says nothing but its prediction."""

    predict_proba = property()


def test_a_classifier_with_predictions_only_is_taken_at_its_word():
    X, Y = data(9)
    model = IndependentDecomposition(Mute(random_state=0)).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), Y)


def test_what_cannot_be_right_is_refused():
    X, Y = data(0)
    for model, reason in (
        (IndependentDecomposition("tree"), "must be a scikit-learn classifier"),
        (LabelStacking(search="best"), "search must be 'greedy' or 'exact'"),
        (LabelStacking(order=[0, 0]), "each of the facets 0 to 1 once"),
        (OnePerSetClassifier(BinaryRelevance(), rule="x"), "rule must be"),
        (OnePerSetClassifier(None), "multi-label classifier with"),
        (CoupledSets(n_folds=1), "n_folds must be a whole number of at least 2"),
        (CoupledSets(penalty=0.0), "penalty must be a positive number"),
    ):
        with pytest.raises(ValueError, match=reason):
            model.fit(X, Y)
    many = np.random.default_rng(0).integers(5, 8, size=(30, 9))
    with pytest.raises(ValueError, match="more than 4096 combinations"):
        IndependentDecomposition().fit(X[:30], many).predict_joint(X)
