"""An epoch of back-propagation for label pairs, one hidden layer (Zhang and Zhou 2006).

Batches are small, so that what a library of arrays spends on calls would be most of the time. All
weights are one vector, ``W1`` (d, h), ``b1`` (h,), ``W2`` (h, L) and ``b2`` (L,), one after the
other; so is their gradient.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import any_order, bare_kernel, inner_kernel, kernel
from colabel._kernels.mixture_parts import exp_minus_abs

__all__ = ["Descent", "dense_epoch", "sparse_epoch"]

# Decay of Adam's two means, and what keeps its steps finite (Kingma and Ba 2015).
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


# Rows of ``state``: all weights, their gradient, and the two running means of Adam.
THETA, GRADIENT, MEAN, SQUARE = range(4)


class Descent(NamedTuple):
    """Rows of a batch, learning rate, weight decay, and whether Adam or plain descent steps."""

    batch_size: int
    rate: float
    decay: float
    adam: bool


class _Layers(NamedTuple):
    """The hidden layer and its slopes, the outputs and theirs, and room for powers of either."""

    hidden: np.ndarray
    below: np.ndarray
    outputs: np.ndarray
    delta: np.ndarray
    power: np.ndarray


@kernel
def dense_epoch(Z, on, share, order, state, descent, n_steps):
    """Take a step of descent for each batch of rows; return the mean loss as it went along.

    Parameters
    ----------
    Z : float64 array of shape (n, d)
    on : float64 array of shape (n, L), 0 and 1
    share : float64 array of shape (n,)
        Weights of rows, with a mean of 1.
    order : int64 array of shape (n,)
        Batches are cut from it.
    state : float64 array of shape (4, d h + h + h L + L)
        Weights, gradient, and the means of Adam; changed.
    descent : Descent
    n_steps : int
        Steps taken before.

    Notes
    -----
    O(n h (d + L)) for products of matrices, and O((d + L) h) a batch for its step.
    """
    (n, d), size = Z.shape, min(descent.batch_size, Z.shape[0])
    n_hidden = (state.shape[1] - on.shape[1]) // (d + 1 + on.shape[1])
    batch, layers, total = np.empty((size, d), Z.dtype), _layers(size, n_hidden, on), 0.0
    W1, upper = state[THETA, : d * n_hidden], state[THETA, d * n_hidden :]
    G1, slopes = state[GRADIENT, : d * n_hidden], state[GRADIENT, d * n_hidden :]
    for start in range(0, n, size):
        rows = order[start : start + size]
        X, k = batch[: rows.size], rows.size
        hidden, below = layers.hidden[:k], layers.below[:k]
        for i in range(rows.size):
            for j in range(d):
                X[i, j] = Z[rows[i], j]
        np.dot(X, W1.reshape(d, n_hidden), hidden)
        total += _propagate(layers, rows, on, share, upper, slopes)
        np.dot(X.T, below, G1.reshape(d, n_hidden))
        n_steps += 1
        _descend(state, descent, n_steps)
    return total / n


@kernel
def sparse_epoch(Z, shift, on, share, order, state, descent, n_steps):
    """Do as ``dense_epoch`` does for rows ``Z - shift``, ``Z`` sparse.

    Parameters
    ----------
    Z : SparseRows
    shift : float64 array of shape (d,)
    on, share, order, state, descent, n_steps
        As in ``dense_epoch``.

    Notes
    -----
    O(h (nnz + n L)), and O((d + L) h) a batch.
    """
    values, columns, starts = Z.data, Z.indices, Z.indptr
    n, d = on.shape[0], shift.size
    n_hidden = (state.shape[1] - on.shape[1]) // (d + 1 + on.shape[1])
    size, total = min(descent.batch_size, n), 0.0
    layers = _layers(size, n_hidden, on)
    W1, upper = state[THETA, : d * n_hidden].reshape(d, n_hidden), state[THETA, d * n_hidden :]
    G1, slopes = (
        state[GRADIENT, : d * n_hidden].reshape(d, n_hidden),
        state[GRADIENT, d * n_hidden :],
    )
    for start in range(0, n, size):
        rows = order[start : start + size]
        base = -np.dot(shift, W1)
        for i in range(rows.size):
            unit = layers.hidden[i]
            unit[:] = base
            for place in range(starts[rows[i]], starts[rows[i] + 1]):
                _add(values[place], W1[columns[place]], unit)
        total += _propagate(layers, rows, on, share, upper, slopes)
        for j in range(d):
            for u in range(n_hidden):
                G1[j, u] = -shift[j] * slopes[u]
        for i in range(rows.size):
            for place in range(starts[rows[i]], starts[rows[i] + 1]):
                _add(values[place], layers.below[i], G1[columns[place]])
        n_steps += 1
        _descend(state, descent, n_steps)
    return total / n


@inner_kernel
def _layers(size, n_hidden, on):
    return _Layers(
        np.empty((size, n_hidden), on.dtype),
        np.empty((size, n_hidden), on.dtype),
        np.empty((size, on.shape[1]), on.dtype),
        np.empty((size, on.shape[1]), on.dtype),
        np.empty(size * max(n_hidden, on.shape[1]), on.dtype),
    )


@inner_kernel
def _propagate(layers, rows, on, share, upper, slopes):
    """Go from products with ``W1`` to the loss, and back to the slopes of the hidden layer.

    ``upper`` holds ``b1``, ``W2`` and ``b2``; their gradient is written to ``slopes``. Returns the
    sum of the rows' losses.
    """
    k, n_labels = rows.size, on.shape[1]
    hidden, below, outputs = layers.hidden[:k], layers.below[:k], layers.outputs[:k]
    delta, power, h = layers.delta[:k], layers.power, layers.hidden.shape[1]
    top = h + h * n_labels
    W2, G2 = upper[h:top].reshape(h, n_labels), slopes[h:top].reshape(h, n_labels)
    _squash(hidden, upper[:h], power)
    np.dot(hidden, W2, outputs)
    _squash(outputs, upper[top:], power)
    loss = _pair_losses(outputs, rows, on, share, delta, power)
    np.dot(hidden.T, delta, G2)
    np.dot(delta, W2.T, below)
    slopes[:h] = 0.0
    slopes[top:] = 0.0
    for i in range(k):
        _slope(hidden[i], below[i])  # Eq. 14
        _add(1.0, below[i], slopes[:h])
        _add(1.0, delta[i], slopes[top:])
    return loss


@inner_kernel
def _squash(values, constants, room):
    """Write ``tanh(values + constants)`` over the values, within 4e-16. No calls: it vectorises."""
    for i in range(values.shape[0]):
        for v in range(values.shape[1]):
            values[i, v] = 2.0 * (values[i, v] + constants[v])
    flat, power = values.reshape(values.size), room[: values.size]
    exp_minus_abs(flat, power)
    _tanh(flat, power)


@bare_kernel
def _tanh(doubled, power):
    for v in range(doubled.size):
        t = np.divide(1.0 - power[v], 1.0 + power[v])
        doubled[v] = t if doubled[v] > 0.0 else -t


@inner_kernel
def _pair_losses(outputs, rows, on, share, delta, room):
    """Return the sum of losses; write derivatives of the mean by what is squashed to outputs.

    Of a row the mean of ``exp(-(c_k - c_l))`` over labels ``k`` on and ``l`` off (Eq. 3 of Zhang
    and Zhou 2006), as a product of two sums: O(L). A row with no label on, or all of them, has no
    pairs; its labels are compared with an output of 0.
    """
    k, n_labels = outputs.shape
    for i in range(k):
        for v in range(n_labels):
            # Outputs are in [-1, 1], so that 1 less them is not negative.
            delta[i, v] = 1.0 + (2.0 * on[rows[i], v] - 1.0) * outputs[i, v]
    exp_minus_abs(delta.reshape(delta.size), room[: delta.size])
    total = 0.0
    for i in range(k):
        power = room[i * n_labels : (i + 1) * n_labels]
        weight = share[rows[i]]
        total += weight * _pair_loss(outputs[i], on[rows[i]], weight / k, power, delta[i])
    return total


@bare_kernel
def _pair_loss(outputs, on, weight, power, delta):
    """Return the loss of a row, with ``power`` terms of its sums divided by e."""
    total_on, total_off, n_on = 0.0, 0.0, 0.0
    for v in range(on.size):
        total_on += on[v] * power[v]
        total_off += (1.0 - on[v]) * power[v]
        n_on += on[v]
    total_on = np.e * total_on if n_on > 0.0 else 1.0
    total_off = np.e * total_off if n_on < on.size else 1.0
    pairs = max(n_on, 1.0) * max(on.size - n_on, 1.0)
    up, down = -np.e * weight * total_off / pairs, np.e * weight * total_on / pairs
    for v in range(on.size):
        factor = on[v] * up + (1.0 - on[v]) * down
        delta[v] = factor * power[v] * (1.0 - outputs[v] * outputs[v])  # Eq. 11, to descend
    return total_on * total_off / pairs


@bare_kernel
def _slope(units, below):
    for u in range(units.size):
        below[u] *= 1.0 - units[u] * units[u]


@any_order
def _add(factor, row, out):
    for v in range(row.size):
        out[v] += factor * row[v]


@bare_kernel
def _descend(state, descent, n_steps):
    """Take a step against the gradient of the loss and of half the squared weights' penalty."""
    rate, decay, theta, gradient = descent.rate, descent.decay, state[THETA], state[GRADIENT]
    if descent.adam:
        rate /= 1.0 - BETA_1 ** float(n_steps)
        unbiased = 1.0 / (1.0 - BETA_2 ** float(n_steps))
        _adam(theta, gradient, state[MEAN], state[SQUARE], rate, decay, unbiased)
    else:
        for j in range(theta.size):
            theta[j] -= rate * (gradient[j] + decay * theta[j])


@any_order
def _adam(theta, gradient, mean, square, rate, decay, unbiased):
    for j in range(theta.size):
        slope = gradient[j] + decay * theta[j]
        first = mean[j] + (1.0 - BETA_1) * (slope - mean[j])
        second = square[j] + (1.0 - BETA_2) * (slope * slope - square[j])
        mean[j], square[j] = first, second
        theta[j] -= rate * np.divide(first, np.sqrt(unbiased * second) + EPSILON)
