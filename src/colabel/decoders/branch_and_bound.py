"""Certified best labelings for couplings of any sign, by branch and bound.

Labels that no coupling joins are decided apart: the table falls into the connected components of
its couplings. Each is searched by ``colabel.decoders.tree_search``; or, where its labels are
mostly twins of one another, by trying numbers of labels.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from colabel._parameters import check_choice, check_whole
from colabel.decoders._connected import Connected
from colabel.decoders._nonempty import best_nonempty
from colabel.decoders._reduction import components
from colabel.decoders.base import BaseDecoder, Floats, Labels
from colabel.decoders.spins import Spins
from colabel.decoders.tree_search import Budget, Counts
from colabel.results import Decoded
from colabel.scores import Pairwise, ScoreTable

__all__ = ["BranchAndBound"]


class BranchAndBound(BaseDecoder):
    """Search the tree of labelings, closing branches by persistency and semidefinite proofs.

    Any couplings. Tables of up to about 40 labels are nearly always solved, and certified, in
    milliseconds; larger ones if few labels are in doubt. Where a limit ends the search first, the
    best labeling found is returned with a bound on the best there is (see ``Decoded.certified``).
    O(n_labels^3) a node.

    Parameters
    ----------
    max_nodes : int, default=10_000
        Nodes per sample and connected component of the couplings.
    time_limit : float or None, default=None
        Seconds for one call of ``decode``. Answers may then differ from run to run. Whatever the
        limit, every sample gets the bound and the labeling of its semidefinite relaxation; what
        is left is shared by the samples in turns.
    relax : bool, default=True
        Bound samples that a limit leaves open by their semidefinite relaxation, and round it.
        Without, answers come sooner and bounds are those of the nodes left open, which are loose;
        a sample that gets no node at all is left empty.

    Notes
    -----
    Scores are compared up to the rounding of their sums (some 1e-15 of all numbers of a connected
    component); of scores that are equal so far the one with the fewest labels wins. In tables of
    very different numbers, labels that are beyond doubt are taken out first; where a label still
    has no number that stands out of the rounding, the rounding is left as a gap.

    Labels with the same couplings to all others (twins) are taken in order of their unary scores:
    a component that consists of a few classes of twins, as under uniform repulsion, is solved by
    trying all numbers of labels.

    Examples
    --------
    >>> from colabel.scores import Pairwise
    >>> table = Pairwise([[1.0, 0.8, -0.5]], edges=[[0, 1], [1, 2]], couplings=[-3.0, 1.0])
    >>> found = BranchAndBound().decode(table)
    >>> found.labels, found.certified
    (array([[0, 1, 1]], dtype=int8), array([ True]))
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Pairwise,)

    def __init__(
        self, max_nodes: int = 10_000, time_limit: float | None = None, relax: bool = True
    ) -> None:
        self.max_nodes = max_nodes
        self.time_limit = time_limit
        self.relax = relax

    def _decode(self, scores: Pairwise, nonempty: bool) -> Decoded:  # type: ignore[override]
        check_whole(self.max_nodes, "max_nodes", least=0)
        check_choice(self.relax, "relax", (True, False))
        if self.time_limit is not None and not self.time_limit >= 0:
            raise ValueError(
                f"time_limit must be None or at least 0 seconds, not {self.time_limit}"
            )
        budget, spins = Budget.of(self.time_limit, self.relax), Spins.of(scores)
        parts = [Connected.of(spins.matrix, labels) for labels in components(spins.matrix)]
        nodes = np.full((len(parts), scores.n_samples), self.max_nodes, np.int64)
        labels, excess = _solve(scores.unary, parts, budget, nodes)
        value = spins.value(labels)
        bound = value + excess.sum(axis=0)
        empty = np.flatnonzero(~labels.any(axis=1))
        if nonempty and len(empty) and parts:
            unary, some = scores.unary[empty], nodes[:, empty]
            labels[empty], bound[empty] = _solve_nonempty(
                unary, parts, excess[:, empty], budget, some
            )
            value = spins.value(labels)
        return Decoded(labels, value, np.maximum(bound, value))


def _solve(
    unary: Floats, parts: list[Connected], budget: Budget, nodes: Counts
) -> tuple[Labels, Floats]:
    """Return labels, and by how much the best score of each part may pass theirs."""
    labels, excess = np.zeros(unary.shape, np.int8), np.zeros((len(parts), len(unary)))
    for p, part in enumerate(parts):
        some = np.ascontiguousarray(unary[:, part.labels])
        now = budget.share(sum(len(other.labels) > 1 for other in parts[p:]))
        labels[:, part.labels], excess[p] = part.solve(some, now, nodes[p])
    return labels, excess


def _solve_nonempty(
    unary: Floats, parts: list[Connected], excess: Floats, budget: Budget, nodes: Counts
) -> tuple[Labels, Floats]:
    """Find the best labeling that is not empty where the empty one is the best found.

    It has labels in some part, and is the best of that part; elsewhere none is needed, though by
    ``excess`` the other parts might add that much.
    """
    labels, bound = np.zeros(unary.shape, np.int8), np.full(len(unary), -np.inf)
    best, count = np.full(len(unary), -np.inf), np.zeros(len(unary), np.int64)
    for p, part in enumerate(parts):
        some = np.ascontiguousarray(unary[:, part.labels])
        now = budget.share(sum(len(other.labels) > 1 for other in parts[p:]))
        on, value, limit = best_nonempty(part, some, now, nodes[p])
        size = on.sum(axis=1, dtype=np.int64)
        # No labeling of this part passes the empty one by more than its excess.
        limit = np.maximum(np.minimum(limit, excess[p]), value)
        bound = np.maximum(bound, limit + excess.sum(axis=0) - excess[p])
        better = (value > best) | ((value == best) & (size < count))
        labels[better] = 0
        labels[np.ix_(better, part.labels)] = on[better]
        best, count = np.where(better, value, best), np.where(better, size, count)
    return labels, bound
