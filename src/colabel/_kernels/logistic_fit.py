"""Whole fits of logistic regressions to dense rows, without a step back into Python.

A point holds the coefficients of a regression for centred features and, last, its intercept. Rows
are multiplied in blocks, small enough for BLAS to take them as they lie, and each block is at hand
in both orders.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import inner_kernel, kernel
from colabel._kernels.lbfgs import MEMORY, POINT, SCALE, advance, dot, empty_memory
from colabel._kernels.logistic import binary_loss, softmax_loss

__all__ = ["Batch", "block_rows", "fit_component", "softmax_rows", "solve"]

# Multiplications in a small matrix product, for which BLAS need not rearrange the operands, and the
# fewest rows with which that pays; else rows are many, or scores are as many as the cache holds.
SMALL_PRODUCT, SMALL_ROWS, MANY_ROWS, BLOCK_SCORES = 10**6, 16, 256, 2**16


class Batch(NamedTuple):
    """What regressions on shared rows are fitted to.

    ``rows`` (n, D), the last column that of the intercept; ``columns`` (n * D,), the same ``step``
    rows at a time, each block transposed; ``targets`` (C, n) in [0, 1]; ``weight`` (n,).
    """

    rows: np.ndarray
    columns: np.ndarray
    step: int
    targets: np.ndarray
    weight: np.ndarray


@kernel
def block_rows(n_rows, size, n_points):
    """Return how many rows of some size to multiply with so many points at a time."""
    step = SMALL_PRODUCT // (n_points * size)
    if step < SMALL_ROWS:
        step = max(MANY_ROWS, BLOCK_SCORES // n_points)
    n_blocks = max((n_rows - 1) // step + 1, 1)
    return max((n_rows - 1) // n_blocks + 1, 1)


@kernel
def solve(batch, penalty, origin, mask, price, memory, limits):
    """Minimise penalised losses by L-BFGS, all regressions side by side.

    Parameters
    ----------
    batch : Batch
        Of C regressions.
    penalty : float
        Weight of the ridge penalty.
    origin : float64 array of shape (C, D), or (0, D) for zeros
        What points are differences from.
    mask : float64 array of shape (C, D), or (0, D) for ones
        0 for coefficients that stay, else 1.
    price : float64 array of shape (C, D), or None
        Weights of an L1 norm.
    memory : lbfgs.Memory
        ``POINT`` holds the start, and in the end the minimum.
    limits : lbfgs.Limits

    Returns
    -------
    int
        Evaluations, summed over problems: each is ``4 n D`` flops a regression.
    """
    C, D = memory.vectors.shape[0], batch.rows.shape[1]
    active, trial = np.arange(C), np.empty((C, D))
    for c in range(C):
        _copy(memory.vectors[c, POINT], trial[c])
    value, gradient = np.empty(C), np.empty((C, D))
    near, part = np.empty((C, D), batch.rows.dtype), np.empty((C, D), batch.rows.dtype)
    space = np.empty(C * batch.step, batch.rows.dtype)
    running, evaluated = C, 0
    while running > 0:
        evaluated += running
        active = active[:running]
        _begin(trial, origin, active, penalty, near, value, gradient)
        _evaluate(batch, active, near[:running], space, part[:running], value, gradient)
        if len(mask):
            _hide(gradient, mask, active)
        running = advance(memory, price, active, trial, value, gradient, limits)
    return evaluated


@inner_kernel
def _evaluate(batch, active, points, space, part, value, gradient):
    """Add the losses of the active regressions, and their gradients, block by block."""
    n = len(batch.rows)
    for start in range(0, n, batch.step):
        size = min(batch.step, n - start)
        scores = space[: len(active) * size].reshape(len(active), size)
        np.dot(points, _block(batch, start, size), scores)
        binary_loss(scores, batch.targets, batch.weight, active, start, value)
        np.dot(scores, batch.rows[start : start + size], part)
        _add(part, gradient)


@inner_kernel
def _block(batch, start, size):
    """Return some rows, transposed."""
    D = batch.rows.shape[1]
    return batch.columns[start * D : (start + size) * D].reshape(D, size)


@kernel
def softmax_rows(points, batch, first, last):
    """Return the loss of a multinomial regression on some rows, and its gradient.

    Parameters
    ----------
    points : float array of shape (K, D)
    batch : Batch
        Of K classes, whose targets are shares.
    first, last : int
        Multiples of the batch's ``step``, or the number of rows.

    Returns
    -------
    loss : float
    gradient : float64 array of shape (K, D)
    """
    K, D = points.shape
    loss, gradient = 0.0, np.zeros((K, D))
    part, space = np.empty((K, D), batch.rows.dtype), np.empty(K * batch.step, batch.rows.dtype)
    for start in range(first, last, batch.step):
        size = min(batch.step, last - start)
        scores = space[: K * size].reshape(K, size)
        np.dot(points, _block(batch, start, size), scores)
        loss += softmax_loss(scores, batch.targets, batch.weight, start)
        np.dot(scores, batch.rows[start : start + size], part)
        _add(part, gradient)
    return loss, gradient


@kernel
def fit_component(X, Y, weight, labels, least, prior, known, limits):
    """Fit the regressions of some labels to the rows that a component answers for.

    Parameters
    ----------
    X : float array of shape (n, d)
    Y : float array of shape (L, n), in [0, 1]
    weight : float64 array of shape (n,)
    labels : int64 array of shape (C,)
        Labels to fit, ascending.
    least : float
        Rows of less weight are left out.
    prior : NamedTuple
        ``penalty``, of the ridge, and ``center`` (L, d + 1), or (0, d + 1) for zeros: its mean.
        Labels that are not known start there, or else with their base rate.
    known : NamedTuple
        ``labels``, ascending, and ``points`` (n_known, d + 1) to start from: coefficients and,
        last, intercepts.
    limits : lbfgs.Limits

    Returns
    -------
    float64 array of shape (C, d + 1)
        Coefficients and, last, intercepts.

    Notes
    -----
    O(m d C) an evaluation with ``m`` rows.
    """
    chosen = np.flatnonzero(weight >= least)
    C, D = len(labels), X.shape[1] + 1
    step = block_rows(len(chosen), D, C)
    rows, columns, mean, variance = _gather(X, chosen, weight[chosen], step)
    batch = Batch(rows, columns, step, np.empty((C, len(chosen)), X.dtype), weight[chosen])
    memory = empty_memory(C, D, max(min(MEMORY, limits.max_steps), 1))
    origin = np.zeros((C if len(prior.center) else 0, D))
    for c in range(C):
        target, vector = batch.targets[c], memory.vectors[c]
        _take(Y[labels[c]], chosen, target)
        _start(target, batch.weight, variance, prior.penalty, vector[POINT], vector[SCALE])
        _resume(labels[c], prior.center, known, vector[POINT])
        if len(origin):
            _leave(prior.center[labels[c]], mean, origin[c], vector[POINT])
        _shift(vector[POINT], mean, 1.0)
    solve(batch, prior.penalty, origin, np.zeros((0, D)), None, memory, limits)
    found = np.empty((C, D))
    for c in range(C):
        _copy(memory.vectors[c, POINT], found[c])
        _shift(found[c], mean, -1.0)
        if len(origin):
            _add_slopes(found[c], origin[c], 1.0)
    return found


@inner_kernel
def _leave(center, mean, origin, point):
    """Make a point the difference from the center, and the center that of centred features."""
    _copy(center, origin)
    origin[-1] = 0.0
    _add_slopes(point, origin, -1.0)
    _shift(origin, mean, 1.0)


@inner_kernel
def _resume(label, center, known, point):
    """Write where a regression starts, if it is known or the prior has a center."""
    if len(center):
        _copy(center[label], point)
    at = np.searchsorted(known.labels, label)
    if at < len(known.labels) and known.labels[at] == label:
        _copy(known.points[at], point)


@inner_kernel
def _gather(X, chosen, weight, step):
    """Return centred rows in both orders, and weighted means and variances of the features."""
    n, d = len(chosen), X.shape[1]
    mean, variance, total = np.zeros(d), np.zeros(d), weight.sum()
    for i in range(n):
        share = np.divide(weight[i], total)
        for j in range(d):
            mean[j] += share * X[chosen[i], j]
    rows, columns = np.ones((n, d + 1), X.dtype), np.empty(n * (d + 1), X.dtype)
    for i in range(n):
        share = np.divide(weight[i], total)
        for j in range(d):
            x = X[chosen[i], j] - mean[j]
            variance[j] += share * x * x
            rows[i, j] = x
    for start in range(0, n, step):
        size = min(step, n - start)
        block = columns[start * (d + 1) : (start + size) * (d + 1)].reshape(d + 1, size)
        for j in range(d + 1):
            for i in range(size):
                block[j, i] = rows[start + i, j]
    return rows, columns, mean, variance


@inner_kernel
def _take(row, chosen, out):
    for i in range(len(chosen)):
        out[i] = row[chosen[i]]


@inner_kernel
def _start(target, weight, variance, penalty, point, scale):
    """Write a start at the base rate, and the inverse of the Hessian's diagonal there."""
    total, on = 0.0, 0.0
    for i in range(len(target)):
        total += weight[i]
        on += weight[i] * target[i]
    # Drawn a little to one half: the share of a constant is not 0 or 1.
    rate = np.divide(on + 0.5, total + 1.0)
    bend = rate * (1.0 - rate) * total
    for j in range(len(variance)):
        hessian = bend * variance[j] + penalty
        scale[j] = np.divide(1.0, hessian) if hessian > 0.0 else 1.0
        point[j] = 0.0
    scale[-1], point[-1] = np.divide(1.0, bend), np.log(rate) - np.log1p(-rate)


