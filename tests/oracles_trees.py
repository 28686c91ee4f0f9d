"""Regression trees, one row and one split at a time."""

import numpy as np


def walk(x, feature, threshold, left, right, value):
    """Value of the leaf that one row reaches in one tree."""
    node = 0
    while node >= 0:
        node = left[node] if x[feature[node]] <= threshold[node] else right[node]
    return value[-1 - node]


def random_trees(rng, n_trees, n_leaves, n_features):
    """Trees of up to ``n_leaves`` leaves; unused room looks like a split with leaf 0 below it."""
    n_splits = n_leaves - 1
    feature = rng.integers(n_features, size=(n_trees, n_splits)).astype(np.int32)
    threshold = rng.integers(4, size=(n_trees, n_splits)).astype(float)
    left = np.full((n_trees, n_splits), -1, dtype=np.int32)
    right = left.copy()
    for t in range(n_trees):
        free = [(None, 0)]  # where another split or a leaf can be put
        for split in range(rng.integers(n_splits + 1)):
            parent, side = free.pop(rng.integers(len(free)))
            if parent is not None:
                (left, right)[side][t, parent] = split
            free += [(split, 0), (split, 1)]
        for leaf, (parent, side) in enumerate(free):
            if parent is not None:
                (left, right)[side][t, parent] = -1 - leaf
    return feature, threshold, left, right, rng.normal(size=(n_trees, n_leaves))
