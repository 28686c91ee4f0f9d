"""The linear model with pairs: its score is linear in its features; pairs are the frequent ones."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from colabel.models import LinearPairwise, frequent_pairs
from colabel.scores import Modular, Pairwise
from learners.oracles_margin import joint_feature


def random_model(rng, pairs=True):
    d, V = rng.integers(1, 5), rng.integers(2, 7)
    edges = np.array(list(combinations(range(V), 2)), dtype=np.int64)
    edges = edges[rng.random(len(edges)) < 0.6] if pairs else edges[:0]
    constant = float(rng.choice([0.0, 1.0, 2.5]))
    return LinearPairwise(int(d), int(V), edges, rng.random(len(edges)) + 0.1, constant)


@pytest.mark.parametrize("seed", range(40))
def test_score_is_linear_in_the_joint_feature(seed):
    rng = np.random.default_rng(seed)
    model = random_model(rng, pairs=seed % 4 > 0)
    X = rng.normal(size=(7, model.n_features))
    Z = rng.integers(0, 2, (7, model.n_labels)).astype(np.int8)
    theta = model.project(rng.normal(size=model.size))
    table = model.scores(X, theta)
    assert isinstance(table, Pairwise if len(model.edges) else Modular)
    phi = joint_feature(model, X, Z)
    np.testing.assert_allclose(phi @ theta, table.value(Z), atol=1e-12)
    weight = rng.random(7)
    np.testing.assert_allclose(model.feature_sum(X, Z, weight), weight @ phi, atol=1e-12)


def test_dense_and_sparse_features_agree():
    rng = np.random.default_rng(0)
    model = random_model(rng)
    X = rng.normal(size=(9, model.n_features)) * rng.integers(0, 2, (9, model.n_features))
    Z, weight = rng.integers(0, 2, (9, model.n_labels)), rng.random(9)
    theta = rng.normal(size=model.size)
    S = sparse.csr_array(X)
    np.testing.assert_allclose(model.unary(S, theta), model.unary(X, theta), atol=1e-12)
    np.testing.assert_allclose(
        model.feature_sum(S, Z, weight), model.feature_sum(X, Z, weight), atol=1e-12
    )


def test_small_blocks_count_the_same_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    model = random_model(rng)
    X, Z = rng.normal(size=(9, model.n_features)), rng.integers(0, 2, (9, model.n_labels))
    whole = model.feature_sum(X, Z, np.ones(9))
    monkeypatch.setattr("colabel.models.pairwise.BLOCK", 1)
    np.testing.assert_allclose(model.feature_sum(X, Z, np.ones(9)), whole, atol=1e-12)


def test_projection_touches_couplings_only():
    model = LinearPairwise(1, 2, np.array([[0, 1]]), np.ones(1))
    theta = np.array([-1.0, -2.0, 3.0, -4.0, -5.0])
    np.testing.assert_array_equal(model.project(theta), [-1.0, -2.0, 3.0, -4.0, 0.0])
    assert theta[-1] == -5.0


def slow_pairs(Y, wanted, weight):
    """Sort all pairs by count, then by how rare their labels are; ties at the end stay together."""
    n = (weight[:, None] * Y).sum(axis=0)
    found = []
    for i, j in combinations(range(Y.shape[1]), 2):
        count = float(sum(w for w, y in zip(weight, Y, strict=True) if y[i] and y[j]))
        if count > 0:
            found.append((-count, n[i] * n[j], i, j))
    found.sort()
    if 0 < wanted < len(found):
        last = found[wanted - 1][:2]
        wanted = max(k for k, pair in enumerate(found) if pair[:2] == last) + 1
    kept = sorted((i, j, -count) for count, _, i, j in found[:wanted])
    top = -found[0][0] if found else 1.0
    return [(i, j) for i, j, _ in kept], [count / top for _, _, count in kept]


@pytest.mark.parametrize("seed", range(60))
def test_frequent_pairs_are_those_of_a_slow_count(seed):
    rng = np.random.default_rng(seed)
    V = int(rng.integers(1, 8))
    Y = (rng.random((int(rng.integers(1, 20)), V)) < rng.choice([0.1, 0.4, 0.8])).astype(np.int8)
    weight = rng.integers(1, 4, len(Y)).astype(float)
    for pairs, wanted in ((None, 2 * V), (3, 3), (0, 0), (0.5, round(V * (V - 1) / 4)), (1.0, 99)):
        expected, share = slow_pairs(Y, wanted, weight)
        for labels in (Y, sparse.csr_array(Y)):
            edges, C = frequent_pairs(labels, pairs, weight)
            assert [tuple(e) for e in edges] == expected
            np.testing.assert_allclose(C, share)


def test_the_order_of_labels_does_not_matter():
    rng = np.random.default_rng(3)
    Y = (rng.random((15, 6)) < 0.3).astype(np.int8)
    edges, C = frequent_pairs(Y, 4)
    back, C_back = frequent_pairs(Y[:, ::-1], 4)
    turned = {(5 - j, 5 - i): c for (i, j), c in zip(back.tolist(), C_back, strict=True)}
    assert turned == {(i, j): c for (i, j), c in zip(edges.tolist(), C, strict=True)}


def test_a_label_that_meets_no_other_has_no_pair():
    edges, C = frequent_pairs(np.eye(4, dtype=np.int8))
    assert edges.shape == (0, 2)
    assert C.shape == (0,)
