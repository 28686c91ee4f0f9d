"""Any multi-label estimator on facets: one label of each, the best combination of all."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone

from colabel._label_scores import has_label_scores, label_scores
from colabel._parameters import check_choice
from colabel.decoders import OnePerSet
from colabel.facets._base import MOST_COMBINATIONS, FacetClassifier, all_combinations
from colabel.facets._classifiers import Floats, weight_name
from colabel.facets._decompositions import facet_marginals
from colabel.facets._targets import Codes, one_hot
from colabel.scores import Modular

__all__ = ["OnePerSetClassifier"]


class OnePerSetClassifier(FacetClassifier):
    """A multi-label estimator held to one label of each facet.

    The estimator is fitted to the classes of all facets as labels, and knows nothing of the facets;
    they come in when it predicts.

    Parameters
    ----------
    estimator : multi-label classifier
        Of colabel, or any of scikit-learn's with scores of labels; cloned.
    rule : {"joint", "argmax"}, default="joint"
        ``"joint"``: the best combination under the estimator's joint table, exactly, by the
        decoder ``OnePerSet``. ``"argmax"``: the label of the highest score in each facet, as in Liu
        et al. (2018); the same for labels without dependence, and what is done for an estimator
        that has no table, or one of pairs of labels.
    facets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each facet, by name or column; see ``fit``.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each facet.
    facet_names_ : list of str
    estimator_ : estimator

    Examples
    --------
    >>> from colabel import LabelPowerset
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]])
    >>> Y = np.array([["cat", "old"], ["cat", "new"], ["dog", "old"], ["dog", "new"]])
    >>> OnePerSetClassifier(LabelPowerset()).fit(X, Y).predict([[2.9, 2.2]])
    array([['dog', 'new']], dtype='<U3')
    """

    def __init__(self, estimator: Any, *, rule: str = "joint", facets: Any = None) -> None:
        self.estimator = estimator
        self.rule = rule
        self.facets = facets

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        Y = one_hot(codes, self._target.sizes).astype(np.int64)
        params = {} if weight is None else {weight_name(self.estimator): weight}
        self.estimator_ = clone(self.estimator).fit(X, Y, **params)

    def _is_joint(self) -> bool:
        """Return whether combinations are chosen by the estimator's table."""
        table = getattr(self.estimator_, "_table", None)
        return self.rule == "joint" and table is not None and issubclass(table, OnePerSet.accepts)

    def _predict(self, X: Any) -> Codes:
        if not self._is_joint():
            return super()._predict(X)
        stops = np.cumsum(self._target.sizes)
        facets = np.split(np.arange(stops[-1]), stops[:-1])
        labels = self.estimator_.decode(X, decoder=OnePerSet(facets)).labels
        return np.column_stack([np.argmax(labels[:, columns], axis=1) for columns in facets])

    def _log_probs(self, X: Any) -> list[Floats]:
        sizes = self._target.sizes
        many = np.prod(sizes, dtype=np.float64) > MOST_COMBINATIONS
        if many or not self._is_joint() or issubclass(self.estimator_._table, Modular):
            return self._by_facet(X)
        combinations, scores = self._joint(X)
        return facet_marginals(combinations, log_softmax(scores, axis=1), sizes)

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        combinations, sizes = all_combinations(self._target.sizes), self._target.sizes
        parts = zip(self._by_facet(X), combinations.T, strict=True)
        apart = np.sum([log_p[:, code] for log_p, code in parts], axis=0)
        if not self._is_joint():
            return combinations, apart
        scores = self.estimator_.predict_joint(X).value_all(one_hot(combinations, sizes))
        # A list of labelings may have none with one label of each facet.
        lost = np.all(scores == -np.inf, axis=1, keepdims=True)
        return combinations, np.where(lost, apart, scores)

    def _by_facet(self, X: Any) -> list[Floats]:
        """Return the softmax of the label scores in each facet."""
        stops = np.cumsum(self._target.sizes)
        scores = label_scores(self.estimator_, X, int(stops[-1]))
        return [log_softmax(part, axis=1) for part in np.split(scores, stops[:-1], axis=1)]

    def _check_parameters(self) -> None:
        check_choice(self.rule, "rule", ("joint", "argmax"))
        if not hasattr(self.estimator, "fit") or not has_label_scores(self.estimator):
            raise ValueError(
                "estimator must be a multi-label classifier with decision_function or "
                f"predict_proba; got {self.estimator!r}"
            )
