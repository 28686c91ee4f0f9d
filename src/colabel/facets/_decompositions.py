"""Facets as ordinary classification: one problem per facet, or one for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from colabel.facets._base import FacetClassifier
from colabel.facets._classifiers import Floats, class_log_probs, fit_classes, fit_each
from colabel.facets._targets import Codes

__all__ = ["CooccurrenceDecomposition", "IndependentDecomposition", "facet_marginals"]


class IndependentDecomposition(FacetClassifier):
    """One classifier for each facet, blind to the other facets.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Cloned for each facet. ``None`` is logistic regression on features of one scale.
    facets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each facet, by name or column; see ``fit``.
    n_jobs : int or None, default=None
        Facets fitted at the same time. Results do not depend on it.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each facet.
    facet_names_ : list of str
    estimators_ : list
        The classifier of each facet.

    References
    ----------
    Liu, Zhao, Huang, Jiang and Zhou, "Dual set multi-label learning", AAAI 2018.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]])
    >>> Y = np.array([["cat", "old"], ["cat", "new"], ["dog", "old"], ["dog", "new"]])
    >>> IndependentDecomposition().fit(X, Y).predict([[2.9, 2.2]])
    array([['dog', 'new']], dtype='<U3')
    """

    def __init__(
        self, estimator: Any = None, *, facets: Any = None, n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.facets = facets
        self.n_jobs = n_jobs

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        tasks = ((self._inner(), X, code, weight) for code in codes.T)
        self.estimators_ = fit_each(tasks, self.n_jobs)

    def _log_probs(self, X: Any) -> list[Floats]:
        pairs = zip(self.estimators_, self._target.sizes, strict=True)
        return [class_log_probs(one, X, size) for one, size in pairs]


class CooccurrenceDecomposition(FacetClassifier):
    """One classifier whose classes are the combinations seen in training.

    A combination that was never seen is never predicted.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Cloned. ``None`` is logistic regression on features of one scale.
    facets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each facet, by name or column; see ``fit``.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each facet.
    facet_names_ : list of str
    combinations_ : ndarray of shape (n_combinations, n_facets)
        Numbers of the classes that were seen together.
    estimator_ : classifier

    References
    ----------
    Liu, Zhao, Huang, Jiang and Zhou, "Dual set multi-label learning", AAAI 2018.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]])
    >>> Y = np.array([["cat", "old"], ["cat", "new"], ["dog", "old"], ["dog", "new"]])
    >>> model = CooccurrenceDecomposition().fit(X, Y)
    >>> model.predict([[2.9, 2.2]]), len(model.combinations_)
    (array([['dog', 'new']], dtype='<U3'), 4)
    """

    def __init__(self, estimator: Any = None, *, facets: Any = None) -> None:
        self.estimator = estimator
        self.facets = facets

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        self.combinations_, code = np.unique(codes, axis=0, return_inverse=True)
        self.estimator_ = fit_classes(self._inner(), X, code.reshape(-1), weight)

    def _predict(self, X: Any) -> Codes:
        return self._best(X)

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        n_combinations = len(self.combinations_)
        return self.combinations_, class_log_probs(self.estimator_, X, n_combinations)

    def _log_probs(self, X: Any) -> list[Floats]:
        return facet_marginals(*self._joint(X), self._target.sizes)


def facet_marginals(combinations: Codes, log_p: Floats, sizes: tuple[int, ...]) -> list[Floats]:
    """Add up the probabilities of combinations for the classes of each facet."""
    out = [np.full((len(log_p), size), -np.inf) for size in sizes]
    for part, code in zip(out, combinations.T, strict=True):
        for c in np.unique(code):
            part[:, c] = logsumexp(log_p[:, code == c], axis=1)
    return out
