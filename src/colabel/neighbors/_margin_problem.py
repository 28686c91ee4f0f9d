"""The metric problem of Liu and Tsang (2015): own labels nearer than those of the neighbours.

    f(Q) = C/n sum_i xi_i^2,   xi_i = max(0, max_j Delta(y_i, y_j) - m_ij(Q)),
    m_ij(Q) = |z_i - y_j|_Q^2 - |z_i - y_i|_Q^2,   Delta(y, y') = |y - y'|_1,   z = P'x

over the ``k`` neighbours ``j`` of each row. Neither the differences ``z - y`` nor their products
are ever formed: what has ``z'Qz`` in it cancels, ``z'Q`` is one matrix product for all neighbours,
and the rest is sums over the few labels that are on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.neighbors._codeword_maps import Codewords

__all__ = ["MarginProblem"]

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# Entries of ``z'Q`` for a block of rows of dense features.
BLOCK = 2**23
# Slacks that differ by less than this share tie.
TIE = 1e-9


@dataclass(frozen=True, eq=False)
class MarginProblem:
    """Margins, loss and gradient as functions of ``Q``; see ``colabel.metric_learning.proximal``.

    Parameters
    ----------
    words : Codewords
        ``z``.
    Y : CSR array of shape (n_samples, n_labels), float, in {0, 1}
    near : ndarray of shape (n_samples, k), int
        Neighbours of each row.
    C : float
    """

    words: Codewords
    Y: sparse.csr_array
    near: NDArray[np.int64]
    C: float

    @cached_property
    def _labels(self) -> tuple[Index, Index]:
        return self.Y.indptr.astype(np.int64), self.Y.indices.astype(np.int64)

    @cached_property
    def _sparse_features(self) -> tuple[Index, Index, Floats]:
        X = self.words.features
        return X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data

    @cached_property
    def delta(self) -> Floats:
        """``|y_i - y_j|_1`` of each neighbour: (n_samples, k)."""
        from colabel._kernels.codewords import dense_margins

        n, q = self.Y.shape
        out, size = np.empty(self.near.shape), np.empty(n)
        for rows in self._blocks():
            # With z = y and Q = I a margin is |y_i - y_j|^2.
            block = self.Y[rows].toarray()
            given = np.ones(n), np.zeros(n), np.eye(q), self.near, *self._labels
            dense_margins(block, rows.start, *given, out, size)
        return out + size[self.near] - size[:, None]

    def margins(self, Q: Floats) -> Floats:
        """Return ``m_ij``: (n_samples, k). O(n d q + d q^2), less for sparse ``X``."""
        from colabel._kernels.codewords import dense_margins, sparse_margins

        words = self.words
        B, b = words.P @ Q, words.b @ Q
        out, square = np.empty(self.near.shape), np.empty(len(self.near))
        given = words.scale, words.own, Q, self.near, *self._labels, out, square
        if sparse.issparse(words.features):
            sparse_margins(*self._sparse_features, B, b, *given)
        else:
            for rows in self._blocks():
                dense_margins(words.features[rows] @ B + b, rows.start, *given)
        return out + square[self.near] - square[:, None]

    def loss(self, margins: Floats) -> float:
        """Return ``f``."""
        slack = self._slack(margins).max(axis=1, initial=0.0)
        return self.C / len(slack) * float(np.vdot(slack, slack))

    def gradient(self, margins: Floats) -> Floats:
        """Return ``2C/n sum_i xi_i (phi_ii phi_ii' - phi_ij phi_ij')``, ``phi_ij = z_i - y_j``."""
        from colabel._kernels.codewords import dense_slopes, sparse_slopes

        words, (n, q) = self.words, self.Y.shape
        weight = self._weight(self._slack(margins))
        into = np.bincount(self.near.ravel(), weights=weight.ravel(), minlength=n)
        # With d = y_j - y_i: phi_ii phi_ii' - phi_ij phi_ij' = z d' + d z' + y_i y_i' - y_j y_j'.
        surplus = weight.sum(axis=1) - into
        given = words.scale, words.own, weight, surplus, self.near, *self._labels
        XD, total, H = np.zeros((words.P.shape[0], q)), np.zeros(q), np.zeros((q, q))
        if sparse.issparse(words.features):
            sparse_slopes(*self._sparse_features, *given, XD, total, H)
        else:
            for rows in self._blocks():
                D = np.empty((rows.stop - rows.start, q))
                dense_slopes(rows.start, *given, D, H)
                XD += words.features[rows].T @ D
                total += D.sum(axis=0)
        H += words.P.T @ XD
        H += np.outer(words.b, total)
        return 2.0 * self.C / n * (H + H.T)

    def _slack(self, margins: Floats) -> Floats:
        """Return by how much each constraint is violated."""
        return np.maximum(self.delta - margins, 0.0)

    def _weight(self, slack: Floats) -> Floats:
        """Return how much each constraint counts in the gradient.

        A row's slack stands at the neighbours that it is due to, in equal parts: of all gradients
        at a tie the one that favours none of them.
        """
        largest = slack.max(axis=1, keepdims=True, initial=0.0)
        tied = (slack >= (1.0 - TIE) * largest) & (largest > 0.0)
        return tied * (largest / np.maximum(tied.sum(axis=1, keepdims=True), 1))

    def _blocks(self) -> list[slice]:
        n, q = self.Y.shape
        step = max(1, BLOCK // q)
        return [slice(i, min(i + step, n)) for i in range(0, n, step)]
