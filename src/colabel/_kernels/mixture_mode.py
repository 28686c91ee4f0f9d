"""The most probable labelings of a mixture of Bernoulli products, by branch and bound.

Instead of one ranked list per component (Li et al. 2016, Algorithm 2; see ``mixture_lists``) one
tree over labels is searched. With some labels set, no completion is more probable than
``sum_k exp(joint_k)``, each component completed as it likes best. Before branching, the same bound
is taken for each free label set on and set off: a side that cannot reach the ``m``-th best found
so far is closed, and a label with both sides closed ends the node. Equally probable labelings are
searched until none of fewer labels can be left.
"""

from typing import NamedTuple

import numpy as np

from colabel._kernels import bare_kernel, inlined, plain_kernel
from colabel._kernels.mixture_best import (
    UNDERFLOW,
    Best,
    close_labels,
    count_on,
    goal_of,
    hopeless,
    offer,
)
from colabel._kernels.mixture_parts import charge, keep_components, look_ahead, peak_and_shares

__all__ = ["SearchWork", "top_labelings", "workspace"]


# Columns of ``proof``.
BOUND, NODES = range(2)


class _Mixture(NamedTuple):
    """Logits of a sample, and tables of the components kept: see `keep_components`."""

    logits: np.ndarray
    kept: np.ndarray
    head: np.ndarray
    factors: np.ndarray


class _Vectors(NamedTuple):
    """Bounds for each label off and on; of components; signs of labels, and labels closed."""

    up: np.ndarray
    shares: np.ndarray
    joint: np.ndarray
    signs: np.ndarray
    closed: np.ndarray


class _Free(NamedTuple):
    """Free labels, and the tables of the components for them alone, next to one another."""

    labels: np.ndarray
    factors: np.ndarray
    columns: np.ndarray


class _Stack(NamedTuple):
    """Nodes to open: what is left of each component, values of free labels, and bounds."""

    joints: np.ndarray
    states: np.ndarray
    bounds: np.ndarray


class SearchWork(NamedTuple):
    """What `top_labelings` works in; ``state`` is the labels settled, -1 if free."""

    kept: np.ndarray
    head: np.ndarray
    factors: np.ndarray
    vectors: _Vectors
    state: np.ndarray
    free: _Free
    stack: _Stack


def workspace(n_components, n_labels):
    """Allocate a `SearchWork` of O(K L + L^2), for one thread."""
    K, L = n_components, n_labels
    closed, free = np.empty((2, L), np.int64)
    return SearchWork(
        np.empty(K, np.int64),
        np.empty(K),
        np.empty((K, 2 * L)),
        _Vectors(np.empty(2 * L), np.empty(K), np.empty(K), np.empty(L), closed),
        np.empty(L, np.int8),
        _Free(free, np.empty((K, 2 * L)), np.empty((L, K))),
        _Stack(np.empty((L + 2, K)), np.empty((L + 2, L), np.int8), np.empty(L + 2)),
    )


@plain_kernel
def top_labelings(log_weights, logits, nonempty, max_nodes, work, labels, values, proof):
    """Find the ``m`` most probable labelings of each sample.

    Parameters
    ----------
    log_weights : float64 array of shape (n, K)
    logits : float64 array of shape (n, K, L)
    nonempty : bool
        Leave the empty labeling out.
    max_nodes : int
        Nodes to open per sample.
    work : SearchWork
        Made by `workspace`, and not used by another thread meanwhile.
    labels : int8 array of shape (n, m, L)
        Filled in place; ``m`` is at most the number of labelings.
    values : float64 array of shape (n, m)
        Log-probabilities, falling; filled in place (``-inf`` where the search ended too early).
    proof : float64 array of shape (n, 2)
        A bound on all labelings not searched (``-inf``: none is left that could be among the
        ``m`` best), and the nodes opened; filled in place.

    Notes
    -----
    O(K L) per node, exponentially many nodes in the worst case; exact unless ``max_nodes`` were
    opened (components below 1e-18 of the ``m``-th best are left out). The GIL is released:
    blocks of samples may be done by threads.
    """
    kept, head, factors, state = work.kept, work.head, work.factors, work.state
    up, shares, joint = work.vectors.up, work.vectors.shares, work.vectors.joint
    signs, closed = work.vectors.signs, work.vectors.closed
    spare = 0
    while (1 << spare) < values.shape[1] + nonempty and spare < state.size:
        spare += 1
    for i in range(logits.shape[0]):
        for j in range(values.shape[1]):
            values[i, j] = -np.inf
        n = keep_components(log_weights[i], logits[i], spare, kept, head, factors, up)
        mixture = _Mixture(logits[i], kept[:n], head[:n], factors)
        vectors = _Vectors(up, shares[:n], joint[:n], signs, closed)
        best = Best(labels[i], values[i], nonempty)
        _first_guesses(mixture, vectors, state, best)
        proof[i, BOUND], proof[i, NODES] = -np.inf, 0.0
        if _settle(mixture, vectors, state, best):
            proof[i, BOUND], proof[i, NODES] = _search(
                mixture, vectors, work, state, best, max_nodes
            )


