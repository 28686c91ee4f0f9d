"""Trees walked in a batch, against one row at a time."""

import numpy as np
import pytest

from colabel._kernels.trees import BLOCK, add_trees
from oracles_trees import random_trees, walk


@pytest.mark.parametrize("seed", range(200))
def test_a_batch_equals_one_row_at_a_time(seed):
    rng = np.random.default_rng(seed)
    n_trees, n_leaves, d = rng.integers(1, 9), rng.integers(2, 7), rng.integers(1, 5)
    n = int(rng.choice([0, 1, 3, BLOCK, BLOCK + 1]))
    X = rng.integers(5, size=(n, d)).astype(float)  # often equal to a threshold
    trees = random_trees(rng, n_trees, n_leaves, d)
    owner = rng.integers(3, size=n_trees)
    out = rng.normal(size=(3, n))
    expected = out.copy()
    for t in range(n_trees):
        for i in range(n):
            expected[owner[t], i] += walk(X[i], *(part[t] for part in trees))
    add_trees(X, *trees, owner, out)
    np.testing.assert_array_equal(out, expected)


def test_a_row_says_the_same_alone_and_among_others():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3 * BLOCK + 5, 3))
    trees = random_trees(rng, 50, 5, 3)
    owner = np.zeros(50, dtype=np.int64)
    together, alone = np.zeros((1, len(X))), np.zeros((1, len(X)))
    add_trees(X, *trees, owner, together)
    for i in range(len(X)):
        add_trees(X[i : i + 1], *trees, owner, alone[:, i : i + 1])
    np.testing.assert_array_equal(together, alone)
