"""Margins, loss and gradient equal loops over pairs, and finite differences."""

import numpy as np
import pytest
from scipy import sparse

import oracles_neighbors as oracle
from colabel.neighbors._codeword_maps import Codewords
from colabel.neighbors._margin_problem import MarginProblem


def problem(seed, form=np.asarray):
    """Codewords of a few features, some of their labels taken out of them."""
    rng = np.random.default_rng(seed)
    n, q, d, k = (int(v) for v in rng.integers([2, 1, 1, 1], [9, 6, 5, 4]))
    Y = (rng.random((n, q)) < 0.5).astype(float)
    X, P, b = rng.normal(size=(n, d)), rng.normal(size=(d, q)), rng.normal(size=q)
    scale, own = rng.random(n) + 0.5, rng.normal(size=n)
    near = rng.integers(0, n, (n, k))
    words = Codewords(form(X), P, b, scale, own)
    made = MarginProblem(words, sparse.csr_array(Y), near, 3.0)
    Z = scale[:, None] * (X @ P + b) + own[:, None] * Y
    half = rng.normal(size=(q, q))
    return made, Z, Y, near, half @ half.T


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_objective_equals_loops_over_pairs(form, monkeypatch):
    monkeypatch.setattr("colabel.neighbors._margin_problem.BLOCK", 8)
    for seed in range(40):
        made, Z, Y, near, Q = problem(seed, form)
        np.testing.assert_array_equal(made.delta, np.abs(Y[near] - Y[:, None]).sum(axis=2))
        margins = made.margins(Q)
        for (i, j), found in np.ndenumerate(margins):
            expected = oracle.margin(Z[i], Y[i], Y[near[i, j]], Q)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)
        value = made.loss(margins) + 0.5 * np.trace(Q)
        expected = oracle.metric_objective(Z, Y, near, 3.0, Q)
        assert value == pytest.approx(expected)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_gradient_equals_a_sum_of_outer_products(form):
    for seed in range(40):
        made, Z, Y, near, Q = problem(seed, form)
        expected = oracle.metric_gradient(Z, Y, near, 3.0, Q)
        found = made.gradient(made.margins(Q))
        np.testing.assert_allclose(found, expected, atol=1e-8 * (1 + np.abs(expected).max()))
        np.testing.assert_allclose(found, found.T)


def test_the_gradient_equals_finite_differences():
    for seed in range(20):
        made, *_, Q = problem(seed)
        gradient = made.gradient(made.margins(Q))
        rng = np.random.default_rng(seed)
        D = rng.normal(size=Q.shape)
        D, h = D + D.T, 1e-6
        rise = made.loss(made.margins(Q + h * D)) - made.loss(made.margins(Q - h * D))
        assert rise / (2 * h) == pytest.approx(np.vdot(gradient, D), rel=1e-5, abs=1e-5)


def test_neighbours_that_tie_share_the_gradient():
    # At Q = 0 both neighbours of each row violate by their two labels.
    Y = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]])
    near = np.array([[1, 2], [0, 2], [0, 1]])
    words = Codewords(np.zeros((3, 1)), np.zeros((1, 3)), np.zeros(3), np.ones(3), np.zeros(3))
    made = MarginProblem(words, sparse.csr_array(Y), near, 1.0)
    found = made.gradient(made.margins(np.zeros((3, 3))))
    swapped = [1, 2, 0]
    np.testing.assert_allclose(found, found[np.ix_(swapped, swapped)], atol=1e-12)
    assert made.loss(made.margins(np.zeros((3, 3)))) == pytest.approx(4.0)


def test_one_slack_a_row_is_that_of_its_worst_neighbour():
    made, _, Y, _, Q = problem(7)
    slack = np.maximum(made.delta - made.margins(Q), 0.0).max(axis=1)
    assert made.loss(made.margins(Q)) == pytest.approx(3.0 / len(Y) * np.sum(slack**2))
