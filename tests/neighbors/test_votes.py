"""Weighted votes equal sums over neighbours; thresholds are the best of all that are tried."""

import numpy as np
import pytest
from scipy import sparse

import oracles_neighbors as oracle
from colabel._label_scores import log_odds
from colabel.metrics import f1_score
from colabel.neighbors._search import Neighbors
from colabel.neighbors._tuning import best_cut
from colabel.neighbors._votes import WEIGHTS, neighbor_weights, votes


def problem(seed):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    distance = np.sort(rng.integers(0, 4, (n, k)).astype(float), axis=1)
    Y = (rng.random((7, 3)) < 0.4).astype(float)
    return Neighbors(rng.integers(0, 7, (n, k)), distance), Y


@pytest.mark.parametrize("kind", WEIGHTS)
def test_votes_are_weighted_sums_over_neighbours(kind):
    for seed in range(80):
        near, Y = problem(seed)
        weight = np.array([oracle.weights(list(row), kind) for row in near.distance])
        np.testing.assert_allclose(neighbor_weights(near.distance, kind), weight)
        np.testing.assert_allclose(weight.sum(axis=1), 1.0)
        expected = np.einsum("nk,nkl->nl", weight, Y[near.index])
        found = votes(near, sparse.csr_array(Y), kind).toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_tiny_and_huge_distances_keep_their_weights_finite():
    distance = np.array([[1e-300, 1e-300, 1.0], [1e200, 1e200, 1e200], [0.0, 0.0, 0.0]])
    for kind in WEIGHTS:
        weight = neighbor_weights(distance, kind)
        np.testing.assert_allclose(weight.sum(axis=1), 1.0)
        assert weight[0, 0] == weight[0, 1] >= weight[0, 2]


def test_half_of_the_neighbours_is_exactly_one_half():
    near = Neighbors(np.array([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]), np.ones((1, 10)))
    Y = sparse.csr_array((np.arange(10) < 5)[:, None].astype(float))
    for kind in WEIGHTS:
        assert votes(near, Y, kind).toarray()[0, 0] == 0.5


@pytest.mark.parametrize(("measure", "average"), [("micro_f1", "micro"), ("example_f1", "samples")])
def test_the_cut_is_the_best_of_all_that_are_tried(measure, average, monkeypatch):
    monkeypatch.setattr("colabel.neighbors._tuning.ENTRIES", 8)
    thresholds = np.array([0.1, 0.25, 0.3, 0.5, 0.75])
    odds = lambda p: log_odds(1.0 - p, p)  # noqa: E731
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, n_labels = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        # Some probabilities are exactly thresholds, which a label must be above.
        p = rng.choice([0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.9], (n, n_labels))
        Y = (rng.random((n, n_labels)) < 0.4).astype(int)
        values = [
            f1_score(
                Y, (p > t).astype(int), average=average, zero_division=1.0 - (average == "micro")
            )
            for t in thresholds
        ]
        best = max(i for i, v in enumerate(values) if v >= max(values) - 1e-12)
        # Where scores are sparse, some of those below all thresholds are not stored.
        row, column = np.nonzero(p > 0.05)
        thin = sparse.csr_array((odds(p)[row, column], (row, column)), shape=p.shape)
        for scores in (odds(p), thin):
            score = lambda rows, scores=scores: scores[rows]  # noqa: E731
            found = best_cut(score, sparse.csr_array(Y), thresholds, measure)
            assert found.value == pytest.approx(max(values))
            assert found.threshold == thresholds[best]
