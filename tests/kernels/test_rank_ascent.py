"""Dual ascent on the order of labels, against literal loops over pairs."""

import numpy as np
import pytest

from colabel._kernels.rank_ascent import ascend_block, pair_losses
from colabel.learners.rank_dual import _pairs


def problem(seed):
    """Return a random block: Gram matrix, labels, their pairs, weights at 0."""
    rng = np.random.default_rng(seed)
    n, n_labels = 1 + seed % 5, 1 + seed % 4
    Y = (rng.random((n, n_labels)) < 0.5).astype(np.int8)
    X = np.column_stack([rng.normal(size=(n, 2)), np.ones(n)])
    pairs = _pairs(Y, rng.uniform(0.1, 2.0, n))
    return X @ X.T, Y, *pairs.of(slice(None)), np.zeros(pairs.sizes.sum())


def pairs_by_hand(y):
    """Labels on and off in pairs; -1 is a score of 0, for a side that has none."""
    on = [j for j, value in enumerate(y) if value] or [-1]
    off = [j for j, value in enumerate(y) if not value] or [-1]
    return [(k, j) for k in on for j in off]


def dual_by_hand(gram, Y, starts, alpha):
    """Return the dual objective and the sums ``beta`` of the weights of each label."""
    beta = np.zeros(Y.shape)
    for i, y in enumerate(Y):
        for p, (k, j) in enumerate(pairs_by_hand(y)):
            if k >= 0:
                beta[i, k] += alpha[starts[i] + p]
            if j >= 0:
                beta[i, j] -= alpha[starts[i] + p]
    return alpha.sum() - 0.5 * np.sum(beta * (gram @ beta)), beta


@pytest.mark.parametrize("seed", range(120))
def test_ascent_reaches_a_maximum_of_the_dual_and_keeps_books(seed):
    gram, Y, labels, counts, starts, caps, alpha = problem(seed)
    scores = np.zeros((len(Y), Y.shape[1] + 1))
    value, total = 0.0, np.zeros(Y.shape)
    for _ in range(4):
        change = ascend_block(gram, scores, labels, counts, starts, caps, alpha, 3)
        total += change[:, :-1]
        risen, beta = dual_by_hand(gram, Y, starts, alpha)
        assert risen >= value - 1e-12
        value = risen
        np.testing.assert_allclose(total, beta, atol=1e-10)
        np.testing.assert_allclose(scores[:, :-1], gram @ beta, atol=1e-9)
        assert (scores[:, -1] == 0.0).all()
    sizes = counts[:, 0] * counts[:, 1]
    assert (alpha >= 0.0).all()
    assert (alpha <= np.repeat(caps, sizes)).all()
    if seed % 8:
        return
    for _ in range(400):
        ascend_block(gram, scores, labels, counts, starts, caps, alpha, 5)
    for i, y in enumerate(Y):  # the conditions of Karush, Kuhn and Tucker
        f = [*scores[i, :-1], 0.0]
        for p, (k, j) in enumerate(pairs_by_hand(y)):
            slope, weight = 1.0 - f[k] + f[j], alpha[starts[i] + p]
            assert slope <= 1e-5 or weight == caps[i]
            assert slope >= -1e-5 or weight == 0.0


@pytest.mark.parametrize("seed", range(40))
def test_losses_are_those_of_a_loop_over_pairs(seed):
    _, Y, labels, counts, *_ = problem(seed)
    scores = np.pad(np.random.default_rng(seed).normal(size=Y.shape), ((0, 0), (0, 1)))
    for f, y, loss in zip(scores, Y, pair_losses(scores, labels, counts), strict=True):
        hinges = [max(0.0, 1.0 - f[k] + f[j]) for k, j in pairs_by_hand(y)]
        assert loss == pytest.approx(np.mean(hinges))
