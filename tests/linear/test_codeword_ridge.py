"""Ridge regressions of labels equal scikit-learn's, refits and the textbook's formula."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from colabel.linear.ridge import STRENGTHS, fit_ridge


def problem(seed):
    """More rows than features, or fewer; features that repeat; labels never on."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 15)), int(rng.integers(1, 15))
    X = rng.normal(size=(n, d)) + rng.normal()
    X[:, -1] = X[:, 0]
    Y = (rng.random((n, 4)) < 0.4).astype(float)
    Y[:, 1] = 0.0
    return X, Y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_fit_is_scikit_learns(form, fit_intercept):
    for seed in range(30):
        X, Y = problem(seed)
        found = fit_ridge(form(X), sparse.csr_array(Y), 0.7, fit_intercept=fit_intercept)
        expected = Ridge(alpha=0.7, fit_intercept=fit_intercept).fit(X, Y)
        np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-8)
        np.testing.assert_allclose(found.coef, expected.coef_.T, atol=1e-8)


def test_without_a_penalty_it_is_least_squares_of_the_smallest_norm():
    for seed in range(30):
        X, Y = problem(seed)
        found = fit_ridge(X, Y, 0.0, fit_intercept=False)
        np.testing.assert_allclose(found.coef, np.linalg.pinv(X) @ Y, atol=1e-6)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_leverage_turns_predictions_into_those_of_refits_without_the_row(form, fit_intercept):
    for seed in range(15):
        X, Y = problem(seed)
        fit = fit_ridge(form(X), Y, 0.5, fit_intercept=fit_intercept)
        found = Y - (Y - fit.predict(X)) / (1.0 - fit.leverage)[:, None]
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            refit = Ridge(alpha=0.5, fit_intercept=fit_intercept).fit(X[rest], Y[rest])
            np.testing.assert_allclose(found[i], refit.predict(X[[i]])[0], atol=1e-7)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_strength_is_that_of_the_least_generalised_error(fit_intercept):
    for seed in range(30):
        X, Y = problem(seed)
        centred = X - X.mean(axis=0) if fit_intercept else X
        target = Y - Y.mean(axis=0) if fit_intercept else Y
        squares = np.linalg.svd(centred, compute_uv=False) ** 2
        mean = squares[squares > 1e-9 * squares[0]].mean()
        best, chosen = np.inf, None
        for strength in STRENGTHS * mean:
            inverse = np.linalg.inv(centred.T @ centred + strength * np.eye(X.shape[1]))
            hat = centred @ inverse @ centred.T
            freedom = len(X) - fit_intercept - np.trace(hat)
            error = np.sum((target - hat @ target) ** 2) / freedom**2
            if freedom > 1e-6 * len(X) and error < best * (1 - 1e-9):
                best, chosen = error, strength
        found = fit_ridge(X, Y, fit_intercept=fit_intercept)
        assert found.alpha == pytest.approx(chosen)


def test_features_that_say_nothing_give_the_mean():
    found = fit_ridge(np.ones((4, 2)), np.array([[1.0], [0.0], [1.0], [1.0]]))
    np.testing.assert_allclose(found.predict(np.ones((1, 2))), [[0.75]])
    assert found.alpha == 1.0
