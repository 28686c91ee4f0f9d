"""The common path of every estimator: validate, encode, fit; score, decode, restore.

A method supplies ``_fit(X, Y)`` and ``_scores(X)``; everything a user calls is here. Prediction
runs in blocks of rows, so that no score table is larger than a memory budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from colabel._parameters import check_choice, check_whole
from colabel._renamed import RenamedParameters
from colabel._sklearn import missing_values_named, n_rows, take_rows
from colabel._targets import TargetFormat, dense_labels, encode_target
from colabel._unchanged import unchanged_on_failure
from colabel.decoders import BaseDecoder, make_decoder, top_m
from colabel.exceptions import IncompatibleError
from colabel.results import Decoded
from colabel.scores import Mixture, Modular, Pairwise, ScoreTable, Support

__all__ = ["BLOCK_BYTES", "BaseClassifier", "MultiLabelClassifier"]

# A score table built during prediction stays below this size.
BLOCK_BYTES = 64 * 2**20
# ``predict_proba`` stays this far from 0 and 1.
PROBABILITY_FLOOR = 1e-12
# Beyond these log-odds 1 - p holds nothing but rounding.
LARGEST_LOG_ODDS = float(-np.log(np.finfo(np.float64).eps))

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class Target(Protocol):
    """What ``y`` looked like, so that predictions can be returned the same way."""

    @property
    def classes(self) -> NDArray[Any] | list[NDArray[Any]]:
        """What ``classes_`` is."""

    def restore(self, labels: Any, like: Any = None) -> Any:
        """Return encoded labels in the container of ``y``, with the index of ``like``."""


class BaseClassifier(RenamedParameters, ClassifierMixin, BaseEstimator):
    """What all of colabel's estimators share: what is checked, and a fit that is whole or nothing.

    Subclasses define ``_fit(X, Y, **fit_params)`` with ``Y`` as ``_encode`` and ``_prepare`` give
    it, and may extend ``_check_parameters``.
    """

    _target: Target
    classes_: Any

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Fit to features ``X`` and labels ``y``; a fit that fails leaves all as it was.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.
        **fit_params : dict
            What the method's objective takes besides, such as ``sample_weight``.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            X = self._validate(X, reset=True)
            labels, self._target = self._encode(y)
            check_consistent_length(X, labels)
            self.classes_ = self._target.classes
            self._fit(X, self._prepare(labels, **fit_params), **fit_params)
        return self

    def _check_parameters(self) -> None:
        """Refuse constructor arguments that no data could make right."""

    def _encode(self, y: Any) -> tuple[Any, Target]:
        """Return labels as numbers, and the container that predictions are returned in."""
        raise NotImplementedError

    def _prepare(self, labels: Any, **fit_params: Any) -> Any:
        """Settle what depends on the target; return the encoded labels as ``_fit`` takes them."""
        return labels

    def _fit(self, X: Any, Y: Any, **fit_params: Any) -> None:
        """Learn from validated data."""
        raise NotImplementedError

    def _validate(self, X: Any, *, reset: bool) -> Any:
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        options: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": finite}
        with missing_values_named(self):
            return validate_data(self, X, accept_sparse="csr", reset=reset, **options)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags


class MultiLabelClassifier(BaseClassifier):
    """Base of the estimators that score labelings and decode the scores.

    Subclasses define ``_fit(X, Y, **fit_params)`` with ``Y`` an int8 matrix in {0, 1} (dense,
    unless ``_sparse_labels``) and ``_scores(X) -> ScoreTable``, and state ``_table``, the table
    they emit, and ``_decoder``, the name of their usual decoder; ``_attractive`` promises that
    couplings are never negative. Their constructors take ``decoder`` and ``empty``, or they
    override ``_make_decoder`` and ``_forbids_empty``.
    """

    _table: ClassVar[type[ScoreTable]] = Modular
    _decoder: ClassVar[str] = "threshold"
    _sparse_labels: ClassVar[bool] = False
    _attractive: ClassVar[bool] = False

    _target: TargetFormat
    decoder: str | BaseDecoder | None
    empty: str

    def predict(self, X: Any) -> Any:
        """Predict the labeling that the decoder prefers, in the container of ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        Y : same container as the ``y`` given to ``fit``
            For a 1-D target, the class whose labeling scores best.
        """
        check_is_fitted(self)
        tables = self._blocks(X, self.decoder_)
        parts = [self._decode_table(table, None).labels for table in tables]
        if self._target.kind == "sparse":
            labels = sparse.vstack([sparse.csr_array(part) for part in parts], format="csr")
        else:
            labels = np.concatenate(parts)
        return self._target.restore(labels, like=X)

    def decode(self, X: Any, decoder: str | BaseDecoder | None = None) -> Decoded:
        """Decode with any decoder: labels, their value, and a bound on the best possible value.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        decoder : str, BaseDecoder or None
            Another target than the estimator's own; nothing is refitted. Not for 1-D targets,
            where the best single class is chosen.

        Returns
        -------
        Decoded
            ``labels`` has a column per label; for a 1-D target a column per class (one for two).
        """
        check_is_fitted(self)
        if decoder is not None and self._target.one_dimensional:
            raise ValueError("a 1-D target has one class per sample; there is no other decoding")
        chosen = None if decoder is None else make_decoder(decoder, self._table)
        tables = self._blocks(X, chosen or self.decoder_)
        return Decoded.concatenate([self._decode_table(table, chosen) for table in tables])

    def predict_joint(self, X: Any) -> ScoreTable:
        """Return the score table: what the model says about every labeling of every sample.

        Where the model has probabilities the table answers ``log_prob``, ``marginals``, ``sample``
        and ``correlations``. It is the model's own distribution: a policy that forbids the empty
        set is one of ``predict`` and ``decode``.
        """
        check_is_fitted(self)
        return self._scores(self._validate(X, reset=False))

    @available_if(lambda self: self._probabilistic())
    def joint_log_prob(self, X: Any, y: Any) -> Floats:
        """Log-probability of each sample's whole labeling: (n_samples,).

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1, or a 1-D target, as in ``fit``
            Columns in the order of ``fit``.
        """
        check_is_fitted(self)
        if self._target.one_dimensional:
            return self._class_log_prob(X, np.asarray(y))
        encoded, target = encode_target(y)
        Y = dense_labels(encoded)
        check_consistent_length(X, Y)
        if Y.shape[1] != self._n_columns:
            raise ValueError(f"y has {Y.shape[1]} labels, where fit had {self._n_columns}")
        if target.label_names and self._target.label_names not in ((), None, target.label_names):
            raise ValueError("the columns of y are not those of fit, or not in the same order")
        parts, start = [], 0
        for rows in self._row_blocks(X):
            stop = start + n_rows(rows)
            parts.append(self._log_prob(rows, Y[start:stop]))
            start = stop
        return np.concatenate(parts)

    @available_if(lambda self: self._has_joint())
    def predict_top_m(self, X: Any, m: int = 5) -> tuple[Labels, Floats]:
        """Predict the ``m`` most probable labelings, most probable first.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        m : int, default=5
            At most the number of labelings that there are: ``2^n_labels``, one less where
            ``predict`` never gives the empty one.

        Returns
        -------
        labelings : ndarray of shape (n_samples, m, n_labels), int8
            Without the empty one, where ``predict`` never gives it.
        log_probabilities : ndarray of shape (n_samples, m)
            ``-inf`` where the model knows of fewer labelings, as a beam or a vote does; the most
            probable one stands there again.
        """
        check_is_fitted(self)
        check_whole(m, "m", least=1)
        if self._target.one_dimensional:
            raise ValueError("a 1-D target has classes, not labelings; see predict_proba")
        most = 2**self._n_columns - self._nonempty
        if m > most:
            raise ValueError(
                f"m must be a whole number, 1 to {most} (the number of labelings), not {m}"
            )
        parts = [self._top_m(table, m) for table in self._ranked_blocks(X)]
        labelings, log_p = zip(*parts, strict=True)
        return np.concatenate(labelings), np.concatenate(log_p)

    @available_if(lambda self: self._probabilistic())
    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability of each label: one (n_samples, n_labels) array.

        For a 1-D target, the probability of each class given that exactly one holds.
        """
        return np.concatenate([self._probabilities(table) for table in self._blocks(X)])

    @available_if(lambda self: self._has_label_scores())
    def decision_function(self, X: Any) -> Floats:
        """Score each label; positive speaks for it: (n_samples, n_labels).

        Log-odds where the model has probabilities; where pairs of labels have scores, what a label
        adds to the labels predicted. For a 1-D target of two classes (n_samples,);
        for one of more, the largest score is that of the class predicted.
        """
        scores = self._label_scores(X)
        return scores[:, 0] if self._target.kind == "binary" else scores

    def _encode(self, y: Any) -> tuple[Any, TargetFormat]:
        return encode_target(y)

    def _freeze(self) -> None:
        """Keep what parameters say of the score table: prediction goes by the fit, not by them."""

    def _prepare(self, labels: Any, **fit_params: Any) -> Any:
        self._freeze()
        if self._target.label_names:
            names = [str(name) for name in self._target.label_names]
            self.label_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "label_names_in_"):
            del self.label_names_in_
        self.decoder_ = self._make_decoder()
        reason = self.decoder_.refusal(
            self._table, attractive=self._attractive, distribution=self._has_joint()
        )
        if reason:
            raise IncompatibleError(reason)
        labels = labels if self._sparse_labels else dense_labels(labels)
        self._nonempty = self._forbids_empty(labels, **fit_params)
        return labels

    def _scores(self, X: Any) -> ScoreTable:
        """Score validated rows."""
        raise NotImplementedError

    def _scores_for(self, X: Any, decoder: BaseDecoder | None) -> ScoreTable:
        """Score validated rows for a decoder, which may need less than the table of ``_scores``.

        ``None`` asks for marginals.
        """
        return self._scores(X)

    def _log_prob(self, X: Any, Y: Labels) -> Floats:
        """Log-probability of one labeling of each validated row."""
        return self._scores(X).log_prob(Y)

    def _class_log_prob(self, X: Any, y: NDArray) -> Floats:
        place = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = self.classes_[place] != y
        if np.any(unknown):
            raise ValueError(f"y holds {y[unknown][0].item()!r}, a class that fit has not seen")
        p = self.predict_proba(X) if len(self.classes_) > 1 else np.ones((len(y), 1))
        return np.log(p[np.arange(len(y)), place])

    def _check_parameters(self) -> None:
        check_choice(self.empty, "empty", ("allow", "forbid"))

    def _make_decoder(self) -> BaseDecoder:
        chosen = self._decoder if self.decoder is None else self.decoder
        return make_decoder(chosen, self._table)

    def _forbids_empty(self, Y: Any, **fit_params: Any) -> bool:
        """Whether no labeling predicted is to be empty, given what ``_fit`` is given."""
        return self.empty == "forbid"

    def _probabilistic(self) -> bool:
        """Whether the model has probabilities; known before fitting."""
        return issubclass(self._table, Mixture)

    def _has_joint(self) -> bool:
        """Whether the score table is a distribution over labelings; known before fitting."""
        return self._probabilistic()

    def _has_label_scores(self) -> bool:
        """Whether the table gives each label a score of its own; known before fitting."""
        return issubclass(self._table, Modular | Pairwise) or self._probabilistic()

    def _row_bytes(self) -> int:
        """Bytes that one row takes while it is scored and decoded."""
        return 32 * self._n_columns

    @property
    def _n_columns(self) -> int:
        return 1 if self._target.kind == "binary" else len(self._target.classes)

    def _blocks(self, X: Any, decoder: BaseDecoder | None = None) -> Iterator[ScoreTable]:
        for rows in self._row_blocks(X):
            yield self._scores_for(rows, decoder)

    def _ranked_blocks(self, X: Any) -> Iterator[ScoreTable]:
        """Yield tables in which the best labelings are to be found."""
        return self._blocks(X, make_decoder("subset", self._table))

    def _row_blocks(self, X: Any) -> Iterator[Any]:
        """Yield validated rows, as many at a time as the memory budget has room for."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        n = n_rows(X)
        step = max(1, BLOCK_BYTES // self._row_bytes())
        if n <= step:
            yield X
            return
        for start in range(0, n, step):
            yield take_rows(X, slice(start, min(start + step, n)))

    def _decode_table(self, table: ScoreTable, decoder: BaseDecoder | None) -> Decoded:
        if self._target.one_dimensional:
            return self._decode_class(table)
        return (decoder or self.decoder_).decode(table, nonempty=self._nonempty)

    def _decode_class(self, table: ScoreTable) -> Decoded:
        """Choose the best labeling with exactly one class on; two classes share one column."""
        candidates = self._class_labelings()
        values = table.value_all(candidates)
        best = np.argmax(values, axis=1)
        return Decoded.exact(candidates[best], values[np.arange(len(best)), best])

    def _top_m(self, table: ScoreTable, m: int) -> tuple[Labels, Floats]:
        known = min(m, table.scores.shape[1]) if isinstance(table, Support) else m
        labelings, log_p = top_m(table, known, nonempty=self._nonempty)
        again = np.repeat(labelings[:, :1], m - known, axis=1)
        unknown = np.full((len(log_p), m - known), -np.inf)
        return np.concatenate([labelings, again], axis=1), np.column_stack([log_p, unknown])

    def _class_labelings(self) -> Labels:
        if self._target.kind == "binary":
            return np.array([[0], [1]], dtype=np.int8)
        return np.eye(len(self._target.classes), dtype=np.int8)

    def _probabilities(self, table: ScoreTable) -> Floats:
        if self._target.kind == "multiclass":
            return softmax(table.value_all(self._class_labelings()), axis=1)
        p = np.clip(table.marginals(), PROBABILITY_FLOOR, 1.0 - PROBABILITY_FLOOR)
        return np.column_stack([1.0 - p[:, 0], p[:, 0]]) if self._target.kind == "binary" else p

    def _label_scores(self, X: Any) -> Floats:
        """Score each column of the encoded target (see ``colabel._label_scores``)."""
        return np.concatenate([self._column_scores(table) for table in self._blocks(X)])

    def _column_scores(self, table: ScoreTable) -> Floats:
        if isinstance(table, Pairwise) and not self._target.one_dimensional:
            # What a label adds, the others being as predicted: its sign is the prediction.
            return table.fields(self._decode_table(table, None).labels)
        if isinstance(table, Modular | Pairwise):
            return table.unary
        if self._target.kind != "multiclass":
            return table.label_scores()
        # As ``predict`` compares them: the labelings with one class on, not the marginals.
        log_p = log_softmax(table.value_all(self._class_labelings()), axis=1)
        with np.errstate(divide="ignore"):
            return np.clip(log_p - np.log(-np.expm1(log_p)), -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)

    def _label_probabilities(self, X: Any) -> Floats:
        """Probability of each column of the encoded target."""
        p = self.predict_proba(X)
        return p[:, 1:] if self._target.kind == "binary" else p
