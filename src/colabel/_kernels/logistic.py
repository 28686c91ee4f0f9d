"""Losses of many logistic regressions at once, with their residuals, in one pass over the scores.

Scores come with one row a regression (or class) and one column a sample, so that every loop runs
along samples and vectorises however few regressions there are. Divisions are written ``np.divide``:
the operator checks for zero first, and a loop with a check in it does not vectorise.
"""

import numpy as np

from colabel._kernels import inner_kernel, kernel
from colabel._kernels.mixture_parts import exp_minus_abs

__all__ = ["binary_loss", "log_likelihoods", "softmax_loss"]

# Samples worked on together: their buffers stay in the nearest cache.
BLOCK = 512


@kernel
def binary_loss(scores, targets, weight, columns, first, loss):
    """Add each regression's weighted loss to ``loss`` and turn its scores into residuals.

    Parameters
    ----------
    scores : float array of shape (A, m)
        ``s`` of the samples ``first, ..., first + m - 1``; overwritten with ``weight * (sigmoid(s)
        - target)``, the derivative of the loss.
    targets : float array of shape (C, n), in [0, 1]
    weight : float64 array of shape (n,)
    columns : int64 array of shape (A,)
        The row of ``targets`` that each row of ``scores`` is to meet.
    first : int
    loss : float64 array of shape (A,)
        ``sum_n weight_n (log(1 + exp(s_n)) - target_n s_n)`` is added to it.

    Notes
    -----
    O(A m), about 60 flops a score and no branch; arithmetic in float64 whatever the scores are.
    """
    wide, ratio = np.empty(BLOCK), np.empty(BLOCK)
    for a in range(scores.shape[0]):
        for start in range(0, scores.shape[1], BLOCK):
            size = min(scores.shape[1] - start, BLOCK)
            here, s, e = first + start, wide[:size], ratio[:size]
            row, target = scores[a, start : start + size], targets[columns[a], here : here + size]
            _widen(row, s)
            exp_minus_abs(s, e)
            _binary(s, e, target, weight[here : here + size], row)
            loss[a] += _sum(s)


@kernel
def softmax_loss(scores, targets, weight, first):
    """Return the weighted loss of one multinomial regression and turn its scores into residuals.

    Parameters
    ----------
    scores : float array of shape (K, m)
        ``s`` of the samples ``first, ..., first + m - 1``; overwritten with ``weight * (softmax(s)
        - target)``.
    targets : float array of shape (K, n)
        Class probabilities of each sample: columns sum to 1.
    weight : float64 array of shape (n,)
    first : int

    Notes
    -----
    ``sum_n weight_n (log sum_k exp(s_kn) - sum_k target_kn s_kn)``; O(K m).
    """
    loss = 0.0
    buffers = np.empty((5, BLOCK))
    for start in range(0, scores.shape[1], BLOCK):
        size = min(scores.shape[1] - start, BLOCK)
        stop, here = start + size, first + start
        peak, total, fit = buffers[0, :size], buffers[1, :size], buffers[2, :size]
        low, power, near = buffers[3, :size], buffers[4, :size], weight[here : here + size]
        peak[:], total[:], fit[:] = -np.inf, 0.0, 0.0
        for k in range(scores.shape[0]):
            _raise(peak, scores[k, start:stop])
        for k in range(scores.shape[0]):
            row, target = scores[k, start:stop], targets[k, here : here + size]
            _lower(row, peak, target, fit, low)
            exp_minus_abs(low, power)
            _gather(row, power, total)
        for i in range(size):
            loss += near[i] * (np.log(total[i]) - fit[i])
            total[i] = np.divide(near[i], total[i])
        for k in range(scores.shape[0]):
            _residual(scores[k, start:stop], total, near, targets[k, here : here + size])
    return loss


@kernel
def log_likelihoods(scores, labels, component, label, out):
    """Add ``log Ber(y_l; sigmoid(s))`` of each expert to its component's row of ``out``.

    Parameters
    ----------
    scores : float array of shape (C, n)
        One row an expert.
    labels : float array of shape (L, n), in {0, 1}
    component, label : int64 arrays of shape (C,)
        The component each expert belongs to, and the label it predicts.
    out : float64 array of shape (K, n)

    Notes
    -----
    O(C n); scores need no clipping, since ``-log(1 + exp(-|s|))`` and ``-|s|`` are added apart.
    """
    n = scores.shape[1]
    wide, ratio = np.empty(BLOCK), np.empty(BLOCK)
    for c in range(scores.shape[0]):
        for start in range(0, n, BLOCK):
            stop = min(n, start + BLOCK)
            s, e, y = wide[: stop - start], ratio[: stop - start], labels[label[c], start:stop]
            _widen(scores[c, start:stop], s)
            exp_minus_abs(s, e)
            _gain(s, e, y, out[component[c], start:stop])


@inner_kernel
def _widen(row, wide):
    for i in range(row.size):  # in a loop, for an assignment of slices takes seconds to compile
        wide[i] = row[i]


@inner_kernel
def _binary(s, e, target, weight, residual):
    """Write residuals, with ``e = exp(-|s|)``; losses take the place of the scores ``s``."""
    for i in range(s.size):
        p = np.divide(1.0 if s[i] > 0.0 else e[i], 1.0 + e[i])
        residual[i] = weight[i] * (p - target[i])
        s[i] = weight[i] * (_log_one_plus(e[i]) + max(s[i], 0.0) - target[i] * s[i])


@inner_kernel
def _gain(s, e, y, out):
    for i in range(s.size):
        out[i] += y[i] * s[i] - max(s[i], 0.0) - _log_one_plus(e[i])


@inner_kernel
def _raise(peak, row):
    for i in range(peak.size):
        peak[i] = max(peak[i], np.float64(row[i]))


@inner_kernel
def _lower(row, peak, target, fit, low):
    """Subtract the peaks, and add what the targets gain."""
    for i in range(row.size):
        low[i] = row[i] - peak[i]
        fit[i] += target[i] * low[i]


@inner_kernel
def _gather(row, power, total):
    for i in range(row.size):
        total[i] += power[i]
        row[i] = power[i]


@inner_kernel
def _residual(row, factor, weight, target):
    for i in range(row.size):
        row[i] = row[i] * factor[i] - weight[i] * target[i]


@inner_kernel
def _log_one_plus(e):
    """Return ``log(1 + e)`` for ``e`` in [0, 1], to 1e-15, without a call.

    ``log(1 + e) = log(a) + 2 artanh(t)``, ``t = (1 + e - a) / (1 + e + a)`` with ``a`` 1 or 1.5
    or 2, whichever is nearest: ``|t| <= 1/9``, and eight terms of the series leave 1e-17.
    """
    a, log_a = 1.0, 0.0
    if e > 0.25:
        a, log_a = 1.5, 0.4054651081081644
    if e > 0.75:
        a, log_a = 2.0, 0.6931471805599453
    t = np.divide((1.0 - a) + e, (1.0 + a) + e)
    q = t * t
    p = q * (1.0 / 17.0) + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    return log_a + 2.0 * t * (p * q + 1.0)


@inner_kernel
def _sum(values):
    """Return the sum, by four running sums that need not wait for one another."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    i = 0
    while i + 4 <= values.size:
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        i += 4
    while i < values.size:
        a += values[i]
        i += 1
    return (a + b) + (c + d)
