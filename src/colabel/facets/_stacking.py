"""Label stacking: each facet is predicted from the features and the facets before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from colabel._parameters import check_choice
from colabel._sklearn import n_rows
from colabel.facets._base import FacetClassifier, all_combinations, facet_order, join
from colabel.facets._classifiers import Floats, class_log_probs, fit_each
from colabel.facets._decompositions import facet_marginals
from colabel.facets._targets import Codes

__all__ = ["LabelStacking"]


class LabelStacking(FacetClassifier):
    """A chain of classifiers: each facet given the features and the facets before it.

    Training uses the true classes of the facets before, prediction those predicted, or all of them
    weighed by their probabilities.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Cloned for each facet. ``None`` is logistic regression on features of one scale.
    order : array-like of shape (n_facets,) or None, default=None
        Numbers of the facets in the order of the chain. ``None``: fewest classes first.
    search : {"greedy", "exact"}, default="greedy"
        ``"greedy"``: the best class of each facet in turn, as published. ``"exact"``: the most
        probable combination of all, by the chain rule; as many predictions of the
        last facet as the others have combinations.
    facets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each facet, by name or column; see ``fit``.
    n_jobs : int or None, default=None
        Facets fitted at the same time. Results do not depend on it.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each facet.
    facet_names_ : list of str
    order_ : ndarray of shape (n_facets,)
    estimators_ : list
        The classifier of each facet, in the order of the chain.

    References
    ----------
    Liu, Zhao, Huang, Jiang and Zhou, "Dual set multi-label learning", AAAI 2018.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]])
    >>> Y = np.array([["cat", "old"], ["cat", "new"], ["dog", "old"], ["dog", "new"]])
    >>> LabelStacking(search="exact").fit(X, Y).predict([[2.9, 2.2]])
    array([['dog', 'new']], dtype='<U3')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        search: str = "greedy",
        facets: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.search = search
        self.facets = facets
        self.n_jobs = n_jobs

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        sizes = self._target.sizes
        self.order_ = facet_order(self.order, sizes)
        inputs = [X]
        for s in self.order_[:-1]:
            inputs.append(join(inputs[-1], codes[:, s], sizes[s]))
        given = zip(inputs, self.order_, strict=True)
        tasks = ((self._inner(), features, codes[:, s], weight) for features, s in given)
        self.estimators_ = fit_each(tasks, self.n_jobs)

    def _predict(self, X: Any) -> Codes:
        return self._best(X) if self.search == "exact" else super()._predict(X)

    def _log_probs(self, X: Any) -> list[Floats]:
        if self.search == "exact":
            return facet_marginals(*self._joint(X), self._target.sizes)
        sizes = self._target.sizes
        log_p: list[Floats] = [np.empty(0)] * len(sizes)
        for s, estimator in zip(self.order_, self.estimators_, strict=True):
            log_p[s] = class_log_probs(estimator, X, sizes[s])
            X = join(X, np.argmax(log_p[s], axis=1), sizes[s])
        return log_p

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        sizes = self._target.sizes
        combinations = all_combinations(sizes)
        log_p = np.zeros((n_rows(X), *(sizes[s] for s in self.order_)))
        self._fill(X, log_p, 0)
        # From the order of the chain to that of the facets.
        log_p = np.moveaxis(log_p, np.arange(1, log_p.ndim), 1 + self.order_)
        return combinations, log_p.reshape(len(log_p), -1)

    def _fill(self, X: Any, log_p: Floats, step: int) -> None:
        """Add the log-probabilities of the facets from ``step`` on, given the ones before."""
        n_classes = log_p.shape[1]
        own = class_log_probs(self.estimators_[step], X, n_classes)
        log_p += own.reshape(own.shape + (1,) * (log_p.ndim - 2))
        if step + 1 < len(self.estimators_):
            for c in range(n_classes):
                code = np.full(len(log_p), c, dtype=np.intp)
                self._fill(join(X, code, n_classes), log_p[:, c], step + 1)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(self.search, "search", ("greedy", "exact"))
