"""Trees as arrays."""

import pickle
from unittest import mock

import numpy as np
import pytest
from scipy import sparse

from colabel.reduction import BoostedClassifier
from colabel.trees.arrays import Trees, read_lightgbm, without_rare
from oracles_trees import random_trees, walk

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


def make_trees(seed, n_trees=6, n_leaves=5, n_features=3):
    arrays = random_trees(np.random.default_rng(seed), n_trees, n_leaves, n_features)
    return Trees(*arrays, n_features)


def slow_scores(trees, lines, X, n_lines):
    out = np.zeros((n_lines, len(X)))
    for t, line in enumerate(lines):
        arrays = (trees.feature, trees.threshold, trees.left, trees.right, trees.value)
        out[line] += [walk(x, *(array[t] for array in arrays)) for x in X]
    return out


def test_text_is_read_as_lightgbm_means_it():
    trees = read_lightgbm(MODEL, 3, 3)
    X = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(trees.sums(X, 2), [[10, 20, 30], [7, 7, 7]])
    np.testing.assert_array_equal(trees.sums(X, 1), [[17, 27, 37]])


@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_text_of_a_lightgbm_model_reads_as_it_predicts(levels, kind):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(1)

    def draw(n):
        return (
            rng.normal(size=(n, 5)) if levels is None else rng.integers(levels, size=(n, 5)) - 1.0
        )

    X, new = draw(300), draw(500)
    y = X[:, 0] * X[:, 1] + X[:, 2]
    params = {"num_leaves": 7, "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 3}
    booster = lightgbm.train(params, lightgbm.Dataset(kind(X), y), 20)
    trees = read_lightgbm(booster.model_to_string(), 7, 5)
    expected = booster.predict(kind(new), raw_score=True)
    np.testing.assert_allclose(trees.sums(new, 1)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_sums_deal_the_trees_to_lines_in_turn(seed):
    rng = np.random.default_rng(seed)
    n_lines, n_features = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    trees = make_trees(seed, 3 * n_lines, int(rng.integers(2, 7)), n_features)
    X = rng.integers(-3, 4, size=(int(rng.integers(1, 90)), n_features)).astype(float)
    lines = np.tile(np.arange(n_lines), 3)
    np.testing.assert_allclose(trees.sums(X, n_lines), slow_scores(trees, lines, X, n_lines))


@pytest.mark.parametrize("seed", range(20))
def test_sparse_rows_score_as_dense_ones(seed, monkeypatch):
    monkeypatch.setattr("colabel.trees.arrays.DENSE_CELLS", 8)
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((11, 3)) < 0.5, 0.0, rng.integers(-2, 4, size=(11, 3)))
    trees, lines = make_trees(seed), rng.integers(4, size=6)
    dense, csr = np.zeros((4, 11)), np.zeros((4, 11))
    trees.add_to(dense, X, lines)
    trees.add_to(csr, sparse.csr_array(X), lines)
    np.testing.assert_array_equal(dense, csr)
    np.testing.assert_allclose(dense, slow_scores(trees, lines, X, 4), atol=1e-12)


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


def test_single_precision_is_kept_by_all_that_is_made_of_the_trees():
    trees = Trees.stumps(2, 1, 1, single=True)
    trees.threshold[:], trees.left[:], trees.right[:], trees.value[:] = 1.0, -1, -2, [[3, 5]]
    above = np.array([[1.0 + 1e-12], [1e300], [-1e300]])  # the first is 1 in single precision
    parts = [trees, trees.take(np.array([1, 0])), Trees.concatenate([trees])]
    for same in (*parts, pickle.loads(pickle.dumps(trees))):
        assert same.single
        np.testing.assert_array_equal(same.sums(above, 2), [[3, 5, 3]] * 2)
    assert not make_trees(0).single


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rare_features_are_blanked_and_no_others(kind):
    rng = np.random.default_rng(0)
    for seed in range(50):
        X = sparse.random_array((30, 12), density=0.15, rng=seed).toarray()
        X[:, 0] = rng.normal(size=30)
        weight = rng.integers(1, 4, size=30).astype(float)
        least = rng.choice([0.0, 4.0, 8.0])
        found = without_rare(kind(X), weight, least)
        having = np.array([weight[column != 0].sum() for column in X.T])
        expected = np.where(having < least, 0.0, X)
        np.testing.assert_array_equal(found @ np.eye(12), expected)
        assert not sparse.issparse(found) or found.nnz == np.count_nonzero(expected)


def test_rare_features_are_kept_where_there_are_no_others():
    X = np.eye(3)
    assert without_rare(X, np.ones(3), 2.0) is X


@pytest.mark.parametrize("least", [0.5, 1.0, 2.0])
def test_leaves_that_rare_features_could_make_are_never_grown(least):
    """With every feature looked at, boosting is the same with and without the rare ones."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = sparse.random_array((60, 40), density=0.08, rng=rng).tocsr()
        y = (X @ rng.normal(size=40) + 0.1 * rng.normal(size=60) > 0).astype(int)
        plain = BoostedClassifier(
            5, feature_fraction=1.0, min_child_weight=least, random_state=0
        ).fit(X, y)
        with mock.patch("colabel.trees.growers.without_rare", lambda X, *_: X):
            other = BoostedClassifier(
                5, feature_fraction=1.0, min_child_weight=least, random_state=0
            ).fit(X, y)
        np.testing.assert_array_equal(plain.decision_function(X), other.decision_function(X))
