"""Limited-memory BFGS for many small problems that are evaluated together.

Each problem has its own point, direction, step and history; one call of ``advance`` takes the
values and gradients at all trial points and moves every problem by one evaluation: it accepts the
step and makes a new direction, or shortens the step. No problem waits for another's line search.
"""

import numpy as np

from colabel._kernels import any_order, inner_kernel, kernel

__all__ = ["advance", "aim", "aim_steepest", "dot", "is_close", "move", "shorten"]

# Rows of a problem's vectors; differences of points follow, then differences of gradients. SCALE is
# the diagonal of the first inverse Hessian.
POINT, GRADIENT, DIRECTION, SCALE, HEAD = 0, 1, 2, 3, 4
# A problem's numbers: value at the point, step, slope along the direction, then 1 / (s . y).
VALUE, STEP, SLOPE, RHO = 0, 1, 2, 3
# A problem's counts: pairs ever stored, steps taken (-1: nothing evaluated), cuts of the step,
# status, steps in a row without a decrease.
PAIRS, STEPS, CUTS, STATUS, IDLE, COUNTS = 0, 1, 2, 3, 4, 5
RUNNING, CONVERGED, STALLED = 0, 1, 2
# Limits: what may be left above the optimum, known or estimated, and the rounding error of a value,
# all relative to the value; the least value they are relative to; the inverse of the least
# curvature; and steps.
GAP, ESTIMATE, ROUNDING, FLOOR, FLATTEST, MAX_STEPS = 0, 1, 2, 3, 4, 5
# Sufficient decrease (Armijo), and how often a step is shortened, or taken without a decrease,
# before the search gives up.
DECREASE, MOST_CUTS, MOST_IDLE = 1e-4, 25, 5


@kernel
def advance(vectors, numbers, counts, active, trial, value, gradient, limits):
    """Move the active problems on by one evaluation; return how many are still running.

    Parameters
    ----------
    vectors : float64 array of shape (P, 4 + 2 m, D)
    numbers : float64 array of shape (P, 3 + m)
    counts : int64 array of shape (P, 5)
    active : int64 array of shape (A,)
        The problems evaluated; those still running are moved to its front.
    trial : float64 array of shape (A, D)
        The points evaluated, a row for each active problem; replaced by the next ones.
    value, gradient : float64 arrays of shape (A,) and (A, D)
        At the points evaluated.
    limits : float64 array of shape (6,)

    Notes
    -----
    O(A D m). Nocedal and Wright (2006), algorithms 7.4 and 7.5, with backtracking: convex problems
    have ``s . y >= 0``, so that no curvature condition is needed.
    """
    running = 0
    for a in range(active.size):
        p = active[a]
        vector, number, count = vectors[p], numbers[p], counts[p]
        if count[STEPS] < 0 or value[a] <= _enough(number, limits):
            move(vector, number, count, trial[a], value[a], gradient[a])
            aim(vector, number, count, vector[GRADIENT])
            if number[SLOPE] >= 0.0:  # rounding has spoilt the pairs
                aim_steepest(vector, number, count, vector[GRADIENT])
            if is_close(vector, number, vector[GRADIENT], limits):
                count[STATUS] = CONVERGED
        elif shorten(number, count, value[a]):
            pass
        elif count[PAIRS] > 0:
            aim_steepest(vector, number, count, vector[GRADIENT])
        else:
            count[STATUS] = STALLED
        if count[STATUS] == RUNNING and count[STEPS] < limits[MAX_STEPS]:
            active[running] = p
            for j in range(vector.shape[1]):
                trial[running, j] = vector[POINT, j] + number[STEP] * vector[DIRECTION, j]
            running += 1
    return running


@inner_kernel
def _enough(number, limits):
    """Return the value below which a step is accepted."""
    slack = limits[ROUNDING] * abs(number[VALUE])
    return number[VALUE] + DECREASE * number[STEP] * number[SLOPE] + slack


