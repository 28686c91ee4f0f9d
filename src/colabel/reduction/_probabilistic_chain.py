"""Probabilistic classifier chains: search for the most probable labeling of a chain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from colabel._parameters import check_choice, check_whole
from colabel.decoders import BaseDecoder
from colabel.reduction._chain_draws import joined
from colabel.reduction._conditional_base import ConditionalClassifier, chain_order, chain_parents
from colabel.reduction._conditional_search import Beam, Rows
from colabel.reduction._conditionals import LinearConditionals
from colabel.scores import Support

__all__ = ["ProbabilisticClassifierChain"]

# A search tries all labelings up to this many, of the default engine and of any other classifier
# (which is asked once for each of them).
ENUMERATED = 4096
ENUMERATED_SLOWLY = 64
# The default engine lists up to this many, where the distribution as a whole is asked for.
LISTED = 2**14


class ProbabilisticClassifierChain(ConditionalClassifier):
    """A classifier chain as the joint distribution ``p(y | x) = prod_l p(y_l | x, y before l)``.

    Fitted as `ClassifierChain`; predictions come from a search for the most probable labeling,
    which is the answer for subset accuracy. The other decoders (``"marginal"``, ``"expected_f"``,
    ``"expected_jaccard"``) answer for other measures, from all labelings or from draws.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression()
        Any classifier of two classes with ``predict_proba``; cloned for each label. The default
        solves all labels at once.
    order : None, "random" or array-like of shape (n_labels,), default=None
        The chain: labels in the order of ``Y``, in random order, or as listed.
    search : {"auto", "beam", "exact"}, default="auto"
        How the most probable labeling is found. Where there are at most 4096 labelings (64, if
        ``estimator`` is not the default engine), ``"auto"`` tries them all. Beyond, it is
        ``"beam"``: the best ``width`` beginnings of labelings are kept at each step.
        ``"exact"`` tries all of up to 4096 labelings with any estimator, and beyond adds to the
        beam's labelings the most probable one of all (of all but the empty one, if that is
        forbidden), proved by branch and bound.
    width : int, default=15
        Beginnings kept by the beam (Kumar et al. 2013 suggest 15). 1 is the greedy chain.
    max_nodes : int, default=100_000
        Beginnings that an exact search may open for one sample; beyond, it gives the best labeling
        found, and a bound above its value.
    n_draws : int, default=256
        Labelings drawn for each sample to stand for the distribution as a whole, where there are
        too many to list (see Notes).
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"support_mode"``: the most probable labeling.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty labeling out.
    random_state : int, RandomState or None, default=None
        Draws a random order, and a seed for all labelings drawn: predictions of a fitted model
        repeat themselves, and do not depend on which samples are predicted together.
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
    *The distribution as a whole.* ``predict_joint``, ``predict_proba`` and the decoders for other
    measures than subset accuracy need more than the most probable labelings: the 15 of a beam
    have .6 of the probability on yeast, and F1 decoded from them alone is a point worse.
    All labelings are listed up to 2^14 of them (the larger of 64 and ``n_draws``, if ``estimator``
    is not the default engine; 4096 with ``search="exact"``), and answers are exact.

    Beyond, the table holds the labelings of the search, and those that ``n_draws`` points, evenly
    spread over the distribution, fall on (systematic sampling: a labeling of probability ``p`` is
    there for sure if ``n_draws p >= 1``). All have their own log-probabilities, for modes and
    ``log_prob``; in expectations a labeling that was there by chance weighs ``1 / n_draws``,
    as it stands for others. Marginals are means of the probabilities with which labels were
    drawn. Such answers are estimates: ``decode(X, ...).upper_bound`` adds all that the labelings
    left out could change, so that ``certified`` is false unless the table holds (nearly) all
    probability. Certificates of modes rest on what the search has proved, draws or not.

    `joint_log_prob` is exact for any labeling, and `sample` draws from the chain itself.

    ``search``, ``width``, ``max_nodes`` and ``n_draws`` may be changed on a fitted chain with
    ``set_params``.

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
        n_draws: int = 256,
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
        self.n_draws = n_draws
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
        for name in ("width", "max_nodes", "n_draws"):
            check_whole(getattr(self, name), name, least=1)

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        rng = check_random_state(self.random_state)
        self.order_ = chain_order(self.order, Y.shape[1], rng)
        self._seed = rng.randint(2**31)
        parents = [chain_parents(self.order_)]
        (self.conditionals_,) = self._fit_conditionals(X, Y, parents, weight, params)

    def _scores(self, X: Any) -> Support:
        """All labelings, or those of the search and draws."""
        self._check_search()
        rows = self.conditionals_.at(X)
        if self._target.one_dimensional:
            classes = self._class_labelings()
            return Support(classes, rows.log_prob_all(classes))
        if self._lists():
            return Support(*rows.enumerate(self.order_))
        rng = np.random.RandomState(self._seed)
        first_point, uniform = rng.random_sample(), rng.random_sample((self.n_draws, rows.n_labels))
        drawn = rows.draws(self.order_, first_point, uniform)
        return joined(self._found(rows), drawn, self.n_draws)

    def _scores_for(self, X: Any, decoder: BaseDecoder | None) -> Support:
        """Draws are for expectations: what looks for the best labeling gets those of the search."""
        listed = self._target.one_dimensional or self._enumerates()
        if decoder is None or decoder.needs_distribution or listed:
            return self._scores(X)
        self._check_search()
        beam = self._found(self.conditionals_.at(X))
        return Support(beam.labels, beam.log_p, rest=beam.rest)

    def _ranked_blocks(self, X: Any) -> Iterator[Any]:
        """Yield tables of all labelings where they are listed, else of those that a search finds.

        Draws do not rank labelings: their weights are no probabilities.
        """
        check_is_fitted(self)
        return self._blocks(X) if self._lists() else super()._ranked_blocks(X)

    def _found(self, rows: Rows) -> Beam:
        """Search."""
        beam = rows.beam(self.order_, self._width())
        if self.search != "exact":
            return beam
        return rows.mode(self.order_, beam, self.max_nodes, nonempty=self._nonempty)

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

    def _lists(self) -> bool:
        """Whether all labelings are listed, where the distribution as a whole is asked for."""
        linear = isinstance(self.conditionals_, LinearConditionals)
        limit = LISTED if linear else max(ENUMERATED_SLOWLY, self.n_draws)
        return self._enumerates() or (self._n_columns < 63 and 2**self._n_columns <= limit)

    def _row_bytes(self) -> int:
        self._check_search()
        if self._lists():
            n_labelings = 2**self._n_columns
            table = 8 * n_labelings
        else:
            n_labelings = self._width() + self.n_draws
            table = n_labelings * (24 + 12 * self._n_columns) + 10 * self._width() * self.n_draws
        return table + self.conditionals_.row_bytes(n_labelings, self.n_features_in_)
