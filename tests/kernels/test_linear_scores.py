"""Linear scores are sums over the entries of a row, in their order."""

import numpy as np
import pytest

from colabel._kernels.linear_scores import SparseRows, score_row
from kernels.outside import outside

score = outside(score_row)


@pytest.mark.parametrize("n_entries", range(12))
def test_scores_add_up_entries_in_order(n_entries):
    rng = np.random.default_rng(n_entries)
    d, V, constant = 15, 7, 0.3
    W = rng.normal(size=(d + 1, V))
    # Three samples, the second of which has all the entries.
    indptr = np.array([0, 0, n_entries, n_entries], np.int64)
    indices = rng.permutation(d)[:n_entries].astype(np.int64)
    data, out = rng.normal(size=n_entries), np.empty((2, V))
    for n, scores in zip((1, 2), out, strict=True):
        score(SparseRows(indptr, indices, data), W, constant, n, scores)
    expected = np.tile(constant * W[-1], (2, 1))
    for x, j in zip(data, indices, strict=True):
        expected[0] += x * W[j]
    np.testing.assert_array_equal(out, expected)
