"""Pairwise tables with labels in {-1, +1}: the form in which relaxations are written.

With ``y = (1 + s) / 2`` and couplings as a symmetric matrix C of zero diagonal,

    sum_l u_l y_l + sum_{l<m} C_lm y_l y_m  =  constant + b's + s'(C / 8)s,
    b = u / 2 + C1 / 4,     constant = 1'u / 2 + 1'C1 / 8.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colabel.decoders.base import Floats, Labels
from colabel.scores import Pairwise

__all__ = ["Spins", "times"]


@dataclass(frozen=True, eq=False)
class Spins:
    """A pairwise table as ``constant + linear's + s'(matrix / 8)s`` over ``s`` in {-1, +1}.

    Parameters
    ----------
    matrix : ndarray of shape (n_labels, n_labels)
        Couplings, symmetric with a zero diagonal.
    linear : ndarray of shape (n_samples, n_labels)
    constant : ndarray of shape (n_samples,)
    rounding : ndarray of shape (n_samples,)
        What rounding errors may take from a bound computed by O(n_labels) operations.
    unary : ndarray of shape (n_samples, n_labels)
        The scores of labels in {0, 1} from which this was made.
    """

    matrix: Floats
    linear: Floats
    constant: Floats
    rounding: Floats
    unary: Floats

    @classmethod
    def of(cls, scores: Pairwise) -> Spins:
        """Change the variables of ``scores``."""
        return cls.of_arrays(scores.unary, scores.dense())

    @classmethod
    def of_arrays(cls, unary: Floats, matrix: Floats) -> Spins:
        """Change the variables of a table given by its unaries and dense couplings."""
        degree = matrix.sum(axis=1)
        linear = 0.5 * unary
        linear += 0.25 * degree
        # At least the sum of all absolute numbers.
        size = np.sqrt(unary.shape[1] * np.einsum("il,il->i", unary, unary)) + np.abs(matrix).sum()
        return cls(
            matrix,
            linear,
            0.5 * unary.sum(axis=1) + 0.125 * degree.sum(),
            4.0 * np.finfo(float).eps * unary.shape[1] * size,
            unary,
        )

    @property
    def box(self) -> Floats:
        """A first upper bound: every label takes half of the couplings that attract it."""
        attracted = 0.5 * np.maximum(self.matrix, 0.0).sum(axis=1)
        return np.maximum(self.unary + attracted, 0.0).sum(axis=1)

    def value(self, labels: Labels) -> Floats:
        """Score of labelings in {0, 1}: as ``Pairwise.value``, quicker where couplings are many."""
        Z = labels.astype(np.float64)
        half = self.unary + 0.5 * times(Z, self.matrix)
        return np.einsum("il,il->i", half, Z)


def times(rows: Floats, matrix: Floats) -> Floats:
    """Multiply, a single row by the same BLAS routine as many: it rounds differently alone."""
    if len(rows) == 1:
        return np.ascontiguousarray((np.repeat(rows, 2, axis=0) @ matrix)[:1])
    return np.ascontiguousarray(rows @ matrix)
