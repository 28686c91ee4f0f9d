"""Separate classifiers of the facets, joined by a learned coupling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from colabel._parameters import check_real, check_whole
from colabel.facets._base import FacetClassifier, all_combinations, distinct_rows
from colabel.facets._classifiers import Floats, class_log_probs, fit_each
from colabel.facets._coupling import fit_coupling, spanning_tree
from colabel.facets._targets import Codes
from colabel.numerics.seeds import seeded

__all__ = ["CoupledSets"]

# Log-probability of a class that a classifier rules out: the coupling may still want it.
FLOOR = -20.0


class CoupledSets(FacetClassifier):
    """A classifier for each facet, and a learned coupling that chooses their classes together.

    ``p(c | x)`` is proportional to ``prod_s p_s(c_s | x)^{t_s} exp(sum theta(c_s, c_r))``: the
    temperatures ``t`` correct classifiers that are too sure or not sure enough, and the couplings
    ``theta`` say which classes go together. Both are learned from the classifiers' probabilities of
    rows that they have not seen. The combination predicted is the most probable of all, exactly.
    Rows of a class that is in no other fold have no part in that: no probability of it was learned.

    Parameters
    ----------
    estimator : scikit-learn classifier or None, default=None
        Cloned for each facet. ``None`` is logistic regression on features of one scale.
    n_folds : int, default=5
        Folds that give probabilities of rows not seen.
    penalty : float, default=1.0
        On squared couplings, and on squared distances of temperatures from 1.
    facets : mapping or sequence, default=None
        For a ``y`` of 0 and 1: the labels of each facet, by name or column; see ``fit``.
    random_state : int, RandomState or None, default=None
        Draws the folds, and seeds every ``random_state`` of the classifiers that is None.
    n_jobs : int or None, default=None
        Classifiers fitted at the same time. Results do not depend on it.

    Attributes
    ----------
    classes_ : list of ndarray
        The classes of each facet.
    facet_names_ : list of str
    estimators_ : list
        The classifier of each facet, fitted to all rows.
    coupling_ : TreeCoupling
        ``edges``, ``temperatures`` and ``couplings``.

    Notes
    -----
    Two facets have one table of couplings. More are joined by the tree of most mutual information,
    so that the best combination, marginals and likelihood are exact at a cost that does not grow
    with the number of combinations. ``(n_folds + 1) n_facets`` fits. Equal rows are in one fold,
    and folds do not depend on the order of the rows: a weight of two is the row twice, to rounding,
    if it is so for the classifiers.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 1.0], [3.0, 2.0]] * 5)
    >>> Y = np.array([["cat", "old"], ["cat", "new"], ["dog", "old"], ["dog", "new"]] * 5)
    >>> CoupledSets(random_state=0).fit(X, Y).predict([[2.9, 2.2]])
    array([['dog', 'new']], dtype='<U3')
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_folds: int = 5,
        penalty: float = 1.0,
        facets: Any = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_folds = n_folds
        self.penalty = penalty
        self.facets = facets
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_codes(self, X: Any, codes: Codes, weight: Floats | None) -> None:
        rng = check_random_state(self.random_state)
        sizes, (first, number) = self._target.sizes, distinct_rows(X, codes)
        n = len(first)
        folds = _folds(n, self.n_folds, rng)
        # Of rows that are there twice either both are in a fold or none.
        rows = [np.arange(len(codes)), *(np.flatnonzero(np.isin(number, f)) for f, _ in folds)]
        bases = [seeded(clone(self._inner()), rng) for _ in sizes]
        tasks = (
            (base, X[train], codes[train, s], None if weight is None else weight[train])
            for train in rows
            for s, base in enumerate(bases)
        )
        fitted = fit_each(tasks, self.n_jobs)
        self.estimators_ = fitted[: len(sizes)]
        unseen = [np.zeros((n, size)) for size in sizes]
        # A class that a fold's classifiers never saw says nothing of how sure they may be.
        known = np.ones(n, dtype=bool)
        for f, (_, test) in enumerate(folds, start=1):
            own = fitted[f * len(sizes) : (f + 1) * len(sizes)]
            for s, (part, one, size) in enumerate(zip(unseen, own, sizes, strict=True)):
                part[test] = np.maximum(class_log_probs(one, X[first[test]], size), FLOOR)
                known[test] &= np.isin(codes[first[test], s], one.classes_)
        share, codes = np.bincount(number, weight).astype(np.float64), codes[first]
        log_p, tree = [part[known] for part in unseen], spanning_tree(codes, sizes, share)
        self.coupling_ = fit_coupling(log_p, codes[known], share[known], tree, self.penalty)

    def _separate(self, X: Any) -> list[Floats]:
        pairs = zip(self.estimators_, self._target.sizes, strict=True)
        return [np.maximum(class_log_probs(one, X, size), FLOOR) for one, size in pairs]

    def _predict(self, X: Any) -> Codes:
        return self.coupling_.decode(self._separate(X))

    def _log_probs(self, X: Any) -> list[Floats]:
        return self.coupling_.marginals(self._separate(X))[1]

    def _joint(self, X: Any) -> tuple[Codes, Floats]:
        combinations = all_combinations(self._target.sizes)
        return combinations, self.coupling_.score(self._separate(X), combinations)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole(self.n_folds, "n_folds", least=2)
        check_real(self.penalty, "penalty", above=0.0)


def _folds(
    n: int, n_folds: int, rng: np.random.RandomState
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return distinct rows to train and to test each fold; of a single row none."""
    seed = rng.randint(np.iinfo(np.int32).max)
    if n < 2:
        return []
    return list(KFold(min(n_folds, n), shuffle=True, random_state=seed).split(np.zeros((n, 1))))
