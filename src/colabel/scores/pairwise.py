"""Scores of labels and of pairs of labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from colabel._rows import RowIndex
from colabel.scores.base import (
    Floats,
    ScoreTable,
    floats,
)

__all__ = ["Pairwise"]

# One edge in so many possible ones, and a matrix product is quicker than a list of edges.
DENSE = 20
# Pairs looked at together.
BLOCK = 2**20
# One label on in so many, in so many rows, and pairs of them are quicker than a product.
FEW, MANY = 8, 32


@dataclass(frozen=True, eq=False)
class Pairwise(ScoreTable):
    """Label pairs: ``score(y) = sum_l unary_l y_l + sum_e couplings_e y_i y_j, e = (i, j)``.

    Parameters
    ----------
    unary : array-like of shape (n_samples, n_labels)
    edges : array-like of shape (n_edges, 2), int
        Pairs of different labels, shared by all samples.
    couplings : array-like of shape (n_edges,)
        Positive attracts (the labels like to be on together), negative repels.
    """

    unary: Floats
    edges: NDArray[np.int64]
    couplings: Floats

    def __post_init__(self) -> None:
        unary = floats(self.unary, 2, "unary")
        edges = np.ascontiguousarray(np.asarray(self.edges).reshape(-1, 2), dtype=np.int64)
        couplings = floats(self.couplings, 1, "couplings")
        if len(edges) != len(couplings):
            raise ValueError(f"{len(edges)} edges but {len(couplings)} couplings")
        if len(edges) and (edges.min() < 0 or edges.max() >= unary.shape[1]):
            raise ValueError(f"edges name labels outside 0..{unary.shape[1] - 1}")
        if np.any(edges[:, 0] == edges[:, 1]):
            raise ValueError("an edge joins two different labels; put self terms into unary")
        object.__setattr__(self, "unary", unary)
        in_order = not np.any(edges[:, 0] > edges[:, 1])
        edges = np.array(edges) if in_order else np.sort(edges, axis=1)
        object.__setattr__(self, "edges", np.ascontiguousarray(edges))
        object.__setattr__(self, "couplings", couplings)

    @classmethod
    def from_dense(cls, unary: ArrayLike, matrix: ArrayLike) -> Pairwise:
        """Build from a symmetric (n_labels, n_labels) matrix; ``score`` adds each pair once.

        The diagonal must be zero.
        """
        C = floats(matrix, 2, "matrix")
        if C.shape[0] != C.shape[1] or not np.array_equal(C, C.T) or np.any(np.diag(C)):
            raise ValueError("couplings must be a symmetric matrix with a zero diagonal")
        i, j = np.nonzero(np.triu(C, 1))
        return cls(floats(unary, 2, "unary"), np.stack([i, j], axis=1), C[i, j])

    @property
    def n_samples(self) -> int:
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.unary.shape[1])

    @property
    def attractive(self) -> bool:
        """Whether no pair of labels repels, so that graph cuts are exact."""
        if np.all(self.couplings >= 0):
            return True
        # An edge may be given several times; the pair's coupling is their sum.
        pairs, place = np.unique(self.edges, axis=0, return_inverse=True)
        total = np.bincount(place.reshape(-1), weights=self.couplings, minlength=len(pairs))
        return bool(np.all(total >= 0))

    def dense(self) -> Floats:
        """Return the couplings as a symmetric (n_labels, n_labels) matrix."""
        C = self._upper()
        return C + C.T

    def value(self, Z: ArrayLike) -> Floats:
        Z = floats(Z, 2, "Z")
        return np.einsum("nl,nl->n", self.unary, Z) + self._pair_values(Z)

    def value_all(self, labelings: ArrayLike) -> Floats:
        Z = floats(labelings, 2, "labelings")
        return self.unary @ Z.T + self._pair_values(Z)

    def take(self, rows: RowIndex) -> Pairwise:
        return Pairwise(self.unary[rows], self.edges, self.couplings)

    def fields(self, Z: ArrayLike) -> Floats:
        """Return what turning each label on adds, the others being as in ``Z`` (n, n_labels).

        At a best labeling it is positive for labels that are on, and not for those that are off.
        """
        return self.unary + floats(Z, 2, "Z") @ self.dense()

    def plus_unary(self, cost: ArrayLike) -> Pairwise:
        """Return the table with ``cost`` (n_samples, n_labels) added to the unary scores."""
        return Pairwise(self.unary + floats(cost, 2, "cost"), self.edges, self.couplings)

    def _upper(self) -> Floats:
        """Return the couplings above the diagonal; those of a repeated edge are added up."""
        V, (i, j) = self.n_labels, self.edges.T
        sums: Floats = np.bincount(i * V + j, self.couplings, V * V).astype(np.float64, copy=False)
        return sums.reshape(V, V)

    def _pair_values(self, Z: Floats) -> Floats:
        if DENSE * len(self.edges) > self.n_labels**2:
            return _products(self._upper(), Z)
        out = np.empty(len(Z))
        step = max(1, BLOCK // max(1, len(self.edges)))
        for start in range(0, len(Z), step):
            part = Z[start : start + step]
            both = part[:, self.edges[:, 0]] * part[:, self.edges[:, 1]]
            out[start : start + step] = both @ self.couplings
        return out


def _products(upper: Floats, Z: Floats) -> Floats:
    """Return ``z'Cz`` for the rows of ``Z``, with ``C`` zero on and below the diagonal."""
    on = Z != 0.0
    if len(Z) < MANY or FEW * np.count_nonzero(on) > Z.size:
        return np.einsum("nl,nl->n", Z @ upper, Z)
    row, label = np.divmod(np.flatnonzero(on), Z.shape[1])
    z, out, apart = Z[row, label], np.zeros(len(Z)), 1
    # Labels that are on in a row stand together: pairs of neighbours, of every second, and so on.
    while np.any(same := row[apart:] == row[:-apart]):
        first, second = label[:-apart][same], label[apart:][same]
        both = upper[first, second] * z[:-apart][same] * z[apart:][same]
        out += np.bincount(row[apart:][same], both, len(Z))
        apart += 1
    return out
