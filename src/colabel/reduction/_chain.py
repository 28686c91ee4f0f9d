"""Classifier chains: each label is predicted from the features and the labels before it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from colabel.decoders import BaseDecoder
from colabel.exceptions import IncompatibleError
from colabel.reduction._conditional_base import ConditionalClassifier, chain_order, chain_parents
from colabel.scores import Modular, ScoreTable

__all__ = ["ClassifierChain", "positive"]


class ClassifierChain(ConditionalClassifier):
    """A chain of binary classifiers, each given the labels before it, followed greedily.

    Label ``l`` is learnt from ``x`` and the true labels before it in the chain, and predicted from
    ``x`` and the labels predicted so far. This need not be the most probable labeling of the chain;
    `ProbabilisticClassifierChain` searches for that. The columns of predictions are those of ``Y``,
    whatever the order of the chain.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression()
        Any classifier of two classes; cloned for each label. The default solves all labels at once.
    order : None, "random" or array-like of shape (n_labels,), default=None
        The chain: labels in the order of ``Y``, in random order, or as listed.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``: the greedy labeling.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.
    random_state : int, RandomState or None, default=None
        Draws a random order.
    n_jobs : int or None, default=None
        Classifiers fitted at the same time (the default engine needs none). Results do not depend
        on it.

    Attributes
    ----------
    order_ : ndarray of shape (n_labels,)
        The chain.
    conditionals_ : LinearConditionals or FittedConditionals
        The classifiers: ``coef``, ``intercept`` and ``couplings`` of the default engine (with
        ``couplings[l, m]`` the effect of label ``m`` on label ``l``), else ``estimators``.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    ``decision_function`` gives the log-odds (or decision values) of each label *along the greedy
    path*, as scikit-learn's chains do, and ``predict_proba`` the probabilities: those of a label
    given the predicted labels before it, not its marginals.

    `joint_log_prob` is the chain's own log-probability of any labeling, by the chain rule. The
    greedy path says nothing of other labelings, so ``predict_joint`` is a table of scores (the
    log-odds above) and not of probabilities, there is no ``predict_top_m``, and targets that need
    a distribution, as in ``decode(X, "f1")``, are refused: `ProbabilisticClassifierChain` fits the
    same chain and answers them all.

    References
    ----------
    Read, Pfahringer, Holmes and Frank, "Classifier chains for multi-label classification", Machine
    Learning 85, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> chain = ClassifierChain(order=[1, 0]).fit(X, Y)
    >>> chain.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    >>> chain.conditionals_.couplings.round(1)
    array([[ 0. , -0.5],
           [ 0. ,  0. ]])
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        rng = check_random_state(self.random_state)
        self.order_ = chain_order(self.order, Y.shape[1], rng)
        parents = [chain_parents(self.order_)]
        (self.conditionals_,) = self._fit_conditionals(X, Y, parents, weight, params)

    def _scores(self, X: Any) -> Modular:
        _, odds = self.conditionals_.at(X).path(self.order_, positive)
        return Modular(odds)

    def _scores_for(self, X: Any, decoder: BaseDecoder | None) -> Modular:
        if decoder is not None:
            _check_greedy(decoder)
        return self._scores(X)

    def _make_decoder(self) -> BaseDecoder:
        decoder = super()._make_decoder()
        _check_greedy(decoder)
        return decoder

    def _has_joint(self) -> bool:
        return False

    def _probabilities(self, table: ScoreTable) -> NDArray[np.float64]:
        assert isinstance(table, Modular)
        return super()._probabilities(Modular(table.unary, log_odds=True))

    def _log_prob(self, X: Any, Y: NDArray[np.int8]) -> NDArray[np.float64]:
        """By the chain rule, for any labeling."""
        return self.conditionals_.at(X).log_prob(Y)

    def _row_bytes(self) -> int:
        return super()._row_bytes() + self.conditionals_.row_bytes(1, self.n_features_in_)


def _check_greedy(decoder: BaseDecoder) -> None:
    if decoder.needs_distribution:
        raise IncompatibleError(
            f"{type(decoder).__name__} needs the probabilities of all labelings, where a greedy "
            "chain has one path; ProbabilisticClassifierChain fits the same chain and has them"
        )


def positive(label: int, odds: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Decide greedily: a label is on where its log-odds are positive."""
    return odds > 0.0
