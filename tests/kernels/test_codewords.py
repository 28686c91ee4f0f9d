"""Quadratic forms of label sets equal those of dense vectors."""

import numpy as np
from scipy import sparse

import oracles_neighbors as oracle
from colabel._kernels.codewords import label_quadratics, neighbor_margins


def problem(seed):
    rng = np.random.default_rng(seed)
    n, q, k = rng.integers(2, 7), rng.integers(1, 6), rng.integers(1, 4)
    Y = (rng.random((n, q)) < rng.random()).astype(float)
    half = rng.normal(size=(q, q))
    return rng.normal(size=(n, q)), Y, rng.integers(0, n, (n, k)), half @ half.T


def as_sets(Y):
    found = sparse.csr_array(Y)
    return found.indptr.astype(np.int64), found.indices.astype(np.int64)


def test_forms_of_label_sets_equal_dense_ones():
    for seed in range(100):
        _, Y, _, Q = problem(seed)
        np.testing.assert_allclose(
            label_quadratics(Q, *as_sets(Y)), np.einsum("nq,qr,nr->n", Y, Q, Y), atol=1e-12
        )


def test_margins_equal_differences_of_distances():
    for seed in range(200):
        Z, Y, near, Q = problem(seed)
        margins = np.full(near.shape, np.nan)
        square = label_quadratics(Q, *as_sets(Y))
        first = len(Y) // 2
        for start, stop in ((0, first), (first, len(Y))):
            neighbor_margins(Z[start:stop] @ Q, start, near, *as_sets(Y), square, margins)
        for (i, j), found in np.ndenumerate(margins):
            expected = oracle.margin(Z[i], Y[i], Y[near[i, j]], Q)
            np.testing.assert_allclose(found, expected, atol=1e-10)
