"""What the estimators of exclusive label sets have in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from colabel._sklearn import (
    check_weight,
    missing_values_named,
    n_rows,
    one_score_per_class,
    take_rows,
)
from colabel._unchanged import unchanged_on_failure
from colabel.labelsets._logistic import ScaledLogisticRegression
from colabel.labelsets._targets import Codes, encode_sets, kept_apart, one_hot
from colabel.metrics import label_set_accuracy
from colabel.scores import Support

__all__ = [
    "LabelSetClassifier",
    "all_combinations",
    "class_log_probs",
    "fit_classes",
    "join",
    "usual_classifier",
    "weight_name",
]

Floats = NDArray[np.float64]

# Combinations of classes that a joint table may list.
MOST_COMBINATIONS = 4096


class LabelSetClassifier(ClassifierMixin, BaseEstimator):
    """Base of the estimators for data with exactly one label of each of several sets.

    Subclasses define ``_fit(X, codes, weight)`` with class numbers (n_samples, n_sets) and
    ``_log_probs(X)``, the log-probabilities (n_samples, n_classes) of each set; those that choose
    the classes together also ``_predict(X)`` and ``_joint(X)``.
    """

    estimator: Any
    label_sets: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to features ``X`` and the classes ``y`` of each set.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : array or DataFrame of shape (n_samples, n_sets), a column of classes for each set
            Of any dtype. Or a matrix of 0 and 1 (n_samples, n_labels), dense, sparse or a
            DataFrame, with ``label_sets`` that say which columns belong together; or one set as a
            vector. Columns of 0 and 1 without ``label_sets`` are sets of two classes each.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Rows of weight zero are left out. The estimator must take weights too.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X, weight = self._validate(X, reset=True), None
            if sample_weight is not None:
                check_consistent_length(X, y)
                weight = check_weight(sample_weight, X)
                rows, y = np.flatnonzero(weight), y if hasattr(y, "__getitem__") else np.asarray(y)
                X, y, weight = X[rows], take_rows(y, rows), weight[rows]
            codes, self._target = encode_sets(y, self.label_sets)
            check_consistent_length(X, codes)
            self.set_names_ = list(self._target.names)
            classes = self._target.classes
            self.classes_ = classes[0] if self._target.kind == "vector" else list(classes)
            self._fit(X, codes, weight)
        return self

    def predict(self, X: Any) -> Any:
        """Predict a class of each set, in the container of ``y``."""
        check_is_fitted(self)
        return self._target.restore(self._predict(self._validate(X, reset=False)), like=X)

    def predict_proba(self, X: Any) -> Any:
        """Predict the probability of each class of each set.

        Classifiers without probabilities count by the softmax of their scores.

        Returns
        -------
        list of ndarray of shape (n_samples, n_classes), one for each set
            Of a vector ``y`` the array alone; of a matrix of 0 and 1 one array
            (n_samples, n_labels).
        """
        check_is_fitted(self)
        log_p = self._log_probs(self._validate(X, reset=False))
        return self._target.probabilities([np.exp(part) for part in log_p])

    def predict_joint(self, X: Any) -> Support:
        """Return the distribution over combinations of classes, as a table of labels.

        The labels of the table are the classes of the first set, then those of the second, and
        so on; of each set one is on.

        Raises
        ------
        ValueError
            If there are more than 4096 combinations to list.
        """
        check_is_fitted(self)
        combinations, log_p = self._joint(self._validate(X, reset=False))
        return Support(one_hot(combinations, self._target.sizes), log_p)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of samples that are right in all sets."""
        found = self.predict(X)
        if self._target.kind == "vector":
            return float(np.average(np.asarray(y) == found, weights=sample_weight))
        accuracies = label_set_accuracy(
            kept_apart(y), found, self.label_sets, sample_weight=sample_weight
        )
        return accuracies["accuracy_all"]

    def _fit(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        """Learn from validated data; weights are positive."""
        raise NotImplementedError

    def _log_probs(self, X: Any) -> list[Floats]:
        """Log-probabilities of the classes of each set, for validated rows."""
        raise NotImplementedError

    def _predict(self, X: Any) -> Codes:
        return np.column_stack([np.argmax(part, axis=1) for part in self._log_probs(X)])

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        combinations = all_combinations(self._target.sizes)
        parts = zip(self._log_probs(X), combinations.T, strict=True)
        return combinations, np.sum([log_p[:, code] for log_p, code in parts], axis=0)

    def _inner(self) -> Any:
        """Return the classifier to clone."""
        return usual_classifier() if self.estimator is None else self.estimator

    def _check_parameters(self) -> None:
        """Refuse constructor arguments that no data could make right."""
        inner = self._inner()
        if not hasattr(inner, "fit") or not is_classifier(inner):
            raise ValueError(f"estimator must be a scikit-learn classifier; got {inner!r}")

    def _validate(self, X: Any, *, reset: bool) -> Any:
        finite = "allow-nan" if get_tags(self._inner()).input_tags.allow_nan else True
        options: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": finite}
        with missing_values_named(self):
            return validate_data(self, X, accept_sparse="csr", reset=reset, **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        try:
            inner = get_tags(self._inner())
        except (AttributeError, TypeError):
            return tags  # no estimator at all; ``fit`` says so
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.non_deterministic = inner.non_deterministic
        return tags


def usual_classifier() -> Any:
    """Return a logistic regression on features of one scale.

    It is solved so far that dense features, which are centred, and sparse ones agree to 1e-5.
    """
    return ScaledLogisticRegression(max_iter=1000, tol=1e-6)


def fit_classes(base: Any, X: Any, code: NDArray[np.intp], weight: Floats | None) -> Any:
    """Fit a clone of ``base`` to class numbers; to a single class no more than that class."""
    if np.all(code == code[0]):
        return DummyClassifier().fit(X, code)
    params = {} if weight is None else {weight_name(base): weight}
    return one_score_per_class(clone(base)).fit(X, code, **params)


def class_log_probs(estimator: Any, X: Any, n_classes: int) -> Floats:
    """Return log-probabilities (n_samples, n_classes); ``-inf`` for classes never seen.

    Of a classifier without probabilities the softmax of its scores, or all for the class
    predicted.
    """
    out = np.full((n_rows(X), n_classes), -np.inf)
    seen = estimator.classes_
    if hasattr(estimator, "predict_proba"):
        with np.errstate(divide="ignore"):
            out[:, seen] = np.log(estimator.predict_proba(X))
    elif hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.column_stack([-scores, scores])
        out[:, seen] = log_softmax(scores, axis=1)
    else:
        out[np.arange(len(out)), estimator.predict(X)] = 0.0
    return out


def weight_name(base: Any) -> str:
    """Return the name under which ``fit`` of ``base`` takes sample weights."""
    if isinstance(base, Pipeline) and has_fit_parameter(base.steps[-1][1], "sample_weight"):
        return f"{base.steps[-1][0]}__sample_weight"
    if not has_fit_parameter(base, "sample_weight"):
        raise ValueError(f"{type(base).__name__} does not support sample_weight")
    return "sample_weight"


def join(X: Any, code: NDArray[np.intp], n_classes: int) -> Any:
    """Put the indicators of a class beside the features; sparse features stay sparse."""
    labels = one_hot(code[:, None], [n_classes])
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(labels, dtype=X.dtype)], format="csr")
    return np.hstack([X, labels])


def all_combinations(sizes: Sequence[int]) -> Codes:
    """List all combinations of classes, the last set running fastest; refuse too many."""
    if np.prod(sizes, dtype=np.float64) > MOST_COMBINATIONS:
        raise ValueError(
            f"sets of {', '.join(map(str, sizes))} classes have more than {MOST_COMBINATIONS} "
            "combinations, too many to list"
        )
    return np.array(list(product(*map(range, sizes))), dtype=np.intp)
