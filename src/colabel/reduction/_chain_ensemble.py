"""Ensembles of classifier chains: many random orders, one vote."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state

from colabel._label_scores import log_odds
from colabel._parameters import check_choice, check_real, check_whole
from colabel._sklearn import n_rows, take_params, take_rows
from colabel.decoders import BaseDecoder
from colabel.reduction._chain import positive
from colabel.reduction._conditional_base import ConditionalClassifier, chain_parents
from colabel.reduction._conditional_search import distinct
from colabel.scores import Modular, ScoreTable, Support

__all__ = ["ChainEnsemble"]


class ChainEnsemble(ConditionalClassifier):
    """Classifier chains in random orders that vote.

    A single chain depends on its order, and passes errors on; many chains of different orders
    average both away.

    Parameters
    ----------
    estimator : scikit-learn classifier, default=BatchLogisticRegression()
        Any classifier of two classes; cloned for each label of each chain. The default solves all
        labels of all chains at once.
    n_chains : int, default=10
    vote : {"label", "probability", "subset"}, default="label"
        ``"label"``: a label is on where more than half of the chains turn it on (Read et al. 2011).
        ``"probability"``: where the mean of its probabilities along the chains' greedy paths is
        above one half; needs ``predict_proba``. ``"subset"``: the labeling that most chains
        predict, one with the fewest labels among equals.
    max_samples : int, float or None, default=None
        Rows drawn with replacement for each chain: a number, or a share of all. ``None`` gives
        each chain all rows once.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"support_mode"`` for subset votes, ``"threshold"`` otherwise.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is; in every chain, for subset votes.
    random_state : int, RandomState or None, default=None
        Draws the orders and the rows.
    n_jobs : int or None, default=None
        Classifiers fitted at the same time (the default engine needs none). Results do not depend
        on it.

    Attributes
    ----------
    orders_ : ndarray of shape (n_chains, n_labels)
    chains_ : list of LinearConditionals or FittedConditionals
        The classifiers of each chain; see `ClassifierChain`.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target, for which every chain votes for one.

    Notes
    -----
    ``predict_proba`` is the share of votes for each label (the mean probability, for
    ``vote="probability"``). ``predict_joint`` gives subset votes as a distribution over the
    labelings predicted, so that they can be decoded for F1 or Hamming loss too; label votes as
    independent labels.

    References
    ----------
    Read, Pfahringer, Holmes and Frank, "Classifier chains for multi-label classification", Machine
    Learning 85, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> chains = ChainEnsemble(vote="subset", random_state=0).fit(X, Y)
    >>> chains.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    >>> np.exp(chains.predict_joint([[2.9]]).log_prob([[1, 0]]))
    array([1.])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_chains: int = 10,
        vote: str = "label",
        max_samples: float | None = None,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_chains = n_chains
        self.vote = vote
        self.max_samples = max_samples
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _table(self) -> type[ScoreTable]:  # type: ignore[override]
        return Support if getattr(self, "_voted", self.vote) == "subset" else Modular

    @property
    def _decoder(self) -> str:  # type: ignore[override]
        return "support_mode" if self._table is Support else "threshold"

    @property
    def _needs_probabilities(self) -> bool:  # type: ignore[override]
        return self.vote == "probability"

    def _probabilistic(self) -> bool:
        return True  # shares of votes are probabilities, whatever the classifiers give

    def _check_parameters(self) -> None:
        check_choice(self.vote, "vote", ("label", "probability", "subset"))
        super()._check_parameters()
        check_whole(self.n_chains, "n_chains", least=1)
        share = self.max_samples
        if share is not None:
            check_real(share, "max_samples", above=0.0)
            if not isinstance(share, Integral) and share > 1.0:
                raise ValueError(
                    f"max_samples must be a share of at most 1, or a whole number of rows, not "
                    f"{share!r}"
                )
        self._voted = self.vote  # fitted chains vote by it, whatever the parameter becomes

    def _fit_rows(self, X: Any, Y: Any, weight: Any, params: dict[str, Any]) -> None:
        rng = check_random_state(self.random_state)
        self.orders_ = np.array([rng.permutation(Y.shape[1]) for _ in range(self.n_chains)])
        parents = [chain_parents(order) for order in self.orders_]
        if self.max_samples is None:
            self.chains_ = self._fit_conditionals(X, Y, parents, weight, params)
            return
        drawn = [rng.randint(len(Y), size=self._n_drawn(len(Y))) for _ in parents]
        self.chains_ = []
        for given, rows in zip(parents, drawn, strict=True):
            some = None if weight is None else weight[rows]
            own = take_params(X, params, rows)
            self.chains_ += self._fit_conditionals(take_rows(X, rows), Y[rows], [given], some, own)

    def _n_drawn(self, n: int) -> int:
        assert self.max_samples is not None
        if isinstance(self.max_samples, Integral):
            return int(self.max_samples)
        return max(1, round(self.max_samples * n))

    def _scores(self, X: Any) -> ScoreTable:
        if self._voted == "subset":
            return _subset_votes(np.stack([Y for Y, _ in self._paths(X)], axis=1))
        total = np.zeros((n_rows(X), self._n_columns))
        for Y, odds in self._paths(X):
            total += expit(odds) if self._voted == "probability" else Y
        share = total / len(self.chains_)
        return Modular(log_odds(1.0 - share, share), log_odds=True)

    def _paths(self, X: Any) -> Iterator[tuple[NDArray[np.int8], NDArray[np.float64]]]:
        """Yield what each chain predicts, and its log-odds."""
        for chain, order in zip(self.chains_, self.orders_, strict=True):
            Y, odds = chain.at(X).path(order, positive)
            if self._target.kind == "multiclass":
                Y = self._class_labelings()[np.argmax(odds, axis=1)]
            elif self._nonempty and self._voted == "subset":
                none = np.flatnonzero(~Y.any(axis=1))
                Y[none, np.argmax(odds[none], axis=1)] = 1
            yield Y, odds

    def _row_bytes(self) -> int:
        votes = 12 * len(self.chains_) * self._n_columns
        return votes + self.chains_[0].row_bytes(1, self.n_features_in_)


def _subset_votes(Y: NDArray[np.int8]) -> Support:
    """Turn the labelings (n_samples, n_chains, n_labels) of all chains into shares of votes."""
    labelings, counts = distinct(Y)
    with np.errstate(divide="ignore"):
        return Support(labelings, np.log(counts / Y.shape[1]))