@inner_kernel
def is_close(vector, number, gradient, limits):
    """Return whether a value is known, or estimated, to be close to the optimum.

    Known: of a convex function, no more is left than half of the squared gradient over the least
    curvature. Estimated: a quasi-Newton step gains half of the slope, which may be far too little
    if the function is badly scaled.
    """
    size = max(abs(number[VALUE]), limits[FLOOR])
    left = _decrease(gradient, vector[SCALE], limits[FLATTEST])
    return left <= limits[GAP] * size or -0.5 * number[SLOPE] <= limits[ESTIMATE] * size


@inner_kernel
def shorten(number, count, value):
    """Shorten the step; return False after too many cuts."""
    if count[CUTS] == MOST_CUTS:
        return False
    step = number[STEP]
    # The minimum of the parabola through what is known, within a tenth and a half.
    bend = value - number[VALUE] - step * number[SLOPE]
    best = np.divide(-0.5 * number[SLOPE] * step * step, bend) if bend > 0.0 else 0.0
    number[STEP] = min(max(best, 0.1 * step), 0.5 * step)
    count[CUTS] += 1
    return True


@inner_kernel
def move(vector, number, count, point, value, gradient):
    """Accept a point, and store how it and its gradient differ over the oldest pair."""
    memory = number.size - RHO
    slot = count[PAIRS] % memory
    s, y = vector[HEAD + slot], vector[HEAD + memory + slot]
    for j in range(s.size):
        s[j] = point[j] - vector[POINT, j]
        y[j] = gradient[j] - vector[GRADIENT, j]
        vector[POINT, j] = point[j]
        vector[GRADIENT, j] = gradient[j]
    if count[STEPS] >= 0:
        product = dot(s, y)
        if product > 1e-16 * dot(y, y):
            number[RHO + slot] = np.divide(1.0, product)
            count[PAIRS] += 1
    count[IDLE] = 0 if count[STEPS] < 0 or value < number[VALUE] else count[IDLE] + 1
    if count[IDLE] == MOST_IDLE:
        count[STATUS] = STALLED
    number[VALUE] = value
    count[STEPS] += 1


@inner_kernel
def aim(vector, number, count, gradient):
    """Make the next direction by the two-loop recursion, and a step of one along it."""
    memory = number.size - RHO
    kept = min(count[PAIRS], memory)
    d, scale = vector[DIRECTION], vector[SCALE]
    alpha = np.empty(memory)
    for j in range(d.size):
        d[j] = -gradient[j]
    for back in range(1, kept + 1):
        slot = (count[PAIRS] - back) % memory
        alpha[slot] = number[RHO + slot] * dot(vector[HEAD + slot], d)
        _add(d, -alpha[slot], vector[HEAD + memory + slot])
    size = 1.0
    if kept > 0:
        slot = (count[PAIRS] - 1) % memory
        size = np.divide(1.0, number[RHO + slot] * _weighted(vector[HEAD + memory + slot], scale))
    for j in range(d.size):
        d[j] *= size * scale[j]
    for ahead in range(kept, 0, -1):
        slot = (count[PAIRS] - ahead) % memory
        beta = number[RHO + slot] * dot(vector[HEAD + memory + slot], d)
        _add(d, alpha[slot] - beta, vector[HEAD + slot])
    number[SLOPE] = dot(gradient, d)
    number[STEP], count[CUTS] = 1.0, 0


@inner_kernel
def aim_steepest(vector, number, count, gradient):
    """Forget all pairs and go against the gradient."""
    for j in range(gradient.size):
        vector[DIRECTION, j] = -vector[SCALE, j] * gradient[j]
    number[SLOPE] = dot(gradient, vector[DIRECTION])
    number[STEP], count[CUTS], count[PAIRS] = 1.0, 0, 0


@any_order
def dot(a, b):
    """Return ``a . b``."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@any_order
def _weighted(y, scale):
    total = 0.0
    for j in range(y.size):
        total += y[j] * scale[j] * y[j]
    return total


@any_order
def _decrease(gradient, scale, flattest):
    """Return what a Newton step gains, curvatures being no more than those given."""
    total = 0.0
    for j in range(gradient.size):
        total += 0.5 * gradient[j] * gradient[j] * max(flattest, scale[j])
    return total


@inner_kernel
def _add(a, factor, b):
    for j in range(a.size):
        a[j] += factor * b[j]
