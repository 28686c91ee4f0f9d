"""Bases of the estimators whose objective takes sample weights."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._sklearn import check_weight
from colabel.base import MultiLabelClassifier
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.magnitude import check_magnitude

__all__ = ["DistinctRowsClassifier", "WeightedClassifier"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class WeightedClassifier(MultiLabelClassifier):
    """Base of the estimators whose ``fit`` takes ``sample_weight``; ``_fit`` gets it, checked."""

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> Self:
        """Fit to features ``X`` and labels ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How much each row counts in the objective, and in shares of labels and label sets.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            sample_weight = check_weight(sample_weight, X)
        return super().fit(X, y, sample_weight=sample_weight)


class DistinctRowsClassifier(WeightedClassifier):
    """Base of the estimators that learn from different rows and how much they weigh.

    A weight of two is then a row that comes twice, and the order of rows does not matter.
    Subclasses define ``_fit_rows(X, Y, weight)``; features that cannot be squared are refused.
    """

    def _fit(self, X: Any, Y: Labels, **given: Any) -> None:
        check_magnitude(X)
        rows, Y, weight = distinct_rows(X, Y, given["sample_weight"])
        self._fit_rows(rows if sparse.issparse(X) else rows.toarray(), Y, weight)

    def _fit_rows(self, X: Any, Y: Labels, weight: Floats) -> None:
        """Learn from rows that differ, dense or CSR as they came; weights are positive."""
        raise NotImplementedError
