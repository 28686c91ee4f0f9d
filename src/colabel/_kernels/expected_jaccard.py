"""Expected Jaccard index of labelings, and climbs to better ones.

``J(y, z) = |y and z| / |y or z|``, 1 where both are empty. If the labels are independent, the
hits ``|y and z|`` come from labels in ``z`` and the misses ``M = |y without z|`` from the others:
``E[J] = E[hits] E[1 / (|z| + M)]`` for a non-empty ``z``. A mixture is the weighted sum of these.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel
from colabel._kernels.expected_f import TAIL, add_label, on_and_off

__all__ = ["climb_mixture", "climb_support", "independent_jaccard", "mixture_jaccard"]

# A step must gain more than this; equal gains are left where they are.
TIE = 1e-13


@kernel
def independent_jaccard(logits, order, nonempty, labels, values):
    """Maximise the expected Jaccard index of independent labels. Exact.

    Of ``k`` labels the most probable ones are best: exchanging a label of ``z`` for a more
    probable one outside raises ``E[hits]``, and makes the misses stochastically fewer, which
    raises ``E[1 / (k + M)]``. So it is enough to try every ``k``.

    Parameters
    ----------
    logits : float64 array of shape (n, L)
    order : int64 array of shape (n, L)
        The labels of each sample, most probable first.
    nonempty : bool
        Leave the empty labeling out.
    labels : int8 array of shape (n, L)
    values : float64 array of shape (n,)
        Both filled in place.

    Notes
    -----
    O(L S) per sample, ``S`` the largest number of labels that is not negligible. The misses are
    built up from the least probable label, so that no label is ever taken out.
    """
    n_samples, n_labels = logits.shape
    p, q = np.empty(n_labels), np.empty(n_labels)
    counts, gains = np.empty(n_labels + 1), np.empty(n_labels + 1)
    for i in range(n_samples):
        on_and_off(logits[i], p, q)
        hits = 0.0
        for v in range(n_labels):
            hits += p[v]
        top, counts[0] = np.int64(0), 1.0
        for k in range(n_labels, 0, -1):
            gains[k] = hits * _mean_inverse(counts, top, k)
            label = order[i, k - 1]
            hits -= p[label]
            top = add_label(counts, top, p[label], q[label])
        gains[0] = -1.0 if nonempty else counts[0]
        best = 0
        for k in range(1, n_labels + 1):
            if gains[k] > gains[best] + TIE:
                best = k
        values[i] = gains[best]
        for k in range(n_labels):
            labels[i, order[i, k]] = k < best


@bare_kernel
def _mean_inverse(counts, top, k):
    """Return ``E[1 / (k + M)]``."""
    total = 0.0
    for s in range(top + 1):
        total += counts[s] / (k + s)
    return total


@kernel
def mixture_jaccard(log_weights, logits, labels, values):
    """Write the expected Jaccard index of ``labels[i]`` of each sample. O(K L S), exact."""
    n_samples, n_components, n_labels = logits.shape
    p, q, counts = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    for i in range(n_samples):
        values[i] = 0.0
        for c in range(n_components):
            weight = np.exp(log_weights[i, c])
            if weight >= TAIL:
                on_and_off(logits[i, c], p, q)
                k, hits, top = _misses(labels[i], p, q, counts)
                gain = counts[0] if k == 0 else hits * _mean_inverse(counts, top, k)
                values[i] += weight * gain


@bare_kernel
def _misses(labeling, p, q, counts):
    """Write the distribution of misses; return the labels on, the expected hits, the last count."""
    k, hits, top = 0, 0.0, np.int64(0)
    counts[0] = 1.0
    for v in range(labeling.size):
        if labeling[v] == 1:
            k += 1
            hits += p[v]
        else:
            top = add_label(counts, top, p[v], q[v])
    return k, hits, top


@kernel
def climb_mixture(log_weights, logits, nonempty, labels, values):
    """Flip the label that gains most, until none gains: a local maximum of each sample.

    ``labels`` (n, L) are the starts and ``values`` (n,) their expected Jaccard indices; both are
    changed in place. O(K L S) per step.
    """
    n_samples, n_components, n_labels = logits.shape
    p, q, counts = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels + 1)
    gains = np.empty(n_labels)
    for i in range(n_samples):
        moving = True
        while moving:
            for v in range(n_labels):
                gains[v] = 0.0
            for c in range(n_components):
                weight = np.exp(log_weights[i, c])
                if weight >= TAIL:
                    on_and_off(logits[i, c], p, q)
                    _add_flips(labels[i], p, q, counts, weight, gains)
            moving = _best_flip(gains, nonempty, labels, values, i)


@bare_kernel
def _add_flips(labeling, p, q, counts, weight, gains):
    """Add a component's part of the expected index after each single flip."""
    k, hits, top = _misses(labeling, p, q, counts)
    here = _mean_inverse(counts, top, max(k, 1))
    less = _mean_inverse(counts, top, max(k - 1, 1))
    for v in range(labeling.size):
        if labeling[v] == 0:
            more = _mean_inverse_without(counts, top, k + 1, p[v], q[v])
            gains[v] += weight * (hits + p[v]) * more
        elif k == 1:
            gains[v] += weight * counts[0] * q[v]
        else:
            gains[v] += weight * (hits - p[v]) * (q[v] * less + p[v] * here)


