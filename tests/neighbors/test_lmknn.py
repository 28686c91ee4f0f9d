"""LM-kNN: the space it searches, the metric it learns, and what it may not see."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from colabel.neighbors import KNNClassifier, LargeMarginKNN
from colabel.neighbors._codeword_maps import fit_ridge_map

PUBLISHED = {
    "alpha": 10.0,
    "fit_intercept": False,
    "neighborhood": "features",
    "held_out": False,
    "weights": "mild",
}


def data(seed=0, n=80, d=6):
    """Labels that depend on two directions; the other features are noise, and large."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:, 2:] *= 5.0
    Y = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 0] + X[:, 1] > 1, rng.random(n) < 0.1])
    return X, Y.astype(int)


def f1(model, X, Y):
    Z = model.predict(X)
    return 2.0 * (Z & Y).sum() / max(1, Z.sum() + Y.sum())


def test_without_a_metric_it_is_neighbours_of_a_ridge_regression():
    (X, Y), (queries, _) = data(), data(1)
    found = LargeMarginKNN(5, alpha=2.0, metric="identity").fit(X, Y)
    ridge = Ridge(alpha=2.0).fit(X, Y)
    plain = KNNClassifier(5, weights="distance").fit(ridge.predict(X), Y)
    expected = plain.predict_proba(ridge.predict(queries))
    np.testing.assert_allclose(found.predict_proba(queries), expected, atol=1e-6)
    np.testing.assert_array_equal(found.components_, np.eye(4))
    assert (found.n_iter_, len(found.history_)) == (1, 0)


def test_it_searches_in_the_space_of_its_components():
    (X, Y), (queries, _) = data(), data(1)
    model = LargeMarginKNN(5, **PUBLISHED).fit(X, Y)
    ridge = Ridge(alpha=10.0, fit_intercept=False).fit(X, Y)
    V = model.components_
    np.testing.assert_allclose(model.points_, ridge.predict(X) @ V, atol=1e-8)
    plain = KNNClassifier(5).fit(ridge.predict(X) @ V, Y)
    expected = plain.predict_proba(ridge.predict(queries) @ V)
    np.testing.assert_allclose(model.predict_proba(queries), expected, atol=1e-6)
    assert (np.diff(model.history_) <= 0).all()
    assert model.n_iter_ >= len(model.history_) - 1 > 0


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("neighborhood", ["features", "codewords"])
def test_large_noise_is_seen_through(held_out, neighborhood):
    (X, Y), (queries, truth) = data(n=200), data(1, n=200)
    model = LargeMarginKNN(held_out=held_out, neighborhood=neighborhood).fit(X, Y)
    assert f1(model, queries, truth) > f1(KNNClassifier().fit(X, Y), queries, truth) + 0.1


def test_labels_that_no_neighbour_lacks_leave_the_metric_alone():
    X = np.concatenate([np.zeros((12, 1)), np.ones((12, 1))])
    Y = np.repeat([[1, 0], [0, 1]], 12, axis=0)
    model = LargeMarginKNN(margin_neighbors=3).fit(X, Y)
    np.testing.assert_array_equal(model.components_, np.eye(2))
    np.testing.assert_array_equal(model.predict(X), Y)


def test_held_out_codewords_have_not_seen_the_labels_of_their_row():
    X, Y = data(n=15)
    for seed_of in (0, 14):
        other = Y.copy()
        other[seed_of] = 1 - other[seed_of]
        words = [
            fit_ridge_map(X, sparse.csr_array(y, dtype=float), 1.0, True)[1].times(
                np.eye(4), sparse.csr_array(y, dtype=float)
            )
            for y in (Y, other)
        ]
        np.testing.assert_allclose(words[0][seed_of], words[1][seed_of], atol=1e-9)
        assert np.abs(words[0] - words[1]).max() > 1e-3


def test_tuning_beats_one_half_on_rare_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    p = 0.45 / (1 + np.exp(-4 * X))
    Y, truth = (rng.random((400, 3)) < p).astype(int), None
    queries = rng.normal(size=(400, 3))
    truth = (rng.random((400, 3)) < 0.45 / (1 + np.exp(-4 * queries))).astype(int)
    plain = LargeMarginKNN().fit(X, Y)
    tuned = LargeMarginKNN("tune", weights="tune", threshold="tune").fit(X, Y)
    assert tuned.threshold_ < 0.5
    assert f1(tuned, queries, truth) > f1(plain, queries, truth) + 0.05
    # What is chosen is judged on rows held out: it is no better there than on new rows.
    assert tuned.tuned_score_ < f1(tuned, queries, truth) + 0.06


def test_too_few_iterations_are_told():
    X, Y = data()
    with pytest.warns(ConvergenceWarning, match="1 iterations: raise max_iter or tol"):
        LargeMarginKNN(max_iter=1, tol=1e-9).fit(X, Y)


def test_sparse_and_dense_features_give_the_same_metric():
    X, Y = data()
    X[np.abs(X) < 1] = 0.0
    dense = LargeMarginKNN(tol=1e-6).fit(X, Y)
    thin = LargeMarginKNN(tol=1e-6).fit(sparse.csr_array(X), Y)
    Q = [model.components_ @ model.components_.T for model in (dense, thin)]
    np.testing.assert_allclose(Q[0], Q[1], atol=1e-4)
