"""The couplings of a pairwise table as the integer graph that the cut kernels share."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from colabel.exceptions import IncompatibleError
from colabel.scores import Pairwise

__all__ = ["Graph", "label_graph"]

Graph = tuple[np.ndarray, ...]

# From this share of all pairs on, push-relabel on a matrix beats paths on a sparse graph.
DENSE = 0.25
# Bits for the couplings of a connected part; three times their sum still fits in an int64.
BITS = 60


def label_graph(scores: Pairwise, dense: bool | None = None) -> Graph:
    """Prepare the couplings for ``colabel._kernels.cut``.

    Parameters
    ----------
    scores : Pairwise
        Couplings of a repeated edge are added up.
    dense : bool or None
        Take the dense or the sparse path; None chooses by the share of pairs that are coupled.

    Returns
    -------
    tuple of ndarray
        ``indptr, heads, mates, caps, sums, scale, weights``, and ``matrix`` for the dense path.
    """
    V = scores.n_labels
    i, j = scores.edges.T
    pairs = coo_array((scores.couplings, (i, j)), shape=(V, V)).tocsr()
    pairs.sum_duplicates()
    if np.any(pairs.data < 0):
        raise IncompatibleError(
            "a graph cut needs couplings without repulsion (none below zero); "
            "choose another decoder or a model that keeps them attractive"
        )
    pairs.eliminate_zeros()
    both = (pairs + pairs.T).tocsr()
    both.sort_indices()
    indptr, heads = both.indptr.astype(np.int64), both.indices.astype(np.int64)
    weights = np.ascontiguousarray(both.data, dtype=np.float64)
    tails = np.repeat(np.arange(V), np.diff(indptr))
    # In order of (head, tail) the p-th arc is the reverse of the p-th in order of (tail, head).
    mates = np.empty(len(heads), dtype=np.int64)
    mates[np.lexsort((tails, heads))] = np.arange(len(heads))
    scale = _scales(both, weights, tails)
    caps = np.rint(weights * scale[tails]).astype(np.int64)
    sums = np.zeros(V, dtype=np.int64)
    np.add.at(sums, tails, caps)
    if dense is None:
        dense = len(heads) > DENSE * V * (V - 1)
    graph = (indptr, heads, mates, caps, sums, scale, weights)
    if not dense:
        return graph
    matrix = np.zeros((V, V), dtype=np.int64)
    matrix[tails, heads] = caps
    return (*graph, matrix)


def _scales(both: coo_array, weights: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Return a power of two for each label, the same within a connected part."""
    n_parts, part = connected_components(both, directed=False)
    total = np.zeros(n_parts)
    np.add.at(total, part[tails], weights)
    _, exponent = np.frexp(total)
    return np.ldexp(1.0, np.minimum(BITS - exponent, 1023))[part]
