"""Binary relevance: one classifier a label, fitted apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from colabel._targets import label_columns
from colabel.base import PROBABILITY_FLOOR
from colabel.decoders import BaseDecoder
from colabel.reduction._base import ReductionClassifier
from colabel.scores import Modular

__all__ = ["BinaryRelevance"]


class BinaryRelevance(ReductionClassifier):
    """One binary classifier a label, each blind to the others.

    The baseline that every joint method has to beat: it estimates the marginals ``p(y_l | x)`` and
    is the right model for Hamming loss. A label that is on (or off) in every training row gets the
    constant probability ``(n_on + 1) / (n + 2)`` and no classifier.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=LogisticRegression(max_iter=1000)
        Any classifier of two classes; cloned for each label. Pipelines may take whatever ``X``
        they understand (text, data frames).
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

    def _fit(self, X: Any, Y: Any, **fit_params: Any) -> None:
        base = self._inner()
        weight = fit_params.get("sample_weight")
        columns = label_columns(Y)
        self.constant_ = np.array([_constant_log_odds(column, weight) for column in columns])
        learnt = np.flatnonzero(np.isnan(self.constant_))
        fitted = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_label)(base, X, columns[label], fit_params) for label in learnt
        )
        self.estimators_: list[Any] = [None] * len(columns)
        for label, estimator in zip(learnt, fitted, strict=True):
            self.estimators_[label] = estimator

    def _scores(self, X: Any) -> Modular:
        probabilistic = self._probabilistic()
        unary = np.tile(self.constant_, (_num_samples(X), 1))
        for label, estimator in enumerate(self.estimators_):
            if estimator is not None:
                unary[:, label] = _log_odds(estimator, X, probabilistic)
        return Modular(unary, log_odds=probabilistic)


def _constant_log_odds(column: NDArray[np.int8], weight: Any) -> float:
    """Smoothed log-odds of a label with one value in all rows, NaN for any other label."""
    on = int(column.sum())
    if 0 < on < len(column):
        return float("nan")
    total = float(len(column) if weight is None else np.sum(weight))
    return float(np.log(total + 1.0)) * (1.0 if on else -1.0)


def _fit_label(estimator: Any, X: Any, y: NDArray[np.int8], fit_params: dict[str, Any]) -> Any:
    return clone(estimator).fit(X, y, **fit_params)


def _log_odds(estimator: Any, X: Any, probabilistic: bool) -> NDArray[np.float64]:
    if not probabilistic:
        return estimator.decision_function(X)
    on = int(np.flatnonzero(estimator.classes_ == 1)[0])
    p = np.clip(estimator.predict_proba(X)[:, on], PROBABILITY_FLOOR, 1.0 - PROBABILITY_FLOOR)
    return logit(p)
