"""Labelings drawn from linear classifier chains, evenly spread over the distribution.

The chain cuts the unit interval in two by its first label, each part in two by the second, and so
on: a labeling is a part as long as it is probable. ``D`` points, ``1 / D`` apart, draw the parts
that they fall into (systematic sampling): a labeling of probability ``p`` with ``D p >= 1`` always,
any other with probability ``D p`` over the place of the first point.
"""

import numpy as np

from colabel._kernels import bare_kernel, inlined, kernel
from colabel._kernels.chain import _log_sigmoid

__all__ = ["spread_draws"]

# Columns of ``node``: how many labels are decided, the last of them, labels on, points from and to;
# and of ``part``: where it begins, its length, and its log-probability.
DECIDED, LAST, ON, FIRST, STOP = range(5)
START, LENGTH, VALUE = range(3)


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
    # Beginnings to go on from, the last first, and the parts that are theirs.
    node, part = np.empty((n_labels + 1, 5), np.int64), np.empty((n_labels + 1, 3))
    on, weight = np.empty(n_labels, np.int64), np.empty(n_labels)
    for i in range(base.shape[0]):
        found, size = 0, 1
        _put(node[0], 0, 0, 0, 0, n_draws)
        _begin(part[0], means[i], weight)
        while size > 0:
            size -= 1
            t, n_on = node[size, DECIDED], node[size, ON]
            first, last = node[size, FIRST], node[size, STOP]
            start, length, value = part[size, START], part[size, LENGTH], part[size, VALUE]
            if node[size, LAST] == 1:
                on[n_on - 1] = t - 1
            if t == n_labels:
                log_p[i, found] = value
                _turn_on(on[:n_on], labels[i, found])
                found += 1
                continue
            log_off, log_on = _next_label(base[i, t], lower[t], on, n_on)
            off = np.exp(log_off)
            if n_draws * length < 1.0:
                middle = last if uniform[first, t] < off else first
            else:
                middle = int(np.ceil(n_draws * (start + length * off) - first_point))
                middle = min(max(middle, first), last)
            counts = max(length, 1.0 / n_draws)
            means[i, t] += counts * np.exp(log_on)
            weight[t] += counts
            if middle > first:
                _put(node[size], t + 1, 0, n_on, first, middle)
                part[size, LENGTH], part[size, VALUE] = length * off, value + log_off
                size += 1
            if last > middle:
                _put(node[size], t + 1, 1, n_on + 1, middle, last)
                part[size, START] = start + length * off
                part[size, LENGTH], part[size, VALUE] = length * np.exp(log_on), value + log_on
                size += 1
        _finish(means[i], weight, log_p[i, found:])


@inlined
def _next_label(base, lower, on, n_on):
    """Return the log-probabilities of a label off and on, given those before it that are on."""
    u = base
    for j in range(n_on):
        u += lower[on[j]]
    return _log_sigmoid(-u), _log_sigmoid(u)


@bare_kernel
def _turn_on(on, labels):
    for j in range(on.size):
        labels[on[j]] = 1


@bare_kernel
def _begin(part, means, weight):
    """Take the whole interval, and no label as yet."""
    part[START], part[LENGTH], part[VALUE] = 0.0, 1.0, 0.0
    for t in range(weight.size):
        means[t], weight[t] = 0.0, 0.0


@bare_kernel
def _finish(means, weight, rest):
    """Divide sums by weights; there are no labelings for the rest."""
    for t in range(weight.size):
        means[t] /= weight[t]
    for s in range(rest.size):
        rest[s] = -np.inf


@inlined
def _put(node, decided, last, n_on, first, stop):
    """Write a beginning."""
    node[DECIDED], node[LAST], node[ON] = decided, last, n_on
    node[FIRST], node[STOP] = first, stop
