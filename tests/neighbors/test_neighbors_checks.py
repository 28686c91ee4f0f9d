"""Neighbour methods are scikit-learn citizens, with no expected failures, and keep our promises."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.neighbors import KNeighborsTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.neighbors import KNNClassifier, LargeMarginKNN, MLkNN

ESTIMATORS = [
    KNNClassifier(),
    KNNClassifier("tune", weights="tune", threshold="tune"),
    MLkNN(),
    MLkNN("tune", threshold="tune", measure="example_f1"),
    LargeMarginKNN(tol=1e-2),
    LargeMarginKNN(metric="identity", threshold="tune"),
    LargeMarginKNN(neighborhood="features"),
]
ours = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


# Of each class one, and one with everything tuned.
@parametrize_with_checks([ESTIMATORS[i] for i in (1, 2, 4)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@ours
def test_degenerate_data_is_normal_data(estimator):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(12, 2)), np.ones(12)])
    X = np.column_stack([X, X[:, 0]])
    for features in (X, rng.normal(size=(12, 30)), np.ones((12, 1)), X[:1], X[:2]):
        n = len(features)
        for Y in (
            np.zeros((n, 3), dtype=int),
            np.ones((n, 3), dtype=int),
            (features[:, :1] > 0).astype(int),
            np.eye(n, dtype=int),
            np.tile([0, 1], (n, 1)),
        ):
            model = clone(estimator).fit(features, Y)
            assert model.predict(features).shape == Y.shape
            assert np.isfinite(model.decision_function(features)).all()
            p = model.predict_proba(features)
            assert np.all((p >= 0) & (p <= 1))


@ours
def test_containers_blocks_and_sparse_features_agree(estimator, toy, monkeypatch):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    expected, scores = model.predict(X), np.clip(model.decision_function(X), -30, 30)
    for form in (sparse.csr_array, sparse.csc_matrix):
        again = clone(estimator).fit(form(X), form(Y))
        np.testing.assert_array_equal(again.predict(form(X)).toarray(), expected)
        found = np.clip(again.decision_function(X), -30, 30)
        np.testing.assert_allclose(found, scores, atol=1e-5)
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 2000)
    monkeypatch.setattr("colabel.neighbors._search.BLOCK_BYTES", 2000)
    np.testing.assert_array_equal(model.predict(X), expected)


@ours
def test_the_score_is_positive_where_the_label_is_on(estimator, toy):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    above = model.predict_proba(X) > model.threshold_
    np.testing.assert_array_equal(above, model.predict(X) == 1)


@ours
def test_another_decoder_takes_probabilities_not_the_threshold(estimator, toy):
    X, Y = toy
    model = clone(estimator).set_params(decoder="f1").fit(X, Y)
    plain = clone(estimator).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), plain.decode(X, "f1").labels)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))


@ours
def test_a_decoder_set_after_the_fit_changes_nothing(estimator, toy):
    X, Y = toy
    model = clone(estimator).set_params(threshold=0.2).fit(X, Y)
    labels, scores = model.predict(X), model.decision_function(X)
    model.set_params(decoder="f1")
    np.testing.assert_array_equal(model.predict(X), labels)
    np.testing.assert_array_equal(model.decision_function(X), scores)


@ours
def test_an_index_of_scikit_learns_finds_the_same_neighbours(estimator, toy):
    X, Y = toy
    k = 60 if "tune" in (estimator.n_neighbors,) else 11
    index = KNeighborsTransformer(n_neighbors=min(k, 59), mode="distance")
    found = clone(estimator).set_params(index=index).fit(X, Y)
    expected = clone(estimator).fit(X, Y)
    assert found.index_ is not index
    rng = np.random.default_rng(5)
    other = rng.normal(size=(20, 4))
    np.testing.assert_allclose(found.predict_proba(other), expected.predict_proba(other), atol=1e-8)


def test_an_index_with_too_few_neighbours_is_told_to_find_more(toy):
    X, Y = toy
    index = KNeighborsTransformer(n_neighbors=3, mode="distance")
    model = KNNClassifier(5, index=index).fit(X, Y)
    with pytest.raises(ValueError, match="finds 4 neighbours of a row where 5 are needed"):
        model.predict(X)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"n_neighbors": 0}, "n_neighbors must be a whole number of at least 1"),
        ({"threshold": 1.0}, "threshold must be a number above 0 and below 1"),
        ({"weights": "heavy"}, "weights must be 'uniform', 'mild', 'distance' or 'tune'"),
        ({"measure": "macro_f1"}, "measure must be 'micro_f1' or 'example_f1'"),
        ({"index": 3}, "index must be a transformer like"),
        ({"index": KNeighborsTransformer(mode="connectivity")}, "index must give distances"),
        ({"empty": "never"}, "empty must be"),
    ],
)
@ours
def test_bad_parameters_get_one_clear_sentence(estimator, toy, params, reason):
    with pytest.raises(ValueError, match=reason):
        clone(estimator).set_params(**params).fit(*toy)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"C": 0.0}, "C must be a positive number"),
        ({"alpha": -1.0}, "alpha must be a number of at least 0"),
        ({"max_iter": 0}, "max_iter"),
        ({"metric": "x"}, "metric must be 'learned' or 'identity'"),
        ({"neighborhood": "x"}, "neighborhood must be"),
        ({"held_out": "no"}, "held_out must be True or False, not 'no'"),
        ({"fit_intercept": 0}, "fit_intercept must be True or False, not 0"),
    ],
)
def test_bad_parameters_of_the_metric_too(toy, params, reason):
    with pytest.raises(ValueError, match=reason):
        LargeMarginKNN(**params).fit(*toy)


def test_huge_features_are_refused(toy):
    X, Y = toy
    with pytest.raises(ValueError, match="beyond double precision"):
        KNNClassifier().fit(X * 1e160, Y)
    with pytest.raises(ValueError, match="smoothing must be a positive number"):
        MLkNN(smoothing=0).fit(X, Y)
