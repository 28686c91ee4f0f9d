"""Semidefinite relaxation of quadratic problems over {-1, +1} by low-rank coordinate ascent.

Each label becomes a unit vector ``v_i`` in R^r, and the constant the first unit vector ``e_0``:

    max  sum_i b_i v_i'e_0 + sum_{i<j} W_ij v_i'v_j,      |v_i| = 1.

With ``r > sqrt(2 (V + 1))`` its local maxima are those of the semidefinite program (Eq. 17 of
Lajugie et al. 2015). The best ``v_i`` for all others fixed is ``g_i / |g_i|`` with
``g_i = b_i e_0 + sum_j W_ij v_j`` (the mixing method, Wang et al. 2017). Factors are (r, V) arrays,
so that an update runs along rows.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel

__all__ = ["climb_vectors", "fill_gradient", "mix_rows"]


@kernel
def mix_rows(B, W, X, G, tol, max_sweeps, value):
    """Climb from the factors ``X[i]`` for each row of ``B``, in place.

    Parameters
    ----------
    B : float64 array of shape (n_rows, V)
        Linear terms.
    W : float64 array of shape (V, V)
        Symmetric, zero diagonal; shared by the rows.
    X : float64 array of shape (n_rows, r, V)
        Columns of unit length; changed in place.
    G : float64 array of shape (n_rows, r, V)
        Gradients ``g``, written here.
    tol : float
        A sweep over all labels that gains less than this share of the value is the last.
    max_sweeps : int
    value : float64 array of shape (n_rows,)
        Values reached, written here.

    Notes
    -----
    O(r V^2) a sweep; labels that have settled cost O(r). The value is a lower bound of the
    relaxation: only `colabel.decoders.mixing` with its certificate bounds it from above.
    """
    for i in range(B.shape[0]):
        fill_gradient(B[i], W, X[i], G[i])
        value[i] = climb_vectors(B[i], W, X[i], G[i], tol, max_sweeps)


@kernel
def fill_gradient(b, W, X, G):
    """Write ``G = X W + e_0 b'``."""
    r, V = X.shape
    for s in range(r):
        for j in range(V):
            G[s, j] = b[j] if s == 0 else 0.0
    for i in range(V):
        for s in range(r):
            x = X[s, i]
            if x != 0.0:
                for j in range(V):
                    G[s, j] += x * W[i, j]


@kernel
def climb_vectors(b, W, X, G, tol, max_sweeps):
    """Sweep over the labels until a sweep gains little; return the value. ``G`` fits ``X``."""
    r, V = X.shape
    change = np.empty(r)
    for sweep in range(max_sweeps):
        gain = 0.0
        for i in range(V):
            length2, along = 0.0, 0.0
            for s in range(r):
                length2 += G[s, i] * G[s, i]
                along += G[s, i] * X[s, i]
            length = np.sqrt(length2)
            # A label that nothing pulls, or that points the right way, stays.
            if length - along <= 1e-15 * length:
                continue
            gain += length - along
            for s in range(r):
                new = G[s, i] / length
                change[s] = new - X[s, i]
                X[s, i] = new
            _shift(G, W[i], change)
        if sweep % 64 == 63:
            # Rounding errors of the updates add up.
            fill_gradient(b, W, X, G)
        if gain <= tol * _value(b, X, G):
            break
    return _value(b, X, G)


@bare_kernel
def _shift(G, row, change):
    """Add the outer product of ``change`` and ``row`` to ``G``, four rows at a time."""
    r, V = G.shape
    s = 0
    while s + 3 < r:
        a0, a1, a2, a3 = change[s], change[s + 1], change[s + 2], change[s + 3]
        for j in range(V):
            w = row[j]
            G[s, j] += a0 * w
            G[s + 1, j] += a1 * w
            G[s + 2, j] += a2 * w
            G[s + 3, j] += a3 * w
        s += 4
    while s < r:
        a0 = change[s]
        for j in range(V):
            G[s, j] += a0 * row[j]
        s += 1


@bare_kernel
def _value(b, X, G):
    """Return ``b'X_0 + sum_{i<j} W_ij v_i'v_j``, the pairs read off the gradient."""
    r, V = X.shape
    total = 0.0
    for s in range(r):
        for j in range(V):
            total += X[s, j] * G[s, j]
    for j in range(V):
        total += b[j] * X[0, j]
    return 0.5 * total