@bare_kernel
def _mean_inverse_without(counts, top, k, on, off):
    """Return ``E[1 / (k + M)]`` with one label taken out of ``M``; see ``expected_f``."""
    if on < TAIL:
        return _mean_inverse(counts, top, k)
    total, rest = 0.0, 0.0
    if on <= 0.5:
        for s in range(top + 1):
            rest = max((counts[s] - on * rest) / off, 0.0)
            total += rest / (k + s)
    else:
        for s in range(top, 0, -1):
            rest = max((counts[s] - off * rest) / on, 0.0)
            total += rest / (k + s - 1)
    return total


@bare_kernel
def _best_flip(gains, nonempty, labels, values, i):
    """Make the best flip if it gains; tell whether it did."""
    on = 0
    for v in range(gains.size):
        on += labels[i, v]
    best, value = -1, values[i] + TIE
    for v in range(gains.size):
        barred = nonempty and on == 1 and labels[i, v] == 1
        if gains[v] > value and not barred:
            best, value = v, gains[v]
    if best < 0:
        return False
    labels[i, best] = 1 - labels[i, best]
    values[i] = value
    return True


@kernel
def climb_support(starts, members, log_p, nonempty, labels, values):
    """Climb as `climb_mixture` does, for a finite distribution (see ``support_counts``).

    O(n_labelings + labels on in all labelings + L) per step.
    """
    gains = np.empty(labels.shape[1])
    for i in range(log_p.shape[0]):
        moving = True
        while moving:
            _support_flips(starts, members, log_p[i], labels[i], gains)
            moving = _best_flip(gains, nonempty, labels, values, i)


@bare_kernel
def _support_flips(starts, members, log_p, labeling, gains):
    """Write the expected index after each single flip.

    First as if no true labeling had the flipped label on, then corrected for those that do.
    """
    on = 0
    for v in range(labeling.size):
        on += labeling[v]
        gains[v] = 0.0
    without_off, without_on = 0.0, 0.0
    for y in range(log_p.size):
        if log_p[y] == -np.inf:
            continue
        p, hits = np.exp(log_p[y]), 0
        for j in range(starts[y], starts[y + 1]):
            hits += labeling[members[j]]
        union = on + starts[y + 1] - starts[y] - hits
        plain_off = hits / (union + 1)
        plain_on = 1.0 if union == 1 else hits / max(union - 1, 1)
        without_off += p * plain_off
        without_on += p * plain_on
        for j in range(starts[y], starts[y + 1]):
            if labeling[members[j]] == 1:
                gains[members[j]] += p * ((hits - 1) / union - plain_on)
            else:
                gains[members[j]] += p * ((hits + 1) / union - plain_off)
    for v in range(labeling.size):
        gains[v] += without_on if labeling[v] == 1 else without_off
