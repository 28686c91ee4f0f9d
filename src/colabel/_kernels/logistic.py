"""Losses of many logistic regressions at once, with their residuals, in one pass over the scores.

Scores come with one row a regression (or class) and one column a sample, so that every loop runs
along samples and vectorises however few regressions there are.
"""

import numpy as np

from colabel._kernels import kernel
from colabel._kernels.mixture_parts import exp_minus_abs

__all__ = ["binary_loss", "log_likelihoods", "softmax_loss"]

# Samples worked on together: their buffers stay in the nearest cache.
BLOCK = 512


@kernel
def binary_loss(scores, targets, weight, loss):
    """Add each regression's weighted loss to ``loss`` and turn its scores into residuals.

    Parameters
    ----------
    scores : float array of shape (C, n)
        ``s``; overwritten with ``weight * (sigmoid(s) - target)``, the derivative of the loss.
    targets : float array of shape (C, n), in [0, 1]
    weight : float64 array of shape (n,)
    loss : float64 array of shape (C,)
        ``sum_n weight_n (log(1 + exp(s_n)) - target_n s_n)`` is added to it.

    Notes
    -----
    O(C n), about 60 flops a score and no branch; arithmetic in float64 whatever the scores are.
    """
    n = scores.shape[1]
    ratio, part = np.empty(BLOCK), np.empty(BLOCK)
    for c in range(scores.shape[0]):
        for start in range(0, n, BLOCK):
            stop = min(start + BLOCK, n)
            row, target = scores[c, start:stop], targets[c, start:stop]
            near, e, each = weight[start:stop], ratio[: stop - start], part[: stop - start]
            exp_minus_abs(row, e)
            for i in range(stop - start):
                s, w = np.float64(row[i]), near[i]
                each[i] = w * (_log_one_plus(e[i]) + max(s, 0.0) - target[i] * s)
                p = (1.0 if s > 0.0 else e[i]) / (1.0 + e[i])
                row[i] = w * (p - target[i])
            loss[c] += _sum(each)


@kernel
def softmax_loss(scores, targets, weight):
    """Return the weighted loss of one multinomial regression and turn its scores into residuals.

    Parameters
    ----------
    scores : float array of shape (K, n)
        Overwritten with ``weight * (softmax(s) - target)``.
    targets : float array of shape (K, n)
        Class probabilities of each sample: columns sum to 1.
    weight : float64 array of shape (n,)

    Notes
    -----
    ``sum_n weight_n (log sum_k exp(s_kn) - sum_k target_kn s_kn)``; O(K n).
    """
    n_classes, n = scores.shape
    loss = 0.0
    peak, total, fit, power = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        size = min(start + BLOCK, n) - start
        for i in range(size):
            peak[i], total[i], fit[i] = -np.inf, 0.0, 0.0
        for k in range(n_classes):
            for i in range(size):
                peak[i] = max(peak[i], np.float64(scores[k, start + i]))
        for k in range(n_classes):
            for i in range(size):
                s = scores[k, start + i] - peak[i]
                fit[i] += targets[k, start + i] * s
                scores[k, start + i] = s
            exp_minus_abs(scores[k, start : start + size], power[:size])
            for i in range(size):
                total[i] += power[i]
                scores[k, start + i] = power[i]
        for i in range(size):
            loss += weight[start + i] * (np.log(total[i]) - fit[i])
        for k in range(n_classes):
            for i in range(size):
                p = scores[k, start + i] / total[i]
                scores[k, start + i] = weight[start + i] * (p - targets[k, start + i])
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
    ratio = np.empty(BLOCK)
    for c in range(scores.shape[0]):
        for start in range(0, n, BLOCK):
            size = min(start + BLOCK, n) - start
            row, y = scores[c, start : start + size], labels[label[c], start : start + size]
            into, e = out[component[c], start : start + size], ratio[:size]
            exp_minus_abs(row, e)
            for i in range(size):
                s = np.float64(row[i])
                into[i] += y[i] * s - max(s, 0.0) - _log_one_plus(e[i])


@kernel
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
    t = ((1.0 - a) + e) / ((1.0 + a) + e)
    q = t * t
    p = q / 17.0 + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    return log_a + 2.0 * t * (p * q + 1.0)


@kernel
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
