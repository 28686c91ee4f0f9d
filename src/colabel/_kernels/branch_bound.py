"""Certified maximum of a pairwise score over labelings, by depth-first branch and bound.

    max  sum_l u_l y_l + sum_{l<m} C_lm y_l y_m,      y in {0, 1}^V,  C of any sign.

A node is a list of decided labels. It is closed by, in this order,

1. *persistency*: a label whose field is positive (or not positive) whatever the undecided labels
   do is decided; repeated until nothing changes;
2. the *box bound*, in which each label takes half of the couplings that attract it;
3. *its own optimum*: a labeling of the undecided labels that no flip improves has multipliers under
   which it is a stationary point of the relaxation, the gains that its labels stand to lose. If
   ``diag(gains) - C/2`` is positive definite (one factorisation, no sweep), nothing in the node is
   better than it. This closes nodes whose relaxation is tight, where the next bound never does: it
   comes down to the incumbent without end;
4. the *semidefinite bound* of the undecided labels (`colabel._kernels.mixing`): multipliers are
   read off after every few sweeps and shifted so that their sum is the incumbent's value; if the
   shifted matrix is positive definite, nothing in the node is better. Once the relaxed value itself
   passes the incumbent no multipliers can do that; a rounding of the relaxed labels is tried as in
   3, and the node is split.

Multipliers need not be optimal for this, so most nodes take a few sweeps at most.
"""

import numpy as np

from colabel._kernels import bare_kernel, inner_kernel, kernel
from colabel._kernels.mixing import climb_vectors, fill_gradient

__all__ = ["definite", "is_best", "search_rows", "settle"]

SWEEPS = 3
ROUNDS = 12
# Rows of ``start``, and columns of ``best``.
START, NOISE = range(2)
SCORE, UPPER = range(2)
# Columns of ``state``: how far a search has come, and then the steps of its path.
DEPTH, DONE, NODES = range(3)
LABEL, SIDE, BOTH = range(3)


