"""Features of any size: a right answer, or one sentence."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from colabel import (
    BinaryRelevance,
    ClassifierChain,
    ConditionalBernoulliMixture,
    LabelPowerset,
    PairwiseCRF,
)
from colabel.mixture import Logistic
from colabel.numerics.magnitude import check_magnitude, mean_squared_norm
from colabel.reduction import BoostedClassifier
from colabel.trees import growers

LINEAR = [
    BinaryRelevance(),
    LabelPowerset(),
    ClassifierChain(),
    PairwiseCRF(),
    ConditionalBernoulliMixture(2, max_iter=2, random_state=0),
    ConditionalBernoulliMixture(2, experts=Logistic(scale=False), max_iter=2, random_state=0),
    ConditionalBernoulliMixture(2, experts="boosting", gate="logistic", max_iter=2, random_state=0),
]
TREES = [
    BinaryRelevance(BoostedClassifier(10, random_state=0)),
    ConditionalBernoulliMixture(2, experts="boosting", max_iter=2, random_state=0),
]


def problem(toy, wide):
    X, Y = toy
    return (np.hstack([X] * 20)[:50], Y[:50]) if wide else (X, Y)


@pytest.mark.parametrize("estimator", LINEAR, ids=str)
@pytest.mark.parametrize("wide", [False, True])
def test_linear_models_refuse_what_they_cannot_square(estimator, wide, toy):
    X, Y = problem(toy, wide)
    for huge in (1e160 * X, -1e300 * X, sparse.csr_array(1e160 * X)):
        with pytest.raises(ValueError, match=r"^X holds .*e\+\d+, whose square is beyond"):
            clone(estimator).fit(huge, Y)
    with warnings.catch_warnings():
        # Not converging is said; an overflow would be an error.
        warnings.simplefilter("ignore", ConvergenceWarning)
        p = clone(estimator).fit(1e60 * X, Y).predict_proba(1e60 * X)
    assert np.isfinite(p).all()


@pytest.mark.parametrize("estimator", TREES, ids=str)
@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e160, 1e300])
def test_trees_look_at_order_alone(estimator, size, toy):
    pytest.importorskip("lightgbm")
    X, Y = toy
    p = clone(estimator).fit(size * X, Y).predict_proba(size * X)
    assert np.isfinite(p).all()
    if size > 1.0:  # LightGBM takes what is tiny for zero
        plain = clone(estimator).fit(X, Y).predict_proba(X)
        np.testing.assert_allclose(p, plain, atol=0.05)


def test_scikit_learn_s_trees_say_what_is_too_large_for_them(toy, monkeypatch):
    monkeypatch.setattr(growers, "find_spec", lambda name: None)
    X, Y = toy
    for huge in (1e39 * X, sparse.csr_array(1e160 * X)):
        with pytest.raises(ValueError, match="too large for scikit-learn's trees"):
            clone(TREES[1]).fit(huge, Y)
    assert np.isfinite(clone(TREES[1]).fit(1e37 * X, Y).predict_proba(1e37 * X)).all()


def test_nothing_is_too_large_for_nothing():
    check_magnitude(np.zeros((0, 3)))
    check_magnitude(sparse.csr_array((4, 3)))
    check_magnitude(np.full((2, 2), -1e150))
    with pytest.raises(ValueError, match="X holds 2e"):
        check_magnitude(np.full((2, 2), -2e150))


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8, bool])
def test_the_unit_of_rows_is_their_mean_squared_norm(as_sparse, dtype):
    rng = np.random.default_rng(0)
    X = rng.integers(-90, 90, (7, 3)).astype(dtype)
    weight = np.arange(7.0)
    squares = np.sum(X.astype(float) ** 2, axis=1)
    given = sparse.csr_matrix(X) if as_sparse else X
    assert mean_squared_norm(given) == pytest.approx(squares.mean())
    assert mean_squared_norm(given, weight) == pytest.approx(np.average(squares, weights=weight))


@pytest.mark.parametrize("value", [0.0, 1e-200, np.nan, np.inf])
def test_rows_that_cannot_be_squared_have_no_unit(value):
    X = np.full((3, 2), value)
    assert mean_squared_norm(X) == mean_squared_norm(sparse.csr_array(X)) == 1.0
    assert mean_squared_norm(np.empty((0, 2))) == 1.0
