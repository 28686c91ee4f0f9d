"""Dual ascent for ranking the labels of a sample: a block of samples, pair by pair.

Each sample ``i`` has pairs of a label ``k`` that is on and a label ``l`` that is off, and a dual
weight ``0 <= alpha_ikl <= cap_i`` for each. With ``beta_ik`` the sum of the weights of a label's
pairs (negative where it is off), scores are ``f_i = sum_j gram_ij beta_j`` and the dual is

    sum alpha - 1/2 sum_ij gram_ij beta_i . beta_j

``labels[i]`` lists the labels that are on, ``n_on[i]`` of them, and then those that are off. A
label ``L`` stands for none: its score is 0 and has no weights.
"""

import numpy as np

from colabel._kernels import kernel

__all__ = ["ascend_block", "pair_losses"]

# Columns of ``counts``: labels on and off.
ON, OFF = range(2)


@kernel
def ascend_block(gram, scores, labels, counts, starts, caps, alpha, sweeps):
    """Maximise the dual over the weights of a block of samples, one pair at a time.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
    scores : ndarray of shape (n, L + 1)
        Of the block's samples, by all weights; brought up to date. The last column is 0.
    labels : ndarray of shape (n, L + 1), int64
    counts : ndarray of shape (n, 2), int64
        Labels on and off.
    starts : ndarray of shape (n,), int64
        Where the weights of each sample begin in ``alpha``.
    caps : ndarray of shape (n,)
    alpha : ndarray
        Weights of all pairs; changed.
    sweeps : int

    Returns
    -------
    ndarray of shape (n, L + 1)
        Change of ``beta``; its last column is meaningless.

    Notes
    -----
    Each step is the exact maximum over one weight. O(sweeps (pairs + n^2 L)).
    """
    n, width = scores.shape
    none = width - 1
    change = np.zeros((n, width))
    step = np.zeros(width)
    for _ in range(sweeps):
        for i in range(n):
            n_on, n_off, place = counts[i, ON], counts[i, OFF], starts[i]
            step[:] = 0.0
            f, norm, cap, moved = scores[i], gram[i, i], caps[i], False
            for p in range(n_on):
                k = labels[i, p]
                for q in range(n_on, n_on + n_off):
                    l = labels[i, q]  # noqa: E741
                    bend = norm * ((k < none) + (l < none))
                    old = alpha[place]
                    new = min(max(old + (1.0 - f[k] + f[l]) / bend, 0.0), cap)
                    if new != old:
                        delta, moved = new - old, True
                        alpha[place] = new
                        step[k] += delta
                        step[l] -= delta
                        f[k] += norm * delta
                        f[l] -= norm * delta
                        f[none] = 0.0
                    place += 1
            if moved:
                step[none] = 0.0
                for j in range(n):
                    if j != i:
                        for v in range(none):
                            scores[j, v] += gram[j, i] * step[v]
                for v in range(none):
                    change[i, v] += step[v]
    return change


@kernel
def pair_losses(scores, labels, counts):
    """Mean hinge loss ``max(0, 1 - f_k + f_l)`` over the pairs of each sample: O(pairs).

    Parameters
    ----------
    scores : ndarray of shape (n, L + 1), the last column 0
    labels, counts
        As in ``ascend_block``.

    Returns
    -------
    ndarray of shape (n,)
    """
    n = scores.shape[0]
    out = np.zeros(n)
    for i in range(n):
        n_on, n_off, total = counts[i, ON], counts[i, OFF], 0.0
        for p in range(n_on):
            for q in range(n_on, n_on + n_off):
                total += max(0.0, 1.0 - scores[i, labels[i, p]] + scores[i, labels[i, q]])
        out[i] = total / (n_on * n_off)
    return out
