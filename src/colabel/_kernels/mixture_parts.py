"""A mixture of Bernoulli products as the searches see it: best completions and factors.

A component ``k`` with log-weight ``w_k`` and logits ``t_kl`` prefers ``y_l = 1`` where
``t_kl > 0``. Its most probable labeling has the log-joint ``head_k = w_k - sum_l log(1 + r_kl)``,
``r_kl = exp(-|t_kl|)``, and each label set against its preference costs ``|t_kl|``: the joint
probability is multiplied by ``r_kl``. Hence ``log p_k(y) = head_k - sum_{y_l against k} |t_kl|``,
sums of terms of one sign, in which nothing cancels.
"""

import numpy as np

from colabel._kernels import bare_kernel

__all__ = ["charge", "exp_minus_abs", "keep_components", "look_ahead", "peak_and_shares"]

# exp(x) = 2^k exp(r), |r| <= log(2) / 2: twelve Taylor terms of exp(r) leave 2e-16.
LOG2E = 1.4426950408889634
LN2_HIGH = 0.693147180369123816490
LN2_LOW = 1.90821492927058770002e-10
SHIFT = 6755399441055744.0  # 1.5 * 2^52: adding it leaves the nearest integer in the low bits
LOWEST = -708.0
# A component below this share (1e-18, as a logarithm) of a labeling sought cannot show in it.
DROP = -41.45


@bare_kernel
def exp_minus_abs(logits, out):
    """Write ``exp(-|logits|)``, 0 below ``exp(-708)``. O(n); no calls, so that it vectorises.

    Relative error at most 1e-15.
    """
    for v in range(logits.size):
        # In double precision, interpreted code too.
        below = -abs(np.float64(logits[v]))
        x = below if below > LOWEST else LOWEST
        shifted = x * LOG2E + SHIFT
        k = shifted - SHIFT
        r = (x - k * LN2_HIGH) - k * LN2_LOW
        p = r / 479001600.0 + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        # Adding k to the exponent multiplies by 2^k.
        bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)
        out[v] = np.int64(bits).view(np.float64) if x > LOWEST else 0.0


@bare_kernel
def keep_components(log_weights, logits, spare, kept, head, factors, some):
    """Fill the tables of the components that can matter; return how many they are.

    Parameters
    ----------
    log_weights : float64 array of shape (K,)
    logits : float64 array of shape (K, L)
    spare : int
        A component is kept if it may hold 1e-18 of the ``2^spare``-th best labeling (at most L).
    kept : int64 array of shape (K,)
        The components kept, filled in place.
    head : float64 array of shape (K,)
        Log-joint of each kept component's best labeling, filled in place.
    factors : float64 array of shape (K, 2 L)
        What setting label ``l`` off (at ``l``) or on (at ``L + l``) multiplies a component's best
        by; filled in place.
    some : float64 array of shape (L,) or more
        Working space.

    Notes
    -----
    O(K L), one exponential per cell of the components whose weight is not too small at once.
    """
    first = 0
    for k in range(1, log_weights.size):
        if log_weights[k] > log_weights[first]:
            first = k
    n_labels, n_kept, floor = logits.shape[1], 0, -np.inf
    for step in range(log_weights.size):
        k = first if step == 0 else (0 if step == first else step)
        if log_weights[k] < floor or log_weights[k] == -np.inf:
            continue
        row, factor = logits[k], factors[n_kept]
        exp_minus_abs(row, factor)
        head[n_kept] = log_weights[k] - _log_one_plus(factor, n_labels)
        if head[n_kept] < floor:
            continue
        least = head[n_kept] - _cheapest(row, spare, some) + DROP
        floor = least if least > floor else floor
        for v in range(n_labels):
            r = factor[v]
            factor[v] = r if row[v] > 0.0 else 1.0
            factor[n_labels + v] = r if row[v] < 0.0 else 1.0
        kept[n_kept] = k
        n_kept += 1
    return n_kept


@bare_kernel
def _log_one_plus(ratios, n):
    """Return ``sum log(1 + r)`` of ``n`` ratios in [0, 1] by products of at most 512 factors."""
    total, v = 0.0, 0
    while v < n:
        stop = v + 512 if v + 512 < n else n
        a, b, c, d = 1.0, 1.0, 1.0, 1.0
        while v + 4 <= stop:
            a *= 1.0 + ratios[v]
            b *= 1.0 + ratios[v + 1]
            c *= 1.0 + ratios[v + 2]
            d *= 1.0 + ratios[v + 3]
            v += 4
        while v < stop:
            a *= 1.0 + ratios[v]
            v += 1
        total += np.log(a * b * (c * d))
    return total


@bare_kernel
def _cheapest(logits, count, smallest):
    """Return the sum of the ``count`` smallest absolute logits: a few, or none."""
    for j in range(count):
        smallest[j] = np.inf
    for v in range(logits.size):
        cost = abs(logits[v])
        for j in range(count):
            if cost < smallest[j]:
                cost, smallest[j] = smallest[j], cost
    total = 0.0
    for j in range(count):
        total += smallest[j]
    return total


@bare_kernel
def peak_and_shares(joint, shares):
    """Write ``exp(joint - peak)`` and return ``peak = max(joint)`` and the sum of the shares."""
    peak = -np.inf
    for k in range(joint.size):
        peak = joint[k] if joint[k] > peak else peak
    total = 0.0
    for k in range(joint.size):
        shares[k] = np.exp(joint[k] - peak) if joint[k] > -np.inf else 0.0
        total += shares[k]
    return peak, total


@bare_kernel
def look_ahead(shares, factors, up):
    """Write ``up = shares @ factors``: the bound once a label is off (first half) or on (second).

    O(K L), additions of non-negative numbers only. The first columns of ``factors`` are used.
    """
    for j in range(up.size):
        up[j] = 0.0
    for k in range(shares.size):
        share, factor = shares[k], factors[k]
        if share > 0.0:
            for j in range(up.size):
                up[j] += share * factor[j]


@bare_kernel
def _positive(x):
    return x if x > 0.0 else 0.0


@bare_kernel
def charge(logits, kept, head, signs, joint):
    """Write ``joint_k``: ``head_k`` less the cost of the labels set to ``signs`` (0: free).

    O(K L).
    """
    n_labels = signs.size
    for j in range(kept.size):
        row = logits[kept[j]]
        a, b, c, d = 0.0, 0.0, 0.0, 0.0
        v = 0
        while v + 4 <= n_labels:
            a += _positive(-signs[v] * row[v])
            b += _positive(-signs[v + 1] * row[v + 1])
            c += _positive(-signs[v + 2] * row[v + 2])
            d += _positive(-signs[v + 3] * row[v + 3])
            v += 4
        while v < n_labels:
            a += _positive(-signs[v] * row[v])
            v += 1
        joint[j] = head[j] - ((a + b) + (c + d))
