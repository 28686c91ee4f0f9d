"""The E-step of Bernoulli mixtures of labels alone, one labeling at a time.

All restarts and components lie side by side in one row of numbers, so that adding up the log-odds
of the labels that are on, and handing out the shares, are passes over rows; the row that is added
to, or handed out, stays in the nearest cache. What is off costs nothing.
"""

import numpy as np

from colabel._kernels import any_order, bare_kernel, kernel
from colabel._kernels.mixture_parts import exp_minus_abs

__all__ = ["expected_sums"]


@kernel
def expected_sums(indptr, indices, counts, log_odds, base, n_components, evidence, rows, on):
    """Add what an M-step needs, and the log-likelihood, to arrays of zeros.

    Parameters
    ----------
    indptr, indices : int arrays
        Labels that are on in each of B labelings, as in CSR.
    counts : float64 array of shape (B,)
        How often each labeling occurs.
    log_odds : float64 array of shape (L, R * K)
        Of each label in each component of each restart.
    base : float64 array of shape (R * K,)
        Log-joint of each component and the labeling with every label off; finite in at least
        one component of each restart.
    n_components : int
        ``K``.
    evidence : float64 array of shape (R,)
        ``sum_b counts_b log p(y_b)`` is added.
    rows : float64 array of shape (R * K,)
        Expected rows of each component.
    on : float64 array of shape (L, R * K)
        Those that have each label.

    Notes
    -----
    O(R K (B + ones)), one exponential a component and labeling.
    """
    size = len(base)
    joint, shares, peaks = np.empty(size), np.empty(size), np.empty(len(evidence))
    for b in range(len(counts)):
        labels = indices[indptr[b] : indptr[b + 1]]
        for c in range(size):
            joint[c] = base[c]
        for label in labels:
            _add(log_odds[label], joint)
        for r in range(len(evidence)):
            peaks[r] = _lower(joint[r * n_components : (r + 1) * n_components])
        exp_minus_abs(joint, shares)
        for r in range(len(evidence)):
            part = shares[r * n_components : (r + 1) * n_components]
            total = _sum(part)
            _scale(part, np.divide(counts[b], total))  # Eq. (8) of Li et al. 2016, times the count
            evidence[r] += counts[b] * (peaks[r] + np.log(total))
        _add(shares, rows)
        for label in labels:
            _add(shares, on[label])


@bare_kernel
def _add(row, total):
    for c in range(total.size):
        total[c] += row[c]


@bare_kernel
def _lower(joint):
    """Subtract the largest entry from all, and return it."""
    a, b, c, d = joint[0], joint[0], joint[0], joint[0]
    k = 0
    while k + 4 <= joint.size:  # four at a time, for one comparison waits for the one before
        a, b = max(a, joint[k]), max(b, joint[k + 1])
        c, d = max(c, joint[k + 2]), max(d, joint[k + 3])
        k += 4
    while k < joint.size:
        a = max(a, joint[k])
        k += 1
    top = max(max(a, b), max(c, d))
    for j in range(joint.size):
        joint[j] -= top
    return top


@any_order
def _sum(row):
    total = 0.0
    for k in range(row.size):
        total += row[k]
    return total


@bare_kernel
def _scale(row, factor):
    for k in range(row.size):
        row[k] *= factor
