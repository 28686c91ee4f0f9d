"""Limited-memory BFGS for many small problems that are evaluated together.

Each problem has its own point, direction, step and history; one call of ``advance`` takes the
values and gradients at all trial points and moves every problem by one evaluation: it accepts the
step and makes a new direction, or shortens the step. No problem waits for another's line search.
"""

import numpy as np

from colabel._kernels import kernel

__all__ = ["CONVERGED", "HEAD", "RUNNING", "STALLED", "TRIAL", "advance"]

# Rows of a problem's vectors; differences of points follow, then differences of gradients.
POINT, GRADIENT, DIRECTION, TRIAL, HEAD = 0, 1, 2, 3, 4
# A problem's numbers: value at the point, step, slope along the direction, then 1 / (s . y).
VALUE, STEP, SLOPE, RHO = 0, 1, 2, 3
# A problem's counts: pairs ever stored, steps taken (-1: nothing evaluated), cuts, status.
PAIRS, STEPS, CUTS, STATUS = 0, 1, 2, 3
RUNNING, CONVERGED, STALLED = 0, 1, 2
# Sufficient decrease (Armijo), and how often a step is shortened before the search gives up.
DECREASE, MOST_CUTS = 1e-4, 25


@kernel
def advance(vectors, numbers, counts, active, value, gradient, scale, limits):
    """Move the active problems on by one evaluation.

    Parameters
    ----------
    vectors : float64 array of shape (P, 4 + 2 m, D)
    numbers : float64 array of shape (P, 3 + m)
    counts : int64 array of shape (P, 4)
    active : int64 array of shape (A,)
    value, gradient : float64 arrays of shape (A,) and (A, D)
        At the trial points of the active problems.
    scale : float64 array of shape (D,)
        Diagonal of the first inverse Hessian.
    limits : float64 array of shape (2,)
        Largest absolute gradient at which a problem has converged, and the rounding error of a
        value relative to it.

    Notes
    -----
    O(A D m). Nocedal and Wright (2006), algorithms 7.4 and 7.5, with backtracking: convex problems
    have ``s . y >= 0``, so that no curvature condition is needed.
    """
    for a in range(active.size):
        p = active[a]
        vector, number, count = vectors[p], numbers[p], counts[p]
        first = count[STEPS] < 0
        slack = limits[1] * abs(number[VALUE])
        enough = number[VALUE] + DECREASE * number[STEP] * number[SLOPE] + slack
        if first or value[a] <= enough:
            if not first:
                _remember(vector, number, count, gradient[a])
            _accept(vector, number, count, value[a], gradient[a])
            if _largest(gradient[a]) <= limits[0]:
                count[STATUS] = CONVERGED
            else:
                _aim(vector, number, count, scale)
        elif count[CUTS] < MOST_CUTS:
            _shorten(number, count, value[a])
        elif count[PAIRS] > 0:  # start again from the steepest descent
            count[PAIRS] = 0
            _aim(vector, number, count, scale)
        else:
            count[STATUS] = STALLED
        for j in range(vector.shape[1]):
            vector[TRIAL, j] = vector[POINT, j] + number[STEP] * vector[DIRECTION, j]


@kernel
def _remember(vector, number, count, gradient):
    """Store the step and the change of the gradient, over the oldest pair."""
    memory = number.size - RHO
    slot = count[PAIRS] % memory
    s, y = vector[HEAD + slot], vector[HEAD + memory + slot]
    product, size = 0.0, 0.0
    for j in range(s.size):
        s[j] = number[STEP] * vector[DIRECTION, j]
        y[j] = gradient[j] - vector[GRADIENT, j]
        product += s[j] * y[j]
        size += y[j] * y[j]
    if product > 1e-10 * size * 1e-6 and product > 0.0:
        number[RHO + slot] = 1.0 / product
        count[PAIRS] += 1


@kernel
def _accept(vector, number, count, value, gradient):
    number[VALUE] = value
    count[STEPS] += 1
    for j in range(gradient.size):
        vector[POINT, j] = vector[TRIAL, j]
        vector[GRADIENT, j] = gradient[j]


@kernel
def _aim(vector, number, count, scale):
    """Make the next direction by the two-loop recursion, and a step of one along it."""
    memory = number.size - RHO
    kept = min(count[PAIRS], memory)
    d = vector[DIRECTION]
    alpha = np.empty(memory)
    for j in range(d.size):
        d[j] = -vector[GRADIENT, j]
    for back in range(1, kept + 1):
        slot = (count[PAIRS] - back) % memory
        alpha[slot] = number[RHO + slot] * _dot(vector[HEAD + slot], d)
        _add(d, -alpha[slot], vector[HEAD + memory + slot])
    size = 1.0
    if kept > 0:
        slot = (count[PAIRS] - 1) % memory
        y = vector[HEAD + memory + slot]
        bent = 0.0
        for j in range(d.size):
            bent += y[j] * scale[j] * y[j]
        size = 1.0 / (number[RHO + slot] * bent)
    for j in range(d.size):
        d[j] *= size * scale[j]
    for ahead in range(kept, 0, -1):
        slot = (count[PAIRS] - ahead) % memory
        beta = number[RHO + slot] * _dot(vector[HEAD + memory + slot], d)
        _add(d, alpha[slot] - beta, vector[HEAD + slot])
    number[SLOPE] = _dot(vector[GRADIENT], d)
    number[STEP], count[CUTS] = 1.0, 0


@kernel
def _shorten(number, count, value):
    """Go to the minimum of the parabola through what is known, within a tenth and a half."""
    step = number[STEP]
    bend = value - number[VALUE] - step * number[SLOPE]
    best = -0.5 * number[SLOPE] * step * step / bend if bend > 0.0 else 0.0
    number[STEP] = min(max(best, 0.1 * step), 0.5 * step)
    count[CUTS] += 1


@kernel
def _dot(a, b):
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    j = 0
    while j + 4 <= a.size:
        first += a[j] * b[j]
        second += a[j + 1] * b[j + 1]
        third += a[j + 2] * b[j + 2]
        fourth += a[j + 3] * b[j + 3]
        j += 4
    while j < a.size:
        first += a[j] * b[j]
        j += 1
    return (first + second) + (third + fourth)


@kernel
def _add(a, factor, b):
    for j in range(a.size):
        a[j] += factor * b[j]


@kernel
def _largest(values):
    most = 0.0
    for j in range(values.size):
        most = max(most, abs(values[j]))
    return most
