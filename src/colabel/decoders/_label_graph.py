"""The couplings of a pairwise table as the integer graph that the cut kernels share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from colabel.decoders.base import Floats
from colabel.exceptions import IncompatibleError
from colabel.scores import Pairwise

if TYPE_CHECKING:
    from colabel._kernels.cut import Graph

__all__ = ["label_graph"]

# From this share of all pairs on, push-relabel on a matrix beats paths on a sparse graph.
DENSE = 0.25
# Up to so many labels it gains nothing, and compiling it for couplings that come and go in training
# takes seconds.
FEW = 32
# A graph of at most so many couplings is remembered until the next one is asked for.
REMEMBERED = 2**16
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
    SparseGraph or DenseGraph
        Not to be written to. Blocks of samples that are decoded in turn have the same couplings:
        those of the last call are compared, and give the same graph.
    """
    known = _LAST.get("graph")
    if known is not None and known.fits(scores, dense):
        return known.graph
    graph = _build(scores, dense)
    if len(scores.couplings) <= REMEMBERED:
        _LAST["graph"] = _Known(
            scores.n_labels, dense, scores.edges.copy(), scores.couplings.copy(), graph
        )
    return graph


@dataclass(frozen=True)
class _Known:
    """A graph, and what it was made from."""

    n_labels: int
    dense: bool | None
    edges: NDArray[np.int64]
    couplings: Floats
    graph: Graph

    def fits(self, scores: Pairwise, dense: bool | None) -> bool:
        return (
            (self.n_labels, self.dense) == (scores.n_labels, dense)
            and np.array_equal(self.couplings, scores.couplings)
            and np.array_equal(self.edges, scores.edges)
        )


_LAST: dict[str, _Known] = {}


def _build(scores: Pairwise, dense: bool | None) -> Graph:
    from colabel._kernels.cut import DenseGraph, SparseGraph

    V = scores.n_labels
    tails, heads, weights = _arcs(scores)
    indptr = np.zeros(V + 1, dtype=np.int64)
    np.cumsum(np.bincount(tails, minlength=V), out=indptr[1:])
    scale = _scales(tails, heads, weights, V)
    caps = np.rint(weights * scale[tails]).astype(np.int64)
    if dense is None:
        dense = V > FEW and len(heads) > DENSE * V * (V - 1)
    places = np.arange(len(heads))
    if dense:
        matrix, place = np.zeros((V, V), dtype=np.int64), np.empty((V, V), dtype=np.int64)
        matrix[tails, heads], place[tails, heads] = caps, places
        mates, sums = place[heads, tails], matrix.sum(axis=1)
        return DenseGraph(indptr, heads, mates, caps, sums, scale, weights, matrix)
    # In order of (head, tail) the p-th arc is the reverse of the p-th in order of (tail, head).
    mates, sums = np.empty(len(heads), dtype=np.int64), np.zeros(V, dtype=np.int64)
    mates[np.lexsort((tails, heads))] = places
    np.add.at(sums, tails, caps)
    return SparseGraph(indptr, heads, mates, caps, sums, scale, weights)


def _arcs(scores: Pairwise) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """Return tails, heads and couplings of all arcs, both ways, in order; no coupling is 0."""
    V, (i, j) = scores.n_labels, scores.edges.T
    if len(i) > DENSE * V * (V - 1) / 2:
        # A matrix is quicker than lists of pairs.
        sums = np.bincount(i * V + j, scores.couplings, V * V)
        pairs = np.asarray(sums, dtype=np.float64).reshape(V, V)
        _check_attractive(pairs)
        pairs += pairs.T
        # without gaps in memory, as the other way: kernels are compiled for either
        tails, heads = map(np.ascontiguousarray, np.nonzero(pairs))
        return tails, heads, pairs[tails, heads]
    both = coo_array((scores.couplings, (i, j)), shape=(V, V)).tocsr()
    both.sum_duplicates()
    _check_attractive(both.data)
    both.eliminate_zeros()
    both = (both + both.T).tocsr()
    both.sort_indices()
    tails = np.repeat(np.arange(V), np.diff(both.indptr))
    return tails, both.indices.astype(np.int64), both.data


def _check_attractive(couplings: Floats) -> None:
    if np.any(couplings < 0):
        raise IncompatibleError(
            "a graph cut needs couplings without repulsion (none below zero); "
            "choose another decoder or a model that keeps them attractive"
        )


def _scales(tails: NDArray[np.int64], heads: NDArray[np.int64], weights: Floats, V: int) -> Floats:
    """Return a power of two for each label, the same within a connected part."""
    part = np.zeros(V, dtype=np.int64)
    if not np.any(np.bincount(tails, minlength=V) == V - 1):  # such a label joins all others
        pattern = coo_array((np.ones(len(tails)), (tails, heads)), shape=(V, V))
        part = connected_components(pattern, directed=False)[1]
    total = np.bincount(part[tails], weights, part.max(initial=0) + 1)
    _, exponent = np.frexp(total)
    return np.ldexp(1.0, np.minimum(BITS - exponent, 1023))[part]
