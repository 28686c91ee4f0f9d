"""A tuned decision rule on top of any multi-label classifier with scores."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from colabel._label_scores import has_label_scores, label_probabilities, label_scores
from colabel._meta import MetaClassifier
from colabel._sklearn import check_weight, one_score_per_class, take_params, take_rows
from colabel.decoders import BaseDecoder, CardinalityThreshold, Threshold
from colabel.metrics import measure_name
from colabel.model_selection._cut_search import (
    CUT_MEASURES,
    Cut,
    best_global_cut,
    best_label_cuts,
    measure_of,
)
from colabel.model_selection._stratification import IterativeStratifiedKFold
from colabel.scores import Modular, ScoreTable

__all__ = ["RULES", "TunedThreshold"]

RULES = ("global", "per_label", "top_1", "cardinality")
# Prices on the number of labels that the cardinality rule tries, in standard deviations of the
# scores; 0 is the global rule.
PRICES = np.concatenate([[0.0], 2.0 ** np.arange(-9.0, 1.0, 0.5)])


class TunedThreshold(MetaClassifier):
    """Choose when a label is on by what is best for a measure, on scores the model has not seen.

    The classifier is fitted on all data; its decision rule is tuned on out-of-fold scores of the
    training data, never on scores of rows a model was fitted to. The search over cuts is exact
    for rules ``"global"``, ``"top_1"`` and ``"cardinality"`` (for each price tried); see
    ``rule`` for ``"per_label"``. For a 1-D target of two classes every rule is one cut; of more
    classes the highest score wins and nothing is tuned.

    Parameters
    ----------
    estimator : classifier
        Any multi-label classifier with ``decision_function`` or ``predict_proba``, colabel's or
        scikit-learn's.
    measure : str, default="example_f1"
        ``"example_f1"``, ``"micro_f1"``, ``"macro_f1"``, ``"example_jaccard"``,
        ``"subset_accuracy"`` or ``"hamming_loss"``, or in short ``"f1"`` (of samples),
        ``"jaccard"``, ``"subset"`` or ``"hamming"``. With ``beta``, the F measures are F-beta.
    rule : str, default="global"
        ``"global"``: one cut for all labels.
        ``"per_label"``: a cut for each label; exact for macro-F, micro-F and Hamming, a local
        optimum for the others. Prone to overfit where labels are rare.
        ``"top_1"``: one cut, and the best label where no score passes it; never empty.
        ``"cardinality"``: one cut and a price ``a k^2`` on a set of ``k`` labels.
    beta : float, default=1.0
        Weight of recall in the F measures.
    cv : int, splitter or None, default=None
        How to split for out-of-fold scores; ``None`` is 5 iteratively stratified folds.
    n_jobs : int or None, default=None
        Folds fitted at the same time. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Shuffles the folds of an integer ``cv`` or ``None``. Without it they depend on the data
        alone.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all training data.
    cut_ : ndarray of shape () or (n_labels,)
        A label is on if its score is above (before the price, for ``"cardinality"``).
    price_ : float
        The price ``a``; 0 for the other rules.
    oof_score_ : float
        The measure at the chosen rule, on the out-of-fold scores; a little optimistic.

    Examples
    --------
    >>> from colabel import BinaryRelevance
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> plain = BinaryRelevance().fit(train.X, train.Y)
    >>> tuned = TunedThreshold(BinaryRelevance(), random_state=0).fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, plain.predict(test.X)):.2f}"
    '0.61'
    >>> f"{f1_score(test.Y, tuned.predict(test.X)):.2f}"
    '0.65'
    """

    _table: ClassVar[type[Modular]] = Modular

    def __init__(
        self,
        estimator: Any,
        *,
        measure: str = "example_f1",
        rule: str = "global",
        beta: float = 1.0,
        cv: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.measure = measure
        self.rule = rule
        self.beta = beta
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Fit the classifier and tune its decision rule.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights the rows in the classifier's ``fit`` and in the measure.
        groups : array-like of shape (n_samples,) or None, default=None
            Samples of one group are held out together.
        **fit_params : dict
            Passed on to the classifier.

        Returns
        -------
        self
        """
        if sample_weight is not None:
            sample_weight = check_weight(sample_weight, X)
            fit_params = {**fit_params, "sample_weight": sample_weight}
        if groups is not None:
            fit_params = {**fit_params, "groups": groups}
        return super().fit(X, y, sample_weight=sample_weight, fit_params=fit_params)

    @available_if(lambda self: hasattr(self._inner(), "predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the classifier's own probabilities; the tuned rule does not change them."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        if self._target.one_dimensional:
            return np.asarray(self.estimator_.predict_proba(X))
        return label_probabilities(self.estimator_, X, self._n_columns)

    @available_if(lambda self: hasattr(self._inner(), "predict_joint"))
    def predict_joint(self, X: Any) -> ScoreTable:
        """Return the classifier's own score table; the tuned rule does not change it."""
        check_is_fitted(self)
        return self.estimator_.predict_joint(self._validate(X, reset=False))

    def _fit(self, X: Any, Y: NDArray[np.int8], **given: Any) -> None:
        params = self._route(X, given["fit_params"])
        target = self._inner_target(Y)
        self.cut_, self.price_, self.oof_score_ = np.asarray(0.0), 0.0, float("nan")
        if self._target.kind != "multiclass":
            scores = self._out_of_fold(X, target, params)
            self._tune(scores, Y > 0, given["sample_weight"])
        inner = one_score_per_class(clone(self.estimator))
        self.estimator_ = inner.fit(X, target, **params["estimator"])
        self.decoder_ = self._make_decoder()

    def _scores(self, X: Any) -> Modular:
        return Modular(label_scores(self.estimator_, X, self._n_columns) - self.cut_)

    def _inner_target(self, Y: NDArray[np.int8]) -> NDArray:
        """Return what the classifier is fitted to: a label matrix, or class codes.

        A single label is two classes, in the one shape that every classifier understands.
        """
        if self._n_columns == 1 and self._target.kind != "multiclass":
            return Y[:, 0].astype(np.int64)
        if self._target.kind == "multiclass":
            return np.argmax(Y, axis=1)
        return Y.astype(np.int64)

    def _out_of_fold(
        self, X: Any, target: NDArray, params: dict[str, dict[str, Any]]
    ) -> NDArray[np.float64]:
        if len(target) < 2:
            raise ValueError("TunedThreshold needs at least 2 samples (n_samples = 1 is too few)")
        splits = list(self._splitter(len(target)).split(X, target, **params["splitter"]))
        visits = np.bincount(np.concatenate([test for _, test in splits]), minlength=len(target))
        if not np.all(visits == 1):
            raise ValueError("cv must put every sample into exactly one test fold")
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_fold_scores)(
                self.estimator, X, target, params["estimator"], fold, self._n_columns
            )
            for fold in splits
        )
        scores = np.empty((len(target), self._n_columns))
        for (_, test), part in zip(splits, parts, strict=True):
            scores[test] = part
        return scores

    def _splitter(self, n_samples: int) -> Any:
        if self.cv is not None and not isinstance(self.cv, int | np.integer):
            return check_cv(self.cv)
        folds = 5 if self.cv is None else int(self.cv)
        return IterativeStratifiedKFold(
            min(folds, n_samples),
            shuffle=self.random_state is not None,
            random_state=self.random_state,
        )

    def get_metadata_routing(self) -> MetadataRouter:
        """Route ``fit`` parameters to the classifier, and ``groups`` to the splitter."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        return (
            super().get_metadata_routing().add(splitter=self._splitter(5), method_mapping=mapping)
        )

    def _tune(self, scores: NDArray, Y: NDArray[np.bool_], weight: NDArray | None) -> None:
        options: dict[str, Any] = {"beta": self.beta, "weight": weight}
        options["measure"] = measure_name(self.measure)
        if self._target.kind == "binary":
            cut = best_global_cut(scores, Y, **options)
        elif self.rule == "per_label":
            cut = best_label_cuts(scores, Y, **options)
        elif self.rule == "cardinality":
            cut, self.price_ = self._tune_price(scores, Y, options)
        else:
            top_1 = self.rule == "top_1"
            cut = best_global_cut(scores, Y, top_1=top_1, **options)
        self.cut_ = cut.threshold
        table = Modular(scores - self.cut_)
        on = self._make_decoder().decode(table, nonempty=self._nonempty).labels > 0
        self.oof_score_ = measure_of(on, Y, **options)

    def _tune_price(
        self, scores: NDArray, Y: NDArray[np.bool_], options: dict[str, Any]
    ) -> tuple[Cut, float]:
        """Best cut and price: with a price ``a`` the k-th best score has to pass ``a (2k - 1)``."""
        order = np.argsort(-scores, axis=1, kind="stable")
        steps = np.empty(scores.shape)
        np.put_along_axis(steps, order, 2.0 * np.arange(scores.shape[1])[None, :] + 1.0, axis=1)
        prices = PRICES * float(scores.std())
        cuts = [best_global_cut(scores - a * steps, Y, **options) for a in prices]
        best = int(np.argmax([cut.value for cut in cuts]))
        return cuts[best], float(prices[best])

    def _check_parameters(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, not {self.rule!r}")
        measure = measure_name(self.measure)
        if measure not in CUT_MEASURES:
            raise ValueError(
                f"measure must be one of {', '.join(CUT_MEASURES)}, not {self.measure!r}"
            )
        if not self.beta > 0:
            raise ValueError(f"beta must be positive, not {self.beta!r}")
        if self.beta != 1 and not measure.endswith("_f1"):
            raise ValueError(f"beta has no meaning for {self.measure}; leave it at 1")
        if not has_label_scores(self.estimator):
            raise ValueError(
                f"{type(self.estimator).__name__} has neither decision_function nor "
                "predict_proba, so there is nothing to put a threshold on"
            )

    def _make_decoder(self) -> BaseDecoder:
        if self.rule != "cardinality" or self._target.one_dimensional:
            return Threshold()
        return CardinalityThreshold(penalty=getattr(self, "price_", 0.0))

    def _forbids_empty(self, Y: Any, **fit_params: Any) -> bool:
        return self.rule == "top_1" and not self._target.one_dimensional

    def _probabilistic(self) -> bool:
        return False


def _fold_scores(
    estimator: Any, X: Any, target: NDArray, params: dict[str, Any], fold: Any, n_labels: int
) -> NDArray[np.float64]:
    train, test = fold
    inner = take_params(X, params, train)
    fitted = clone(estimator).fit(take_rows(X, train), target[train], **inner)
    return label_scores(fitted, take_rows(X, test), n_labels)
