"""Binary relevance: one classifier a label, fitted apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from colabel._label_scores import log_odds
from colabel._sklearn import n_rows
from colabel._targets import count_labels, label_columns
from colabel.decoders import BaseDecoder
from colabel.reduction._base import ReductionClassifier
from colabel.reduction._logistic import BatchLogisticRegression
from colabel.scores import Modular

__all__ = ["BinaryRelevance"]


class BinaryRelevance(ReductionClassifier):
    """One binary classifier a label, each blind to the others.

    The baseline that every joint method has to beat: it estimates the marginals ``p(y_l | x)`` and
    is the right model for Hamming loss. A label that is on (or off) in every training row gets the
    constant probability ``(n_on + 1) / (n + 2)`` and no classifier.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression()
        Any classifier of two classes; cloned for each label. The default solves all labels at once.
        Pipelines may take whatever ``X`` they understand (text, data frames).
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``: a label is on if its score is positive.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.
    n_jobs : int or None, default=None
        Labels fitted at the same time. Results do not depend on it.

    Attributes
    ----------
    estimators_ : list
        The fitted classifier of each label; ``None`` for a constant one.
    constant_ : ndarray of shape (n_labels,)
        Log-odds of the constant labels, NaN for the others.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> BinaryRelevance().fit(X, Y).predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 1]])
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"
    _sparse_labels: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.decoder = decoder
        self.empty = empty
        self.n_jobs = n_jobs

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        self.constant_ = _constant_log_odds(Y, weight)
        learnt = np.flatnonzero(np.isnan(self.constant_))
        base = self._fresh()
        if isinstance(base, BatchLogisticRegression):
            fitted = base.fit_labels(X, label_columns(Y, learnt), **params)
        else:
            fitted = Parallel(n_jobs=self.n_jobs)(
                delayed(_fit_label)(base, X, column, params) for column in label_columns(Y, learnt)
            )
        self.estimators_: list[Any] = [None] * Y.shape[1]
        for label, estimator in zip(learnt, fitted, strict=True):
            self.estimators_[label] = estimator

    def _scores(self, X: Any) -> Modular:
        unary = np.tile(self.constant_, (n_rows(X), 1))
        learnt = [label for label, one in enumerate(self.estimators_) if one is not None]
        fitted = [self.estimators_[label] for label in learnt]
        if fitted and isinstance(fitted[0], BatchLogisticRegression):
            unary[:, learnt] = BatchLogisticRegression.score_labels(fitted, X)
        else:
            for label, estimator in zip(learnt, fitted, strict=True):
                unary[:, label] = _score(estimator, X)
        return Modular(unary, log_odds=self._probabilistic())


def _constant_log_odds(Y: Any, weight: Any) -> NDArray[np.float64]:
    """Smoothed log-odds of the labels with one value in all rows, NaN for the others."""
    n_on = count_labels(Y)
    prior = np.log(float(Y.shape[0] if weight is None else np.sum(weight)) + 1.0)
    return np.select([n_on == 0, n_on == Y.shape[0]], [-prior, prior], np.nan)


def _fit_label(estimator: Any, X: Any, y: NDArray[np.int8], fit_params: dict[str, Any]) -> Any:
    return clone(estimator).fit(X, y, **fit_params)


def _score(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Score label 1: log-odds, else decision values, else plus or minus one."""
    if hasattr(estimator, "predict_proba"):
        p = estimator.predict_proba(X)
        return log_odds(p[:, 0], p[:, 1])
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    return 2.0 * estimator.predict(X) - 1.0
