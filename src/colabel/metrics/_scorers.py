"""Measures as scikit-learn scorers, for ``GridSearchCV(scoring=...)`` and its kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from colabel._label_scores import label_scores
from colabel.metrics._registry import get_measure

__all__ = ["MeasureScorer", "log_likelihood", "make_scorer"]

IMPOSSIBLE = -50.0


def log_likelihood(estimator: Any, X: Any, Y: Any, sample_weight: Any = None) -> float:
    """Score an estimator by the mean log-probability it gives to whole labelings.

    A scorer (``GridSearchCV(scoring=log_likelihood)``) for estimators with a joint distribution.
    A labeling that the model holds impossible counts as one of probability ``exp(-50)``, so that
    one unseen label set does not hide all else. It varies smoothly where subset accuracy, which
    counts rows, jumps, and so chooses better between settings on a few hundred rows.

    Examples
    --------
    >>> import numpy as np
    >>> from colabel import LabelPowerset
    >>> X, Y = np.arange(4.0)[:, None], np.array([[0, 1], [0, 1], [1, 1], [1, 1]])
    >>> round(log_likelihood(LabelPowerset().fit(X, Y), X, Y), 2)
    -0.35
    """
    # Imported here: the measures alone need no scikit-learn, which takes a second to load.
    from colabel._sklearn import last_step

    estimator, X = last_step(estimator, X)
    each = np.maximum(estimator.joint_log_prob(X, Y), IMPOSSIBLE)
    return float(np.average(each, weights=sample_weight))


def make_scorer(name: str) -> MeasureScorer:
    """Return a scorer of the named measure, higher being better.

    Parameters
    ----------
    name : str
        As for :func:`get_measure`.

    Returns
    -------
    MeasureScorer
        Callable as ``scorer(estimator, X, Y, sample_weight=None)``; picklable.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from colabel.metrics import make_scorer
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    >>> make_scorer("hamming_loss")(model, X, Y) < 0
    True
    """
    return MeasureScorer(name)


class MeasureScorer:
    """A scorer of one measure; losses are negated, so that higher is better.

    Scikit-learn's own scorers read a forest's list of probability arrays by the last column,
    which for a label that is never on is the probability of its absence. This one reads the
    column of class 1, and takes a label that was never on as having probability zero.

    Parameters
    ----------
    name : str
        As for :func:`get_measure`.
    """

    def __init__(self, name: str) -> None:
        # Imported here: the measures alone need no scikit-learn, which takes a second to load.
        from sklearn.metrics import make_scorer as sklearn_make_scorer

        self.measure = get_measure(name)
        self._requests = sklearn_make_scorer(
            self.measure.function, greater_is_better=self.measure.greater_is_better
        )

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the measure of a fitted estimator on ``X`` and ``y``, negated if a loss."""
        if self.measure.needs == "labels":
            output = estimator.predict(X)
        else:
            output = label_scores(estimator, X, _n_labels(y))
        value = self.measure.function(y, output, sample_weight=sample_weight)
        return value if self.measure.greater_is_better else -value

    def set_score_request(self, **requests: Any) -> MeasureScorer:
        """Request metadata, such as ``sample_weight=True``, as scikit-learn's scorers do."""
        self._requests.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """Return the metadata request, for scikit-learn's routing."""
        return self._requests.get_metadata_routing()

    def __repr__(self) -> str:
        return f"make_scorer({self.measure.name!r})"


def _n_labels(y: Any) -> int:
    shape = np.shape(y) if not hasattr(y, "shape") else y.shape
    return 1 if len(shape) == 1 else int(shape[1])
