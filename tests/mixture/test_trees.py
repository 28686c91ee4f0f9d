"""Trees as arrays, and sums of them."""

import pickle

import numpy as np
import pytest
from scipy import sparse

from colabel.mixture._trees import ScoredRows, Trees, TreeSums
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


@pytest.mark.parametrize("seed", range(20))
def test_sparse_rows_score_as_dense_ones(seed, monkeypatch):
    monkeypatch.setattr("colabel.mixture._trees.DENSE_CELLS", 8)
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((11, 3)) < 0.5, 0.0, rng.integers(-2, 4, size=(11, 3)))
    trees, lines = make_trees(seed), rng.integers(4, size=6)
    dense, csr = np.zeros((4, 11)), np.zeros((4, 11))
    trees.add_to(dense, X, lines)
    trees.add_to(csr, sparse.csr_array(X), lines)
    np.testing.assert_array_equal(dense, csr)
    np.testing.assert_allclose(dense, slow_scores(trees, lines, X, 4), atol=1e-12)


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


def test_trees_refuse_rows_of_another_width_and_lines_that_are_not_there():
    trees = make_trees(0)
    with pytest.raises(ValueError, match="3 features cannot read 2"):
        trees.add_to(np.zeros((1, 4)), np.zeros((4, 2)), np.zeros(6, dtype=np.int64))
    for lines in (np.zeros(5, dtype=np.int64), np.full(6, 1), np.full(6, -1)):
        with pytest.raises(ValueError, match="a line each"):
            trees.add_to(np.zeros((1, 4)), np.zeros((4, 3)), lines)


def test_no_trees_add_nothing():
    out = np.ones((2, 4))
    Trees.stumps(0, 4, 3).add_to(out, np.zeros((4, 3)), np.zeros(0, dtype=np.int64))
    assert (out == 1.0).all()


def test_trees_survive_a_pickle():
    trees = make_trees(5)
    again = pickle.loads(pickle.dumps(trees))
    for name in ("feature", "threshold", "left", "right", "value", "n_features"):
        np.testing.assert_array_equal(getattr(again, name), getattr(trees, name))


FORGERIES = {
    "a feature that X lacks": lambda s: s["feature"].__setitem__((0, 0), 3),
    "a feature before the first": lambda s: s["feature"].__setitem__((0, 0), -1),
    "a split that leads to itself": lambda s: s["left"].__setitem__((1, 0), 0),
    "a split that leads back": lambda s: s["right"].__setitem__((1, 2), 1),
    "a split that is not there": lambda s: s["left"].__setitem__((1, 1), 4),
    "a leaf that is not there": lambda s: s["right"].__setitem__((0, 1), -6),
    "values too few": lambda s: s.update(value=s["value"][:, :-1]),
    "thresholds too few": lambda s: s.update(threshold=s["threshold"][:3]),
    "flat arrays": lambda s: s.update(feature=s["feature"].ravel()),
    "no splits at all": lambda s: s.update(
        {name: s[name][:, :0] for name in ("feature", "threshold", "left", "right")}
    ),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_forged_trees_are_refused_when_they_are_loaded(what):
    trees = make_trees(7)
    state = {name: getattr(trees, name) for name in vars(trees)}
    Trees.__new__(Trees).__setstate__(dict(state))
    FORGERIES[what](state)
    with pytest.raises(ValueError, match="lead out"):
        Trees.__new__(Trees).__setstate__(state)


def test_views_know_their_rows():
    view = TreeSums().view(np.asfortranarray(np.ones((5, 2))))
    assert isinstance(view, ScoredRows)
    assert view.X.flags.c_contiguous
