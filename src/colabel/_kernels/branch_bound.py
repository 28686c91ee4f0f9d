"""Certified maximum of a pairwise score over labelings, by depth-first branch and bound.

    max  sum_l u_l y_l + sum_{l<m} C_lm y_l y_m,      y in {0, 1}^V,  C of any sign.

A node is a list of decided labels. It is closed by, in this order,

1. *persistency*: a label whose field is positive (or not positive) whatever the undecided labels
   do is decided; repeated until nothing changes;
2. the *box bound*, in which each label takes half of the couplings that attract it;
3. the *semidefinite bound* of the undecided labels (`colabel._kernels.mixing`): multipliers are
   read off after every few sweeps and shifted so that their sum is the incumbent's value; if the
   shifted matrix is positive definite (one factorisation), nothing in the node is better. Once the
   relaxed value itself passes the incumbent no multipliers can do that, and the node is split.

Multipliers need not be optimal for this, so most nodes take a few sweeps only.
"""

import numpy as np

from colabel._kernels import bare_kernel, inner_kernel, kernel
from colabel._kernels.mixing import climb_vectors, fill_gradient

__all__ = ["definite", "search_rows", "settle"]

SWEEPS = 3
ROUNDS = 12


@kernel
def search_rows(unary, matrix, start, max_nodes, slack, labels, best, bounds, state):
    """Search the tree of each row from where ``state`` says, for up to ``max_nodes`` nodes.

    Parameters
    ----------
    unary : float64 array of shape (n_rows, V)
    matrix : float64 array of shape (V, V)
        Symmetric, zero diagonal.
    start : float64 array of shape (2, r, V)
        Unit vectors from which the relaxation climbs, and noise added before every climb.
    max_nodes : int
    slack : float64 array of shape (n_rows,)
        Nodes that cannot pass the incumbent by more than this are closed.
    labels : int8 array of shape (n_rows, V)
        Incumbents; changed in place.
    best : float64 array of shape (n_rows, 2)
        Scores of the incumbents, and an upper bound of all nodes still open (``-inf`` if none);
        the second is written here.
    bounds : float64 array of shape (n_rows, V + 1)
        Bound of the node at each depth of the current path, ``inf`` at first; changed in place.
    state : int64 array of shape (n_rows, V + 1, 3)
        Depth, whether the search is complete, nodes so far; then for each depth: label, side, and
        whether both sides have been entered. Labels decided beforehand are steps of which both
        sides have been entered. Changed in place.

    Notes
    -----
    Exponential at worst. A node costs O(r V^2) a sweep and O(V^3) a factorisation. Exact, up to
    rounding and ``slack``, where the search is complete.
    """
    r, V = start.shape[1:]
    X, mean = np.empty((r, V)), np.empty(V)
    assign, free = np.empty(V, np.int8), np.empty(V, np.int64)
    field, high, low = np.empty(V), np.empty(V), np.empty(V)
    for i in range(unary.shape[0]):
        u, steps, depth, nodes = unary[i], state[i, 1:], state[i, 0, 0], 0
        bound = bounds[i]
        for s in range(r):
            for j in range(V):
                X[s, j] = start[0, s, j]
        while nodes < max_nodes and state[i, 0, 1] == 0:
            nodes += 1
            base = _decide(u, matrix, steps, depth, assign, field, high, low)
            box = min(bound[depth], _box(matrix, base, assign, field))
            target, label = best[i, 0] + slack[i], -1
            if box > target:
                if _split(matrix, (base, target), assign, field, start[1], X, mean, free):
                    label = _branch_label(matrix, assign, mean)
                _try_rounding(u, matrix, assign, mean, field, labels[i], best[i])
            if label >= 0:
                steps[depth, 0], steps[depth, 2] = label, 0
                steps[depth, 1] = 1 if mean[label] > 0.0 else 0
                depth += 1
                bound[depth] = box
                continue
            while depth > 0 and steps[depth - 1, 2] == 1:
                depth -= 1
            if depth == 0:
                state[i, 0, 1] = 1
            else:
                steps[depth - 1, 1] = 1 - steps[depth - 1, 1]
                steps[depth - 1, 2] = 1
        state[i, 0, 0] = depth
        state[i, 0, 2] += nodes
        best[i, 1] = -np.inf if state[i, 0, 1] else bound[depth]
        for d in range(depth):
            if steps[d, 2] == 0:
                best[i, 1] = max(best[i, 1], bound[d + 1])


@bare_kernel
def _decide(u, C, steps, depth, assign, field, high, low):
    """Decide labels by the steps taken and by persistency; return the score of those on.

    ``field`` is what turning a label on adds, ``high`` and ``low`` its largest and smallest value
    over the undecided labels.
    """
    V = u.size
    for j in range(V):
        assign[j] = -1
        field[j] = high[j] = low[j] = u[j]
        for m in range(V):
            high[j] += max(0.0, C[j, m])
            low[j] += min(0.0, C[j, m])
    base = 0.0
    for d in range(depth):
        base += _fix(C, steps[d, 0], steps[d, 1], assign, field, high, low)
    return base + settle(C, assign, field, high, low)


@bare_kernel
def settle(C, assign, field, high, low):
    """Decide every label that no undecided label can sway; return what those on add."""
    added, changed = 0.0, True
    while changed:
        changed = False
        for j in range(assign.size):
            if assign[j] < 0 and (low[j] > 0.0 or high[j] <= 0.0):
                added += _fix(C, j, 1 if low[j] > 0.0 else 0, assign, field, high, low)
                changed = True
    return added


