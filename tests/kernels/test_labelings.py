"""Sums over labels that are on equal matrix products."""

import numpy as np
import pytest
from scipy import sparse

from colabel._kernels.labelings import label_sums
from colabel._kernels.linear_scores import SparseRows


@pytest.mark.parametrize("seed", range(100))
def test_sums_are_matrix_products(seed):
    rng = np.random.default_rng(seed)
    n, d, V = rng.integers(0, 9), rng.integers(0, 6), rng.integers(1, 9)
    X = sparse.random_array((n, d), density=0.5, rng=rng, format="csr")
    Z = (rng.random((n, V)) < rng.choice([0.0, 0.2, 1.0])).astype(np.int8)
    weight, queue = rng.random(n), np.empty(V, np.int64)
    first, second = np.ones((d, V)), np.ones((V, V))
    label_sums(SparseRows(X.indptr, X.indices, X.data), Z, weight, queue, first, second)
    np.testing.assert_allclose(first, 1.0 + X.toarray().T @ (weight[:, None] * Z), atol=1e-13)
    np.testing.assert_allclose(second, 1.0 + Z.T @ (weight[:, None] * Z), atol=1e-13)
