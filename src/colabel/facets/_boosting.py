"""DSML: boosting of several facets whose models feed one another (Liu et al. 2018).

Each facet has its own distribution over the training rows. In a round the facets are visited in
turn: the classes that the last model predicts stand beside the features when the next one is
trained, and the last feeds the first. Rows that one facet gets wrong gain weight in the others too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from colabel._parameters import check_choice, check_real, check_whole
from colabel._sklearn import n_rows
from colabel.facets._base import FacetClassifier, distinct_rows, facet_order, join
from colabel.facets._classifiers import Floats, fit_classes, weight_name
from colabel.facets._targets import Codes
from colabel.numerics.seeds import seeded

__all__ = ["DualSetBoosting"]

# Errors this close to 0 and 1 would give a model an infinite weight.
EDGE = 1e-9
# Rows drawn in a round, at most: above it weights are no counts of rows.
MOST_DRAWN = 10_000_000


class DualSetBoosting(FacetClassifier):
    """Boosting of two or more facets, with model reuse and distribution adjusting (DSML).

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Cloned for each model. ``None`` is logistic regression on features of one scale.
    n_rounds : int, default=10
        ``T``, the rounds of boosting. Weak classifiers gain from 30 and more.
    B : float, default=1.05
        What the weight of a row is multiplied by for each *other* facet that it is misclassified
        in; 1 turns distribution adjusting off.
    reuse : bool, default=True
        Whether models are given the classes that another facet's model predicts. Without, and with
        ``B=1``, the facets have nothing in common but when training stops.
    learning_rate : float or None, default=None
        Factor of a model's weight, a learning rate. ``None`` is the paper's: one over the number of
        classes of the facet.
    weighting : {"sample", "weight"}, default="sample"
        ``"sample"``: models are trained on rows drawn from the distribution, as published.
        ``"weight"``: on all rows with sample weights, which needs no chance. Sample weights are
        where the distribution begins, in either case.
    inputs : {"predicted", "true", "true_update"}, default="predicted"
        What a model is given when its predictions train the next one: the classes that the model
        before it predicts, as in prediction; or the true ones, which is how the paper may also be
        read. ``"true_update"`` has true ones in the update of the weights as well.
    order : array-like of shape (n_facets,) or None, default=None
        Numbers of the facets in the order in which models feed one another. ``None``: fewest
        classes first.
    facets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each facet, by name or column; see ``fit``.
    random_state : int, RandomState or None, default=None
        Draws rows, and seeds every ``random_state`` of the classifiers that is None.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each facet.
    facet_names_ : list of str
    order_ : ndarray of shape (n_facets,)
    rounds_ : list of tuple
        For each round the model of the first facet of the order that sees features alone (None
        without reuse), and a list with the model of each facet.
    alphas_ : ndarray of shape (n_rounds, n_facets)
        Weights of the models.
    errors_ : ndarray of shape (n_rounds, n_facets)
        Training errors of the models.

    Notes
    -----
    Of the paper (errors corrected: Eqs. 4 and 5 are means, and ``B`` is raised to the indicator in
    Eqs. 8 and 9). Training stops where the model of any facet is worse than chance; a first round
    is kept all the same, with equal weights. For more than two facets the order is a cycle: each
    model is given the classes of the facet before it, and the first facet's those of the last.
    Cost: a fit and a prediction of all rows for each facet and round, and one more with reuse.

    A weight of two is the row twice. Drawn rows are drawn from the distinct ones, so that the same
    seed draws the same, whatever the order of the rows. As many are drawn as the weights add up
    to, and no fewer than there are distinct rows: weights may also be shares that add up to one.

    Votes for each facet are counted apart, so the combination is not chosen jointly;
    ``CoupledSets`` does that, and is usually the better choice where facets depend on one another.

    References
    ----------
    Liu, Zhao, Huang, Jiang and Zhou, "Dual set multi-label learning", AAAI 2018.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]] * 5)
    >>> Y = np.array([["cat", "old"], ["cat", "new"], ["dog", "old"], ["dog", "new"]] * 5)
    >>> model = DualSetBoosting(n_rounds=3, random_state=0).fit(X, Y)
    >>> model.predict([[2.9, 2.2]]), model.alphas_.shape
    (array([['dog', 'new']], dtype='<U3'), (3, 2))
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_rounds: int = 10,
        B: float = 1.05,
        reuse: bool = True,
        learning_rate: float | None = None,
        weighting: str = "sample",
        inputs: str = "predicted",
        order: Any = None,
        facets: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_rounds = n_rounds
        self.B = B
        self.reuse = reuse
        self.learning_rate = learning_rate
        self.weighting = weighting
        self.inputs = inputs
        self.order = order
        self.facets = facets
        self.random_state = random_state

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the prediction after each round, in the container of ``y``."""
        check_is_fitted(self)
        for votes in self._staged_votes(self._validate(X, reset=False)):
            yield self._target.restore(_most_votes(votes), like=X)

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        self._rng = check_random_state(self.random_state)
        self.order_ = facet_order(self.order, self._target.sizes)
        self._reuses = self.reuse and codes.shape[1] > 1
        self.rounds_: list[tuple[Any, list[Any]]] = []
        alphas, errors = [], []
        X, codes, share = self._distinct(X, codes, weight)
        self._total = float(share.sum())
        self._n_drawn = _count_drawn(self._total, len(share)) if self.weighting == "sample" else 0
        w = np.repeat(share[:, None] / self._total, codes.shape[1], axis=1)
        for t in range(self.n_rounds):
            models, error, wrong = self._round(X, codes, w)
            weak = np.any(error > self._chance())
            if weak and t > 0:
                break
            alpha = np.ones(codes.shape[1]) if weak else self._alpha(error)
            self.rounds_.append(models)
            alphas.append(alpha)
            errors.append(error)
            if weak:
                break
            w = self._adjusted(w, alpha, wrong)
        self.alphas_, self.errors_ = np.array(alphas), np.array(errors)
        del self._rng, self._total, self._n_drawn

    def _distinct(self, X: Any, codes: Codes, weight: Floats | None) -> tuple[Any, Codes, Floats]:
        """Return the rows that learners train on, one for all that are equal; their weights."""
        share = np.ones(len(codes)) if weight is None else weight
        if self.weighting != "sample":
            return X, codes, share
        first, number = distinct_rows(X, codes)
        return X[first], codes[first], np.bincount(number, share).astype(np.float64)

    def _round(
        self, X: Any, codes: Codes, w: Floats
    ) -> tuple[tuple[Any, list[Any]], Floats, NDArray[np.bool_]]:
        """Train the models of a round; return them, their errors and where they are wrong."""
        sizes, first = self._target.sizes, self.order_[0]
        drawn = [self._draw(w[:, s]) for s in range(len(sizes))]
        models: list[Any] = [None] * len(sizes)
        found, wrong = np.empty_like(codes), np.empty(codes.shape, dtype=bool)
        raw, given = None, X
        if self._reuses:
            raw = self._train(X, codes[:, first], drawn[first])  # Eq. (1)
            passed = chain = raw.predict(X)
            before = first
        for s in [*self.order_[1:], first]:
            if self._reuses:
                given = join(X, passed, sizes[before])
            models[s] = self._train(given, codes[:, s], drawn[s])  # Eqs. (2) and (3)
            found[:, s] = wrong_at = models[s].predict(given)
            if self._reuses and self.inputs != "predicted":
                chain = models[s].predict(join(X, chain, sizes[before]))
                passed = models[s].predict(join(X, codes[:, before], sizes[before]))
                wrong_at = passed if self.inputs == "true_update" else chain
            elif self._reuses:
                passed = found[:, s]
            wrong[:, s] = wrong_at != codes[:, s]
            before = s
        missed = found != codes
        error = [_mean(missed[:, s], drawn[s]) for s in range(len(sizes))]  # Eqs. (4) and (5)
        return (raw, models), np.array(error), wrong

    def _draw(self, w: Floats) -> tuple[NDArray[np.intp] | None, Floats | None]:
        """Return rows drawn from a distribution, or the weights of all rows."""
        if self.weighting == "weight":
            return None, w * self._total
        return self._rng.choice(len(w), size=self._n_drawn, p=w), None

    def _train(self, X: Any, code: NDArray[np.intp], drawn: tuple[Any, Any]) -> Any:
        rows, weight = drawn
        base = seeded(clone(self._inner()), self._rng)
        if rows is not None:
            X, code = X[rows], code[rows]
        return fit_classes(base, X, code, weight)

    def _chance(self) -> Floats:
        """Return the error of guessing in each facet."""
        sizes = np.array(self._target.sizes)
        return (sizes - 1.0) / sizes + EDGE

    def _alpha(self, error: Floats) -> Floats:
        sizes = np.array(self._target.sizes)
        error = np.clip(error, EDGE, 1.0 - EDGE)
        eta = 1.0 / sizes if self.learning_rate is None else self.learning_rate
        log_odds = np.log((1.0 - error) / error)
        alpha = eta * (log_odds + np.log(np.maximum(sizes - 1, 1)))  # Eqs. (6) and (7)
        return np.maximum(alpha, EDGE)  # a guess at chance level still has a vote

    def _adjusted(self, w: Floats, alpha: Floats, wrong: NDArray[np.bool_]) -> Floats:
        others = wrong.sum(axis=1, keepdims=True) - wrong
        w = w * np.exp(alpha * wrong) * float(self.B) ** others  # Eqs. (8) and (9)
        return w / w.sum(axis=0)

    def _staged_votes(self, X: Any) -> Iterator[list[Floats]]:
        """Yield the weights of the models for each class of each facet, after each round."""
        rows = np.arange(n_rows(X))
        votes = [np.zeros((len(rows), size)) for size in self._target.sizes]
        for models, alpha in zip(self.rounds_, self.alphas_, strict=True):
            for s, code in self._round_classes(X, models):
                votes[s][rows, code] += alpha[s]  # Eqs. (10) and (11)
            yield votes

    def _round_classes(
        self, X: Any, models: tuple[Any, list[Any]]
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each facet and the classes that a round predicts for it."""
        raw, own = models
        before = self.order_[0]
        code: Any = None if raw is None else raw.predict(X)
        for s in [*self.order_[1:], self.order_[0]]:
            given = X if raw is None else join(X, code, self._target.sizes[before])
            before, code = s, own[s].predict(given)
            yield int(s), code

    def _predict(self, X: Any) -> Codes:
        *_, votes = self._staged_votes(X)
        return _most_votes(votes)

    def _log_probs(self, X: Any) -> list[Floats]:
        *_, votes = self._staged_votes(X)
        with np.errstate(divide="ignore"):
            return [np.log(part / part.sum(axis=1, keepdims=True)) for part in votes]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(self.n_rounds, "n_rounds", least=1)
        check_real(self.B, "B", least=1.0)
        check_choice(self.reuse, "reuse", (True, False))
        if self.learning_rate is not None:
            check_real(self.learning_rate, "learning_rate", above=0.0)
        check_choice(self.weighting, "weighting", ("sample", "weight"))
        check_choice(self.inputs, "inputs", ("predicted", "true", "true_update"))
        if self.weighting == "weight":
            weight_name(self._inner())


def _mean(missed: NDArray[np.bool_], drawn: tuple[Any, Any]) -> float:
    rows, weight = drawn
    return float(missed[rows].mean() if weight is None else np.average(missed, weights=weight))


def _count_drawn(total: float, n_distinct: int) -> int:
    """Return how many rows are drawn in a round."""
    if total > MOST_DRAWN:
        raise ValueError(
            f"sample weights add up to {total:.3g}, and as many rows would be drawn; scale them "
            "down, or take weighting='weight'"
        )
    return max(n_distinct, round(total))


def _most_votes(votes: list[Floats]) -> Codes:
    return np.column_stack([np.argmax(part, axis=1) for part in votes])
