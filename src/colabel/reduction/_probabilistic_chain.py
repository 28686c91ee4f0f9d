"""Probabilistic classifier chains: search for the most probable labeling of a chain."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from colabel._parameters import check_choice, check_whole
from colabel.decoders import BaseDecoder
from colabel.reduction._conditional_base import ConditionalClassifier, chain_order, chain_parents
from colabel.reduction._conditional_search import Rows
from colabel.reduction._conditionals import LinearConditionals
from colabel.scores import Support

__all__ = ["ProbabilisticClassifierChain"]

# All labelings are tried up to this many, of the default engine and of any other classifier (which
# is asked once for each of them).
ENUMERATED = 4096
ENUMERATED_SLOWLY = 64


class ProbabilisticClassifierChain(ConditionalClassifier):
    """A classifier chain as the joint distribution ``p(y | x) = prod_l p(y_l | x, y before l)``.

    Fitted as `ClassifierChain`; predictions come from a search for probable labelings, by default
    the most probable one, which is the answer for subset accuracy. The other decoders
    (``"marginal"``, ``"expected_f"``, ``"expected_jaccard"``) answer for other measures.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression()
        Any classifier of two classes with ``predict_proba``; cloned for each label. The default
        solves all labels at once.
    order : None, "random" or array-like of shape (n_labels,), default=None
        The chain: labels in the order of ``Y``, in random order, or as listed.
    search : {"auto", "beam", "exact"}, default="auto"
        Where there are at most 4096 labelings (64, if ``estimator`` is not the default engine),
        ``"auto"`` tries them all: the joint table is complete and every answer exact.
        Beyond, it is ``"beam"``: the best ``width`` beginnings of labelings are kept at each step.
        ``"exact"`` tries all of up to 4096 labelings with any estimator, and beyond adds to the
        beam's labelings the most probable one of all, proved by branch and bound.
    width : int, default=15
        Beginnings kept by the beam (Kumar et al. 2013 suggest 15). 1 is the greedy chain.
    max_nodes : int, default=100_000
        Beginnings that an exact search may open for one sample; beyond, it gives the best labeling
        found, and a bound above its value.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"support_mode"``: the most probable labeling.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty labeling out.
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
        The classifiers; see `ClassifierChain`.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    ``predict_joint`` lists each sample's labelings with their log-probabilities in the chain. After
    a beam search the others are missing: the table's ``rest`` bounds their log-probabilities, so
    that ``decode(X).certified`` tells which modes are proved; marginals, expected measures and
    ``predict_proba`` are those given that the labeling is one of the beam. `joint_log_prob` and
    `sample` are exact for any labeling.

    ``search``, ``width`` and ``max_nodes`` may be changed on a fitted chain with ``set_params``.

    For a 1-D target the classes are the labelings, and their probabilities are compared.

    References
    ----------
    Cheng, Hullermeier and Dembczynski, "Bayes optimal multilabel classification via probabilistic
    classifier chains", ICML 2010. Kumar, Vembu, Menon and Elkan, "Beam search algorithms for
    multilabel learning", Machine Learning 92, 2013. Mena, Montanes, Quevedo and del Coz, "Using A*
    for inference in probabilistic classifier chains", IJCAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> chain = ProbabilisticClassifierChain().fit(X, Y)
    >>> chain.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    >>> joint = chain.predict_joint([[2.9]])
    >>> np.exp(joint.log_prob([[1, 0]])).round(2)
    array([0.64])
    """

    _table: ClassVar[type[Support]] = Support
    _decoder: ClassVar[str] = "support_mode"
    _needs_probabilities: ClassVar[bool] = True

    def __init__(
        self,
        estimator: Any = None,
        *,
        order: Any = None,
        search: str = "auto",
        width: int = 15,
        max_nodes: int = 100_000,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.order = order
        self.search = search
        self.width = width
        self.max_nodes = max_nodes
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _log_prob(self, X: Any, Y: NDArray[np.int8]) -> NDArray[np.float64]:
        """Exact for every labeling, in the beam or not: by the chain rule."""
        return self.conditionals_.at(X).log_prob(Y)

    def sample(
        self, X: Any, n_draws: int, random_state: int | np.random.RandomState | None = None
    ) -> NDArray[np.int8]:
        """Draw labelings from ``p(y | x)``, label after label.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        n_draws : int
        random_state : int, RandomState or None, default=None

        Returns
        -------
        Y : ndarray of shape (n_samples, n_draws, n_labels), int8
        """
        rows = self._rows(X)
        check_whole(n_draws, "n_draws", least=0)
        rows = rows.take(np.repeat(np.arange(rows.n_samples), n_draws))
        uniform = check_random_state(random_state).random_sample((rows.n_samples, rows.n_labels))
        with np.errstate(divide="ignore"):
            cuts = logit(uniform)
        Y, _ = rows.path(self.order_, lambda label, odds: odds > cuts[:, label])
        return Y.reshape(-1, n_draws, rows.n_labels)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_search()

    def _check_search(self) -> None:
        """Refuse a search that makes no sense; it may have been changed since ``fit``."""
        check_choice(self.search, "search", ("auto", "beam", "exact"))
        for name in ("width", "max_nodes"):
            check_whole(getattr(self, name), name, least=1)

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        rng = check_random_state(self.random_state)
        self.order_ = chain_order(self.order, Y.shape[1], rng)
        parents = [chain_parents(self.order_)]
        (self.conditionals_,) = self._fit_conditionals(X, Y, parents, weight, params)

    def _scores(self, X: Any) -> Support:
        self._check_search()
        rows = self.conditionals_.at(X)
        if self._target.one_dimensional:
            classes = self._class_labelings()
            return Support(classes, rows.log_prob_all(classes))
        if self._enumerates():
            return Support(*rows.enumerate(self.order_))
        beam = rows.beam(self.order_, self._width())
        if self.search == "exact":
            beam = rows.mode(self.order_, beam, self.max_nodes)
        return Support(beam.labels, beam.log_p, rest=beam.rest)

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self)
        if self._target.one_dimensional:
            raise ValueError("a 1-D target has classes, not labelings; see predict_proba")
        return self.conditionals_.at(self._validate(X, reset=False))

    def _width(self) -> int:
        # Of two labelings one is not empty.
        return max(self.width, 2) if self._nonempty else self.width

    def _enumerates(self) -> bool:
        """Whether all labelings are tried."""
        limit = self._width()
        if self.search == "exact":
            limit = max(limit, ENUMERATED)
        elif self.search == "auto":
            linear = isinstance(self.conditionals_, LinearConditionals)
            limit = max(limit, ENUMERATED if linear else ENUMERATED_SLOWLY)
        return self._n_columns < 63 and 2**self._n_columns <= limit

    def _row_bytes(self) -> int:
        self._check_search()
        enumerates = self._enumerates()
        n_labelings = 2**self._n_columns if enumerates else self._width()
        table = n_labelings * (8 if enumerates else 8 + 9 * self._n_columns)
        return table + self.conditionals_.row_bytes(n_labelings, self.n_features_in_)
