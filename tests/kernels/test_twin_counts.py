"""Numbers of labels from classes of twins equal enumeration of all numbers."""

from itertools import product

import numpy as np
import pytest

from colabel._kernels.twin_counts import best_counts


def problem(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=rng.integers(1, 4))
    W = rng.integers(-3, 3, (len(sizes), len(sizes))).astype(float)
    gains = [-np.sort(-rng.integers(-3, 4, (3, size))).astype(float) for size in sizes]
    return sizes, np.triu(W) + np.triu(W, 1).T, gains


def slow(sizes, W, gains, i, nonempty):
    best, chosen = -np.inf, None
    for k in product(*(range(size + 1) for size in sizes)):
        value = sum(g[i, :n].sum() for g, n in zip(gains, k, strict=True))
        value += sum(W[c, c] * n * (n - 1) / 2 for c, n in enumerate(k))
        value += sum(W[c, d] * k[c] * k[d] for d in range(len(k)) for c in range(d))
        if value > best and (any(k) or not nonempty):
            best, chosen = value, k
    return best, chosen


@pytest.mark.parametrize("nonempty", [False, True])
def test_best_counts_equal_enumeration(nonempty):
    for seed in range(60):
        sizes, W, gains = problem(seed)
        starts = np.concatenate([[0], np.cumsum(sizes + 1)]).astype(np.int64)
        prefix = np.hstack([np.pad(np.cumsum(g, axis=1), ((0, 0), (1, 0))) for g in gains])
        counts, value = np.zeros((3, len(sizes)), np.int64), np.empty(3)
        best_counts(prefix, starts, W, nonempty, counts, value)
        for i in range(3):
            best, chosen = slow(sizes, W, gains, i, nonempty)
            assert value[i] == best
            assert tuple(counts[i]) == chosen