@kernel
def search_rows(unary, matrix, start, max_nodes, slack, labels, best, bounds, state):
    """Search the tree of each row from where ``state`` says, for up to ``max_nodes`` nodes.

    Parameters
    ----------
    unary : float64 array of shape (n_rows, V)
    matrix : float64 array of shape (V, V)
        Symmetric, zero diagonal.
    start : float64 array of shape (2, r, V)
        Unit vectors from which the relaxation climbs, and NOISE added before every climb.
    max_nodes : int
    slack : float64 array of shape (n_rows,)
        Nodes that cannot pass the incumbent by more than this are closed.
    labels : int8 array of shape (n_rows, V)
        Incumbents; changed in place.
    best : float64 array of shape (n_rows, 2)
        SCORE of the incumbents, and an UPPER bound of all nodes still open (``-inf`` if none),
        which is written here.
    bounds : float64 array of shape (n_rows, V + 1)
        Bound of the node at each depth of the current path, ``inf`` at first; changed in place.
    state : int64 array of shape (n_rows, V + 1, 3)
        DEPTH, whether the search is DONE, NODES so far; then for each depth: LABEL, SIDE, and
        whether BOTH sides have been entered. Labels decided beforehand are steps of which both
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
        u, steps, depth, nodes = unary[i], state[i, 1:], state[i, 0, DEPTH], 0
        bound = bounds[i]
        for s in range(r):
            for j in range(V):
                X[s, j] = start[START, s, j]
        while nodes < max_nodes and state[i, 0, DONE] == 0:
            nodes += 1
            base = _decide(u, matrix, steps, depth, assign, field, high, low)
            box = min(bound[depth], _box(matrix, base, assign, field))
            label = -1
            if box > best[i, SCORE] + slack[i]:
                _lean(matrix, assign, field, mean)
                if not _round_best(u, matrix, assign, mean, labels[i], best[i]):
                    limits = base, best[i, SCORE] + slack[i]
                    open_ = _split(matrix, limits, assign, field, start[NOISE], X, mean, free)
                    if open_ and not _round_best(u, matrix, assign, mean, labels[i], best[i]):
                        label = _branch_label(matrix, assign, mean)
            if label >= 0:
                steps[depth, LABEL], steps[depth, BOTH] = label, 0
                steps[depth, SIDE] = 1 if mean[label] > 0.0 else 0
                depth += 1
                bound[depth] = box
            else:
                depth = _step_back(steps, depth)
                state[i, 0, DONE] = depth == 0
        state[i, 0, DEPTH] = depth
        state[i, 0, NODES] += nodes
        best[i, UPPER] = -np.inf if state[i, 0, DONE] else bound[depth]
        for d in range(depth):
            if steps[d, BOTH] == 0:
                best[i, UPPER] = max(best[i, UPPER], bound[d + 1])


@bare_kernel
def _step_back(steps, depth):
    """Turn to the other side of the last step that has one left; return the depth, 0 if none."""
    while depth > 0 and steps[depth - 1, BOTH] == 1:
        depth -= 1
    if depth > 0:
        steps[depth - 1, SIDE] = 1 - steps[depth - 1, SIDE]
        steps[depth - 1, BOTH] = 1
    return depth


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
        base += _fix(C, steps[d, LABEL], steps[d, SIDE], assign, field, high, low)
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


@bare_kernel
def _lean(C, assign, field, mean):
    """Write to which side each undecided label leans if half of the others are on."""
    for j in range(assign.size):
        if assign[j] < 0:
            mean[j] = field[j]
            for m in range(assign.size):
                if assign[m] < 0:
                    mean[j] += 0.5 * C[j, m]


@inner_kernel
def _round_best(u, C, assign, mean, labels, best):
    """Round the undecided labels and climb; keep what is better, and tell whether it is proved.

    True: no labeling of this node is better than the one found, or than the incumbent.
    """
    V = u.size
    trial, gain, value = np.empty(V, np.int8), np.empty(V), 0.0
    for j in range(V):
        trial[j] = assign[j] if assign[j] >= 0 else (1 if mean[j] > 0.0 else 0)
        gain[j] = u[j]
    for j in range(V):
        if trial[j]:
            value += gain[j]
            for m in range(V):
                gain[m] += C[j, m]
    value += _climb(C, assign, False, trial, gain)
    proved = is_best(u, C, assign, trial, gain)
    if not proved:
        value += _climb(C, assign, True, trial, gain)
    if value > best[SCORE]:
        best[SCORE] = value
        for j in range(V):
            labels[j] = trial[j]
    return proved


@bare_kernel
def _climb(C, assign, decided, labels, gain):
    """Flip the label that gains most until none does; return what that adds to the score.

    ``gain`` is what turning a label on adds. Labels in ``assign`` are flipped only if ``decided``.
    """
    total = 0.0
    for _ in range(10 * labels.size):
        most, flip = 0.0, -1
        for j in range(labels.size):
            added = gain[j] if labels[j] == 0 else -gain[j]
            if added > most and (decided or assign[j] < 0):
                most, flip = added, j
        if flip < 0:
            break
        total += most
        step = 1 - 2 * labels[flip]
        labels[flip] += step
        for m in range(labels.size):
            gain[m] += step * C[flip, m]
    return total


@inner_kernel
def is_best(u, C, assign, labels, gain):
    """Tell whether ``diag(|gain|) - C/2`` of the undecided labels is positive definite.

    With ``s`` in {-1, +1}, the score of a node is ``constant + sum(d)/2 + b's - s'(D - W)s/2`` with
    ``W = C/4`` for any ``D = diag(d)``. Under ``d_p = s_p (b + Ws)_p``, half of what a flip of p
    loses, ``s`` is stationary; where ``D - W`` is positive definite, it is the only maximum.
    """
    m, top = 0, 0.0
    for j in range(assign.size):
        if assign[j] < 0:
            if (gain[j] if labels[j] == 0 else -gain[j]) >= 0.0:
                return False
            m += 1
            size = abs(u[j])
            for k in range(assign.size):
                size += abs(C[j, k])
            top = max(top, size)
    S, p = np.empty((m, m)), 0
    rounding = 1e-15 * (assign.size + 1) * top
    for j in range(assign.size):
        if assign[j] < 0:
            S[p, p], q = abs(gain[j]) - rounding, p + 1
            for k in range(j + 1, assign.size):
                if assign[k] < 0:
                    S[p, q] = -0.5 * C[j, k]
                    q += 1
            p += 1
    return definite(S)


@inner_kernel
def _split(C, limits, assign, field, noise, X, mean, free):
    """Tell whether the node must be split; write the relaxed means.

    At least one label is undecided: without any, a node is its own best labeling, and closed.
    ``limits`` is the score of the labels that are on, and the score to stay under. The problem of
    the undecided labels in {-1, +1} is ``constant + b's + s'(C / 8)s``; ``free`` is working space.
    """
    (base, target), r, m = limits, X.shape[0], 0
    for j in range(assign.size):
        if assign[j] < 0:
            free[m] = j
            m += 1
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
    """Tell whether a symmetric matrix is positive definite: L D L' of its upper half, in place.

    Four pivots at a time, so that the rest is passed over a quarter as often.
    """
    n, k = S.shape[0], 0
    while k < n:
        end = min(k + 4, n)
        for p in range(k, end):
            if not S[p, p] > 0.0:
                return False
            for i in range(p + 1, end):
                f = S[p, i] / S[p, p]
                for j in range(i, n):
                    S[i, j] -= f * S[p, j]
        for i in range(end, n):  # none, unless there are four pivots
            f0, f1 = S[k, i] / S[k, k], S[k + 1, i] / S[k + 1, k + 1]
            f2, f3 = S[k + 2, i] / S[k + 2, k + 2], S[k + 3, i] / S[k + 3, k + 3]
            for j in range(i, n):
                some = f0 * S[k, j] + f1 * S[k + 1, j]
                S[i, j] -= some + (f2 * S[k + 2, j] + f3 * S[k + 3, j])
        k = end
    return True
