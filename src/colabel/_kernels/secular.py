"""Linear plus quadratic function on a sphere, in an eigenbasis shared by all rows.

    max  c'x - x'Dx   subject to  |x|^2 = S,      D = diag(d), d_0 <= d_1 <= ...

Every stationary point has ``x_i = c_i / (2 (d_i + mu))``; the maximum is the one with
``mu >= -d_0``, the root of the *secular equation* ``|x(mu)|^2 = S`` (Eqs. 18-20 of Lajugie et al.
2015, whose leftmost eigenvalue is -mu). Multipliers are held as ``t = mu + d_0 >= 0`` and
eigenvalues as ``gaps = d - d_0``, so that nothing cancels when ``t`` is tiny. In the *hard case*
(``c`` is zero in the lowest eigenspace and ``|x(0)|^2 < S``) the missing length goes to the first
eigenvector. By weak duality ``sum_i c_i^2 / (4 (gaps_i + t)) + (t - d_0) S`` bounds the maximum for
*every* ``t >= 0``, and equals it at the root.
"""

import numpy as np

from colabel._kernels import bare_kernel, kernel, plain_kernel

__all__ = ["sphere_rows", "sphere_sizes"]

# Columns of ``size_terms``, and of ``row_terms``.
BETA, RADIUS2, LOWEST, SLOPE, CONSTANT, USE = range(6)
SUM, HITS, GUESS = range(3)


@plain_kernel
def sphere_rows(C, gaps, lowest, radius2, X, value):
    """Maximise ``c'x - x'Dx`` over ``|x|^2 = radius2`` for each row ``c`` of ``C``.

    Parameters
    ----------
    C : float64 array of shape (n_rows, m)
        Linear terms in the eigenbasis.
    gaps : float64 array of shape (m,)
        Eigenvalues less the lowest, ascending.
    lowest : float
        The lowest eigenvalue.
    radius2 : float, > 0
    X : float64 array of shape (n_rows, m)
        Maximisers, written here.
    value : float64 array of shape (n_rows,)
        Dual values, at least the maxima, written here.

    Notes
    -----
    About 6 Newton steps of O(m) a row. Exact to rounding.
    """
    for i in range(C.shape[0]):
        t = _root(C[i], gaps, radius2, 0.0)
        value[i] = _dual(C[i], gaps, t) + (t - lowest) * radius2
        _point(C[i], gaps, t, radius2, X[i])


