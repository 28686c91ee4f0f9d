"""Labels with equal couplings: the ones with the highest unary scores are on first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.decoders.base import Floats, Labels

__all__ = ["Twins"]

# Most combinations to try for one row, and most labels among which to look for twins.
COMBINATIONS = 2**16
LABELS = 200


@dataclass(frozen=True, eq=False)
class Twins:
    """Classes of labels that are twins of one another.

    If labels ``i`` and ``j`` have the same coupling to every other label and ``u_i >= u_j``, a best
    labeling has ``y_i >= y_j``: exchanging the two changes the score by ``u_i - u_j``.

    Parameters
    ----------
    classes : list of ndarray
    couplings : ndarray of shape (n_classes, n_classes)
        Between members of different classes, and of the same one on the diagonal.
    """

    classes: list[NDArray[np.int64]]
    couplings: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Twins | None:
        """Find the classes; None where there are too many to try all numbers."""
        n_labels = len(matrix)
        if not 2 <= n_labels <= LABELS:
            return None
        kind = np.unique(np.sort(matrix, axis=1), axis=0, return_inverse=True)[1].reshape(-1)
        # Twins have the same numbers in their rows. Few pairs of equal rows: nothing to gain.
        if kind.max() + 1 > n_labels // 2:
            return None
        classes = [part for k in np.unique(kind) for part in _split(matrix, kind == k)]
        combinations = np.prod([len(part) + 1.0 for part in classes])
        if len(classes) > n_labels // 2 or combinations > COMBINATIONS:
            return None
        first = np.array([part[0] for part in classes])
        last = np.array([part[-1] for part in classes])
        # Two different members where there are two; a class of one has 0 on the diagonal.
        return cls(classes, np.ascontiguousarray(matrix[np.ix_(first, last)]))

    def solve(self, unary: Floats, nonempty: bool) -> Labels:
        """Return the best labeling of each row. Exact."""
        from colabel._kernels.twin_counts import best_counts

        order = [part[np.argsort(-unary[:, part], axis=1, kind="stable")] for part in self.classes]
        prefix, starts = [], np.zeros(len(order) + 1, np.int64)
        for c, chosen in enumerate(order):
            sums = np.cumsum(np.take_along_axis(unary, chosen, axis=1), axis=1)
            prefix.append(np.pad(sums, ((0, 0), (1, 0))))
            starts[c + 1] = starts[c] + chosen.shape[1] + 1
        counts, value = np.zeros((len(unary), len(order)), np.int64), np.empty(len(unary))
        best_counts(np.hstack(prefix), starts, self.couplings, nonempty, counts, value)
        labels = np.zeros(unary.shape, np.int8)
        for c, chosen in enumerate(order):
            on = np.arange(chosen.shape[1]) < counts[:, c, None]
            np.put_along_axis(labels, chosen, on.astype(np.int8), axis=1)
        return labels


def _split(matrix: Floats, some: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Split labels whose rows hold the same numbers into classes of twins."""
    classes: list[list[int]] = []
    for j in np.flatnonzero(some):
        for members in classes:
            i = members[0]
            differ = matrix[i] != matrix[j]
            differ[[i, j]] = False
            if not differ.any():
                members.append(int(j))
                break
        else:
            classes.append([int(j)])
    return [np.array(members) for members in classes]
