"""Sums of trees."""

import numpy as np

from colabel.trees.arrays import Trees
from colabel.trees.sums import ScoredRows, TreeSums
from oracles_trees import random_trees, walk


def make_trees(seed, n_trees=6, n_leaves=5, n_features=3):
    arrays = random_trees(np.random.default_rng(seed), n_trees, n_leaves, n_features)
    return Trees(*arrays, n_features)


def parts(trees, t):
    return [a[t] for a in (trees.feature, trees.threshold, trees.left, trees.right, trees.value)]


def slow_scores(trees, lines, X, n_lines):
    out = np.zeros((n_lines, len(X)))
    for t, line in enumerate(lines):
        out[line] += [walk(x, *parts(trees, t)) for x in X]
    return out


def test_sums_add_each_step_once_and_lines_may_come_later():
    rng = np.random.default_rng(0)
    X = rng.integers(4, size=(9, 3)).astype(float)
    sums = TreeSums()
    rows = sums.view(X)
    expected = np.zeros((5, 9))
    for step, n_lines in enumerate((2, 2, 5)):
        sums.n_lines = n_lines
        trees, lines = make_trees(step), rng.integers(n_lines, size=6)
        shift = rng.normal(size=n_lines)
        sums.add(
            [(trees.take(np.arange(2)), lines[:2]), (trees.take(np.arange(2, 6)), lines[2:])], shift
        )
        expected += slow_scores(trees, lines, X, 5)
        expected[:n_lines] += shift[:, None]
        np.testing.assert_allclose(sums.scores(rows), expected[:n_lines], atol=1e-12)
    np.testing.assert_allclose(sums.scores(sums.view(X)), expected, atol=1e-12)
    np.testing.assert_array_equal(sums.scores(rows), sums.scores(rows))


def test_lines_kept_score_as_before_in_their_new_order():
    rng = np.random.default_rng(3)
    X = rng.integers(4, size=(9, 3)).astype(float)
    sums = TreeSums()
    sums.n_lines = 4
    old = sums.view(X)
    for step in range(3):
        sums.add([(make_trees(step), rng.integers(4, size=6))], rng.normal(size=4))
    before = sums.scores(old).copy()
    sums.keep(np.array([3, 0]))
    assert sums.n_lines == 2
    assert len(sums.steps) == 1
    np.testing.assert_allclose(sums.scores(sums.view(X)), before[[3, 0]], atol=1e-12)
    np.testing.assert_allclose(sums.scores(old), before[[3, 0]], atol=1e-12)


def test_a_sum_without_steps_is_zero():
    sums = TreeSums()
    sums.add([], np.zeros(0))
    sums.keep(np.zeros(0, dtype=np.int64))
    assert sums.scores(sums.view(np.ones((4, 2)))).shape == (0, 4)


def test_views_know_their_rows():
    view = TreeSums().view(np.asfortranarray(np.ones((5, 2))))
    assert isinstance(view, ScoredRows)
    assert view.X.flags.c_contiguous
