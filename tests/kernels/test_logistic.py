"""Losses and residuals of logistic regressions against plain formulas, also interpreted."""

import numpy as np
import pytest

from colabel._kernels import logistic

SIZES = [1, 2, 7, 511, 512, 513, 1030]
dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def sigmoid(s):
    return np.exp(-np.logaddexp(0.0, -s))


def binary_truth(scores, targets, weight):
    """Losses (C,) and residuals (C, n)."""
    s = scores.astype(np.float64)
    loss = weight * (np.logaddexp(0.0, s) - targets * s)
    return loss.sum(axis=1), weight * (sigmoid(s) - targets)


def softmax_truth(scores, targets, weight):
    s = scores.astype(np.float64)
    log_total = np.logaddexp.reduce(s, axis=0)
    loss = np.sum(weight * (log_total - (targets * s).sum(axis=0)))
    return loss, weight * (np.exp(s - log_total) - targets)


def scores_of(rng, shape, dtype):
    """Scores of all sizes: zeros, moderate ones, and ones beyond the range of exp."""
    scores = rng.normal(size=shape) * rng.choice([0.0, 1e-9, 1.0, 30.0, 700.0], size=shape)
    return scores.astype(dtype)


def tolerance(dtype, factor=1.0):
    """Rounding of residuals: a probability less a target, times weights of up to 100."""
    eps = float(np.finfo(dtype).eps)
    return {"rtol": 8 * eps * factor, "atol": 400 * eps * factor}


@dtypes
@pytest.mark.parametrize("n", SIZES)
def test_binary_loss_is_that_of_the_formula(n, dtype):
    rng = np.random.default_rng(n)
    scores = scores_of(rng, (3, n), dtype)
    targets = rng.choice([0.0, 1.0, 0.25], size=(3, n)).astype(dtype)
    weight = rng.random(n) * rng.choice([0.0, 1.0, 1e-5, 100.0], size=n)
    expected, residuals = binary_truth(scores, targets, weight)
    loss = np.zeros(3)
    logistic.binary_loss(scores, targets, weight, np.arange(3), 0, loss)
    np.testing.assert_allclose(loss, expected, rtol=1e-13)
    assert scores.dtype == dtype
    np.testing.assert_allclose(scores, residuals, **tolerance(dtype))


@dtypes
def test_binary_loss_of_some_columns_and_rows_adds_up(dtype):
    rng = np.random.default_rng(0)
    scores, weight = scores_of(rng, (4, 700), dtype), rng.random(700)
    targets = rng.random((6, 700)).astype(dtype)
    columns = np.array([5, 0, 0, 3])
    expected, residuals = binary_truth(scores, targets[columns], weight)
    loss = np.full(4, 2.0)
    for first, stop in ((0, 1), (1, 600), (600, 700)):
        part = np.ascontiguousarray(scores[:, first:stop])
        logistic.binary_loss(part, targets, weight, columns, first, loss)
        np.testing.assert_allclose(part, residuals[:, first:stop], **tolerance(dtype))
    np.testing.assert_allclose(loss, 2.0 + expected, rtol=1e-13)


def test_losses_of_hopeless_and_of_certain_scores():
    scores = np.array([[700.0, -700.0, 1e5, -1e5, 700.0, -700.0, 0.0]])
    targets = np.array([[0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]])
    loss = np.zeros(1)
    logistic.binary_loss(scores, targets, np.ones(7), np.zeros(1, np.int64), 0, loss)
    assert loss[0] == pytest.approx(201_400 + np.log(2.0), rel=1e-15)
    np.testing.assert_allclose(scores, [[1, -1, 1, -1, 0, 0, -0.5]], atol=1e-300)


def test_residuals_are_the_derivative_of_the_loss():
    rng = np.random.default_rng(1)
    scores, targets, weight = rng.normal(size=(2, 5)) * 3, rng.random((2, 5)), rng.random(5)

    def losses(s):
        loss, s = np.zeros(2), s.copy()
        logistic.binary_loss(s, targets, weight, np.arange(2), 0, loss)
        return loss, s

    step = 1e-6
    for i in range(5):
        move = step * (np.arange(5) == i)
        slope = (losses(scores + move)[0] - losses(scores - move)[0]) / (2 * step)
        np.testing.assert_allclose(losses(scores)[1][:, i], slope, atol=1e-8)


@dtypes
@pytest.mark.parametrize("n_classes", [1, 2, 9])
@pytest.mark.parametrize("n", SIZES)
def test_softmax_loss_is_that_of_the_formula(n, n_classes, dtype):
    rng = np.random.default_rng(n)
    scores = scores_of(rng, (n_classes, n), dtype)
    scores[:, ::3] = scores[:1, ::3]  # ties
    targets = rng.dirichlet(np.full(n_classes, 0.3), size=n).T.astype(dtype)
    weight = rng.random(n) * rng.choice([0.0, 1.0, 100.0], size=n)
    expected, residuals = softmax_truth(scores, targets, weight)
    found = logistic.softmax_loss(scores, targets, weight, 0)
    # Targets that sum to 1 up to rounding only, times scores of 700.
    slack = 1e3 * weight.sum() * np.finfo(dtype).eps
    assert found == pytest.approx(expected, rel=1e-12, abs=slack)
    # A score of 700 carries its own rounding into the exponent.
    np.testing.assert_allclose(scores, residuals, **tolerance(dtype, 700.0))


def test_softmax_loss_of_some_rows_adds_up():
    rng = np.random.default_rng(0)
    scores, weight = rng.normal(size=(4, 700)), rng.random(700)
    targets = rng.dirichlet(np.ones(4), size=700).T.copy()
    expected, residuals = softmax_truth(scores, targets, weight)
    total = 0.0
    for first, stop in ((0, 1), (1, 600), (600, 700)):
        part = np.ascontiguousarray(scores[:, first:stop])
        total += logistic.softmax_loss(part, targets, weight, first)
        np.testing.assert_allclose(part, residuals[:, first:stop], atol=1e-14)
    assert total == pytest.approx(expected, rel=1e-13)


@dtypes
@pytest.mark.parametrize("n", SIZES)
def test_log_likelihoods_gather_by_component(n, dtype):
    rng = np.random.default_rng(n)
    scores = scores_of(rng, (5, n), dtype)
    labels = rng.integers(2, size=(3, n)).astype(dtype)
    component, label = np.array([0, 0, 2, 2, 2]), np.array([1, 2, 0, 1, 1])
    expected = rng.normal(size=(4, n))
    out = expected.copy()
    s = scores.astype(np.float64)
    for c in range(5):
        y = labels[label[c]]
        expected[component[c]] += y * s[c] - np.logaddexp(0.0, s[c])
    logistic.log_likelihoods(scores, labels, component, label, out)
    np.testing.assert_allclose(out, expected, rtol=1e-14, atol=1e-12)


def test_losses_are_exact_relative_to_their_size():
    scores = np.concatenate([np.linspace(-700.0, 0.0, 20_001), -(10.0 ** np.arange(-300, 2, 3.0))])
    out, zero = np.zeros((1, scores.size)), np.zeros(1, np.int64)
    logistic.log_likelihoods(scores[None], np.zeros((1, scores.size)), zero, zero, out)
    np.testing.assert_allclose(-out[0], np.log1p(np.exp(scores)), rtol=2e-15)
