"""Search in linear classifier chains: the most probable labelings of each sample.

In chain order, step ``t`` has the log-odds ``u_t = base[t] + sum_{s < t} lower[t, s] y_s``, and a
labeling the log-probability ``sum_t log sigmoid(+-u_t)``.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel

__all__ = ["beam_search", "branch_and_bound"]

# Log-probabilities closer than this count as equal, and then fewer labels are preferred.
TIE = 1e-13
# Columns of what `branch_and_bound` keeps of a child, of ``proof`` and of ``reach``.
PLACE, BIT = range(2)
VALUE, BOUND = range(2)
LEAST, MOST = range(2)


@bare_kernel
def _log_sigmoid(u):
    return -np.log1p(np.exp(-u)) if u > 0.0 else u - np.log1p(np.exp(u))


@kernel
def beam_search(base, lower, labels, log_p, rest):
    """Keep the ``W`` best beginnings at each step of the chain.

    Parameters
    ----------
    base : float64 array of shape (n, L)
    lower : float64 array of shape (L, L)
        Strictly lower triangular.
    labels : int8 array of shape (n, W, L), zeros
        The labelings that remain, most probable first; filled. ``W <= 2^L``.
    log_p : float64 array of shape (n, W)
        Their log-probabilities; filled.
    rest : float64 array of shape (n,)
        Bound on the log-probability of every other labeling: that of the best beginning dropped,
        ``-inf`` if none was. Filled.

    Notes
    -----
    O(L W (k + W)) per sample at worst, with ``k`` labels on. Kumar et al. (2012). Equally probable
    beginnings with fewer labels come first.
    """
    n_labels, width = base.shape[1], log_p.shape[1]
    # Two generations: labels on (first their number) and log-probability of each beginning.
    on = np.zeros((2, width, n_labels + 1), np.int64)
    score = np.empty((2, width))
    child, value = np.empty(width, np.int64), np.empty(width)
    for i in range(base.shape[0]):
        size, old = 1, 0
        on[0, 0, 0], score[0, 0], rest[i] = 0, 0.0, -np.inf
        for t in range(n_labels):
            kept = 0
            for w in range(size):
                u = base[i, t]
                for j in range(1, on[old, w, 0] + 1):
                    u += lower[t, on[old, w, j]]
                for bit in range(2):
                    new = score[old, w] + _log_sigmoid(u if bit else -u)
                    kept, lost = _insert(child, value, kept, 2 * w + bit, new, on[old])
                    rest[i] = max(rest[i], lost)
            _breed(child[:kept], value, t, on, score, old)
            size, old = kept, 1 - old
        for w in range(size):
            log_p[i, w] = score[old, w]
            for j in range(1, on[old, w, 0] + 1):
                labels[i, w, on[old, w, j]] = 1


@bare_kernel
def _insert(child, value, kept, code, new, on):
    """Put a child into the sorted list of the best; return their number and the value dropped.

    A child is ``2 w + bit`` for parent ``w``. Equal values: fewer labels first.
    """
    n_on = on[code // 2, 0] + code % 2
    place = kept
    while place > 0:
        other = child[place - 1]
        ahead = value[place - 1] > new
        if value[place - 1] == new:
            ahead = on[other // 2, 0] + other % 2 <= n_on
        if ahead:
            break
        place -= 1
    if place == child.size:
        return kept, new
    lost = value[kept - 1] if kept == child.size else -np.inf
    kept = min(kept + 1, child.size)
    for p in range(kept - 1, place, -1):
        child[p], value[p] = child[p - 1], value[p - 1]
    child[place], value[place] = code, new
    return kept, lost


@bare_kernel
def _breed(child, value, label, on, score, old):
    """Write the chosen children of generation ``old`` into the other generation."""
    for c in range(child.size):
        parent, target = on[old, child[c] // 2], on[1 - old, c]
        for j in range(parent[0] + 1):
            target[j] = parent[j]
        if child[c] % 2 == 1:
            target[0] += 1
            target[target[0]] = label
        score[1 - old, c] = value[c]


@kernel
def branch_and_bound(base, lower, reach, max_nodes, nonempty, labels, proof):
    """Find the most probable labeling of each sample, depth first.

    A beginning of ``t`` labels is left where its log-probability plus, for each later step ``s``,
    the best that any choice of labels ``t..s-1`` allows, ``log sigmoid(max |u_s|)``, does not pass
    the best labeling known: the heuristic of Mena et al. (2015), which never underestimates.

    Parameters
    ----------
    base : float64 array of shape (n, L)
    lower : float64 array of shape (L, L)
    reach : float64 array of shape (2, L, L)
        Least and largest sum of any of ``lower[s, t:s]``, at ``[0 or 1, s, t]``.
    max_nodes : int
        Beginnings opened per sample.
    nonempty : bool
        Leave the empty labeling out.
    labels : int8 array of shape (n, L)
        A labeling to start from (not the empty one, if ``nonempty``); improved in place.
    proof : float64 array of shape (n, 2)
        Its log-probability (given, updated), and a bound on that of all labelings searched
        (filled).

    Notes
    -----
    O(L) per node. Exact unless ``max_nodes`` ends the search; then the bound is above the value.
    """
    n_labels = base.shape[1]
    fields, log_p = np.empty((n_labels + 1, n_labels)), np.zeros(n_labels + 1)
    y, on = np.zeros(n_labels, np.int8), np.zeros(n_labels + 1, np.int64)
    # Children to be opened, the last first: place and bit, log-probability and bound.
    child, value = np.empty((2 * n_labels, 2), np.int64), np.empty((2 * n_labels, 2))
    for i in range(base.shape[0]):
        best, count, nodes = proof[i, VALUE], 0, 1
        for v in range(n_labels):
            count += labels[i, v]
            fields[0, v] = base[i, v]
        size = _push(fields[0], reach, 0, log_p[0], child, value, 0)
        while size > 0 and nodes < max_nodes:
            size -= 1
            t, bit, bound = child[size, PLACE], child[size, BIT], value[size, BOUND]
            n_on = on[t] + bit
            if bound < best - TIE or (bound <= best + TIE and n_on >= count):
                continue
            if nonempty and t + 1 == n_labels and n_on == 0:
                continue
            y[t], on[t + 1], log_p[t + 1] = bit, n_on, value[size, VALUE]
            if t + 1 == n_labels:
                best, count = value[size, VALUE], n_on
                for v in range(n_labels):
                    labels[i, v] = y[v]
                continue
            for v in range(t + 1, n_labels):
                fields[t + 1, v] = fields[t, v] + bit * lower[v, t]
            size = _push(fields[t + 1], reach, t + 1, log_p[t + 1], child, value, size)
            nodes += 1
        proof[i, VALUE] = proof[i, BOUND] = best
        for c in range(size):
            proof[i, BOUND] = max(proof[i, BOUND], value[c, BOUND])


@bare_kernel
def _push(field, reach, t, log_p, child, value, size):
    """Put both children of a beginning of ``t`` labels on the stack, the more probable last."""
    ahead = 0.0
    for v in range(t + 1, field.size):
        widest = max(field[v] + reach[MOST, v, t], -(field[v] + reach[LEAST, v, t]))
        ahead += _log_sigmoid(widest)
    likely = 1 if field[t] > 0.0 else 0
    for bit in (1 - likely, likely):
        child[size, PLACE], child[size, BIT] = t, bit
        value[size, VALUE] = log_p + _log_sigmoid(field[t] if bit == 1 else -field[t])
        value[size, BOUND] = value[size, VALUE] + ahead
        size += 1
    return size