@kernel
def sphere_sizes(C, G, E, gaps, size_terms, row_terms, bounds, X):
    """Solve the sphere problem of each row for every number of labels on.

    Fixing ``1's = beta`` leaves a sphere of radius ``V - beta^2 / V`` in the space orthogonal to
    the ones (Section 5.3 of Lajugie et al. 2015, the radius corrected). There, for size k,

        c_k = C[i] + slope_k G[i] - beta_k E,     value_k = constant_k + max c_k'x - x'Dx.

    Parameters
    ----------
    C, G : float64 arrays of shape (n_rows, V - 1)
        Scores and true labels in the eigenbasis.
    E : float64 array of shape (V - 1,)
    gaps : float64 array of shape (V - 1,)
    size_terms : float64 array of shape (V + 1, 6)
        For each size ``beta, radius2, lowest * radius2, slope, constant, use``; sizes whose
        ``use`` is zero are left out.
    row_terms : float64 array of shape (n_rows, 3)
        Sums over all labels of the linear term, and of the true labels; the size to begin with.
    bounds : float64 array of shape (n_rows, V + 1) or (n_rows, 1)
        With V + 1 columns: the maximum for every size, ``-inf`` where left out. With one: the
        largest of them only, which lets most sizes be skipped (their dual value at a multiplier
        found before is already too small).
    X : float64 array of shape (n_rows, V - 1)
        Maximiser of the best size.

    Returns
    -------
    best : int64 array of shape (n_rows,)
        Size of largest maximum.
    """
    n_rows, m = C.shape
    prune = bounds.shape[1] == 1
    best = np.zeros(n_rows, np.int64)
    c, winner, inverse = np.empty(m), np.empty(m), np.empty(m)
    for i in range(n_rows):
        top, t, t_best = -np.inf, 0.0, 0.0
        for turn in range(2 * size_terms.shape[0]):
            # From the size expected outwards: guess, guess + 1, guess - 1, guess + 2, ...
            k = int(row_terms[i, GUESS]) + ((turn + 1) // 2 if turn % 2 else -(turn // 2))
            if k < 0 or k >= size_terms.shape[0]:
                continue
            beta, slope = size_terms[k, BETA], size_terms[k, SLOPE]
            radius2 = size_terms[k, RADIUS2]
            if size_terms[k, USE] == 0.0:
                if not prune:
                    bounds[i, k] = -np.inf
                continue
            constant = _constant(size_terms[k], row_terms[i], m)
            if prune and t > 0.0:
                cheap = _weighted(C[i], G[i], E, slope, beta, inverse)
                if constant + 0.25 * cheap + t * radius2 <= top:
                    continue
            found = constant
            if radius2 > 0.0:
                for j in range(m):
                    c[j] = C[i, j] + slope * G[i, j] - beta * E[j]
                t = _root(c, gaps, radius2, t)
                found += _dual(c, gaps, t) + t * radius2
                _invert(gaps, t, inverse)
            if not prune:
                bounds[i, k] = found
            if found > top or (found == top and k < best[i]):
                top, t_best, best[i] = found, t, k
                for j in range(m):
                    winner[j] = c[j]
        if prune:
            bounds[i, 0] = top
        _point(winner, gaps, t_best, size_terms[best[i], RADIUS2], X[i])
    return best


@bare_kernel
def _constant(size, row, m):
    """Return what the score of a size has besides the sphere problem."""
    constant = size[BETA] / (m + 1) * (row[SUM] + size[SLOPE] * row[HITS])
    return constant + (size[CONSTANT] - size[LOWEST])


@bare_kernel
def _invert(gaps, t, inverse):
    """Write ``1 / (gaps + t)``, 0 for a multiplier of 0."""
    for j in range(gaps.size):
        inverse[j] = 1.0 / (gaps[j] + t) if t > 0.0 else 0.0


@bare_kernel
def _weighted(C, G, E, slope, beta, inverse):
    """Return ``sum_j c_j^2 inverse_j`` for ``c = C + slope G - beta E``."""
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    j, m = 0, C.size
    while j + 3 < m:
        c0 = C[j] + slope * G[j] - beta * E[j]
        c1 = C[j + 1] + slope * G[j + 1] - beta * E[j + 1]
        c2 = C[j + 2] + slope * G[j + 2] - beta * E[j + 2]
        c3 = C[j + 3] + slope * G[j + 3] - beta * E[j + 3]
        a0, a1 = a0 + c0 * c0 * inverse[j], a1 + c1 * c1 * inverse[j + 1]
        a2, a3 = a2 + c2 * c2 * inverse[j + 2], a3 + c3 * c3 * inverse[j + 3]
        j += 4
    while j < m:
        c0 = C[j] + slope * G[j] - beta * E[j]
        a0 += c0 * c0 * inverse[j]
        j += 1
    return (a0 + a1) + (a2 + a3)


@bare_kernel
def _root(c, gaps, radius2, start):
    """Return ``t`` of the maximum: 0 in the hard case, else the root of ``|x(t)|^2 = radius2``.

    Newton on ``1 / |x(t)|``, which is concave: from the left of the root steps never overshoot, and
    from the right the first one lands on the left. ``least`` is left of it, because there one
    coordinate alone is as long as the radius. ``start`` is a guess, 0 for none.
    """
    radius, least = np.sqrt(radius2), 0.0
    for i in range(c.size):
        least = max(least, 0.5 * abs(c[i]) / radius - gaps[i])
    t = max(start, least)
    for _ in range(100):
        length2, slope = _lengths(c, gaps, t)
        length = np.sqrt(length2)
        if abs(length - radius) <= 4e-15 * radius or (length < radius and t == least):
            break
        new = t + (length2 / slope) * ((length - radius) / radius) if slope > 0.0 else least
        new = max(new, least)
        if abs(new - t) <= 1e-15 * t:
            break
        t = new
    return t


@bare_kernel
def _lengths(c, gaps, t):
    """Return ``|x(t)|^2`` and ``sum_i x_i^2 / (gaps_i + t)``; coordinates of 0/0 count as zero."""
    a0, a1, a2, a3, b0, b1, b2, b3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    m = c.size
    first = 0
    # Only the lowest eigenvalues can have a zero denominator, and only when t is zero.
    while first < m and gaps[first] + t <= 0.0:
        first += 1
    i = first
    while i + 3 < m:
        w0, w1 = 1.0 / (gaps[i] + t), 1.0 / (gaps[i + 1] + t)
        w2, w3 = 1.0 / (gaps[i + 2] + t), 1.0 / (gaps[i + 3] + t)
        x0, x1, x2, x3 = c[i] * w0, c[i + 1] * w1, c[i + 2] * w2, c[i + 3] * w3
        x0, x1, x2, x3 = x0 * x0, x1 * x1, x2 * x2, x3 * x3
        a0, a1, a2, a3 = a0 + x0, a1 + x1, a2 + x2, a3 + x3
        b0, b1, b2, b3 = b0 + x0 * w0, b1 + x1 * w1, b2 + x2 * w2, b3 + x3 * w3
        i += 4
    while i < m:
        w0 = 1.0 / (gaps[i] + t)
        x0 = c[i] * w0
        a0, b0 = a0 + x0 * x0, b0 + x0 * x0 * w0
        i += 1
    return 0.25 * ((a0 + a1) + (a2 + a3)), 0.25 * ((b0 + b1) + (b2 + b3))


@bare_kernel
def _dual(c, gaps, t):
    """Return ``sum_i c_i^2 / (4 (gaps_i + t))``, leaving out 0/0."""
    a0, a1, a2, a3 = 0.0, 0.0, 0.0, 0.0
    m = c.size
    i = 0
    while i < m and gaps[i] + t <= 0.0:
        i += 1
    while i + 3 < m:
        a0 += c[i] * (c[i] / (gaps[i] + t))
        a1 += c[i + 1] * (c[i + 1] / (gaps[i + 1] + t))
        a2 += c[i + 2] * (c[i + 2] / (gaps[i + 2] + t))
        a3 += c[i + 3] * (c[i + 3] / (gaps[i + 3] + t))
        i += 4
    while i < m:
        a0 += c[i] * (c[i] / (gaps[i] + t))
        i += 1
    return 0.25 * ((a0 + a1) + (a2 + a3))


@bare_kernel
def _point(c, gaps, t, radius2, x):
    """Write the maximiser to ``x``; in the hard case the missing length goes to the first."""
    length2 = 0.0
    if radius2 <= 0.0:
        for i in range(x.size):
            x[i] = 0.0
        return
    for i in range(c.size):
        w = gaps[i] + t
        x[i] = 0.5 * c[i] / w if w > 0.0 else 0.0
        length2 += x[i] * x[i]
    if t == 0.0 and length2 < radius2:
        x[0] += np.sqrt(radius2 - length2)
