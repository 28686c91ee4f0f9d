"""Ridge regression of labels: the normal equations, whichever side is solved."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.linear_model import Ridge

from colabel.learners.ridge_start import ridge_weights


def random_data(seed, n, d, V=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    Y = (rng.random((n, V)) < 0.4).astype(np.int8)
    return sparse.csr_array(X), Y, rng.dirichlet(np.ones(n))


def objective(W, X, Y, share, penalty, constant):
    rows = np.column_stack([X.toarray(), np.full(X.shape[0], constant)])
    rest = rows @ W - (2.0 * Y - 1.0)
    return 0.5 * penalty * np.sum(W**2) + 0.5 * share @ np.sum(rest**2, axis=1)


@pytest.mark.parametrize(("n", "d"), [(20, 3), (3, 20), (5, 4), (4, 4), (1, 2), (6, 0), (1, 0)])
@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_weights_minimise_the_objective(n, d, constant):
    X, Y, share = random_data(n + d, n, d)
    W = ridge_weights(X, Y, share, 0.1, constant)
    assert W.shape == (d + 1, 3)

    def function(w):
        return objective(w.reshape(W.shape), X, Y, share, 0.1, constant)

    slow = minimize(function, np.zeros(W.size), tol=1e-12).fun
    assert function(W.ravel()) <= slow + 1e-9
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert function(W.ravel() + 0.1 * rng.normal(size=W.size)) > function(W.ravel())
    assert constant or not W[-1].any()


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
def test_weights_are_those_of_scikit_learn(shape):
    X, Y, share = random_data(1, *shape)
    rows = np.column_stack([X.toarray(), np.full(len(Y), 1.5)])
    found = Ridge(alpha=0.02, fit_intercept=False).fit(rows, 2 * Y - 1, sample_weight=share)
    np.testing.assert_allclose(ridge_weights(X, Y, share, 0.02, 1.5), found.coef_.T, atol=1e-8)


def test_columns_of_zeros_and_equal_columns_are_no_trouble():
    X, Y, share = random_data(2, 12, 3)
    wide = sparse.csr_array(sparse.hstack([X, X, sparse.csr_array((12, 2))]))
    W = ridge_weights(wide, Y, share, 1e-3, 1.0)
    np.testing.assert_allclose(W[:3], W[3:6], atol=1e-9)
    assert not W[6:8].any()
