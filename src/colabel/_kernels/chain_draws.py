"""Labelings drawn from linear classifier chains, evenly spread over the distribution.

The chain cuts the unit interval in two by its first label, each part in two by the second, and so
on: a labeling is a part as long as it is probable. ``D`` points, ``1 / D`` apart, draw the parts
that they fall into (systematic sampling): a labeling of probability ``p`` with ``D p >= 1`` always,
any other with probability ``D p`` over the place of the first point.
"""

import numpy as np

from colabel._kernels import kernel
from colabel._kernels.chain import _log_sigmoid

__all__ = ["spread_draws"]


@kernel
def spread_draws(base, lower, first_point, uniform, labels, log_p, means):
    """Draw the labelings of each sample at evenly spaced points.

    Parameters
    ----------
    base : float64 array of shape (n, L)
        Log-odds ``u_t = base[t] + sum_{s < t} lower[t, s] y_s``, in chain order.
    lower : float64 array of shape (L, L)
        Strictly lower triangular.
    first_point : float
        Point ``j`` lies at ``(j + first_point) / D``; in [0, 1).
    uniform : float64 array of shape (D, L)
        Where a part is shorter than ``1 / D`` it has one point at most, which is as likely to be
        anywhere in it: point ``j`` goes on by numbers of its own, and no digits run out.
    labels : int8 array of shape (n, D, L), zeros
        The labelings drawn, each once; filled.
    log_p : float64 array of shape (n, D)
        Their log-probabilities, ``-inf`` where there are fewer than ``D``; filled.
    means : float64 array of shape (n, L)
        Means of the probabilities with which each label was drawn; filled.

    Notes
    -----
    O(k) for each beginning of a labeling drawn, with ``k`` labels on. A beginning of probability
    ``m`` counts ``max(m, 1 / D)`` in the means: its probability over that of being reached.
    """
    n_draws, n_labels = uniform.shape
    # Beginnings to go on from, the last first: length, last label, labels on, points from and to;
    # where their part begins, its length, and their log-probability.
    node, part = np.empty((n_labels + 1, 5), np.int64), np.empty((n_labels + 1, 3))
    on, weight = np.empty(n_labels, np.int64), np.empty(n_labels)
    for i in range(base.shape[0]):
        found, size = 0, 1
        node[0, :4], node[0, 4] = 0, n_draws
        part[0, 0], part[0, 1], part[0, 2] = 0.0, 1.0, 0.0
        for t in range(n_labels):
            means[i, t], weight[t] = 0.0, 0.0
        while size > 0:
            size -= 1
            t, n_on, first, last = node[size, 0], node[size, 2], node[size, 3], node[size, 4]
            start, length, value = part[size, 0], part[size, 1], part[size, 2]
            if node[size, 1] == 1:
                on[n_on - 1] = t - 1
            if t == n_labels:
                log_p[i, found] = value
                for j in range(n_on):
                    labels[i, found, on[j]] = 1
                found += 1
                continue
            u = base[i, t]
            for j in range(n_on):
                u += lower[t, on[j]]
            log_off, log_on = _log_sigmoid(-u), _log_sigmoid(u)
            off, middle = np.exp(log_off), first
            if n_draws * length < 1.0:
                if uniform[first, t] < off:
                    middle = last
            else:
                middle = int(np.ceil(n_draws * (start + length * off) - first_point))
                middle = min(max(middle, first), last)
            counts = max(length, 1.0 / n_draws)
            means[i, t] += counts * np.exp(log_on)
            weight[t] += counts
            if middle > first:
                node[size, 0], node[size, 1], node[size, 2] = t + 1, 0, n_on
                node[size, 3], node[size, 4] = first, middle
                part[size, 0], part[size, 1], part[size, 2] = start, length * off, value + log_off
                size += 1
            if last > middle:
                node[size, 0], node[size, 1], node[size, 2] = t + 1, 1, n_on + 1
                node[size, 3], node[size, 4] = middle, last
                part[size, 0], part[size, 1] = start + length * off, length * np.exp(log_on)
                part[size, 2] = value + log_on
                size += 1
        for t in range(n_labels):
            means[i, t] /= weight[t]
        for s in range(found, n_draws):
            log_p[i, s] = -np.inf
