"""Attracting labels with a loss that depends on counts: families of cuts without prices.

Problem and shared arguments: ``colabel._kernels.f_cut``. Each function asks for its next cut and
returns True, or returns False when it has no more.
"""

from colabel._kernels import bare_kernel
from colabel._kernels.f_cut import (
    BEST,
    BETA,
    BOUND,
    COUNT,
    FIXED,
    HITS,
    LAST_COUNT,
    LAST_HITS,
    LAST_SCORE,
    LEFT,
    MU,
    ONLY,
    PLACE,
    SCORE,
    TOP,
    TRIAL,
    copy,
)

__all__ = ["next_algorithm_2", "next_nested"]

# Rows of ``froms``: the first place in ``order`` where a label is on, the last where it is off.
FIRST_ON, LAST_OFF = range(2)
# Columns of ``stack``, the ranges of places to do.
START, STOP = range(2)


@bare_kernel
def next_algorithm_2(levels, state):
    """Search a fixed point ``|y_k| = k`` (Algorithm 2 of Petterson and Caetano 2011).

    ``y_k`` maximises ``s + beta[k] h``; the answer, written over BEST, is the ``y_k`` of the
    largest fixed point met, not the best of those seen. At most V + 1 cuts. Approximate.
    """
    sets, box, pos = state.sets, state.box, state.pos
    k, size = pos[PLACE], int(box[LAST_COUNT])
    if k >= 0 and size >= k:
        copy(sets, TRIAL, LEFT)
    pos[PLACE] = size if k >= 0 and size > k else k + 1
    if pos[PLACE] < levels.beta.size:
        box[BETA], box[MU], pos[ONLY] = levels.beta[pos[PLACE]], 0.0, -1
        return True
    copy(sets, LEFT, BEST)
    return False


@bare_kernel
def next_nested(levels, state, froms, stack):
    """Cut for every ``beta`` by divide and conquer; the smallest maximisers are nested.

    A label on at one ``beta`` is on at all larger ones, so the ends of a range fix labels inside
    it, and a range with equal ends needs no cut: there ``g`` is a line. At most as many cuts as
    levels; BOUND then holds ``alpha[q] + g(beta[q], 0)`` or less, and SCORE, HITS, COUNT the
    labeling of each level. Exact family.
    """
    sets, box, pos = state.sets, state.box, state.pos
    V, last, place = sets.shape[1], levels.beta.size - 1, -1
    if pos[PLACE] < 0:
        place = 0
        for i in range(V):
            froms[FIRST_ON, i], froms[LAST_OFF, i] = last + 1, -1
    else:
        _record(pos[PLACE], levels, state, froms)
        if pos[TOP] < 0 and pos[PLACE] == 0:
            pos[TOP], stack[0, START], stack[0, STOP] = 0, 0, last
            place = last if last > 0 else -1
    while place < 0 and pos[TOP] >= 0:
        a, b = stack[pos[TOP], START], stack[pos[TOP], STOP]
        pos[TOP] -= 1
        differ = 0
        for i in range(V):
            differ += froms[FIRST_ON, i] <= b and froms[LAST_OFF, i] >= a
        if differ == 0:
            _fill(a, b, levels, state)
        elif b - a > 1:
            place = (a + b) // 2
            for start, stop in ((a, place), (place, b)):
                pos[TOP] += 1
                stack[pos[TOP], START], stack[pos[TOP], STOP] = start, stop
    for i in range(V):
        fixed = 0 if froms[LAST_OFF, i] >= place else -1
        fixed = 1 if froms[FIRST_ON, i] <= place else fixed
        sets[FIXED, i] = fixed if place >= 0 else -1
    if place >= 0:
        pos[PLACE], pos[ONLY] = place, -1
        box[BETA], box[MU] = levels.beta[levels.order[place]], 0.0
    return place >= 0


@bare_kernel
def _record(place, levels, state, froms):
    """Note the cut that was asked for at ``place``."""
    sets, reals, box = state.sets, state.reals, state.box
    for i in range(sets.shape[1]):
        if sets[TRIAL, i] > 0:
            froms[FIRST_ON, i] = min(froms[FIRST_ON, i], place)
        else:
            froms[LAST_OFF, i] = max(froms[LAST_OFF, i], place)
    q = levels.order[place]
    reals[SCORE, q], reals[HITS, q] = box[LAST_SCORE], box[LAST_HITS]
    reals[COUNT, q] = box[LAST_COUNT]


@bare_kernel
def _fill(a, b, levels, state):
    """Give the levels of a range with equal ends the labeling of its ends."""
    reals, source = state.reals, levels.order[a]
    score, hits, count = reals[SCORE, source], reals[HITS, source], reals[COUNT, source]
    for p in range(a, b + 1):
        q = levels.order[p]
        reals[SCORE, q], reals[HITS, q], reals[COUNT, q] = score, hits, count
        top = levels.alpha[q] + score + levels.beta[q] * hits
        reals[BOUND, q] = min(reals[BOUND, q], top)
