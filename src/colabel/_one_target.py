"""What classifiers of a single target have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from colabel._sklearn import check_weight

__all__ = ["ScoringClassifier", "check_one_target"]


class ScoringClassifier(ClassifierMixin, BaseEstimator):
    """Base of classifiers whose scores are log-odds, or logarithms of shares; sparse rows welcome.

    Subclasses define ``fit``, which sets ``classes_``, and ``decision_function``.
    """

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score: (n_samples,) for two classes, (n_samples, n_classes) for more."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class: (n_samples, n_classes)."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_one_target(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, least: int = 2
) -> tuple[Any, NDArray[Any], NDArray[np.intp], NDArray[np.float64] | None]:
    """Validate a classifier's training data, and leave out rows of weight zero.

    Parameters
    ----------
    estimator : classifier
        Takes note of the features' number and names.
    X, y, sample_weight
        As given to ``fit``.
    least : int
        Classes without which there is nothing to learn.

    Returns
    -------
    X : ndarray or csr matrix of shape (n_rows, n_features)
    classes : ndarray
        The sorted classes of ``y``.
    code : ndarray of shape (n_rows,)
        Which of them each row has.
    weight : ndarray of shape (n_rows,) or None
    """
    X, y = validate_data(estimator, X, y, accept_sparse="csr", dtype=np.float64)
    check_classification_targets(y)
    weight = None if sample_weight is None else check_weight(sample_weight, X)
    if weight is not None:
        kept = weight > 0
        X, y, weight = X[kept], y[kept], weight[kept]
    classes, code = np.unique(y, return_inverse=True)
    if len(classes) < least:
        raise ValueError(
            f"This classifier needs samples of at least {least} classes in the data, but the data "
            f"contains only one class: {classes.tolist()[0]!r}"
        )
    return X, classes, code, weight
