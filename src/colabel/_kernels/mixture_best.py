"""The labelings kept by a search: the best ``m`` so far, and what is too poor to join them.

They are ordered by log-probability; values within ``TIE`` count as equal, and then fewer labels
come first.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import bare_kernel

__all__ = ["Best", "close_labels", "count_on", "goal_of", "hopeless", "offer"]

TIE = 1e-13
# Products smaller than this may have been rounded to 0; nothing is closed on their account.
UNDERFLOW = 1e-290


class Best(NamedTuple):
    """Labelings (m, L), values (m,), -inf where a place is free, and if the empty one is barred."""

    labels: np.ndarray
    values: np.ndarray
    nonempty: bool


@bare_kernel
def count_on(state):
    """Count the labels that are on (1); free ones are -1."""
    on = 0
    for v in range(state.size):
        on += state[v] == 1
    return on


@bare_kernel
def offer(state, value, best):
    """Insert a labeling among the best, in order, unless it is known, barred or too poor."""
    labels, values = best.labels, best.values
    last, on = values.size - 1, count_on(state)
    if (best.nonempty and on == 0) or not _ahead(value, on, values[last], labels[last]):
        return
    for j in range(values.size):
        if values[j] > -np.inf and _same(labels[j], state):
            return
    j = last
    while j > 0 and _ahead(value, on, values[j - 1], labels[j - 1]):
        values[j] = values[j - 1]
        for v in range(state.size):
            labels[j, v] = labels[j - 1, v]
        j -= 1
    values[j] = value
    for v in range(state.size):
        labels[j, v] = state[v]


@bare_kernel
def _same(known, state):
    """Tell whether two labelings are equal."""
    same = True
    for v in range(state.size):
        same = same and known[v] == state[v]
    return same


@bare_kernel
def _ahead(value, on, known_value, known):
    """Tell whether a labeling is more probable than a known one, or equal with fewer labels."""
    if known_value == -np.inf or value > known_value + TIE:
        return True
    return value >= known_value - TIE and on < count_on(known)


@bare_kernel
def goal_of(best, peak):
    """Return what must be reached to join the best: a share of ``exp(peak)``, and its labels."""
    gap = best.values[-1] - peak
    return np.exp(gap if gap < 700.0 else 700.0), count_on(best.labels[-1])


@bare_kernel
def hopeless(up, on, goal):
    """Tell whether the bound ``up`` is under the goal, or equal to it with no fewer labels."""
    reach, fewest = goal
    if up + UNDERFLOW < reach * (1.0 - TIE):
        return True
    return up + UNDERFLOW <= reach * (1.0 + TIE) and on >= fewest


@bare_kernel
def close_labels(up, on, goal, state, closed):
    """Set every free label of which one side is hopeless, and write their list to ``closed``.

    Return how many, or -1 if both sides of a label are. Bounds taken before the first is set stay
    valid for the others, since setting labels lowers them. See `look_ahead` for ``up``.
    """
    n_closed = 0
    for v in range(state.size):
        if state[v] >= 0:
            continue
        off_closed = hopeless(up[v], on, goal)
        on_closed = hopeless(up[state.size + v], on + 1, goal)
        if off_closed and on_closed:
            return -1
        if off_closed or on_closed:
            state[v] = 1 if off_closed else 0
            on += state[v]
            closed[n_closed] = v
            n_closed += 1
    return n_closed
