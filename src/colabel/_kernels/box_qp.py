"""Concave quadratic programs over a box, many with the same matrix.

    max over y in [0, 1]^V of  linear'y - y'Qy,     Q positive semidefinite.

Taking the coordinates in turn, each to its best value, never lowers the objective. How much is
left to gain is bounded by the slope: a concave function stays below its tangents.
"""

from colabel._kernels import bare_kernel, plain_kernel

__all__ = ["box_rows"]


@plain_kernel
def box_rows(Q, points, slopes, tol, max_sweeps, gaps):
    """Solve one program a row, by coordinate ascent.

    Parameters
    ----------
    Q : float64 array of shape (V, V)
        Symmetric, positive semidefinite.
    points : float64 array of shape (n_rows, V)
        Where to start, in the box; the solution is written here.
    slopes : float64 array of shape (n_rows, V)
        ``linear - 2 Q y`` at the points, kept up to date.
    tol : float
        A row is solved when it has no more than this to gain.
    max_sweeps : int
    gaps : float64 array of shape (n_rows,)
        How much each row has left to gain, at most; written here.

    Notes
    -----
    O(V) for each coordinate that moves, and O(V) a sweep; the number of sweeps grows with the
    condition of ``Q``.
    """
    V = Q.shape[0]
    for i in range(points.shape[0]):
        y, slope = points[i], slopes[i]
        gap = _left(y, slope)
        for _ in range(max_sweeps):
            if gap <= tol:
                break
            for v in range(V):
                if slope[v] == 0.0:
                    continue
                best = 1.0 if slope[v] > 0.0 else 0.0
                if Q[v, v] > 0.0:
                    best = min(max(y[v] + 0.5 * slope[v] / Q[v, v], 0.0), 1.0)
                change = best - y[v]
                if change != 0.0:
                    y[v] = best
                    for m in range(V):
                        slope[m] -= 2.0 * change * Q[v, m]
            gap = _left(y, slope)
        gaps[i] = gap


@bare_kernel
def _left(y, slope):
    """Return what the slope promises at the best corner of the box."""
    gain = 0.0
    for v in range(y.size):
        gain += max(slope[v], 0.0) * (1.0 - y[v]) + max(-slope[v], 0.0) * y[v]
    return gain