@inner_kernel
def _copy(source, target):
    for j in range(len(source)):  # in a loop, for an assignment of slices takes long to compile
        target[j] = source[j]


@inner_kernel
def _add_slopes(point, other, sign):
    for j in range(len(point) - 1):
        point[j] += sign * other[j]


@inner_kernel
def _shift(point, mean, sign):
    """Make the intercept that of centred features, or (``sign`` -1) of the features."""
    for j in range(len(mean)):
        point[-1] += sign * mean[j] * point[j]


@inner_kernel
def _begin(trial, origin, active, penalty, near, value, gradient):
    """Write points in the precision of products, and values and gradients of the penalty."""
    size = trial.shape[1] - 1
    for a in range(len(active)):
        for j in range(size):
            gradient[a, j] = penalty * trial[a, j]
        gradient[a, size] = 0.0
        value[a] = 0.5 * dot(gradient[a, :size], trial[a, :size])
        for j in range(size + 1):
            near[a, j] = trial[a, j] + origin[active[a], j] if len(origin) else trial[a, j]


@inner_kernel
def _add(part, total):
    for a in range(part.shape[0]):
        for j in range(part.shape[1]):
            total[a, j] += part[a, j]


@inner_kernel
def _hide(gradient, mask, active):
    for a in range(len(active)):
        for j in range(gradient.shape[1]):
            gradient[a, j] *= mask[active[a], j]
