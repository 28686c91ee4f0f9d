"""Plain neighbours: what they vote for, and what tuning chooses."""

import numpy as np
import pytest

import oracles_neighbors as oracle
from colabel.metrics import f1_score
from colabel.neighbors import KNNClassifier
from colabel.neighbors._base import SIZES
from colabel.neighbors._tuning import THRESHOLDS
from colabel.neighbors._votes import WEIGHTS


def data(seed, n=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[1] = X[0]
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0.3, rng.random(n) < 0.2])
    return X, Y.astype(int), rng.normal(size=(15, 3))


def slow_shares(X, Y, queries, k, kind, own=False):
    index, distance = oracle.nearest(queries, X, k, own)
    weight = np.array([oracle.weights(list(row), kind) for row in distance])
    return np.einsum("nk,nkl->nl", weight, Y[index])


@pytest.mark.parametrize("kind", WEIGHTS)
def test_probabilities_are_shares_of_the_votes(kind):
    for seed in range(10):
        X, Y, queries = data(seed)
        model = KNNClassifier(4, weights=kind).fit(X, Y)
        share = slow_shares(X, Y, queries, 4, kind)
        np.testing.assert_allclose(model.predict_proba(queries), share, atol=1e-9)
        np.testing.assert_array_equal(model.predict(queries), share > 0.5 + 1e-12)


def test_exactly_one_half_is_not_enough():
    X, Y = np.array([[0.0], [2.0]]), np.array([[1, 0], [0, 1]])
    assert KNNClassifier(2).fit(X, Y).predict([[1.0]]).tolist() == [[0, 0]]
    assert KNNClassifier(2).fit(X, Y).predict([[0.9]]).tolist() == [[1, 0]]
    assert KNNClassifier(2, threshold=0.49).fit(X, Y).predict([[1.0]]).tolist() == [[1, 1]]


def test_a_share_that_is_the_threshold_is_not_above_it():
    for k in range(2, 31):
        X, Y = np.zeros((k, 1)), np.tri(k, dtype=int)[:, ::-1]
        share = Y.sum(axis=0) / k
        for t in share[share < 1.0]:
            model = KNNClassifier(k, weights="uniform", threshold=t).fit(X, Y)
            np.testing.assert_array_equal(model.predict(X[:1])[0], share > t)


@pytest.mark.parametrize(("measure", "average"), [("micro_f1", "micro"), ("example_f1", "samples")])
def test_tuning_tries_everything_by_leaving_one_out(measure, average):
    X, Y, _ = data(3, 30)
    model = KNNClassifier("tune", weights="tune", threshold="tune", measure=measure).fit(X, Y)
    best = -1.0
    for k in sorted({min(size, 29) for size in SIZES}):
        for kind in WEIGHTS:
            share = np.round(slow_shares(X, Y, X, k, kind, True), 12)
            for t in THRESHOLDS:
                Z = (share > t + 1e-12).astype(int)
                best = max(best, f1_score(Y, Z, average=average, zero_division=1.0))
    assert model.tuned_score_ == pytest.approx(best)
    chosen = slow_shares(X, Y, X, model.n_neighbors_, model.weights_, True)
    Z = (np.round(chosen, 12) > model.threshold_ + 1e-12).astype(int)
    assert f1_score(Y, Z, average=average, zero_division=1.0) == pytest.approx(best)


def test_untuned_models_say_so_and_never_ask_for_more_rows_than_there_are():
    X, Y, queries = data(0)
    model = KNNClassifier(100).fit(X, Y)
    assert np.isnan(model.tuned_score_)
    assert (model.n_neighbors_, model.weights_, model.threshold_) == (40, "mild", 0.5)
    assert model.predict(queries).shape == (15, 3)
