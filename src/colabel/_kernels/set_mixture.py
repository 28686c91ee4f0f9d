"""The best choice of one option from each of several groups, under a mixture of products."""

import numpy as np

from colabel._kernels import kernel

__all__ = ["best_choices"]


@kernel
def best_choices(log_weights, log_p, starts, max_nodes, choice, value, bound):
    """Maximise ``log sum_k pi_k prod_g p_kg(c_g)`` over one option ``c_g`` of each group ``g``.

    Depth-first branch and bound over the groups. Components are products, so with the options of
    the first groups fixed, the best options of each component by itself bound what is left.

    Parameters
    ----------
    log_weights : float64 array of shape (n, K)
    log_p : float64 array of shape (n, K, M)
        Log-probability of each option in each component, groups one after the other.
    starts : int64 array of shape (G + 1,)
        First option of each group.
    max_nodes : int
        Options looked at, a sample.
    choice : int64 array of shape (n, G), out
        The best options, counted from the start of their group; the first of equals.
    value, bound : float64 arrays of shape (n,), out
        Their log-probability, and what no other choice can pass.

    Notes
    -----
    Exact where ``bound == value``. O(K) an option looked at; at most all combinations of the groups
    but the last, and one look at each of its options for each of those.
    """
    n, K = log_weights.shape
    G = starts.shape[0] - 1
    prefix = np.empty((G + 1, K))
    rest = np.zeros((G + 1, K))
    option = np.empty(max(G, 1), np.int64)
    for i in range(n):
        for g in range(G - 1, -1, -1):
            for k in range(K):
                best = log_p[i, k, starts[g]]
                for c in range(starts[g] + 1, starts[g + 1]):
                    best = max(best, log_p[i, k, c])
                rest[g, k] = rest[g + 1, k] + best
        prefix[0] = log_weights[i]
        value[i], bound[i] = -np.inf, -np.inf
        g, nodes = 0, 0
        option[0] = -1
        if G == 0:
            value[i] = _log_sum(prefix[0], rest[0])
        while g >= 0 and G > 0:
            option[g] += 1
            c = starts[g] + option[g]
            if c == starts[g + 1]:
                g -= 1
                continue
            for k in range(K):
                prefix[g + 1, k] = prefix[g, k] + log_p[i, k, c]
            upper = _log_sum(prefix[g + 1], rest[g + 1])
            nodes += 1
            if upper <= value[i]:
                continue
            if nodes > max_nodes and value[i] > -np.inf:
                bound[i] = max(bound[i], upper)  # not looked into
            elif g + 1 < G:
                g += 1
                option[g] = -1
            else:
                value[i] = upper
                choice[i] = option
        bound[i] = max(bound[i], value[i])


@kernel
def _log_sum(a, b):
    """``log sum_k exp(a_k + b_k)``."""
    top = -np.inf
    for k in range(a.shape[0]):
        top = max(top, a[k] + b[k])
    if top == -np.inf:
        return top
    total = 0.0
    for k in range(a.shape[0]):
        total += np.exp(a[k] + b[k] - top)
    return top + np.log(total)
