"""The support vector machine that does not mind scale."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

from colabel.reduction import ScaledLinearSVC


@pytest.mark.parametrize("unit", [1e-6, 0.1, 1e6])
def test_multiplying_the_features_changes_nothing(toy, unit):
    X, Y = toy
    plain = ScaledLinearSVC(random_state=0, tol=1e-10, max_iter=100_000).fit(X, Y[:, 0])
    scaled = ScaledLinearSVC(random_state=0, tol=1e-10, max_iter=100_000).fit(X * unit, Y[:, 0])
    np.testing.assert_allclose(
        scaled.decision_function(X * unit), plain.decision_function(X), atol=1e-5
    )


def test_unit_rows_give_linear_svc(toy):
    X, Y = toy
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    ours = ScaledLinearSVC(random_state=0).fit(X, Y[:, 0])
    theirs = LinearSVC(random_state=0).fit(X, Y[:, 0])
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.C == 1.0
    assert ours.intercept_scaling == 1


def test_all_zero_features_are_fitted():
    y = np.array([0, 1, 1])
    for X in (np.zeros((3, 2)), sparse.csr_array((3, 2)), sparse.lil_array((3, 2))):
        assert ScaledLinearSVC().fit(X, y).predict(X).tolist() == [1, 1, 1]


def test_weights_count_rows_and_zero_weights_none(toy):
    X, Y = toy
    weight = np.random.default_rng(0).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    machine = ScaledLinearSVC(dual=False, tol=1e-12, max_iter=10_000)
    outlier = X.copy()
    outlier[weight == 0] *= 1000.0
    weighted = machine.fit(outlier, Y[:, 0], weight).decision_function(X)
    repeated = machine.fit(X[rows], Y[rows, 0]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, rtol=1e-6)