@inlined
def _first_guesses(mixture, vectors, state, best):
    """Offer a vote of the components, climbed by EM; then its neighbours, if more are wanted.

    Given ``y`` with responsibilities ``rho_k``, the labeling ``y_l = [sum_k rho_k t_kl > 0]`` is
    at least as probable as ``y`` (the M step of EM with ``y`` as the parameter). Neighbours differ
    from the last labeling in one label; the most promising are offered, as many as are wanted.
    """
    factors, up = mixture.factors, vectors.up
    shares, signs = vectors.shares, vectors.signs
    peak_and_shares(mixture.head, shares)
    look_ahead(shares, factors, up)
    for v in range(state.size):
        signs[v] = 1.0 if up[state.size + v] > up[v] else -1.0
    climbs, flips, label = 4, min(state.size, best.values.size), -1
    while True:
        _offer_signs(mixture, vectors, state, best)
        climbs -= 1
        if climbs > 0 and _climb(mixture, vectors, state):
            continue
        if label >= 0:
            signs[label] *= -1.0
        elif best.values.size > 1 or best.values[0] == -np.inf:
            for v in range(state.size):
                signs[v] = 1.0 if state[v] == 1 else -1.0
            look_ahead(shares, factors, up)
        else:
            flips = 0
        if flips == 0:
            break
        climbs, flips, label = 0, flips - 1, _next_flip(signs, up)
        signs[label] *= -1.0


@bare_kernel
def _next_flip(signs, up):
    """Return the label whose flip has the highest bound, and mark it as taken in ``up``."""
    label, promise = 0, -1.0
    for v in range(signs.size):
        other = v if signs[v] > 0.0 else signs.size + v
        if up[other] > promise:
            label, promise = v, up[other]
    up[label], up[signs.size + label] = -2.0, -2.0
    return label


@inlined
def _offer_signs(mixture, vectors, state, best):
    """Offer the labeling of ``signs`` and leave its responsibilities, unscaled, in ``shares``."""
    joint, signs = vectors.joint, vectors.signs
    charge(mixture.logits, mixture.kept, mixture.head, signs, joint)
    peak, total = peak_and_shares(joint, vectors.shares)
    for v in range(state.size):
        state[v] = signs[v] > 0.0
    offer(state, peak + np.log(total), best)


@bare_kernel
def _climb(mixture, vectors, state):
    """Make one EM step from ``shares`` to ``signs``; tell whether it left ``state``."""
    logits, kept = mixture.logits, mixture.kept
    shares, signs = vectors.shares, vectors.signs
    pull = vectors.up[: state.size]
    for v in range(pull.size):
        pull[v] = 0.0
    for j in range(kept.size):
        share, row = shares[j], logits[kept[j]]
        if share > 0.0:
            for v in range(pull.size):
                pull[v] += share * row[v]
    moved = False
    for v in range(pull.size):
        moved |= (pull[v] > 0.0) != (state[v] == 1)
        signs[v] = 1.0 if pull[v] > 0.0 else -1.0
    return moved


@inlined
def _settle(mixture, vectors, state, best):
    """Close label values before the search; tell whether anything is left to search.

    ``state`` becomes the labels settled (-1: free), ``joint`` what they leave of each component.
    """
    up, shares, joint = vectors.up, vectors.shares, vectors.joint
    signs, closed = vectors.signs, vectors.closed
    for v in range(state.size):
        signs[v], state[v] = 0.0, -1
    while True:
        charge(mixture.logits, mixture.kept, mixture.head, signs, joint)
        peak, total = peak_and_shares(joint, shares)
        goal, on = goal_of(best, peak), count_on(state)
        if hopeless(total, on, goal):
            return False
        look_ahead(shares, mixture.factors, up)
        n_closed = close_labels(up, on, goal, state, closed)
        if n_closed <= 0:
            return n_closed == 0
        for j in range(n_closed):
            signs[closed[j]] = 1.0 if state[closed[j]] == 1 else -1.0


