"""Submodular multi-label learning with penalty and scale of the couplings chosen by folds."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.parallel import Parallel, delayed

from colabel._parameters import check_real, check_whole
from colabel._renamed import Renamed
from colabel.decoders import BaseDecoder
from colabel.losses import BaseLoss, make_loss
from colabel.models import LinearPairwise
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.magnitude import check_magnitude
from colabel.oracles import BaseOracle
from colabel.roles import Features, Floats, Labels
from colabel.structured._structured import Parts
from colabel.structured._submodular import SubmodularSVC

__all__ = ["SubmodularSVCCV"]

ALPHAS = tuple(10.0 ** (-0.5 * k) for k in range(2, 11))
SCALES = (0.3, 1.0, 3.0)
# A path ends when so many penalties in a row were worse than its best by a standard error.
PATIENCE = 2
# Shifts to try: those that turn on from a third to three times as many labels as scores above 0.
SHIFTS = np.geomspace(1 / 3, 3, 41)


class SubmodularSVCCV(SubmodularSVC):
    """``SubmodularSVC`` that chooses ``alpha`` and ``coupling_scale`` by cross-validation.

    In each fold, label pairs are counted once, and every fit starts from the one before, down the
    penalties: a whole path costs a few fits. A path ends early when the loss rises.

    Parameters
    ----------
    alphas : array-like of float or None, default=None
        Penalties to try; ``None`` is 1e-1 to 1e-5 in half decades.
    coupling_scales : array-like of float, default=(0.3, 1.0, 3.0)
        Scales to try, if there are couplings.
    cv : int, splitter or None, default=None
        ``None`` is 5 shuffled folds.
    search_tol : float, default=1e-2
        Relative duality gap of the fits in the folds.
    search_max_iter : int, default=200
        Most passes of a fit in the folds. Where penalties are too small to be chosen it is reached
        before the gap is, and the path goes on from there.
    tune_shift : bool, default=False
        Choose ``shift`` too, on the held-out scores of each setting.
    couplings, pairs, loss, fit_intercept, intercept_scaling, oracle, limit : optional
        See ``SubmodularSVC``.
    decoder, empty, tol, max_iter, verbose : optional
        See ``SubmodularSVC``.
    n_jobs : int or None, default=None
        Folds fitted at the same time, in threads. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Shuffles folds and visits.

    Attributes
    ----------
    alpha_, coupling_scale_, shift_ : float
        What was chosen.
    alphas_ : ndarray of shape (n_alphas,)
        Falling.
    cv_losses_ : ndarray of shape (n_scales, n_alphas, n_folds)
        Loss on the held-out rows, labelled as ``predict`` would, at the best shift of the setting
        with ``tune_shift``; NaN where a path ended early. Folds without weight are left out.
    cv_loss_ : float
        Mean over folds at the choice, by the weight of their held-out rows.

    See Also
    --------
    SubmodularSVC : With the other attributes.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> train = load("yeast:train")
    >>> X, Y = train.X[:300], train.Y[:300]
    >>> search = SubmodularSVCCV([0.1, 0.01], couplings=None, cv=2, random_state=0).fit(X, Y)
    >>> float(search.alpha_), search.cv_losses_.shape
    (0.1, (1, 2, 2))
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {
        name: SubmodularSVC._renamed[name] for name in ("beta", "max_cuts")
    }

    def __init__(
        self,
        alphas: Any = None,
        *,
        coupling_scales: Any = SCALES,
        cv: Any = None,
        search_tol: float = 1e-2,
        search_max_iter: int = 200,
        tune_shift: bool = False,
        couplings: str | None = "cooccurrence",
        pairs: float | int | None = None,
        loss: str | BaseLoss = "f1",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        oracle: str | BaseOracle | BaseDecoder = "certified",
        limit: int = 1000,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        tol: float = 1e-3,
        max_iter: int | None = None,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            couplings=couplings,
            pairs=pairs,
            loss=loss,
            fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling,
            oracle=oracle,
            limit=limit,
            decoder=decoder,
            empty=empty,
            tol=tol,
            max_iter=max_iter,
            verbose=verbose,
            random_state=random_state,
        )
        self.alphas = alphas
        self.coupling_scales = coupling_scales
        self.cv = cv
        self.search_tol = search_tol
        self.search_max_iter = search_max_iter
        self.tune_shift = tune_shift
        self.n_jobs = n_jobs

    def _fit(self, X: Features, Y: Labels, **given: Floats | None) -> None:
        weight = given["sample_weight"]
        check_magnitude(X)
        self.alphas_ = np.sort(np.asarray(ALPHAS if self.alphas is None else self.alphas))[::-1]
        folds = self._folds(X, Y, weight)
        self._search(folds)
        for fold in folds:
            fold.state = None
        parts = self._scaled_parts(self.coupling_scale_)
        self._learn(parts, *distinct_rows(X, Y, weight), self.alpha_)
        self._shift = self.shift_

    def _search(self, folds: list[_Fold]) -> None:
        """Walk down the penalties for each scale; keep the best."""
        scales = [float(c) for c in self.coupling_scales] if self.couplings is not None else [1.0]
        self.cv_losses_ = np.full((len(scales), len(self.alphas_), len(folds)), np.nan)
        self.cv_loss_ = np.inf
        for c, scale in enumerate(scales):
            parts = self._scaled_parts(scale)
            parts.learner.set_params(tol=self.search_tol, max_iter=self.search_max_iter)
            for a, alpha in enumerate(self.alphas_.tolist()):
                self._fit_folds(folds, parts, alpha)
                shift, self.cv_losses_[c, a] = self._choose_shift(folds)
                loss = _mean(self.cv_losses_[c, a], folds)
                if loss < self.cv_loss_:
                    self.cv_loss_, self.shift_ = loss, shift
                    self.alpha_, self.coupling_scale_ = alpha, scale
                if _has_turned(self.cv_losses_[c, : a + 1]):
                    break

    def _scaled_parts(self, scale: float) -> Parts:
        """Return the parts with a scale of the couplings."""
        parts = self._parts()
        if parts.model.has_pairs:
            parts.model.set_params(coupling_scale=scale)
        return parts

    def _folds(self, X: Features, Y: Labels, weight: Floats | None) -> list[_Fold]:
        if len(Y) < 2:
            raise ValueError("SubmodularSVCCV needs at least 2 samples (n_samples = 1 is too few)")
        n_folds = 5 if self.cv is None else self.cv
        if isinstance(n_folds, Integral):
            cv = KFold(min(int(n_folds), len(Y)), shuffle=True, random_state=self._seed())
        else:
            cv = check_cv(self.cv)
        weight = np.ones(len(Y)) if weight is None else weight
        parts = [(train, test) for train, test in cv.split(X, Y) if weight[test].any()]
        if not all(weight[train].any() for train, _ in parts):
            raise ValueError("the training rows of a fold have no weight; choose another cv")
        return [_Fold(X, Y, weight, train, test) for train, test in parts]

    def _fit_folds(self, folds: list[_Fold], parts: Parts, alpha: float) -> None:
        seed = self._seed()
        work = (delayed(fold.fit)(parts, alpha, seed) for fold in folds)
        Parallel(n_jobs=self.n_jobs, prefer="threads")(work)

    def _choose_shift(self, folds: list[_Fold]) -> tuple[float, Floats]:
        """Return the shift of least loss on the held-out rows, and the losses of the folds at it.

        Of equal ones the smallest. The penalty is then chosen together with its shift: a penalty
        that needs none may be worse than another with one.
        """
        shifts = np.zeros(1)
        # One class a row is the same one, whatever is added to all of them.
        if self.tune_shift and self._target.kind != "multiclass":
            scores = np.concatenate([fold.unary for fold in folds])
            shifts = _shifts(scores, np.concatenate([fold.share for fold in folds]))
        losses = np.array([[self._held_out(fold, shift) for fold in folds] for shift in shifts])
        best = int(np.argmin([_mean(some, folds) for some in losses]))
        return float(shifts[best]), losses[best]

    def _held_out(self, fold: _Fold, shift: float) -> float:
        """Return the mean loss on the held-out rows of a fold, labelled as ``predict`` would."""
        table = self._make_table(fold.unary + shift, fold.edges, fold.couplings)
        labels = self._decode_table(table, None).labels
        losses = make_loss(self.loss).value(fold.Y, labels)
        return float(fold.share @ losses / fold.share.sum())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        lists = (("alphas", ALPHAS if self.alphas is None else self.alphas),)
        for name, values in (*lists, ("coupling_scales", self.coupling_scales)):
            found = np.asarray(values, dtype=np.float64)
            if found.ndim != 1 or not len(found) or not np.all((found > 0) & (found < np.inf)):
                raise ValueError(f"{name} must be a list of positive numbers, not {values!r}")
        check_real(self.search_tol, "search_tol", above=0.0)
        check_whole(self.search_max_iter, "search_max_iter", least=1)


