"""ML-kNN is the published algorithm: by hand, and as a loop over its pseudocode."""

import numpy as np
import pytest

import oracles_neighbors as oracle
from colabel.neighbors import MLkNN


def test_a_small_example_by_hand():
    # One label on a line: rows 0, 1, 2 have it, rows 10 and 11 have not; k = 2, s = 1.
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.5]])
    Y = np.array([[1], [1], [1], [0], [0]])
    model = MLkNN(2).fit(X, Y)
    # Neighbours that have it: rows 0, 1, 2 see 2 each; row 10 sees 11.5 and 2: 1; so does 11.5,
    # which sees 10 and 2. P(on) = (1 + 3) / (2 + 5) = 4/7.
    # P(2 | on) = (1 + 3) / (3 + 3) = 4/6, P(1 | on) = P(0 | on) = 1/6;
    # P(1 | off) = (1 + 2) / (3 + 2) = 3/5, P(2 | off) = P(0 | off) = 1/5.
    odds = np.array([(1 / 6) / (1 / 5), (1 / 6) / (3 / 5), (4 / 6) / (1 / 5)]) * (4 / 3)
    np.testing.assert_allclose(np.exp(model.rule_[:, 0]), odds)
    # A query at 1.2 sees two of them, one at 6.5 (10 and 2) one, one at 20 (11.5 and 10) none.
    p = model.predict_proba(np.array([[1.2], [6.5], [20.0]]))[:, 0]
    np.testing.assert_allclose(p, (odds / (1 + odds))[[2, 1, 0]])
    assert model.predict([[1.2], [6.5], [20.0]]).ravel().tolist() == [1, 0, 1]


@pytest.mark.parametrize("s", [1.0, 0.3])
def test_it_equals_the_published_pseudocode(s, monkeypatch):
    monkeypatch.setattr("colabel.neighbors._mlknn.ENTRIES", 20)
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(4, 25)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, (n, 2)).astype(float) if seed % 2 else rng.normal(size=(n, 2))
        Y = (rng.random((n, 4)) < [0.5, 0.1, 0.0, 1.0]).astype(int)
        queries = rng.normal(size=(8, 2))
        model = MLkNN(k, smoothing=s).fit(X, Y)
        labels, probability = oracle.ml_knn(X, Y, queries, k, s)
        np.testing.assert_allclose(model.predict_proba(queries), probability, atol=1e-9)
        clear = np.abs(probability - 0.5) > 1e-9
        np.testing.assert_array_equal(model.predict(queries)[clear], labels[clear])


def test_weighted_neighbours_are_counted_to_the_nearest_whole():
    X, Y = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([[1], [0], [1], [0]])
    for kind in ("mild", "distance"):
        model = MLkNN(2, weights=kind).fit(X, Y)
        assert model.rule_.shape == (3, 1)
        assert np.isfinite(model.predict_proba(X)).all()


def test_tuning_keeps_the_rule_of_the_chosen_number():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = (X > 0.3).astype(int)
    model = MLkNN("tune", threshold="tune").fit(X, Y)
    assert model.rule_.shape == (model.n_neighbors_ + 1, 2)
    same = MLkNN(model.n_neighbors_, threshold=model.threshold_).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X))
    assert 0.5 < model.tuned_score_ <= 1.0
