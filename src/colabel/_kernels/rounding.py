"""From relaxed label strengths to labelings: the best prefix, then flips while they help.

The objective is ``sum_l unary_l y_l + sum_{l<m} matrix_lm y_l y_m + table[hits, false]``, where
hits and false alarms are counted against a true labeling; a table of zeros adds nothing.
"""

import numpy as np

from colabel._kernels import bare_kernel, inner_kernel, kernel

__all__ = ["climb", "climb_pairs", "round_factors", "round_rows", "round_sizes"]

# Steps of a label: a plain 1 would be a type of its own to `_add`.
ON, OFF = np.int64(1), np.int64(-1)


@kernel
def round_rows(unary, matrix, strength, truth, table, nonempty, labels):
    """Round each row of ``strength`` to a labeling that no flip of one or two labels improves.

    Labels are turned on from the strongest to the weakest and, for a second start, from the
    weakest to the strongest; the best stage of each is improved, and the better one kept.

    Parameters
    ----------
    unary : float64 array of shape (n_rows, V)
    matrix : float64 array of shape (V, V)
        Symmetric, zero diagonal.
    strength : float64 array of shape (n_rows, V)
        The larger, the sooner a label is turned on.
    truth : int8 array of shape (n_rows, V), in {0, 1}
    table : float64 array of shape (n_true + 1, V - n_true + 1)
        Added loss at ``[hits, false]``.
    nonempty : bool
        Leave the empty labeling out.
    labels : int8 array of shape (n_rows, V)
        Written here.

    Notes
    -----
    O(V^2) a row and O(V) a flip. A heuristic.
    """
    V = unary.shape[1]
    field, order = np.empty(V), np.empty(V, np.int64)
    trial, reach = np.empty(V, np.int8), pair_reach(matrix, table)
    for i in range(unary.shape[0]):
        sort_falling(strength[i], order)
        prefix(unary[i], matrix, order, truth[i], table, nonempty, labels[i], field)
        best = climb(unary[i], matrix, truth[i], table, nonempty, labels[i], field)
        # Where couplings rule, the relaxation hardly tells a labeling from its opposite.
        for j in range(V // 2):
            order[j], order[V - 1 - j] = order[V - 1 - j], order[j]
        prefix(unary[i], matrix, order, truth[i], table, nonempty, trial, field)
        value = climb(unary[i], matrix, truth[i], table, nonempty, trial, field)
        _keep(value, trial, best, labels[i])
        climb_pairs(unary[i], matrix, reach, truth[i], table, nonempty, labels[i], field)


@kernel
def round_factors(unary, matrix, factors, draws, nonempty, labels):
    """Round relaxed vectors by hyperplanes: the best labeling over all ``draws``.

    The strengths of one draw are ``factors[i]' draw``; with a first entry of one and standard
    normal others they have the mean ``u`` and the covariance ``U - uu'`` of the relaxed moments.

    Parameters
    ----------
    unary : float64 array of shape (n_rows, V)
    matrix : float64 array of shape (V, V)
    factors : float64 array of shape (n_rows, r, V)
    draws : float64 array of shape (n_draws, r)
    nonempty : bool
    labels : int8 array of shape (n_rows, V)
        Written here.
    """
    n_rows, r, V = factors.shape
    field, strength, order = np.empty(V), np.empty(V), np.empty(V, np.int64)
    trial, truth, table = np.zeros(V, np.int8), np.zeros(V, np.int8), np.zeros((1, V + 1))
    reach = pair_reach(matrix, table)
    for i in range(n_rows):
        best = -np.inf
        for q in range(draws.shape[0]):
            for j in range(V):
                strength[j] = 0.0
            for s in range(r):
                for j in range(V):
                    strength[j] += draws[q, s] * factors[i, s, j]
            sort_falling(strength, order)
            prefix(unary[i], matrix, order, truth, table, nonempty, trial, field)
            value = climb(unary[i], matrix, truth, table, nonempty, trial, field)
            best = _keep(value, trial, best, labels[i])
        climb_pairs(unary[i], matrix, reach, truth, table, nonempty, labels[i], field)


@bare_kernel
def _keep(value, trial, best, labels):
    """Copy ``trial`` to ``labels`` if it is better, or as good with fewer labels."""
    fewer = 0
    for j in range(labels.size):
        fewer += labels[j] - trial[j]
    if value > best or (value == best and fewer > 0):
        best = value
        for j in range(labels.size):
            labels[j] = trial[j]
    return best


@bare_kernel
def sort_falling(strength, order):
    """Write to ``order`` the labels by falling strength: shell sort, quick to compile."""
    V = order.size
    for j in range(V):
        order[j] = j
    gap = V // 2
    while gap > 0:
        for j in range(gap, V):
            here, q = order[j], j
            while q >= gap and strength[order[q - gap]] < strength[here]:
                order[q] = order[q - gap]
                q -= gap
            order[q] = here
        gap = 1 if gap == 2 else (gap * 5) // 11


@bare_kernel
def prefix(unary, matrix, order, truth, table, nonempty, labels, field):
    """Turn labels on in the order given and keep the best stage of it; set ``field`` to match.

    ``field[l]`` is what the score gains if label ``l`` is turned on.
    """
    V = order.size
    for j in range(V):
        field[j] = unary[j]
        labels[j] = 0
    hits, value, size = 0, 0.0, 0
    best = -np.inf if nonempty else table[0, 0]
    for k in range(V):
        j = order[k]
        value += field[j]
        hits += truth[j]
        total = value + table[hits, k + 1 - hits]
        if total > best:
            best, size = total, k + 1
        _add(field, matrix[j], ON)
    for j in range(V):
        field[j] = unary[j]
    for k in range(size):
        j = order[k]
        labels[j] = 1
        _add(field, matrix[j], ON)


@bare_kernel
def climb(unary, matrix, truth, table, nonempty, labels, field):
    """Flip the label that gains most until none does; a label that gains nothing is turned off.

    ``labels`` and ``field`` are changed in place. Returns the objective reached. Ends: each flip
    raises the objective, or keeps it with one label less; rounding is kept from making a cycle by
    a threshold and a limit of 10 V + 100 flips.
    """
    V = labels.size
    hits, size, scale = np.int64(0), np.int64(0), 0.0
    for j in range(V):
        size += labels[j]
        hits += labels[j] * truth[j]
        scale = max(scale, abs(field[j]))
    for _ in range(10 * V + 100):
        fixed = nonempty and size == 1
        steps = _loss_steps(table, hits, size - hits)
        flip = _best_flip(field, truth, labels, steps, fixed, 1e-14 * scale)
        if flip < 0 and fixed:
            # The last label cannot be turned off, but another may stand in for it.
            flip = _better_single(unary, truth, table, labels)
            if flip >= 0:
                for j in range(V):
                    labels[j] = 0
                    field[j] = unary[j]
                size, hits = np.int64(0), np.int64(0)
        if flip < 0:
            break
        step = 1 - 2 * labels[flip]
        labels[flip] += step
        size += step
        hits += step * truth[flip]
        _add(field, matrix[flip], step)
    value = table[hits, size - hits]
    for j in range(V):
        if labels[j]:
            # Half of the couplings: each pair is met from both ends.
            value += 0.5 * (unary[j] + field[j])
    return value


@bare_kernel
def climb_pairs(unary, matrix, reach, truth, table, nonempty, labels, field):
    """Flip the two labels that gain most, then single ones, until nothing gains.

    Two labels that pay only together are found by this and by no single flip. O(V^2) a pair, less
    where ``reach`` (see `pair_reach`) says that a label cannot be in one. ``labels`` is changed in
    place, ``field`` is written. At most V + 10 pairs.
    """
    V = labels.size
    for _ in range(V + 10):
        hits, size, scale, top = 0, 0, 0.0, -np.inf
        for j in range(V):
            field[j] = unary[j]
            size += labels[j]
            hits += labels[j] * truth[j]
        for j in range(V):
            if labels[j]:
                _add(field, matrix[j], ON)
        for j in range(V):
            scale = max(scale, abs(field[j]))
            top = max(top, (1 - 2 * labels[j]) * field[j])
        best, first, second = 0.0, -1, -1
        for j in range(V):
            step = 1 - 2 * labels[j]
            floor = max(best, 1e-13 * scale) - step * field[j]
            if top + reach[j] <= floor:
                continue
            for m in range(j):
                other = 1 - 2 * labels[m]
                new = size + step + other
                new_hits = hits + step * truth[j] + other * truth[m]
                gain = other * (field[m] + step * matrix[j, m])
                gain += table[new_hits, new - new_hits] - table[hits, size - hits]
                if gain > floor and (new > 0 or not nonempty):
                    best, first, second = gain + step * field[j], j, m
                    floor = gain
        if first < 0:
            break
        for j in (first, second):
            step = 1 - 2 * labels[j]
            labels[j] += step
            _add(field, matrix[j], step)
        climb(unary, matrix, truth, table, nonempty, labels, field)


@inner_kernel
def pair_reach(matrix, table):
    """Bound what flipping a label with another gains beyond the two fields: (V,)."""
    least, most = table[0, 0], table[0, 0]
    for a in range(table.shape[0]):
        for b in range(table.shape[1]):
            least, most = min(least, table[a, b]), max(most, table[a, b])
    reach = np.empty(matrix.shape[0])
    for j in range(reach.size):
        reach[j] = 0.0
        for m in range(reach.size):
            reach[j] = max(reach[j], abs(matrix[j, m]))
        reach[j] += most - least
    return reach


@bare_kernel
def _better_single(unary, truth, table, labels):
    """Return the best label to have alone, -1 if that is the one that is on."""
    best, found = -np.inf, -1
    for j in range(unary.size):
        value = unary[j] + table[truth[j], 1 - truth[j]]
        if value > best or (value == best and labels[j]):
            best, found = value, j
    return -1 if labels[found] else found


@bare_kernel
def _best_flip(field, truth, labels, steps, fixed, best):
    """Return the label that gains most, or loses nothing by being turned off; -1 if there is none.

    Only gains above ``best`` count as gains. Where ``fixed``, no label is turned off.
    """
    (false_on, true_on, false_off, true_off), flip = steps, -1
    for j in range(labels.size):
        if labels[j] == 0:
            gain = field[j] + (true_on if truth[j] else false_on)
        elif fixed:
            continue
        else:
            gain = (true_off if truth[j] else false_off) - field[j]
            if flip < 0 and 0.0 <= gain <= best:
                best, flip = gain, j
        if gain > best:
            best, flip = gain, j
    return flip


@bare_kernel
def _loss_steps(table, hits, false):
    """Return what the loss gains: a false or a true label turned on, a false or a true one off."""
    now = table[hits, false]
    false_on = table[hits, false + 1] - now if false + 1 < table.shape[1] else 0.0
    true_on = table[hits + 1, false] - now if hits + 1 < table.shape[0] else 0.0
    false_off = table[hits, false - 1] - now if false > 0 else 0.0
    true_off = table[hits - 1, false] - now if hits > 0 else 0.0
    return false_on, true_on, false_off, true_off


@bare_kernel
def _add(field, row, step):
    for m in range(field.size):
        field[m] += step * row[m]


@kernel
def round_sizes(unary, matrix, mean, factors, draws, size, labels):
    """Round relaxed vectors to ``size`` labels: the strongest, then swaps while they help.

    The strengths of one draw are ``mean[i] + factors[i]' draw``. Parameters as for
    `round_factors`; ``mean`` is (n_rows, V). O(size (V - size)) a swap. A heuristic.
    """
    n_rows, r, V = factors.shape
    field, strength, order = np.empty(V), np.empty(V), np.empty(V, np.int64)
    trial = np.zeros(V, np.int8)
    for i in range(n_rows):
        best = -np.inf
        for q in range(draws.shape[0]):
            for j in range(V):
                strength[j] = mean[i, j]
            for s in range(r):
                for j in range(V):
                    strength[j] += draws[q, s] * factors[i, s, j]
            sort_falling(strength, order)
            for j in range(V):
                trial[j] = 0
                field[j] = unary[i, j]
            for k in range(size):
                trial[order[k]] = 1
                _add(field, matrix[order[k]], ON)
            value = _swap(unary[i], matrix, trial, field)
            if value > best:
                best = value
                for j in range(V):
                    labels[i, j] = trial[j]


@bare_kernel
def _swap(unary, matrix, labels, field):
    """Swap the pair that gains most until none does; return the score reached."""
    V = labels.size
    scale = 0.0
    for j in range(V):
        scale = max(scale, abs(field[j]))
    for _ in range(10 * V + 100):
        best, leave, enter = 1e-14 * scale, -1, -1
        for j in range(V):
            if labels[j] == 0:
                continue
            for m in range(V):
                if labels[m] == 0 and field[m] - field[j] - matrix[j, m] > best:
                    best, leave, enter = field[m] - field[j] - matrix[j, m], j, m
        if leave < 0:
            break
        labels[leave], labels[enter] = 0, 1
        _add(field, matrix[leave], OFF)
        _add(field, matrix[enter], ON)
    value = 0.0
    for j in range(V):
        if labels[j]:
            value += 0.5 * (unary[j] + field[j])
    return value
