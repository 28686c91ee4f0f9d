"""Matrix products: sparse ones against dense ones, however few entries rows have."""

import numpy as np
import pytest
from scipy import sparse

from colabel.numerics.products import DenseProducts, SparseProducts


@pytest.mark.parametrize("density", [0.0, 0.002, 0.02, 0.5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_products_are_dense_ones(density, dtype):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = sparse.random_array((9, 200), density=density, rng=rng).tocsr()
        coef, residuals = rng.normal(size=(70, 200)).astype(dtype), rng.normal(size=(70, 4))
        few, all_of_them = SparseProducts(X, dtype), DenseProducts(X.toarray(), dtype)
        for rows in (slice(0, 9), slice(2, 6), slice(3, 4), slice(9, 9)):
            found = few.scores(coef, rows)
            assert found.dtype == dtype
            atol = 1e-5 if dtype is np.float32 else 1e-12
            np.testing.assert_allclose(found, all_of_them.scores(coef, rows), atol=atol)
        rows = slice(2, 6)
        found = few.gradient(residuals.astype(dtype), rows)
        expected = all_of_them.gradient(residuals.astype(dtype), rows)
        np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("products", [DenseProducts, SparseProducts])
@pytest.mark.parametrize("n", [7, 500, 20_000])
def test_features_that_do_not_vary_have_no_variance(n, products, dtype):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weight = rng.uniform(0.1, 1.0, n) if seed % 2 else np.ones(n)
        varies = rng.normal(size=(n, 1))
        same = np.full((n, 1), rng.normal() * 10.0 ** rng.integers(-9, 9))
        X = np.hstack([same, varies, same + 1e-2 * np.abs(same) * varies])
        if products is SparseProducts:
            X = sparse.csr_array(X)
        variance = products(X, dtype).moments(weight)[1]
        expected = np.cov(varies[:, 0], aweights=weight, ddof=0)
        assert variance[0] == 0.0
        expected = expected * np.array([1.0, (1e-2 * same[0, 0]) ** 2])
        np.testing.assert_allclose(variance[1:], expected, rtol=5e-3)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6, 1e12])
@pytest.mark.parametrize("share", [0.05, 0.7, 0.999, 1.0])
def test_moments_of_sparse_features_are_those_of_dense_ones(share, offset):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = (rng.normal(size=(400, 5)) + offset) * (rng.random((400, 5)) < share)
        weight = rng.uniform(0.1, 1.0, 400)
        mean, variance = SparseProducts(sparse.csr_array(X), np.float64).moments(weight)
        share_of = weight / weight.sum()
        expected = share_of @ X
        np.testing.assert_allclose(mean, expected, atol=1e-15, rtol=1e-12)
        expected = share_of @ (X - expected) ** 2
        np.testing.assert_allclose(variance, expected, rtol=1e-5)  # digits of 1e12 end at 1e-4


def test_entries_that_stand_twice_are_added_up_in_a_copy():
    X = sparse.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    mean, variance = SparseProducts(X, np.float64).moments(np.ones(2))
    np.testing.assert_allclose(mean, [1.5, 2.5])
    np.testing.assert_allclose(variance, [2.25, 6.25])
    assert X.nnz == 3
