"""Trees as arrays."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from colabel.learners import trees as module
from colabel.learners.trees import Trees, read_lightgbm

MODEL = """tree
version=v4

Tree=0
num_leaves=3
split_feature=2 0
threshold=0.5 -1
left_child=1 -2
right_child=-1 -3
leaf_value=10 20 30
leaf_count=1 1 1


Tree=1
num_leaves=1
leaf_value=7


end of trees
"""


def walk(trees, t, x):
    node = 0
    while node >= 0:
        left = x[trees.feature[t, node]] <= trees.threshold[t, node]
        node = (trees.left if left else trees.right)[t, node]
    return trees.value[t, -1 - node]


def random_trees(rng, n_trees, n_leaves, n_features):
    """Grow each tree by splitting leaves at random."""
    splits = n_leaves - 1
    left, right = (np.full((n_trees, splits), -1, dtype=np.int32) for _ in range(2))
    for t in range(n_trees):
        left[t, 0], right[t, 0] = -1, -2
        for node in range(1, splits):
            parents = [(side, k) for side in (left, right) for k in range(node)]
            side, k = parents[rng.integers(len(parents))]
            while side[t, k] >= 0:
                side, k = parents[rng.integers(len(parents))]
            left[t, node], right[t, node] = side[t, k], -2 - node
            side[t, k] = node
    shape = n_trees, splits
    feature = rng.integers(n_features, size=shape).astype(np.int32)
    threshold = rng.integers(-2, 3, size=shape).astype(float)
    value = rng.normal(size=(n_trees, n_leaves))
    return Trees(feature, threshold, left, right, value, n_features)


def test_text_is_read_as_lightgbm_means_it():
    trees = read_lightgbm(MODEL, 3, 3)
    X = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(trees.sums(X, 2), [[10, 20, 30], [7, 7, 7]])
    np.testing.assert_array_equal(trees.sums(X, 1), [[17, 27, 37]])


@pytest.mark.parametrize("seed", range(30))
def test_sums_are_those_of_walking_each_tree(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n_lines, n_features = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    trees = random_trees(rng, 3 * n_lines, int(rng.integers(2, 7)), n_features)
    X = rng.integers(-3, 4, size=(int(rng.integers(1, 90)), n_features)).astype(float)
    expected = np.zeros((n_lines, len(X)))
    for t in range(3 * n_lines):
        expected[t % n_lines] += [walk(trees, t, x) for x in X]
    np.testing.assert_allclose(trees.sums(X, n_lines), expected)
    monkeypatch.setattr(module, "DENSE_CELLS", 20)
    np.testing.assert_allclose(trees.sums(sparse.csr_array(X), n_lines), expected)


def test_a_state_that_leads_out_of_its_arrays_is_refused():
    trees = random_trees(np.random.default_rng(0), 4, 5, 3)
    again = pickle.loads(pickle.dumps(trees))
    np.testing.assert_array_equal(again.value, trees.value)
    wrong = {
        "feature": np.full_like(trees.feature, 3),
        "left": np.full_like(trees.left, 4),
        "right": np.full_like(trees.right, -6),
        "threshold": trees.threshold[:, :2],
        "value": trees.value[:, :4],
        "n_features": 1,
    }
    for name, value in wrong.items():
        with pytest.raises(ValueError, match="lead out"):
            Trees.__new__(Trees).__setstate__({**vars(trees), name: value})
    back = trees.left.copy()
    back[0, 1] = 0  # a circle
    with pytest.raises(ValueError, match="lead out"):
        Trees.__new__(Trees).__setstate__({**vars(trees), "left": back})
    flat = {name: value[0] for name, value in vars(trees).items() if name != "n_features"}
    with pytest.raises(ValueError, match="lead out"):
        Trees.__new__(Trees).__setstate__({**flat, "n_features": 3})
