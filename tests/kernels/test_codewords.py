"""Margins of label sets, and the sums behind their gradient, equal those of dense vectors."""

import numpy as np
import pytest
from scipy import sparse

import oracles_neighbors as oracle
from colabel._kernels.codewords import dense_margins, dense_slopes, sparse_margins, sparse_slopes


def problem(seed):
    """Rows, some of whose codewords hold their own labels, and label sets, some of them empty."""
    rng = np.random.default_rng(seed)
    n, q, d, k = (int(v) for v in rng.integers([2, 1, 1, 1], [7, 6, 4, 4]))
    Y = (rng.random((n, q)) < rng.random()).astype(float)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.7)
    scale, own = rng.random(n), rng.normal(size=n) * (rng.random(n) < 0.5)
    near = rng.integers(0, n, (n, k))
    half = rng.normal(size=(q, q))
    return X, rng.normal(size=(d, q)), rng.normal(size=q), scale, own, Y, near, half @ half.T


def as_sets(Y):
    found = sparse.csr_array(Y)
    return found.indptr.astype(np.int64), found.indices.astype(np.int64)


def as_rows(X):
    found = sparse.csr_array(X)
    return *as_sets(X), found.data


@pytest.mark.parametrize("thin", [False, True])
def test_margins_equal_differences_of_distances(thin):
    for seed in range(200):
        X, P, b, scale, own, Y, near, Q = problem(seed)
        margins, square = np.full(near.shape, np.nan), np.full(len(Y), np.nan)
        given = scale, own, Q, near, *as_sets(Y), margins, square
        if thin:
            sparse_margins(*as_rows(X), P @ Q, b @ Q, *given)
        else:
            first = len(Y) // 2
            for start, stop in ((0, first), (first, len(Y))):
                dense_margins((X[start:stop] @ P + b) @ Q, start, *given)
        np.testing.assert_allclose(square, np.einsum("nq,qr,nr->n", Y, Q, Y), atol=1e-10)
        Z = scale[:, None] * (X @ P + b) + own[:, None] * Y
        for (i, j), found in np.ndenumerate(margins):
            expected = oracle.margin(Z[i], Y[i], Y[near[i, j]], Q)
            found += square[near[i, j]] - square[i]
            np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("thin", [False, True])
def test_slopes_equal_sums_over_pairs(thin):
    for seed in range(200):
        X, _, _, scale, own, Y, near, _ = problem(seed)
        (n, q), rng = Y.shape, np.random.default_rng(seed)
        weight = rng.random(near.shape) * (rng.random(near.shape) < 0.5)
        surplus = rng.normal(size=n)
        d = np.zeros((n, q))
        for (i, j), w in np.ndenumerate(weight):
            d[i] += w * (Y[near[i, j]] - Y[i])
        scaled = scale[:, None] * d
        # What was there before is added to.
        H = np.full((q, q), 0.5)
        given = scale, own, weight, surplus, near, *as_sets(Y)
        if thin:
            XD, total = np.ones((X.shape[1], q)), np.ones(q)
            sparse_slopes(*as_rows(X), *given, XD, total, H)
            np.testing.assert_allclose(XD, 1.0 + X.T @ scaled, atol=1e-12)
            np.testing.assert_allclose(total, 1.0 + scaled.sum(axis=0), atol=1e-12)
        else:
            D, first = np.full((n, q), np.nan), n // 2
            for start, stop in ((0, first), (first, n)):
                dense_slopes(start, *given, D[start:stop], H)
            np.testing.assert_allclose(D, scaled, atol=1e-12)
        expected = (own[:, None] * Y).T @ d + 0.5 * (surplus[:, None] * Y).T @ Y
        np.testing.assert_allclose(H, 0.5 + expected, atol=1e-12)