@inlined
def _search(mixture, vectors, work, state, best, max_nodes):
    """Search the free labels depth first; return a bound on what is left and the nodes opened.

    The free labels' tables are copied next to one another first.
    """
    logits, kept, factors = mixture.logits, mixture.kept, mixture.factors
    free, some_factors, columns = work.free.labels, work.free.factors, work.free.columns
    stack, n_free, n_labels = work.stack, 0, state.size
    for v in range(n_labels):
        if state[v] < 0:
            free[n_free] = v
            n_free += 1
    for k in range(kept.size):
        stack.joints[0, k] = vectors.joint[k]
        for j in range(n_free):
            some_factors[k, j] = factors[k, free[j]]
            some_factors[k, n_free + j] = factors[k, n_labels + free[j]]
            columns[j, k] = logits[kept[k], free[j]]
    for j in range(n_free):
        stack.states[0, j] = -1
    tables = _Free(free[:n_free], some_factors, columns)
    up = vectors.up[: 2 * n_free]
    vectors = _Vectors(up, vectors.shares, vectors.joint, vectors.signs, vectors.closed)
    stack.bounds[0] = np.inf
    depth, nodes = np.int64(0), 0  # a literal 0 would be compiled for by itself
    while depth >= 0:
        if nodes >= max_nodes:
            break
        nodes += 1
        depth += _open(tables, vectors, stack, depth, state, best)
    bound = -np.inf
    for d in range(depth + 1):
        bound = stack.bounds[d] if stack.bounds[d] > bound else bound
    return bound, nodes


@inlined
def _open(free, vectors, stack, depth, state, best):
    """Open the last node: close it (-1), or put its two children in its place (+1)."""
    up, shares, closed = vectors.up, vectors.shares, vectors.closed
    bounds, labels = stack.bounds, free.labels
    joint, values = stack.joints[depth, : shares.size], stack.states[depth, : labels.size]
    settled = count_on(state)
    while True:
        peak, total = peak_and_shares(joint, shares)
        bound = peak + np.log(total)
        bounds[depth] = bound if bound < bounds[depth] else bounds[depth]
        goal, on = goal_of(best, peak), settled + count_on(values)
        if hopeless(total, on, goal):
            return -1
        if _complete(values):
            _offer_leaf(values, bounds[depth], state, labels, best)
            return -1
        look_ahead(shares, free.factors, up)
        n_closed = close_labels(up, on, goal, values, closed)
        if n_closed < 0:
            return -1
        for j in range(n_closed):
            _set_label(joint, free.columns[closed[j]], values[closed[j]])
        if n_closed == 0:
            break
    _branch(free.columns, up, stack, depth, peak, shares.size)
    return 1


@bare_kernel
def _complete(values):
    """Tell whether every label is set."""
    v = 0
    while v < values.size and values[v] >= 0:
        v += 1
    return v == values.size


@bare_kernel
def _set_label(joint, column, value):
    """Charge each component (``joint``) for a label of logits ``column`` set to ``value``."""
    if value == 1:
        for k in range(joint.size):
            joint[k] += column[k] if column[k] < 0.0 else 0.0
    else:
        for k in range(joint.size):
            joint[k] -= column[k] if column[k] > 0.0 else 0.0


@inlined
def _offer_leaf(values, value, state, free, best):
    """Offer the labeling of a node with no free label; ``state`` is lent for it."""
    for j in range(free.size):
        state[free[j]] = values[j]
    offer(state, value, best)
    for j in range(free.size):
        state[free[j]] = -1


@bare_kernel
def _branch(columns, up, stack, depth, peak, n_kept):
    """Split a node on the label whose sides have the lowest bounds (in sum); the better is last."""
    joints, states, bounds = stack.joints, stack.states, stack.bounds
    n_free = up.size // 2
    split, lowest = -1, np.inf
    for v in range(n_free):
        both = up[v] + up[n_free + v]
        if states[depth, v] < 0 and both < lowest:
            split, lowest = v, both
    first = 1 if up[n_free + split] > up[split] else 0
    for k in range(n_kept):
        joints[depth + 1, k] = joints[depth, k]
    for v in range(n_free):
        states[depth + 1, v] = states[depth, v]
    for child in range(2):
        place, value = depth + child, first if child == 1 else 1 - first
        states[place, split] = value
        bounds[place] = peak + np.log(up[value * n_free + split] + UNDERFLOW)
        _set_label(joints[place, :n_kept], columns[split], states[place, split])
