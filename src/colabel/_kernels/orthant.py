"""Orthant-wise limited-memory BFGS: many problems of a smooth function plus a weighted L1 norm.

Andrew and Gao (2007): within one orthant the norm is linear, so that each step is one of L-BFGS on
the smooth part, with the gradient replaced by the least element of the subdifferential (the slope),
and stays inside the orthant that the slope points into. Coefficients reach zero exactly.
"""

from colabel._kernels import inner_kernel, kernel, lbfgs
from colabel._kernels.lbfgs import (
    CONVERGED,
    DECREASE,
    DIRECTION,
    GRADIENT,
    MAX_STEPS,
    PAIRS,
    POINT,
    ROUNDING,
    RUNNING,
    SLOPE,
    STALLED,
    STATUS,
    STEP,
    STEPS,
    VALUE,
)

__all__ = ["PRICE", "advance"]

# Two vectors more, at the end: the weights of the norm, and the slope.
PRICE, LEAST = -2, -1


@kernel
def advance(vectors, numbers, counts, active, trial, value, gradient, limits):
    """Move the active problems on by one evaluation; return how many are still running.

    Parameters
    ----------
    vectors : float64 array of shape (P, 4 + 2 m + 2, D)
    numbers, counts, active, trial, limits
        As for ``lbfgs.advance``.
    value, gradient : float64 arrays of shape (A,) and (A, D)
        Of the smooth part, at the points evaluated.

    Notes
    -----
    O(A D m). Unlike the paper, the direction must agree with the slope in sign only where a
    coefficient is zero; elsewhere a small step cannot leave the orthant.
    """
    running = 0
    for a in range(active.size):
        p = active[a]
        vector, number, count = vectors[p], numbers[p], counts[p]
        total = value[a] + _norm(trial[a], vector[PRICE])
        if count[STEPS] < 0 or total <= _enough(vector, number, trial[a], limits):
            lbfgs.move(vector, number, count, trial[a], total, gradient[a])
            _find_slope(vector)
            lbfgs.aim(vector, number, count, vector[LEAST])
            _stay(vector, number)
            if number[SLOPE] >= 0.0:  # rounding has spoilt the pairs
                lbfgs.aim_steepest(vector, number, count, vector[LEAST])
            if lbfgs.is_close(vector, number, vector[LEAST], limits):
                count[STATUS] = CONVERGED
        elif lbfgs.shorten(number, count, total):
            pass
        elif count[PAIRS] > 0:
            lbfgs.aim_steepest(vector, number, count, vector[LEAST])
        else:
            count[STATUS] = STALLED
        if count[STATUS] == RUNNING and count[STEPS] < limits[MAX_STEPS]:
            active[running] = p
            _step(vector, number[STEP], trial[running])
            running += 1
    return running


@inner_kernel
def _norm(point, price):
    total = 0.0
    for j in range(point.size):
        total += price[j] * abs(point[j])
    return total


@inner_kernel
def _enough(vector, number, point, limits):
    """Return the value below which a step is accepted."""
    gain = 0.0
    for j in range(point.size):
        gain += vector[LEAST, j] * (point[j] - vector[POINT, j])
    return number[VALUE] + DECREASE * min(gain, 0.0) + limits[ROUNDING] * abs(number[VALUE])


@inner_kernel
def _find_slope(vector):
    """Write the least element of the subdifferential."""
    point, gradient, price, least = vector[POINT], vector[GRADIENT], vector[PRICE], vector[LEAST]
    for j in range(point.size):
        if point[j] != 0.0:
            least[j] = gradient[j] + (price[j] if point[j] > 0.0 else -price[j])
        else:
            least[j] = max(gradient[j] - price[j], 0.0) + min(gradient[j] + price[j], 0.0)


@inner_kernel
def _stay(vector, number):
    """Take out of the direction what leads out of the orthant at once, which is uphill."""
    point, d, least = vector[POINT], vector[DIRECTION], vector[LEAST]
    for j in range(d.size):
        if point[j] == 0.0 and d[j] * least[j] >= 0.0:
            d[j] = 0.0
    number[SLOPE] = lbfgs.dot(least, d)


@inner_kernel
def _step(vector, step, trial):
    """Go along the direction; components that would leave the orthant stop at zero."""
    for j in range(trial.size):
        here = vector[POINT, j]
        there = here + step * vector[DIRECTION, j]
        side = here if here != 0.0 else -vector[LEAST, j]
        free = vector[PRICE, j] == 0.0
        trial[j] = there if free or there * side > 0.0 else 0.0