@bare_kernel
def _fix(C, j, on, assign, field, high, low):
    """Decide label ``j``; return what that adds to the score."""
    assign[j] = on
    added = field[j] if on else 0.0
    for m in range(assign.size):
        c = C[j, m]
        if on:
            field[m] += c
            high[m] += min(0.0, c)
            low[m] += max(0.0, c)
        else:
            high[m] -= max(0.0, c)
            low[m] -= min(0.0, c)
    return added


@bare_kernel
def _box(C, base, assign, field):
    """Bound the node: each undecided label takes half of what attracts it."""
    for j in range(assign.size):
        if assign[j] < 0:
            pull = 0.0
            for m in range(assign.size):
                if assign[m] < 0:
                    pull += max(0.0, C[j, m])
            base += max(0.0, field[j] + 0.5 * pull)
    return base


@bare_kernel
def _branch_label(C, assign, mean):
    """Return the undecided label that is most in doubt, weighted by what its couplings can do."""
    best, label = -np.inf, -1
    for j in range(assign.size):
        if assign[j] < 0:
            pull = 0.0
            for m in range(assign.size):
                if assign[m] < 0:
                    pull += abs(C[j, m])
            pull *= 1.0 - mean[j] * mean[j]
            if pull > best:
                best, label = pull, j
    return label


@inner_kernel
def _try_rounding(u, C, assign, mean, field, labels, best):
    """Round the relaxed mean, climb, and keep the labeling if it is better; uses up ``field``."""
    V = u.size
    trial, value = np.empty(V, np.int8), 0.0
    for j in range(V):
        trial[j] = assign[j] if assign[j] >= 0 else (1 if mean[j] > 0.0 else 0)
        field[j] = u[j]
    for j in range(V):
        if trial[j]:
            value += field[j]
            for m in range(V):
                field[m] += C[j, m]
    value += _climb(C, trial, field)
    if value > best[0]:
        best[0] = value
        for j in range(V):
            labels[j] = trial[j]


@bare_kernel
def _climb(C, labels, field):
    """Flip the label that gains most until none does; return the gain."""
    total = 0.0
    for _ in range(10 * labels.size):
        gain, flip = 0.0, -1
        for j in range(labels.size):
            if (field[j] if labels[j] == 0 else -field[j]) > gain:
                gain, flip = abs(field[j]), j
        if flip < 0:
            break
        total += gain
        step = 1 - 2 * labels[flip]
        labels[flip] += step
        for m in range(labels.size):
            field[m] += step * C[flip, m]
    return total


@inner_kernel
def _split(C, limits, assign, field, noise, X, mean, free):
    """Tell whether the node must be split; write the relaxed means.

    ``limits`` is the score of the labels that are on, and the score to stay under. The problem of
    the undecided labels in {-1, +1} is ``constant + b's + s'(C / 8)s``; ``free`` is working space.
    """
    (base, target), r, m = limits, X.shape[0], 0
    for j in range(assign.size):
        if assign[j] < 0:
            free[m] = j
            m += 1
    if m == 0:
        return False
    b, W, x, g = np.empty(m), np.empty((m, m)), np.empty((r, m)), np.empty((r, m))
    constant = base
    for p in range(m):
        i, degree, length = free[p], 0.0, 0.0
        for q in range(m):
            W[p, q] = 0.25 * C[i, free[q]]
            degree += W[p, q]
        b[p] = 0.5 * field[i] + degree
        constant += 0.5 * field[i] + 0.5 * degree
        for s in range(r):
            x[s, p] = X[s, i] + noise[s, i]
            length += x[s, p] * x[s, p]
        for s in range(r):
            x[s, p] /= np.sqrt(length)
    fill_gradient(b, W, x, g)
    split, S = True, np.empty((m + 1, m + 1))
    for _ in range(ROUNDS):
        value = climb_vectors(b, W, x, g, 1e-12, SWEEPS)
        if constant + value > target:
            break
        if _dual_fits(b, W, x, g, target - constant, S):
            split = False
            break
    for p in range(m):
        mean[free[p]] = x[0, p]
        for s in range(r):
            X[s, free[p]] = x[s, p]
    return split


@bare_kernel
def _dual_fits(b, W, x, g, target, S):
    """Tell whether multipliers read off the gradient prove that the relaxation is under target."""
    r, m = x.shape
    total = 0.0
    for q in range(m):
        total += b[q] * x[0, q]
    total *= 0.5
    S[0, 0] = total
    for p in range(m):
        length = 0.0
        for s in range(r):
            length += g[s, p] * g[s, p]
        y = 0.5 * np.sqrt(length)
        total += y
        S[0, p + 1] = -0.5 * b[p]
        for q in range(p + 1, m):
            S[p + 1, q + 1] = -0.5 * W[p, q]
        S[p + 1, p + 1] = y
    shift = (target - total) / (m + 1)
    if shift <= 0.0:
        return False
    # A factorisation in floating point proves definiteness up to this much.
    shift -= 1e-15 * (m + 1) * (abs(target) + abs(total))
    for p in range(m + 1):
        S[p, p] += shift
    return definite(S)


@bare_kernel
def definite(S):
    """Tell whether a symmetric matrix is positive definite: L D L' of its upper half, in place."""
    n = S.shape[0]
    for k in range(n):
        if S[k, k] <= 0.0:
            return False
        for i in range(k + 1, n):
            f = S[k, i] / S[k, k]
            if f != 0.0:
                for j in range(i, n):
                    S[i, j] -= f * S[k, j]
    return True
