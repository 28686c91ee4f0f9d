"""Principal label components are those of a singular value decomposition, and reconstruct best."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import ortho_group

from colabel.embedding import CPLST, PLST
from embedding.oracles_embedding import conditional_loss, principal_codes, ridge


def data(seed):
    rng = np.random.default_rng(seed)
    n, d, q = 8 + seed % 20, 1 + seed % 12, 2 + seed % 6
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, q)) + rng.normal(size=(n, q)) > 0.3).astype(int)
    if seed % 4 == 0:
        Y[:, 0] = seed % 8 == 0
    if seed % 5 == 0:
        Y[:, -1] = Y[:, 0]
    return X, Y


def test_codes_leave_the_least_error_and_are_regressed_by_ridge():
    for seed in range(120):
        X, Y = data(seed)
        M = 1 + seed % Y.shape[1]
        model = PLST(M, alpha=0.3).fit(X, Y)
        V = model.components_.T
        np.testing.assert_allclose(V.T @ V, np.eye(M), atol=1e-9)
        expected, error = principal_codes(Y, M)
        Z = Y - Y.mean(axis=0)
        assert np.sum((Z - Z @ V @ V.T) ** 2) == pytest.approx(error, abs=1e-8)
        assert np.sum(Z**2) - model.importances_.sum() == pytest.approx(error, abs=1e-8)
        W, b = ridge(X, Z @ V, 0.3)
        decoded = (X @ W + b) @ V.T + Y.mean(axis=0)
        np.testing.assert_allclose(model.decision_function(X), decoded - 0.5, atol=1e-7)
        np.testing.assert_array_equal(
            model.predict(X)[np.abs(decoded - 0.5) > 1e-6],
            (decoded > 0.5)[np.abs(decoded - 0.5) > 1e-6],
        )
        assert len(expected) == Y.shape[1]


def test_no_other_directions_lower_the_conditional_loss():
    for seed in range(40):
        X, Y = data(seed)
        q = Y.shape[1]
        M = 1 + seed % (q - 1)
        model = CPLST(M, alpha=0.5).fit(X, Y)
        best = conditional_loss(model.components_.T, X, Y, 0.5)
        for other in ortho_group.rvs(q, size=6, random_state=seed):
            assert conditional_loss(other[:, :M], X, Y, 0.5) >= best - 1e-9
        # Nor do small turns of its own: a numerical gradient vanishes on the sphere.
        rng = np.random.default_rng(seed)
        for _ in range(4):
            turn = np.linalg.qr(np.eye(q) + 1e-3 * rng.normal(size=(q, q)))[0]
            moved = turn @ model.components_.T
            assert conditional_loss(moved, X, Y, 0.5) >= best - 1e-9
        assert conditional_loss(PLST(M).fit(X, Y).components_.T, X, Y, 0.5) >= best - 1e-9


def test_conditional_loss_is_what_the_importances_say():
    for seed in range(30):
        X, Y = data(seed)
        model = CPLST(2, alpha=0.7).fit(X, Y)
        Z = Y - Y.mean(axis=0)
        expected = np.sum(Z**2) - model.importances_.sum()
        assert conditional_loss(model.components_.T, X, Y, 0.7) == pytest.approx(expected, abs=1e-7)


def test_with_a_code_for_each_label_both_are_a_ridge_regression_of_the_labels():
    for seed in range(40):
        X, Y = data(seed)
        W, b = ridge(X, Y.astype(float), 2.0)
        for model in (PLST(alpha=2.0), CPLST(alpha=2.0), PLST(99, alpha=2.0), PLST(1.0, alpha=2.0)):
            found = model.fit(X, Y).decision_function(X)
            np.testing.assert_allclose(found, X @ W + b - 0.5, atol=1e-7)


def test_number_of_codes():
    X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.eye(10, dtype=int)[np.arange(30) % 10]
    sizes = {None: 10, 3: 3, 99: 10, 0.2: 2, 0.01: 1, 1.0: 10}
    for given, expected in sizes.items():
        assert PLST(given).fit(X, Y).components_.shape == (expected, 10)


def test_a_feature_that_says_nothing_is_no_reason_for_a_code():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 1))
    coin = rng.integers(2, size=(200, 1))
    Y = np.hstack([coin, coin, coin, X > 0])
    assert np.abs(PLST(1).fit(X, Y).components_[0, 3]) < 0.2
    assert np.abs(CPLST(1).fit(X, Y).components_[0, 3]) > 0.9


@pytest.mark.parametrize("cls", [PLST, CPLST])
def test_many_sparse_labels_and_features_stay_sparse(cls):
    rng = np.random.default_rng(1)
    X = sparse.random_array((80, 300), density=0.05, rng=rng, format="csr")
    Y = sparse.csr_array((rng.random((80, 60)) < 0.05).astype(np.int8))
    model = cls(0.25).fit(X, Y)
    dense = cls(0.25).fit(X.toarray(), Y.toarray())
    np.testing.assert_allclose(
        model.decision_function(X), dense.decision_function(X.toarray()), atol=1e-6
    )
    assert sparse.issparse(model.predict(X))


def test_threshold_moves_every_label_alike():
    X, Y = data(7)
    base = PLST(alpha=1.0).fit(X, Y)
    low = PLST(alpha=1.0, threshold=0.2).fit(X, Y)
    np.testing.assert_allclose(low.decision_function(X), base.decision_function(X) + 0.3)