class _Fold:
    """A fold: its training data, and the state of the solver from one fit to the next."""

    def __init__(
        self,
        X: Features,
        Y: Labels,
        weight: Floats,
        train: NDArray[np.int64],
        test: NDArray[np.int64],
    ) -> None:
        self.rows = distinct_rows(X[train], Y[train], weight[train])
        self.X, self.Y, self.share = X[test], Y[test], weight[test]
        self.state: object = None

    def fit(self, parts: Parts, alpha: float, seed: int) -> None:
        """Fit, starting from the last fit."""
        problem, learner = parts.join(*self.rows, alpha, seed)
        found = learner.solve(problem, self.state)
        self.state, model = found.state, problem.model
        assert isinstance(model, LinearPairwise)
        self.unary = model.unary(self.X, found.coef)
        self.edges, self.couplings = model.edges, model.couplings(found.coef)


def _mean(losses: Floats, folds: list[_Fold]) -> float:
    """Average over folds by the weight of their held-out rows."""
    return float(np.average(losses, weights=[fold.share.sum() for fold in folds]))


def _has_turned(losses: Floats) -> bool:
    """Whether the last losses (n_alphas, n_folds) of a path are worse than its best, surely."""
    mean = losses.mean(axis=1)
    best = int(np.argmin(mean))
    if len(mean) - 1 - best < PATIENCE:
        return False
    worse = losses[-PATIENCE:] - losses[best]
    spread = worse.std(axis=1, ddof=1) / np.sqrt(losses.shape[1]) if losses.shape[1] > 1 else 0.0
    return bool(np.all(worse.mean(axis=1) > spread))


def _shifts(scores: Floats, share: Floats) -> Floats:
    """List the shifts to try, 0 first: each turns on a share of what 0 does (SHIFTS)."""
    values, place = np.unique(-scores, return_inverse=True)
    weight = np.zeros(len(values))
    np.add.at(weight, place.reshape(-1), np.repeat(share, scores.shape[1]))
    on = np.cumsum(weight)
    goal = SHIFTS * max(float(weight[values < 0].sum()), float(share.sum()))
    places = np.unique(np.searchsorted(on, goal))
    places = places[places < len(values) - 1]
    shifts = 0.5 * (values[places] + values[places + 1])
    return np.append(0.0, shifts[np.argsort(np.abs(shifts), kind="stable")])
