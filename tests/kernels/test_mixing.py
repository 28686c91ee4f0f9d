"""Coordinate ascent on unit vectors: monotone, feasible, and its gradient is the gradient."""

import numpy as np
import pytest

from colabel._kernels.mixing import climb_vectors, fill_gradient, mix_rows


def problem(seed, V, r, n=3):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.normal(size=(V, V)), 1)
    X = rng.normal(size=(n, r, V))
    return rng.normal(size=(n, V)), W + W.T, X / np.linalg.norm(X, axis=1, keepdims=True)


def value(b, W, X):
    return b @ X[0] + 0.5 * np.sum((X @ W) * X)


@pytest.mark.parametrize("r", [2, 3, 4, 7, 9])
@pytest.mark.parametrize("V", [1, 2, 6])
def test_sweeps_raise_the_value_and_keep_lengths_and_gradient(V, r):
    B, W, X = problem(V, V, r)
    last = np.array([value(b, W, x) for b, x in zip(B, X, strict=True)])
    G, found = np.empty_like(X), np.empty(3)
    for _ in range(6):
        mix_rows(B, W, X, G, 0.0, 1, found)
        np.testing.assert_allclose(found, [value(B[i], W, X[i]) for i in range(3)], atol=1e-12)
        assert np.all(found >= last - 1e-12)
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
        for i in range(3):
            gradient = X[i] @ W
            gradient[0] += B[i]
            np.testing.assert_allclose(G[i], gradient, atol=1e-12)
        last = found.copy()


def test_at_the_end_every_vector_points_along_its_gradient():
    B, W, X = problem(1, 6, 5)
    G, found = np.empty_like(X), np.empty(3)
    mix_rows(B, W, X, G, 0.0, 300, found)
    along = np.einsum("irl,irl->il", X, G)
    np.testing.assert_allclose(along, np.linalg.norm(G, axis=1), rtol=1e-10)


def test_nothing_pulls_a_free_label():
    X = np.array([[0.6], [0.8]])
    G = np.empty_like(X)
    fill_gradient(np.zeros(1), np.zeros((1, 1)), X, G)
    assert climb_vectors(np.zeros(1), np.zeros((1, 1)), X, G, 1e-6, 10) == 0.0
    np.testing.assert_array_equal(X, [[0.6], [0.8]])


def test_a_factor_on_one_line_stays_there():
    # The trap of warm starts: here the relaxation is larger, but ascent cannot see it.
    W = np.array([[0.0, -1, -1], [-1, 0, -1], [-1, -1, 0]])
    X = np.zeros((1, 3, 3))
    X[0, 0] = [1.0, 1.0, -1.0]
    G, found = np.empty_like(X), np.empty(1)
    mix_rows(np.zeros((1, 3)), W, X, G, 0.0, 100, found)
    assert found[0] == pytest.approx(1.0)
    X[0] += 0.05 * np.random.default_rng(0).normal(size=(3, 3))
    X[0] /= np.linalg.norm(X[0], axis=0)
    mix_rows(np.zeros((1, 3)), W, X, G, 1e-12, 1000, found)
    assert found[0] == pytest.approx(1.5, rel=1e-6)
