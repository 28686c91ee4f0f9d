"""Epochs of back-propagation for label pairs against plain NumPy, and that against differences."""

import numpy as np
import pytest
from scipy import sparse

from colabel._kernels.linear_scores import SparseRows
from colabel._kernels.pair_network import Descent, dense_epoch, sparse_epoch


def loss_by_hand(outputs, y):
    """Return the published loss of one sample, pair by pair; a missing side is an output of 0."""
    on = [c for c, value in zip(outputs, y, strict=True) if value] or [0.0]
    off = [c for c, value in zip(outputs, y, strict=True) if not value] or [0.0]
    total = 0.0
    for a in on:
        for b in off:
            total += np.exp(-(a - b))
    return total / (len(on) * len(off))


def slope_by_hand(outputs, y):
    """Return the derivative of that loss by the outputs, pair by pair."""
    on, off = np.flatnonzero(y), np.flatnonzero(y == 0)
    slope = np.zeros(len(outputs))
    for k in on if len(on) else [None]:
        for other in off if len(off) else [None]:
            high = 0.0 if k is None else outputs[k]
            low = 0.0 if other is None else outputs[other]
            term = np.exp(low - high) / (max(len(on), 1) * max(len(off), 1))
            if k is not None:
                slope[k] -= term
            if other is not None:
                slope[other] += term
    return slope


def split(theta, d, h, n_labels):
    W1, b1, W2, b2 = np.split(theta, np.cumsum([d * h, h, h * n_labels]))
    return W1.reshape(d, h), b1, W2.reshape(h, n_labels), b2


def gradient_of(theta, Z, Y, weight, h):
    """Return the weighted loss of a batch and its gradient, by back-propagation in NumPy."""
    W1, b1, W2, b2 = split(theta, Z.shape[1], h, Y.shape[1])
    hidden = np.tanh(Z @ W1 + b1)
    outputs = np.tanh(hidden @ W2 + b2)
    rows = list(zip(outputs, Y, strict=True))
    loss = weight @ [loss_by_hand(c, y) for c, y in rows]
    delta = np.array([slope_by_hand(c, y) for c, y in rows]) * weight[:, None]
    delta *= 1.0 - outputs**2
    below = (delta @ W2.T) * (1.0 - hidden**2)
    parts = Z.T @ below, below.sum(axis=0), hidden.T @ delta, delta.sum(axis=0)
    return loss, np.concatenate([part.ravel() for part in parts])


def epoch_of(state, Z, on, share, order, descent, n_steps, h):
    """Do in NumPy what the kernels do, in place; Adam as in the textbook."""
    size, rate, decay, adam = descent
    total = 0.0
    for start in range(0, len(Z), size):
        rows = order[start : start + size]
        weight = share[rows] / len(rows)
        loss, state[1] = gradient_of(state[0], Z[rows], on[rows], weight, h)
        total += loss * len(rows)
        slope = state[1] + decay * state[0]
        n_steps += 1
        if adam:
            state[2] = 0.9 * state[2] + 0.1 * slope
            state[3] = 0.999 * state[3] + 0.001 * slope**2
            mean, square = (
                state[2] / (1 - 0.9**n_steps),
                state[3] / (1 - 0.999**n_steps),
            )
            state[0] -= rate * mean / (np.sqrt(square) + 1e-8)
        else:
            state[0] -= rate * slope
    return total / len(Z)


def problem(seed):
    """Return rows, labels, weights, an order, a state and how to descend, of all small sizes."""
    rng = np.random.default_rng(seed)
    n, d, h, n_labels = rng.integers(1, [12, 6, 7, 8])
    Z = rng.normal(size=(n, d)) * rng.choice([0.0, 1.0, 1.0, 30.0], size=(n, 1))
    Z[rng.random(Z.shape) < 0.4] = 0.0
    on = (rng.random((n, n_labels)) < rng.choice([0.0, 0.3, 0.6, 1.0], size=(n, 1))).astype(float)
    share = rng.random(n) + 0.1
    state = np.zeros((4, d * h + h + h * n_labels + n_labels))
    state[0] = rng.normal(size=state.shape[1]) * rng.choice([0.0, 0.5, 5.0])
    batch, decay = int(rng.integers(1, n + 3)), float(rng.choice([0.0, 0.1]))
    descent = Descent(batch, 0.01, decay, seed % 2 == 1)
    return Z, on, share, rng.permutation(n), state, descent, int(h)


def csr(Z):
    rows = sparse.csr_array(Z)
    return SparseRows(rows.indptr, rows.indices, rows.data)


@pytest.mark.parametrize("seed", range(200))
def test_epochs_are_those_of_plain_numpy(seed):
    Z, on, share, order, state, descent, h = problem(seed)
    each, expected = -(-len(Z) // descent.batch_size), state.copy()
    rest = on, share, order
    losses = [epoch_of(expected, Z, *rest, descent, t * each, h) for t in range(3)]
    rows, shift = csr(Z), np.zeros(Z.shape[1])
    for kind in ("dense", "sparse"):
        found = state.copy()
        for t, loss in enumerate(losses):
            if kind == "dense":
                value = dense_epoch(Z, *rest, found, descent, t * each)
            else:
                value = sparse_epoch(rows, shift, *rest, found, descent, t * each)
            assert value == pytest.approx(loss, rel=1e-12)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("seed", range(60))
def test_sparse_rows_are_shifted_as_they_are_multiplied(seed):
    Z, on, share, order, state, descent, _ = problem(seed)
    shift = np.random.default_rng(seed).normal(size=Z.shape[1])
    rows, other = csr(Z), state.copy()
    for _ in range(2):
        a = dense_epoch(Z - shift, on, share, order, state, descent, 0)
        b = sparse_epoch(rows, shift, on, share, order, other, descent, 0)
        assert a == pytest.approx(b, rel=1e-10)
    np.testing.assert_allclose(state[1], other[1], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("seed", range(100))
def test_single_precision_is_as_near_as_rounding_lets_it_be(seed):
    Z, on, share, order, state, descent, h = problem(seed)
    # Steps of Adam are as long for a gradient of rounding errors as for any.
    descent = descent._replace(adam=False)
    single = [a.astype(np.float32) for a in (Z, on, share)]
    found = state.astype(np.float32)
    loss = epoch_of(state, Z, on, share, order, descent, 0, h)
    value = dense_epoch(*single, order, found, descent, 0)
    assert found.dtype == np.float32
    assert value == pytest.approx(loss, rel=1e-4)
    np.testing.assert_allclose(found[0], state[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(40))
def test_the_gradient_is_that_of_differences(seed):
    Z, on, share, _, state, _, h = problem(seed)
    theta = np.clip(state[0], -2.0, 2.0)
    _, gradient = gradient_of(theta, Z, on, share, h)
    for place in range(len(theta)):
        move = 1e-6 * (np.arange(len(theta)) == place)
        up, down = (gradient_of(theta + way * move, Z, on, share, h)[0] for way in (1, -1))
        assert gradient[place] == pytest.approx((up - down) / 2e-6, abs=1e-5)
