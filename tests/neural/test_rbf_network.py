"""The multi-class network of radial basis functions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.neural import RBFNetwork
from colabel.neural._radial import bumps, count_centres, find_centres, find_width, solve_outputs


@parametrize_with_checks([RBFNetwork(random_state=0), RBFNetwork(scale=False, alpha=0.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(20))
def test_layer_and_least_squares_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    X, centres = rng.normal(size=(15, 3)), rng.normal(size=(1 + seed % 4, 3))
    pairs = [np.linalg.norm(a - b) for i, a in enumerate(centres) for b in centres[i + 1 :]]
    width = find_width(centres, 0.7)
    assert width == pytest.approx(0.7 * (np.mean(pairs) if pairs else 1.0))
    H = bumps(X, centres, width)
    for i, x in enumerate(X):
        for j, c in enumerate(centres):
            assert H[i, j] == pytest.approx(np.exp(-np.sum((x - c) ** 2) / (2 * width**2)))
    assert (H[:, -1] == 1.0).all()
    np.testing.assert_allclose(bumps(sparse.csr_array(X), centres, width), H, atol=1e-12)
    T, weight = rng.normal(size=(15, 2)), rng.random(15) + 0.1
    for ridge in (0.0, 0.01):
        W = solve_outputs(H, T, weight, ridge)
        gradient = H.T @ (weight[:, None] * (H @ W - T)) + ridge * weight.sum() * W
        np.testing.assert_allclose(gradient, 0.0, atol=1e-9)


def test_a_share_of_the_rows_are_centres():
    assert [count_centres(0.07, n) for n in (1, 14, 15, 100, 101)] == [1, 1, 2, 7, 8]
    X = np.repeat(np.arange(5.0), 4)[:, None]
    rng = np.random.RandomState(0)
    assert len(find_centres(X, np.ones(20), 10, rng)) == 5  # no more than there are rows
    np.testing.assert_allclose(find_centres(X, np.ones(20), 1, rng), [[2.0]])


def test_bumps_follow_what_no_line_can():
    X, y = make_moons(400, noise=0.15, random_state=0)
    model = RBFNetwork(random_state=0).fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.95
    assert len(model.centres_) == sum(count_centres(0.1, n) for n in np.bincount(y[:200]))


def test_scaling_makes_units_irrelevant():
    X, y = make_moons(200, noise=0.2, random_state=1)
    units = X * [1.0, 1e4] + [5.0, 0.0]
    found = RBFNetwork(random_state=0).fit(units, y).predict(units)
    np.testing.assert_array_equal(found, RBFNetwork(random_state=0).fit(X, y).predict(X))


def test_many_centres_are_thinned_for_the_width_only(monkeypatch):
    centres = np.arange(100.0)[:, None]
    whole = find_width(centres, 1.0)
    monkeypatch.setattr("colabel.neural._radial.MOST_CENTRES", 30)
    assert find_width(centres, 1.0) == pytest.approx(whole, rel=0.1)


@pytest.mark.parametrize("y", [np.zeros(6), np.arange(6), np.array([0, 0, 0, 0, 0, 1])])
def test_degenerate_data_is_normal_data(y):
    for X in (np.ones((6, 2)), np.eye(6), np.random.default_rng(0).normal(size=(6, 20))):
        for features in (X, sparse.csr_array(X)):
            model = RBFNetwork(random_state=0).fit(features, y.astype(str))
            assert set(model.predict(features)) <= set(y.astype(str))
            assert np.isfinite(model.decision_function(features)).all()


def test_what_cannot_be_right_is_refused():
    X, y = np.eye(4), [0, 1, 0, 1]
    for options, reason in (
        ({"ratio": 0.0}, "ratio must be a positive number"),
        ({"width": -1.0}, "width must be a positive number"),
        ({"alpha": -1.0}, "alpha must be a number of at least 0"),
        ({"scale": "yes"}, "scale must be True or False"),
    ):
        with pytest.raises(ValueError, match=reason):
            RBFNetwork(**options).fit(X, y)
