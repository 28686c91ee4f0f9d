"""Equal rows become one; order, weights for repetition and sparsity do not matter."""

import numpy as np
import pytest
from scipy import sparse

from colabel.numerics.distinct_rows import distinct_rows


def test_repetition_is_weight_in_any_order():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (20, 4)).astype(float)
    Y = rng.integers(0, 2, (20, 11)).astype(np.int8)
    weight = rng.integers(0, 4, 20)
    repeated = rng.permutation(np.repeat(np.arange(20), weight))
    a = distinct_rows(X, Y, weight.astype(float))
    b = distinct_rows(sparse.csr_matrix(X[repeated]), Y[repeated], None)
    for first, second in zip(a[1:], b[1:], strict=True):
        np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(a[0].toarray(), b[0].toarray())
    assert a[2].sum() == weight.sum()


@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 4.0])])
def test_rows_that_differ_stay_apart(weight):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    Y = np.array([[1], [1], [0]], dtype=np.int8)
    rows, labels, total = distinct_rows(X, Y, weight)
    assert rows.shape == (3, 2)
    assert len(labels) == 3
    assert sorted(total) == ([1.0, 1.0, 1.0] if weight is None else [1.0, 2.0, 4.0])


def test_explicit_zeros_and_duplicates_are_tidied_in_a_copy():
    X = sparse.csr_array(([0.0, 2.0], [0, 1], [0, 2]), shape=(1, 2))
    rows, _, _ = distinct_rows(X, np.ones((1, 1), dtype=np.int8), None)
    assert rows.nnz == 1
    assert X.nnz == 2
