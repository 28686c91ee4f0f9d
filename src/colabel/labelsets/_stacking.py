"""Label stacking: each set is predicted from the features and the sets before it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from colabel._parameters import check_choice
from colabel._sklearn import n_rows
from colabel.labelsets._base import (
    LabelSetClassifier,
    all_combinations,
    class_log_probs,
    fit_classes,
    join,
)
from colabel.labelsets._decompositions import set_marginals
from colabel.labelsets._targets import Codes

__all__ = ["LabelStacking", "set_order"]

Floats = NDArray[np.float64]


class LabelStacking(LabelSetClassifier):
    """A chain of classifiers: each set given the features and the sets before it.

    Training uses the true classes of the sets before, prediction those predicted, or all of them
    weighed by their probabilities.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Cloned for each set. ``None`` is logistic regression on features of one scale.
    order : array-like of shape (n_sets,) or None, default=None
        Numbers of the sets in the order of the chain. ``None``: fewest classes first.
    search : {"greedy", "exact"}, default="greedy"
        ``"greedy"``: the best class of each set in turn, as published. ``"exact"``: the most
        probable combination of all, the chain rule taken at its word; as many predictions of the
        last set as the others have combinations.
    label_sets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each set, by name or column; see ``fit``.
    n_jobs : int or None, default=None
        Sets fitted at the same time. Results do not depend on it.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each set.
    set_names_ : list of str
    order_ : ndarray of shape (n_sets,)
    estimators_ : list
        The classifier of each set, in the order of the chain.

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
        label_sets: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.search = search
        self.label_sets = label_sets
        self.n_jobs = n_jobs

    def _fit(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        sizes = self._target.sizes
        self.order_ = set_order(self.order, sizes)
        inputs = [X]
        for s in self.order_[:-1]:
            inputs.append(join(inputs[-1], codes[:, s], sizes[s]))
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_classes)(self._inner(), given, codes[:, s], weight)
            for given, s in zip(inputs, self.order_, strict=True)
        )

    def _predict(self, X: Any) -> Codes:
        if self.search == "exact":
            combinations, log_p = self._joint(X)
            return combinations[np.argmax(log_p, axis=1)]
        return self._greedy(X)[0]

    def _greedy(self, X: Any) -> tuple[Codes, list[Floats]]:
        """Return the classes along the chain, and the log-probabilities they were chosen by."""
        sizes = self._target.sizes
        codes = np.empty((n_rows(X), len(sizes)), dtype=np.intp)
        log_p: list[Floats] = [np.empty(0)] * len(sizes)
        for s, estimator in zip(self.order_, self.estimators_, strict=True):
            log_p[s] = class_log_probs(estimator, X, sizes[s])
            codes[:, s] = np.argmax(log_p[s], axis=1)
            X = join(X, codes[:, s], sizes[s])
        return codes, log_p

    def _log_probs(self, X: Any) -> list[Floats]:
        if self.search == "greedy":
            return self._greedy(X)[1]
        return set_marginals(*self._joint(X), self._target.sizes)

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        sizes = self._target.sizes
        combinations = all_combinations(sizes)
        log_p = np.zeros((n_rows(X), *(sizes[s] for s in self.order_)))
        self._fill(X, log_p, 0)
        # From the order of the chain to that of the sets.
        log_p = np.moveaxis(log_p, np.arange(1, log_p.ndim), 1 + self.order_)
        return combinations, log_p.reshape(len(log_p), -1)

    def _fill(self, X: Any, log_p: Floats, step: int) -> None:
        """Add the log-probabilities of the sets from ``step`` on, given the ones before."""
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


def set_order(order: Any, sizes: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the order of the sets: as given, or fewest classes first."""
    if order is None:
        return np.argsort(sizes, kind="stable").astype(np.intp)
    given = np.asarray(order)
    if not np.array_equal(np.sort(given, axis=None), np.arange(len(sizes))):
        raise ValueError(f"order must hold each of the sets 0 to {len(sizes) - 1} once")
    return given.ravel().astype(np.intp)
