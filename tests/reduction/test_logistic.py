"""The batched logistic regression as an estimator of its own, and beside scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import BinaryRelevance
from colabel.datasets import load
from colabel.reduction import BatchLogisticRegression
from linear import oracles_logistic as truth


@parametrize_with_checks([BatchLogisticRegression(), BatchLogisticRegression(l1_ratio=0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def objective(model, X, y, C=1.0, l1_ratio=0.0):
    terms = {"penalty": (1 - l1_ratio) / C, "l1": l1_ratio / C}
    if len(model.classes_) == 2:
        y = (y == model.classes_[1]).astype(float)
        return truth.objective(X, y, model.coef_[0], model.intercept_[0], **terms)
    T = (y[:, None] == model.classes_).astype(float)
    return truth.softmax_objective(X, T, model.coef_, model.intercept_, **terms)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_optimum_is_scikit_learns(data, C):
    X, y = data(return_X_y=True)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = LogisticRegression(C=C, tol=1e-10, max_iter=100_000).fit(scaled, y)
    best = objective(theirs, scaled, y, C)
    for features in (scaled, sparse.csr_array(scaled)):
        ours = BatchLogisticRegression(C).fit(features, y)
        assert abs(objective(ours, scaled, y, C) - best) <= 1e-6 * best
        assert ours.coef_.shape == theirs.coef_.shape
        assert ours.intercept_.shape == theirs.intercept_.shape
        np.testing.assert_allclose(
            ours.predict_proba(features), theirs.predict_proba(scaled), atol=2e-3
        )
        np.testing.assert_array_equal(ours.predict(features), theirs.predict(scaled))


def test_raw_features_need_no_scaling():
    """Areas in the hundreds beside smoothness in the thousandths; scikit-learn would warn."""
    X, y = load_breast_cancer(return_X_y=True)
    ours = BatchLogisticRegression().fit(X, y)
    theirs = LogisticRegression(solver="newton-cholesky", tol=1e-10, max_iter=1000).fit(X, y)
    assert objective(ours, X, y) == pytest.approx(objective(theirs, X, y), rel=1e-6)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_elastic_net_is_scikit_learns(l1_ratio, n_classes):
    X, y = load_iris(return_X_y=True)
    X, y = (X - X.mean(axis=0))[y < n_classes], y[y < n_classes]
    ours = BatchLogisticRegression(0.2, l1_ratio=l1_ratio).fit(X, y)
    theirs = LogisticRegression(
        C=0.2, l1_ratio=l1_ratio, solver="saga", tol=1e-8, max_iter=100_000, random_state=0
    ).fit(X, y)
    best = objective(theirs, X, y, 0.2, l1_ratio)
    assert objective(ours, X, y, 0.2, l1_ratio) <= best * (1 + 1e-6)
    np.testing.assert_array_equal(ours.coef_ == 0.0, np.abs(theirs.coef_) < 1e-6)


def test_labels_fitted_together_are_those_fitted_alone(toy):
    X, Y = toy
    Y = Y[:, [0, 1, 4]]
    weight = np.random.default_rng(0).random(60)
    together = BatchLogisticRegression().fit_labels(X, iter(Y.T), sample_weight=weight)
    alone = [BatchLogisticRegression().fit(X, y, sample_weight=weight) for y in Y.T]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-3)
        np.testing.assert_array_equal(one.classes_, [0, 1])
        assert one.coef_.shape == (1, 4)
    scores = BatchLogisticRegression.score_labels(together, X)
    for j, one in enumerate(together):
        np.testing.assert_allclose(scores[:, j], one.decision_function(X), rtol=1e-12, atol=1e-12)
    assert BatchLogisticRegression().fit_labels(X, []) == []


def test_groups_of_labels_change_nothing(toy, monkeypatch):
    X, Y = toy
    whole = BatchLogisticRegression().fit_labels(X, Y[:, [0, 1, 4]].T)
    monkeypatch.setattr("colabel.reduction._logistic.TOGETHER_BYTES", 1)
    parts = BatchLogisticRegression().fit_labels(X, Y[:, [0, 1, 4]].T)
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one.coef_, other.coef_, atol=1e-3)


def test_names_of_features_are_kept_and_checked(toy):
    X, Y = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = BatchLogisticRegression().fit_labels(frame, [Y[:, 0], Y[:, 1]])
    assert list(fitted[1].feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        BatchLogisticRegression.score_labels(fitted, frame[["b", "a", "c", "d"]])


def test_too_few_steps_are_told(toy):
    X, Y = toy
    few = BatchLogisticRegression(C=1e4, max_iter=1)
    with pytest.warns(
        ConvergenceWarning, match="1 of 1 logistic regressions did not converge in 1"
    ):
        few.fit(X, Y[:, 0])
    with pytest.warns(ConvergenceWarning, match="2 of 2 logistic regressions"):
        few.fit_labels(X, [Y[:, 0], Y[:, 1]])
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        few.fit(X, np.arange(60) % 3)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        BinaryRelevance(few).fit(X, Y)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"C": 0.0}, "C must be a positive number, not 0.0"),
        ({"C": -1}, "C must be a positive number, not -1"),
        ({"C": np.nan}, "C must be a positive number"),
        ({"l1_ratio": 1.5}, r"l1_ratio must be a number of at least 0 and at most 1, not 1.5"),
        ({"l1_ratio": -0.1}, r"l1_ratio must be a number of at least 0 and at most 1"),
    ],
)
def test_wrong_parameters_are_refused(toy, wrong, message):
    with pytest.raises(ValueError, match=message):
        BatchLogisticRegression(**wrong).fit(toy[0], toy[1][:, 0])


def test_one_class_is_refused(toy):
    with pytest.raises(ValueError, match="only one class: 1"):
        BatchLogisticRegression().fit(toy[0], np.ones(60, dtype=int))


def test_weights_are_counted_as_repeated_rows(toy):
    X, Y = toy
    weight = np.random.default_rng(1).integers(0, 4, 60)
    weighted = BatchLogisticRegression().fit(X, Y[:, 0], sample_weight=weight)
    repeated = BatchLogisticRegression().fit(
        np.repeat(X, weight, axis=0), np.repeat(Y[:, 0], weight)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


def test_no_penalty_is_an_infinite_C(toy):
    X, Y = toy
    y = Y[:, 1] ^ (np.arange(60) % 7 == 0)
    ours = BatchLogisticRegression(C=np.inf).fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-2, atol=1e-3)


def test_clones_keep_their_parameters():
    model = BatchLogisticRegression(2.0, l1_ratio=0.1, max_iter=7, tol=1e-3)
    assert clone(model).get_params() == {"C": 2.0, "l1_ratio": 0.1, "max_iter": 7, "tol": 1e-3}


def test_binary_relevance_reaches_the_optimum_on_real_data():
    train = load("yeast:train")
    model = BinaryRelevance().fit(train.X, train.Y)
    for label in (0, 7, 13):
        y = train.Y[:, label].astype(float)
        best, w, b = truth.newton(train.X, y)
        fitted = model.estimators_[label]
        value = truth.objective(train.X, y, fitted.coef_[0], fitted.intercept_[0])
        assert abs(value - best) <= 1e-7 * best
        np.testing.assert_allclose(fitted.decision_function(train.X), train.X @ w + b, atol=2e-3)


def test_raw_real_data_converge_quickly(real_data):
    data = load("CAL500")
    labels = np.asarray(data.Y)[:, :20]
    fitted = BatchLogisticRegression(max_iter=100).fit_labels(data.X, labels.T)
    assert fitted[0].n_iter_ < 40


@pytest.mark.parametrize(
    ("name", "value"), [("max_iter", 0), ("max_iter", "x"), ("tol", -1.0), ("C", 0.0)]
)
def test_parameters_that_make_no_sense_are_refused(toy, name, value):
    X, Y = toy
    model = BatchLogisticRegression(**{name: value})
    for fit in (lambda: model.fit(X, Y[:, 0]), lambda: model.fit_labels(X, [Y[:, 0]])):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            fit()
