"""What the estimators of facets have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from colabel._meta import WrappingClassifier
from colabel._old_keywords import warn_of_old_name
from colabel._renamed import Renamed
from colabel._sklearn import check_weight, take_rows
from colabel.facets._classifiers import Floats, usual_classifier
from colabel.facets._targets import Codes, FacetTarget, encode_facets, one_hot, rows_as_objects
from colabel.metrics import facet_accuracy
from colabel.numerics.distinct_rows import number_rows, tidy_rows
from colabel.scores import Support

__all__ = ["FacetClassifier", "all_combinations", "distinct_rows", "facet_order", "join"]

# Combinations of classes that a joint table may list.
MOST_COMBINATIONS = 4096


class FacetClassifier(WrappingClassifier):
    """Base of the estimators for data with exactly one label of each of several facets.

    Subclasses define ``_fit_codes(X, codes, weight)`` with class numbers (n_samples, n_facets) and
    ``_log_probs(X)``, the log-probabilities (n_samples, n_classes) of each facet; those that choose
    the classes together also ``_joint(X)``, and ``_predict(X)``, which may be ``_best``.
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"label_sets": "facets"}

    _target: FacetTarget
    facets: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Fit to features ``X`` and the classes ``y`` of each facet.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : array or DataFrame of shape (n_samples, n_facets), a column of classes for each facet
            Of any dtype. Or a matrix of 0 and 1 (n_samples, n_labels), dense, sparse or a
            DataFrame, with ``facets`` that name the columns that belong together; or one facet as
            a vector. Columns of 0 and 1 without ``facets`` are facets of two classes each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Rows of weight zero are left out. The estimator must take weights too.

        Returns
        -------
        self
        """
        if sample_weight is not None and y is not None:
            X, y = indexable(X, y)
            sample_weight = check_weight(sample_weight, X)
            rows = np.flatnonzero(sample_weight)
            X, y, sample_weight = take_rows(X, rows), take_rows(y, rows), sample_weight[rows]
        return super().fit(X, y, weight=sample_weight)

    def predict(self, X: Any) -> Any:
        """Predict a class of each facet, in the container of ``y``."""
        check_is_fitted(self)
        return self._target.restore(self._predict(self._validate(X, reset=False)), like=X)

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class of each facet.

        Classifiers without probabilities count by the softmax of their scores.

        Returns
        -------
        list of ndarray of shape (n_samples, n_classes), one for each facet
            Of a vector ``y`` the array alone; of a matrix of 0 and 1 one array
            (n_samples, n_labels).
        """
        check_is_fitted(self)
        log_p = self._log_probs(self._validate(X, reset=False))
        return self._target.probabilities([np.exp(part) for part in log_p])

    def predict_joint(self, X: Any) -> Support:
        """Return the distribution over combinations of classes, as a table of labels.

        The labels of the table are the classes of the first facet, then those of the second, and
        so on; of each facet one is on.

        Raises
        ------
        ValueError
            If there are more than 4096 combinations to list.
        """
        check_is_fitted(self)
        combinations, log_p = self._joint(self._validate(X, reset=False))
        return Support(one_hot(combinations, self._target.sizes), log_p)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples that are right in all facets."""
        found = self.predict(X)
        if self._target.one_dimensional:
            return float(np.average(np.asarray(y) == found, weights=sample_weight))
        y = rows_as_objects(y)
        return facet_accuracy(y, found, self.facets, sample_weight=sample_weight)["accuracy_all"]

    @property
    def facet_names_(self) -> list[str]:
        """Names of the facets."""
        return list(self._target.names)

    @property
    def set_names_(self) -> list[str]:
        """Old name of ``facet_names_``."""
        warn_of_old_name("set_names_", "facet_names_")
        return self.facet_names_

    def _encode(self, y: Any) -> tuple[Codes, FacetTarget]:
        return encode_facets(y, self.facets)

    def _fit(self, X: Any, Y: Codes, **given: Any) -> None:
        self._fit_codes(X, Y, given["weight"])

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        """Learn from validated data; weights are positive."""
        raise NotImplementedError

    def _log_probs(self, X: Any) -> list[Floats]:
        """Log-probabilities of the classes of each facet, for validated rows."""
        raise NotImplementedError

    def _predict(self, X: Any) -> Codes:
        return np.column_stack([np.argmax(part, axis=1) for part in self._log_probs(X)])

    def _best(self, X: Any) -> Codes:
        """Return the most probable combination of classes."""
        combinations, log_p = self._joint(X)
        return combinations[np.argmax(log_p, axis=1)]

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        """Return combinations of classes, and their log-probabilities."""
        combinations = all_combinations(self._target.sizes)
        parts = zip(self._log_probs(X), combinations.T, strict=True)
        return combinations, np.sum([log_p[:, code] for log_p, code in parts], axis=0)

    def _inner(self) -> Any:
        return usual_classifier() if self.estimator is None else self.estimator


def facet_order(order: Any, sizes: tuple[int, ...]) -> Codes:
    """Return the order of the facets: as given, or fewest classes first."""
    if order is None:
        return np.argsort(sizes, kind="stable").astype(np.intp)
    given = np.asarray(order)
    if not np.array_equal(np.sort(given, axis=None), np.arange(len(sizes))):
        raise ValueError(f"order must hold each of the facets 0 to {len(sizes) - 1} once")
    return given.ravel().astype(np.intp)


def join(X: Any, code: Codes, n_classes: int) -> Any:
    """Put the indicators of a class beside the features; sparse features stay sparse."""
    labels = one_hot(code[:, None], [n_classes])
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(labels, dtype=X.dtype)], format="csr")
    return np.hstack([X, labels])


def all_combinations(sizes: Sequence[int]) -> Codes:
    """List all combinations of classes, the last facet running fastest; refuse too many."""
    if np.prod(sizes, dtype=np.float64) > MOST_COMBINATIONS:
        raise ValueError(
            f"facets of {', '.join(map(str, sizes))} classes have more than {MOST_COMBINATIONS} "
            "combinations, too many to list"
        )
    return np.array(list(product(*map(range, sizes))), dtype=np.intp)


def distinct_rows(X: Any, codes: Codes) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Find the rows that differ in features or classes.

    What is drawn by chance from these and their weights is the same for a row of weight two and
    for the row twice, wherever it stands.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples, n_facets)

    Returns
    -------
    first : ndarray of shape (n_distinct,)
        Where each of them stands first. Their order is arbitrary, but depends only on which rows
        there are, and is the same for dense and sparse features.
    number : ndarray of shape (n_samples,)
        ``first[number]`` are rows equal to all.

    Notes
    -----
    O(entries that are not zero + n log n).

    Examples
    --------
    >>> X, codes = np.array([[1.0], [2.0], [1.0], [1.0]]), np.array([[0], [0], [0], [1]])
    >>> first, number = distinct_rows(X, codes)
    >>> sorted(first.tolist()), X[first[number]].ravel().tolist()
    ([0, 1, 3], [1.0, 2.0, 1.0, 1.0])
    """
    _, texts = tidy_rows(X)
    classes = codes.astype(np.int64)
    return number_rows(row.tobytes() + text for row, text in zip(classes, texts, strict=True))
