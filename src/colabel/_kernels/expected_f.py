"""Labelings of the highest expected gain, for gains that are hits times a weight of two counts.

For a gain ``|y and z| c(|y|, |z|)``, as F-beta is, the expectation for a labeling ``z`` of ``k``
labels is ``sum_{l in z} sum_s P(y_l = 1, |y| = s) c(s, k)``: the best ``z`` of ``k`` labels takes
those with the ``k`` largest inner sums (the GFM algorithm, Dembczynski et al. 2011). All that is
needed of a distribution is the table ``P(y_l = 1, |y| = s)`` and the sizes ``P(|y| = s)``.

For a product of Bernoullis ``P(|y| = s)`` comes from adding one label after the other, and
``P(y_l = 1, |y| = s) = mu_l P(|y without l| = s - 1)`` from taking one label out again: the
recursion upwards in ``s`` for ``mu_l <= 1/2``, downwards otherwise, multiplies old errors by at
most 1, so that the error stays below ``L`` roundings of numbers below 1. Counts less probable than
``TAIL`` are cut off.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel, plain_kernel
from colabel._kernels.mixture_parts import exp_minus_abs

__all__ = [
    "add_label",
    "best_by_counts",
    "mixture_counts",
    "on_and_off",
    "support_counts",
    "value_by_counts",
]

TAIL = 1e-20
# Expected gains closer than this count as equal, and then fewer labels are chosen.
TIE = 1e-13
# Rows of the room that `_take_out_upwards` works in.
RATIO, INVERSE, SHARE, REST = range(4)


@kernel
def mixture_counts(log_weights, logits, tables, sizes, tops):
    """Fill the tables of samples whose distribution is a mixture of Bernoulli products.

    Parameters
    ----------
    log_weights : float64 array of shape (n, K)
    logits : float64 array of shape (n, K, L)
    tables : float64 array of shape (n, L + 1, L)
        ``P(y_l = 1, |y| = s)`` at ``[i, s, l]``; filled up to ``tops[i]``.
    sizes : float64 array of shape (n, L + 1)
        ``P(|y| = s)``; filled.
    tops : int64 array of shape (n,)
        The largest count that is not negligible; filled.

    Notes
    -----
    O(K L S) per sample, ``S`` the largest count. Exact to rounding.
    """
    n_samples, n_components, n_labels = logits.shape
    p, q, some = np.empty(n_labels), np.empty(n_labels), np.empty((4, n_labels))
    counts = np.empty(n_labels + 1)
    for i in range(n_samples):
        tops[i] = 0
        sizes[i, 0] = 0.0
        for k in range(n_components):
            weight = np.exp(log_weights[i, k])
            if weight < TAIL:
                continue
            on_and_off(logits[i, k], p, q)
            top, counts[0] = np.int64(0), 1.0
            for v in range(n_labels):
                top = add_label(counts, top, p[v], q[v])
            for s in range(tops[i] + 1, top + 1):
                sizes[i, s] = 0.0
                for v in range(n_labels):
                    tables[i, s, v] = 0.0
            tops[i] = max(tops[i], top)
            for s in range(top + 1):
                sizes[i, s] += weight * counts[s]
            _take_out_upwards(p, q, counts[: top + 1], weight, some, tables[i])
            _take_out_downwards(p, q, counts[: top + 1], weight, tables[i])


@bare_kernel
def on_and_off(logits, p, q):
    """Write the probabilities of each label to be on (``p``) and off (``q``), both accurate."""
    exp_minus_abs(logits, p)
    for v in range(logits.size):
        r = p[v]
        high = 1.0 / (1.0 + r)
        p[v] = high if logits[v] > 0.0 else r * high
        q[v] = r * high if logits[v] > 0.0 else high


@bare_kernel
def add_label(counts, top, on, off):
    """Add an independent label to a count, in place; return the last count not negligible.

    ``counts[s]`` is the probability of ``s``, up to ``top``.
    """
    if on < TAIL:
        return top
    counts[top + 1] = counts[top] * on
    for s in range(top, 0, -1):
        counts[s] = counts[s] * off + counts[s - 1] * on
    counts[0] *= off
    top += 1
    while top > 0 and counts[top] < TAIL:
        top -= 1
    return top


@bare_kernel
def _take_out_upwards(p, q, counts, weight, some, table):
    """Add ``weight P(y_l = 1, |y| = s)`` of the labels with ``p <= 1/2`` to the table.

    Others take part with ``p = 0``, so that the loop over labels has no branches.
    """
    ratio, inverse, share, rest = some[RATIO], some[INVERSE], some[SHARE], some[REST]
    for v in range(p.size):
        small = p[v] <= 0.5
        inverse[v] = 1.0 / q[v] if small else 1.0
        ratio[v] = p[v] * inverse[v] if small else 0.0
        share[v] = weight * p[v] if small else 0.0
        rest[v] = 0.0
    for s in range(1, counts.size):
        count, row = counts[s - 1], table[s]
        for v in range(p.size):
            rest[v] = max(count * inverse[v] - ratio[v] * rest[v], 0.0)
            row[v] += share[v] * rest[v]


@bare_kernel
def _take_out_downwards(p, q, counts, weight, table):
    """Add ``weight P(y_l = 1, |y| = s)`` of the labels with ``p > 1/2`` to the table."""
    for v in range(p.size):
        if p[v] > 0.5:
            rest = 0.0
            for s in range(counts.size - 1, 0, -1):
                rest = max((counts[s] - q[v] * rest) / p[v], 0.0)
                table[s, v] += weight * p[v] * rest


@plain_kernel
def support_counts(starts, members, log_p, tables, sizes, tops):
    """Fill the tables of samples whose distribution is finite.

    Parameters
    ----------
    starts, members : int64 arrays of shape (n_labelings + 1,) and (n_on,)
        The labels on in labeling ``s``: ``members[starts[s]:starts[s + 1]]``.
    log_p : float64 array of shape (n, n_labelings)
    tables, sizes, tops
        As in `mixture_counts`.

    Notes
    -----
    O(n_on + S L) per sample. Exact.
    """
    for i in range(log_p.shape[0]):
        tops[i] = 0
        sizes[i, 0] = 0.0
        for y in range(log_p.shape[1]):
            if log_p[i, y] == -np.inf:
                continue
            size, p = starts[y + 1] - starts[y], np.exp(log_p[i, y])
            for s in range(tops[i] + 1, size + 1):
                sizes[i, s] = 0.0
                for v in range(tables.shape[2]):
                    tables[i, s, v] = 0.0
            tops[i] = max(tops[i], size)
            sizes[i, size] += p
            for j in range(starts[y], starts[y + 1]):
                tables[i, size, members[j]] += p


@kernel
def best_by_counts(tables, sizes, tops, weights, nonempty, labels, values):
    """Maximise the expected gain of each sample.

    Parameters
    ----------
    tables, sizes, tops
        See `mixture_counts`.
    weights : float64 array of shape (L + 1, L + 1)
        ``c(s, k)`` at ``[k, s]``, for ``k, s >= 1``. The empty labeling gains ``P(|y| = 0)``.
    nonempty : bool
        Leave the empty labeling out.
    labels : int8 array of shape (n, L)
        Filled in place.
    values : float64 array of shape (n,)
        The largest expected gain; filled in place.

    Notes
    -----
    O(S L) per number of labels tried. Numbers whose gain, with ``min(s, k)`` hits granted, would
    not reach the best found are left out. Exact; equal gains go to fewer labels.
    """
    n_labels = labels.shape[1]
    sums, order = np.empty(n_labels), np.empty(n_labels, np.int64)
    for i in range(labels.shape[0]):
        for v in range(n_labels):
            labels[i, v], order[v] = 0, v
        values[i] = -1.0 if nonempty else sizes[i, 0]
        table, size = tables[i, : tops[i] + 1], sizes[i, : tops[i] + 1]
        for k in range(1, n_labels + 1):
            if _granted(size, weights[k], k) <= values[i]:
                continue
            gain = _gain_of(table, weights[k], k, sums, order)
            if gain > values[i] + TIE:
                values[i] = gain
                for j in range(n_labels):
                    labels[i, order[j]] = j < k


@bare_kernel
def _granted(size, weights, k):
    """Return the expected gain if every true label that fits among ``k`` were hit."""
    total = 0.0
    for s in range(1, size.size):
        total += size[s] * weights[s] * min(s, k)
    return total


@bare_kernel
def _gain_of(table, weights, k, sums, order):
    """Return the best expected gain of ``k`` labels, the first of ``order``, which is sorted.

    Insertion sort: from one ``k`` to the next the order hardly changes.
    """
    for v in range(sums.size):
        sums[v] = 0.0
    for s in range(1, table.shape[0]):
        weight, row = weights[s], table[s]
        for v in range(sums.size):
            sums[v] += weight * row[v]
    for j in range(1, order.size):
        label, at = order[j], j
        while at > 0 and sums[order[at - 1]] < sums[label]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = label
    gain = 0.0
    for j in range(k):
        gain += sums[order[j]]
    return gain


@plain_kernel
def value_by_counts(tables, sizes, tops, weights, labels, values):
    """Write the expected gain of the labeling ``labels[i]`` of each sample; see `best_by_counts`.

    O(S k) per sample of ``k`` labels.
    """
    for i in range(labels.shape[0]):
        k = 0
        for v in range(labels.shape[1]):
            k += labels[i, v]
        values[i] = sizes[i, 0] if k == 0 else 0.0
        for v in range(labels.shape[1]):
            if labels[i, v] == 1:
                total = 0.0
                for s in range(1, tops[i] + 1):
                    total += weights[k, s] * tables[i, s, v]
                values[i] += total
