"""Whole fits of logistic regressions to dense rows, without a step back into Python.

A point holds the coefficients of a regression for centred features and, last, its intercept. Rows
are multiplied in blocks, small enough for BLAS to take them as they lie, and each block is at hand
in both orders.
"""

import numpy as np

from colabel._kernels import inner_kernel, kernel
from colabel._kernels.lbfgs import COUNTS, HEAD, POINT, RHO, SCALE, STEPS, advance, dot
from colabel._kernels.logistic import binary_loss, softmax_loss

__all__ = ["block_rows", "fit_component", "softmax_rows", "solve"]

# Settings: the limits of ``lbfgs``, then the weight of the ridge penalty; for a component also the
# pairs that L-BFGS remembers, and the least weight of a row that counts.
PENALTY, MEMORY, LEAST = 6, 7, 8
# Multiplications in a small matrix product, for which BLAS need not rearrange the operands, and the
# fewest rows with which that pays; else rows are many, or scores are as many as the cache holds.
SMALL_PRODUCT, SMALL_ROWS, MANY_ROWS, BLOCK_SCORES = 10**6, 16, 256, 2**16


@kernel
def block_rows(n_rows, size, n_points):
    """Return how many rows of some size to multiply with so many points at a time."""
    step = SMALL_PRODUCT // (n_points * size)
    if step < SMALL_ROWS:
        step = max(MANY_ROWS, BLOCK_SCORES // n_points)
    n_blocks = max((n_rows - 1) // step + 1, 1)
    return max((n_rows - 1) // n_blocks + 1, 1)


@kernel
def solve(rows, columns, step, targets, weight, origin, mask, vectors, settings):
    """Minimise penalised losses by L-BFGS, all regressions side by side.

    Parameters
    ----------
    rows : float array of shape (n, D)
        The last column is that of the intercept.
    columns : float array of shape (n * D,)
        The same, ``step`` rows at a time, each block transposed.
    step : int
    targets : float array of shape (C, n)
    weight : float64 array of shape (n,)
    origin : float64 array of shape (C, D), or (0, D) for zeros
        What points are differences from.
    mask : float64 array of shape (C, D), or (0, D) for ones
        0 for coefficients that stay, else 1.
    vectors : float64 array of shape (C, 4 + 2 m, D)
        The memory of ``lbfgs.advance``; ``POINT`` holds the start, and in the end the minimum.
    settings : float64 array of shape (7,) or more

    Returns
    -------
    numbers, counts : arrays
        As ``lbfgs.advance`` leaves them.
    evaluated : int
        Evaluations, summed over problems: each is ``4 n D`` flops a regression.
    """
    C, n_vectors, D = vectors.shape
    numbers = np.zeros((C, RHO + (n_vectors - HEAD) // 2))
    counts = np.zeros((C, COUNTS), dtype=np.int64)
    active, trial = np.arange(C), np.empty((C, D))
    for c in range(C):
        counts[c, STEPS] = -1
        _copy(vectors[c, POINT], trial[c])
    value, gradient = np.empty(C), np.empty((C, D))
    near, part = np.empty((C, D), rows.dtype), np.empty((C, D), rows.dtype)
    space = np.empty(C * step, rows.dtype)
    running, evaluated = C, 0
    while running > 0:
        evaluated += running
        active, points = active[:running], near[:running]
        _begin(trial, origin, active, settings[PENALTY], points, value, gradient)
        for start in range(0, len(rows), step):
            size = min(step, len(rows) - start)
            block = columns[start * D : (start + size) * D].reshape(D, size)
            scores = space[: running * size].reshape(running, size)
            np.dot(points, block, scores)
            binary_loss(scores, targets, weight, active, start, value)
            np.dot(scores, rows[start : start + size], part[:running])
            _add(part[:running], gradient)
        if len(mask):
            _hide(gradient, mask, active)
        running = advance(vectors, numbers, counts, active, trial, value, gradient, settings)
    return numbers, counts, evaluated


@kernel
def softmax_rows(points, rows, columns, step, targets, weight, first, last):
    """Return the loss of a multinomial regression on some rows, and its gradient.

    Parameters
    ----------
    points : float array of shape (K, D)
    rows, columns, step, targets, weight
        As for ``solve``.
    first, last : int
        Multiples of ``step``, or the number of rows.

    Returns
    -------
    loss : float
    gradient : float64 array of shape (K, D)
    """
    K, D = points.shape
    loss, gradient = 0.0, np.zeros((K, D))
    part, space = np.empty((K, D), rows.dtype), np.empty(K * step, rows.dtype)
    for start in range(first, last, step):
        size = min(step, last - start)
        block = columns[start * D : (start + size) * D].reshape(D, size)
        scores = space[: K * size].reshape(K, size)
        np.dot(points, block, scores)
        loss += softmax_loss(scores, targets, weight, start)
        np.dot(scores, rows[start : start + size], part)
        _add(part, gradient)
    return loss, gradient


@kernel
def fit_component(X, Y, weight, labels, known, before, center, settings):
    """Fit the logistic regressions of some labels to the rows that count.

    Parameters
    ----------
    X : float array of shape (n, d)
    Y : float array of shape (L, n), in [0, 1]
    weight : float64 array of shape (n,)
    labels : int64 array of shape (C,)
        Labels to fit, ascending.
    known : int64 array
        Labels that ``before`` holds, ascending.
    before : float64 array of shape (n_known, d + 1)
        Coefficients and, last, intercepts to start from.
    center : float64 array of shape (L, d + 1), or (0, d + 1) for zeros
        Mean of the prior. Labels that are not known start there, or else with their base rate.
    settings : float64 array of shape (9,)

    Returns
    -------
    float64 array of shape (C, d + 1)
        Coefficients and, last, intercepts.

    Notes
    -----
    Rows lighter than ``settings[LEAST]`` are left out. O(m d C) an evaluation with ``m`` rows.
    """
    chosen = np.flatnonzero(weight >= settings[LEAST])
    weight, D = weight[chosen], X.shape[1] + 1
    step = block_rows(len(chosen), D, len(labels))
    rows, columns, mean, variance = _gather(X, chosen, weight, step)
    targets = np.empty((len(labels), len(chosen)), X.dtype)
    vectors = np.empty((len(labels), HEAD + 2 * int(settings[MEMORY]), D))
    origin = np.zeros((len(labels) if len(center) else 0, D))
    for c, label in enumerate(labels):
        _take(Y[label], chosen, targets[c])
        point, at = vectors[c, POINT], np.searchsorted(known, label)
        _start(targets[c], weight, variance, settings[PENALTY], point, vectors[c, SCALE])
        if len(center):
            _copy(center[label], origin[c])
            _copy(center[label], point)
        if at < len(known) and known[at] == label:
            _copy(before[at], point)
        if len(center):
            origin[c, -1] = 0.0
            _add_slopes(point, origin[c], -1.0)
            _shift(origin[c], mean, 1.0)
        _shift(point, mean, 1.0)
    none = np.zeros((0, D))
    solve(rows, columns, step, targets, weight, origin, none, vectors, settings)
    found = np.empty((len(labels), D))
    for c in range(len(labels)):
        _copy(vectors[c, POINT], found[c])
        _shift(found[c], mean, -1.0)
        if len(center):
            _add_slopes(found[c], origin[c], 1.0)
    return found


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
