"""One (n_samples, n_labels) array from whatever a multi-label classifier gives.

Scikit-learn's classifiers answer ``decision_function`` and ``predict_proba`` in several shapes: an
array, a vector for a single label, or (forests, neighbours, ``MultiOutputClassifier``) a list with
an array of class probabilities for each label, where a label that was never on has no column for
it. Here each becomes one column per label, found through ``classes_``. Estimators of colabel answer
for themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["has_label_scores", "label_probabilities", "label_scores", "log_odds"]

Floats = NDArray[np.float64]


def has_label_scores(estimator: Any) -> bool:
    """Return whether ``label_scores`` can be asked of ``estimator``."""
    return hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")


def label_scores(estimator: Any, X: Any, n_labels: int) -> Floats:
    """Score each label: ``decision_function``, or the log-odds of ``predict_proba``.

    Raises
    ------
    ValueError
        If the estimator has neither, or gives another number of columns.
    """
    if not has_label_scores(estimator):
        raise ValueError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba, so it "
            "gives no scores of labels"
        )
    if _saw_one_class(estimator, n_labels) or not hasattr(estimator, "decision_function"):
        p = label_probabilities(estimator, X, n_labels)
        scores = log_odds(1.0 - p, p)
    elif hasattr(estimator, "_label_scores"):
        scores = estimator._label_scores(X)
    else:
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        scores = scores.reshape(len(scores), -1)
    return _check_width(estimator, scores, n_labels)


def label_probabilities(estimator: Any, X: Any, n_labels: int) -> Floats:
    """Return the probability that each label is on."""
    if _saw_one_class(estimator, n_labels):
        n_samples = len(estimator.predict(X))
        return np.full((n_samples, 1), float(np.ravel(estimator.classes_)[0] == 1))
    if hasattr(estimator, "_label_probabilities"):
        return _check_width(estimator, estimator._label_probabilities(X), n_labels)
    p = estimator.predict_proba(X)
    if isinstance(p, list):
        columns = zip(p, estimator.classes_, strict=True)
        p = np.column_stack([_on_column(part, classes) for part, classes in columns])
    elif n_labels == 1 and p.shape[1] == 2:
        p = p[:, 1:]
    return _check_width(estimator, np.asarray(p, dtype=np.float64), n_labels)


def log_odds(p_off: Floats, p_on: Floats) -> Floats:
    """Return ``log(p_on / p_off)``, finite for every probability from 0 to 1."""
    tiny = np.finfo(np.float64).tiny
    return np.log(np.maximum(p_on, tiny)) - np.log(np.maximum(p_off, tiny))


def _saw_one_class(estimator: Any, n_labels: int) -> bool:
    """Return whether the only label had one value in training, so that no column can tell it."""
    target = getattr(estimator, "_target", None)
    if target is not None and not target.one_dimensional:
        return False  # colabel's own, fitted to a label matrix: ``classes_`` counts labels
    classes = getattr(estimator, "classes_", None)
    return n_labels == 1 and classes is not None and np.size(classes) == 1


def _on_column(probabilities: NDArray, classes: Any) -> Floats:
    """Return the column of class 1 of one label; zeros where that class was never seen."""
    on = np.flatnonzero(np.asarray(classes) == 1)
    return probabilities[:, on[0]] if len(on) else np.zeros(len(probabilities))


def _check_width(estimator: Any, scores: NDArray, n_labels: int) -> Floats:
    if scores.shape[1] != n_labels:
        raise ValueError(
            f"{type(estimator).__name__} gives {scores.shape[1]} scores for {n_labels} labels"
        )
    return scores
