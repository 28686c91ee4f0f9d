"""ML-RBF: clusters of each label, a shared layer of bumps, least squares."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.metrics import subset_accuracy
from colabel.neural import MLRBF


@parametrize_with_checks([MLRBF(random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Y = np.column_stack([np.sum(X**2, axis=1) > 1.4, X[:, 0] > 0, X[:, 1] > 1.0])
    return X, Y.astype(int)


def test_as_published_it_is_clusters_bumps_and_least_squares():
    X, Y = data()
    model = MLRBF(0.05, 1.0, scale=False, alpha=0.0, random_state=0).fit(X, Y)
    sizes = [int(np.ceil(0.05 * n - 1e-9)) for n in Y.sum(axis=0)]
    assert len(model.centres_) == sum(sizes)
    assert model.width_ == pytest.approx(pdist(model.centres_).mean())
    hidden = np.array(
        [
            [*(np.exp(-np.sum((x - c) ** 2) / (2 * model.width_**2)) for c in model.centres_), 1.0]
            for x in X
        ]
    )
    found, *_ = np.linalg.lstsq(hidden, 2.0 * Y - 1.0, rcond=None)
    np.testing.assert_allclose(model.decision_function(X), hidden @ found, atol=1e-6)
    # Each label's centres are about as good as those of k-means by itself.
    rows = X[Y[:, 2] == 1]
    theirs = KMeans(sizes[2], n_init=1, random_state=0).fit(rows)
    nearest = np.min(np.sum((rows[:, None] - model.centres_) ** 2, axis=2), axis=1)
    assert nearest.sum() <= 1.2 * theirs.inertia_


def test_bumps_follow_what_no_line_can():
    X, Y = data(600)
    model = MLRBF(random_state=0).fit(X[:400], Y[:400])
    assert subset_accuracy(Y[400:], model.predict(X[400:])) > 0.8
    np.testing.assert_array_equal(model.predict(X), (model.decision_function(X) > 0).astype(int))


def test_seed_and_weights():
    X, Y = data(60)
    weight = np.arange(60) % 3
    weighted = MLRBF(random_state=1).fit(X, Y, sample_weight=weight)
    whole = np.repeat(np.arange(60), weight)
    repeated = MLRBF(random_state=1).fit(X[whole], Y[whole])
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X))
    other = MLRBF(random_state=2).fit(X, Y, sample_weight=weight)
    assert not np.allclose(other.decision_function(X), weighted.decision_function(X))


@pytest.mark.parametrize("Y", [np.zeros((8, 3)), np.ones((8, 3)), np.eye(8, 3), np.eye(8)])
def test_degenerate_data_is_normal_data(Y):
    for X in (np.ones((8, 2)), np.eye(8), np.random.default_rng(0).normal(size=(8, 20))):
        for features in (X, sparse.csr_array(X)):
            model = MLRBF(random_state=0).fit(features, Y.astype(int))
            assert np.isfinite(model.decision_function(features)).all()
            if np.ptp(Y) == 0:
                np.testing.assert_array_equal(model.predict(features), Y)


def test_what_cannot_be_right_is_refused():
    X, Y = data(20)
    for options, reason in (
        ({"ratio": 0.0}, "ratio must be a positive number"),
        ({"width": -1.0}, "width must be a positive number"),
        ({"alpha": -1.0}, "alpha must be a number of at least 0"),
        ({"scale": "yes"}, "scale must be True or False"),
    ):
        with pytest.raises(ValueError, match=reason):
            MLRBF(**options).fit(X, Y)
