"""Limited-memory BFGS for many small problems that are evaluated together; also with L1 norms.

Each problem has its own point, direction, step and history; one call of ``advance`` takes the
values and gradients at all trial points and moves every problem by one evaluation: it accepts the
step and makes a new direction, or shortens the step. No problem waits for another's line search.

With a norm the search is orthant-wise (Andrew and Gao 2007): within one orthant the norm is linear,
so that each step is one on the smooth part, with the gradient replaced by the least element of the
subdifferential (the slopes), and stays inside the orthant that the slopes point into. Coefficients
reach zero exactly.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from colabel._kernels import any_order, inner_kernel, kernel

__all__ = ["Limits", "Memory", "advance", "dot", "empty_memory"]

# Rows of a problem's vectors; differences of points follow, then differences of gradients. SCALE is
# the diagonal of the first inverse Hessian. With a norm there is one row more, the slopes.
POINT, GRADIENT, DIRECTION, SCALE, HEAD, SLOPES = 0, 1, 2, 3, 4, -1
# A problem's numbers: value at the point, step, slope along the direction, then 1 / (s . y).
VALUE, STEP, SLOPE, RHO = 0, 1, 2, 3
# A problem's counts: pairs ever stored, steps taken (-1: nothing evaluated), cuts of the step,
# status, steps in a row without a decrease.
PAIRS, STEPS, CUTS, STATUS, IDLE, COUNTS = 0, 1, 2, 3, 4, 5
RUNNING, CONVERGED, STALLED = 0, 1, 2
# Pairs remembered: more help little on logistic losses, and cost memory.
MEMORY = 12
# Sufficient decrease (Armijo), and how often a step is shortened, or taken without a decrease,
# before the search gives up.
DECREASE, MOST_CUTS, MOST_IDLE = 1e-4, 25, 5


class Limits(NamedTuple):
    """When a search ends.

    What may be left above the optimum, known (``gap``) or estimated, and the rounding error of a
    value, all relative to the value; the least value that they are relative to (``floor``); the
    inverse of the least curvature (``flattest``); and steps.
    """

    gap: float
    estimate: float
    rounding: float
    floor: float
    flattest: float
    max_steps: int


class Memory(NamedTuple):
    """What P searches remember of D variables and m pairs, rows as the constants above name them.

    ``vectors`` (P, 4 + 2 m, D), or (P, 5 + 2 m, D) with a norm; ``numbers`` (P, 3 + m); ``counts``
    (P, 5), int64.
    """

    vectors: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray


@register_jitable
def empty_memory(n_problems, n_variables, n_pairs=MEMORY, with_norm=False):
    """Make the memory of searches that have not begun; ``POINT`` and ``SCALE`` are to be set."""
    vectors = np.empty((n_problems, HEAD + 2 * n_pairs + with_norm, n_variables))
    counts = np.zeros((n_problems, COUNTS), dtype=np.int64)
    counts[:, STEPS] = -1
    return Memory(vectors, np.zeros((n_problems, RHO + n_pairs)), counts)


@kernel
def advance(memory, price, active, trial, value, gradient, limits):
    """Move the active problems on by one evaluation; return how many are still running.

    Parameters
    ----------
    memory : Memory
        Of P problems.
    price : float64 array of shape (P, D), or None
        Weights of the L1 norm, not negative. A function of no norms is compiled without them.
    active : int64 array of shape (A,)
        The problems evaluated; those still running are moved to its front.
    trial : float64 array of shape (A, D)
        The points evaluated, a row for each active problem; replaced by the next ones.
    value, gradient : float64 arrays of shape (A,) and (A, D)
        Of the smooth part, at the points evaluated.
    limits : Limits

    Notes
    -----
    O(A D m). Nocedal and Wright (2006), algorithms 7.4 and 7.5, with backtracking: convex problems
    have ``s . y >= 0``, so that no curvature condition is needed. Unlike in Andrew and Gao, the
    direction must agree with the slopes in sign only where a coefficient is zero; elsewhere a small
    step cannot leave the orthant.
    """
    running = 0
    for a in range(active.size):
        p = active[a]
        vector, number, count = memory.vectors[p], memory.numbers[p], memory.counts[p]
        norm = None if price is None else price[p]
        total = value[a] if price is None else value[a] + _norm(trial[a], norm)
        if count[STEPS] < 0 or total <= _enough(vector, number, norm, trial[a], limits):
            _move(vector, number, count, trial[a], total, gradient[a])
            _turn(vector, number, count, norm)
            if _is_close(vector, number, _slopes(vector, norm), limits):
                count[STATUS] = CONVERGED
        elif _shorten(number, count, total):
            pass
        elif count[PAIRS] > 0:
            _aim_steepest(vector, number, count, _slopes(vector, norm))
        else:
            count[STATUS] = STALLED
        if count[STATUS] == RUNNING and count[STEPS] < limits.max_steps:
            active[running] = p
            _go(vector, number[STEP], norm, trial[running])
            running += 1
    return running


@inner_kernel
def _slopes(vector, norm):
    """Return what stands for the gradient: with a norm, the least of the subdifferential."""
    return vector[GRADIENT] if norm is None else vector[SLOPES]


@inner_kernel
def _turn(vector, number, count, norm):
    """Make the direction from the point just accepted."""
    if norm is not None:
        _find_slopes(vector, norm)
    _aim(vector, number, count, _slopes(vector, norm))
    if norm is not None:
        _stay(vector, number)
    if number[SLOPE] >= 0.0:  # rounding has spoilt the pairs
        _aim_steepest(vector, number, count, _slopes(vector, norm))


@inner_kernel
def _enough(vector, number, norm, point, limits):
    """Return the value below which a step is accepted."""
    slack = limits.rounding * abs(number[VALUE])
    if norm is None:
        return number[VALUE] + DECREASE * number[STEP] * number[SLOPE] + slack
    gain = 0.0
    for j in range(point.size):
        gain += vector[SLOPES, j] * (point[j] - vector[POINT, j])
    return number[VALUE] + DECREASE * min(gain, 0.0) + slack


@inner_kernel
def _go(vector, step, norm, trial):
    """Go along the direction; components that would leave their orthant stop at zero."""
    for j in range(trial.size):
        trial[j] = vector[POINT, j] + step * vector[DIRECTION, j]
    if norm is not None:
        for j in range(trial.size):
            here = vector[POINT, j]
            side = here if here != 0.0 else -vector[SLOPES, j]
            if norm[j] != 0.0 and not trial[j] * side > 0.0:
                trial[j] = 0.0


@inner_kernel
def _norm(point, price):
    total = 0.0
    for j in range(point.size):
        total += price[j] * abs(point[j])
    return total


@inner_kernel
def _find_slopes(vector, price):
    """Write the least element of the subdifferential."""
    point, gradient, least = vector[POINT], vector[GRADIENT], vector[SLOPES]
    for j in range(point.size):
        if point[j] != 0.0:
            least[j] = gradient[j] + (price[j] if point[j] > 0.0 else -price[j])
        else:
            least[j] = max(gradient[j] - price[j], 0.0) + min(gradient[j] + price[j], 0.0)


@inner_kernel
def _stay(vector, number):
    """Take out of the direction what leads out of the orthant at once, which is uphill."""
    point, d, least = vector[POINT], vector[DIRECTION], vector[SLOPES]
    for j in range(d.size):
        if point[j] == 0.0 and d[j] * least[j] >= 0.0:
            d[j] = 0.0
    number[SLOPE] = dot(least, d)


@inner_kernel
def _is_close(vector, number, gradient, limits):
    """Return whether a value is known, or estimated, to be close to the optimum.

    Known: of a convex function, no more is left than half of the squared gradient over the least
    curvature. Estimated: a quasi-Newton step gains half of the slope, which may be far too little
    if the function is badly scaled.
    """
    size = max(abs(number[VALUE]), limits.floor)
    left = _decrease(gradient, vector[SCALE], limits.flattest)
    return left <= limits.gap * size or -0.5 * number[SLOPE] <= limits.estimate * size


@inner_kernel
def _shorten(number, count, value):
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
def _move(vector, number, count, point, value, gradient):
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
def _aim(vector, number, count, gradient):
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
def _aim_steepest(vector, number, count, gradient):
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
