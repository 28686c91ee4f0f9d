"""Output codes are scikit-learn citizens, with no expected failures, and keep our promises."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.embedding import CPLST, PLST, CCAOutputCode, MaxMarginOutputCode

ESTIMATORS = [
    PLST(),
    CPLST(0.5, alpha=1.0),
    CCAOutputCode(),
    CCAOutputCode(2, alpha=0.0, variance="training", decoder="branch_and_bound"),
    MaxMarginOutputCode(),
    MaxMarginOutputCode(variance="unit", tol=0.05),
]
ours = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@ours
def test_degenerate_data_is_normal_data(estimator):
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(12, 2)), np.ones(12)])
    X = np.column_stack([X, X[:, 0]])
    for features in (X, rng.normal(size=(12, 30)), np.ones((12, 1)), X[:1], X[:2]):
        n = len(features)
        twice = rng.integers(2, size=(n, 2))
        for Y in (
            np.zeros((n, 3), dtype=int),
            np.ones((n, 3), dtype=int),
            (features[:, :1] > 0).astype(int),
            np.eye(n, dtype=int),
            np.tile([0, 1], (n, 1)),
            np.hstack([twice, twice, 1 - twice]),
        ):
            size = 99 if n < 12 else estimator.n_components
            model = clone(estimator).set_params(n_components=size).fit(features, Y)
            assert model.predict(features).shape == Y.shape
            assert np.isfinite(model.decision_function(features)).all()


@ours
def test_constant_labels_are_predicted_as_they_are(estimator, toy):
    X, Y = toy
    found = clone(estimator).fit(X, Y).predict(X)
    assert found[:, 2].all()
    assert not found[:, 3].any()


@ours
def test_containers_blocks_and_sparse_features_agree(estimator, toy, monkeypatch):
    X, Y = toy
    model = clone(estimator).fit(X, Y)
    expected, scores = model.predict(X), model.decision_function(X)
    for form in (sparse.csr_array, sparse.csc_matrix):
        again = clone(estimator).fit(form(X), form(Y))
        np.testing.assert_array_equal(again.predict(form(X)).toarray(), expected)
        np.testing.assert_allclose(again.decision_function(X), scores, atol=1e-2, rtol=1e-2)
    names = list("vwxyz")
    frame = clone(estimator).fit(pd.DataFrame(X), pd.DataFrame(Y, columns=names))
    found = frame.predict(pd.DataFrame(X))
    assert list(found.columns) == names
    np.testing.assert_array_equal(found.to_numpy(), expected)
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 2000)
    monkeypatch.setattr("colabel.embedding._moments.BLOCK", 40)
    np.testing.assert_array_equal(model.predict(X), expected)
    again = clone(estimator).fit(X, Y)
    np.testing.assert_allclose(again.decision_function(X), scores, atol=1e-2, rtol=1e-2)


@ours
def test_fitting_twice_gives_the_same_bits(estimator, toy):
    X, Y = toy
    first = clone(estimator).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(clone(estimator).fit(X, Y).decision_function(X), first)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1"),
        ({"n_components": 1.5}, "n_components must be a number above 0 and at most 1"),
        ({"n_components": "all"}, "n_components must be a number"),
        ({"alpha": -1.0}, "alpha must be a number of at least 0"),
        ({"empty": "never"}, "empty must be"),
    ],
)
@ours
def test_bad_parameters_get_one_clear_sentence(estimator, toy, params, reason):
    with pytest.raises(ValueError, match=reason):
        clone(estimator).set_params(**params).fit(*toy)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (PLST(threshold="low"), "threshold must be a number"),
        (CCAOutputCode(label_C=0.0), "label_C must be a positive number"),
        (CCAOutputCode(code_weight=-1.0), "code_weight must be a number of at least 0"),
        (CCAOutputCode(shrinkage=-0.1), "shrinkage must be a number of at least 0"),
        (CCAOutputCode(variance="unit"), "variance must be 'left_out' or 'training'"),
        (MaxMarginOutputCode(variance="x"), "variance must be 'left_out', 'training' or 'unit'"),
        (MaxMarginOutputCode(C=0.0), "C must be a positive number"),
        (MaxMarginOutputCode(tol=0.0), "tol must be a positive number"),
        (MaxMarginOutputCode(max_iter=0), "max_iter must be a whole number"),
    ],
    ids=str,
)
def test_bad_parameters_of_one_method_too(toy, model, reason):
    with pytest.raises(ValueError, match=reason):
        model.fit(*toy)


@ours
def test_huge_features_are_refused(estimator, toy):
    X, Y = toy
    with pytest.raises(ValueError, match="beyond double precision"):
        clone(estimator).fit(X * 1e160, Y)
