"""RankSVM: labels that are on score higher than labels that are off (Elisseeff and Weston 2001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler

from colabel._parameters import check_choice, check_real, check_whole
from colabel._renamed import Renamed, inverse
from colabel._weighted import DistinctRowsClassifier
from colabel.decoders import BaseDecoder
from colabel.learners.rank_dual import KernelRows, LinearRows, RankFit, solve_ranking
from colabel.messages import warn_user
from colabel.numerics.blas import one_blas_thread
from colabel.numerics.label_cuts import CutRule, fit_cut_rule
from colabel.numerics.magnitude import mean_squared_norm, scaled
from colabel.scores import Modular

__all__ = ["RankSVM"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# Half of the margin: how far beyond all scores the cut of a sample is that has no label, or all.
BEYOND = 0.5
# A kernel matrix of so many rows takes 7 GB.
MOST_ROWS = 30_000
# Gap at which models stop that are fitted for the threshold alone.
ROUGH = 1e-2


class RankSVM(DistinctRowsClassifier):
    """Support vector ranking of labels, with a learned threshold.

    Each label has a score ``f_l(x) = <w_l, phi(x)>``, and training minimises

        alpha/2 sum_l |w_l|^2 + sum_i mean over k on and l off of max(0, 1 - (f_k(x_i) - f_l(x_i)))

    the quadratic programme of Elisseeff and Weston (2001), to a proved gap. A threshold that is
    linear in the scores, fitted by least squares to the best cut of each sample, decides how many
    labels are on.

    Parameters
    ----------
    alpha : float, default=0.2
        Ridge on the weights. ``C`` is ``1 / alpha``, and may be given instead.
    kernel : {"rbf", "linear"}, default="rbf"
        ``"rbf"`` is ``exp(-gamma |x - z|^2 / v)``, ``v`` the mean squared distance of a row from
        the mean row. ``"linear"`` is ``x . z / s``, ``s`` the mean squared norm of a row. So
        neither ``alpha`` nor ``gamma`` depends on the unit of the features. Both kernels get a
        constant of 1.
    gamma : float, default=1.0
        Of the ``"rbf"`` kernel.
    scale : bool, default=True
        Whether features are divided by their standard deviations first.
    threshold_inputs : {"ranked", "scores"}, default="ranked"
        What the threshold is a linear function of: the scores of the labels and the same scores in
        falling order, or the scores alone, as published.
    n_folds : int or None, default=None
        ``None``: the threshold is fitted to the scores of the training rows, as published.
        Otherwise to scores of rows held out in so many folds: it then expects less of the scores,
        and fewer label sets are exactly right.
    tol : float, default=1e-3
        Training stops where the proved gap is this share of the objective.
    max_iter : int, default=2000
        Passes over the samples.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``: scores above the learned threshold.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Of the linear kernel, for features as given.
    points_, dual_coef_ : array of shape (n_rows, n_features) and (n_rows, n_labels)
        Of the RBF kernel: the rows with weights, scaled, and their weights for each label.
    threshold_coef_, threshold_intercept_ : ndarray, float
        The threshold is linear in the scores and, for the rest of the coefficients, in the scores
        in falling order.
    objective_, gap_ : float
        Value of the problem over ``alpha``, and how far it is above its minimum at most.
    history_ : ndarray of shape (n_looks, 2)
        Best value and best proved lower bound as training went on.
    n_iter_ : int
        Passes over the samples.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    A row with no label, or with all, has no pairs and no share in the published problem. Here its
    labels are compared with a score of zero; so is the only label of a 1-D target of two classes,
    which makes that an ordinary support vector machine. The constants ``b_l`` of the published
    problem are not penalised; here they are, as the weight of a constant feature.

    Dual ascent in blocks of rows. A pass costs O(n d L) for the linear kernel and O(n^2 L) for the
    other, which holds a matrix of n x n numbers; both a number for each pair of labels on and off
    of each row. Equal rows are merged first, and results depend on no order and no seed.

    References
    ----------
    Elisseeff and Weston, "A kernel method for multi-labelled classification", NIPS 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 0], [1, 0]])
    >>> model = RankSVM().fit(X, Y)
    >>> model.predict([[0.1], [2.4], [4.9]])
    array([[1, 0],
           [0, 1],
           [1, 0]])
    >>> bool(model.gap_ <= 1e-3 * model.objective_)
    True
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"C": Renamed("alpha", inverse, warn=False)}

    def __init__(
        self,
        *,
        alpha: float = 0.2,
        kernel: str = "rbf",
        gamma: float = 1.0,
        scale: bool = True,
        threshold_inputs: str = "ranked",
        n_folds: int | None = None,
        tol: float = 1e-3,
        max_iter: int = 2000,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.scale = scale
        self.threshold_inputs = threshold_inputs
        self.n_folds = n_folds
        self.tol = tol
        self.max_iter = max_iter
        self.decoder = decoder
        self.empty = empty

    def _fit_rows(self, X: Any, Y: Labels, weight: Floats) -> None:
        self._linear, self._gamma = self.kernel == "linear", float(self.gamma)
        self.scale_ = self._find_scale(X, weight)
        X = scaled(X, self.scale_)
        features = self._features(X)
        with one_blas_thread():
            found, scores = self._solve(features, Y, weight, self.tol)
            held_out = self._held_out(features, Y, weight) if self._folds(len(Y)) else scores
        ranked = self.threshold_inputs == "ranked"
        rule = fit_cut_rule(held_out, Y, weight, beyond=BEYOND, ranked=ranked)
        self.threshold_coef_, self.threshold_intercept_ = rule
        self._keep(X, found)

    def _find_scale(self, X: Any, weight: Floats) -> Floats:
        """Return what features are divided by, so that kernels have no unit."""
        scale = np.ones(X.shape[1])
        if self.scale:
            scale = StandardScaler(with_mean=False).fit(X, sample_weight=weight).scale_
        X = scaled(X, scale)
        size = mean_squared_norm(X, weight)
        if not self._linear:
            mean = np.asarray(weight @ X).ravel() / weight.sum()
            spread = size - float(mean @ mean)
            # Rounding leaves a little where all rows are the same.
            size = spread if spread > 1e-12 * size else 1.0
        return scale * np.sqrt(size)

    def _features(self, rows: Any) -> Any:
        """Return what the solver needs of the rows: themselves, or their kernel matrix."""
        if self._linear:
            return rows
        n = rows.shape[0]
        if n > MOST_ROWS:
            raise ValueError(
                f"kernel='rbf' holds a matrix of {n} x {n} numbers, {8e-9 * n * n:.0f} GB; use "
                "kernel='linear', or fewer rows"
            )
        return self._kernel(rows, rows)

    def _kernel(self, A: Any, B: Any) -> Floats:
        K = euclidean_distances(A, B, squared=True)
        K *= -self._gamma
        np.exp(K, out=K)
        K += 1.0
        return K

    def _solve(
        self, features: Any, Y: Labels, weight: Floats, tol: float
    ) -> tuple[RankFit, Floats]:
        kind = LinearRows if self._linear else KernelRows
        rows = kind(features, Y.shape[1])
        found = solve_ranking(rows, Y, weight, C=1.0 / self.alpha, max_iter=self.max_iter, tol=tol)
        return found, rows.scores(slice(None))

    def _folds(self, n: int) -> int:
        return 0 if self.n_folds is None or n < 2 else min(self.n_folds, n)

    def _held_out(self, features: Any, Y: Labels, weight: Floats) -> Floats:
        """Score each row by a model that was fitted without it; rows are in no order."""
        scores, fold = np.empty(Y.shape), np.arange(len(Y)) % self._folds(len(Y))
        for f in range(fold.max() + 1):
            rest, out = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
            part = features[rest] if self._linear else features[np.ix_(rest, rest)]
            found, _ = self._solve(part, Y[rest], weight[rest], max(self.tol, ROUGH))
            if self._linear:
                scores[out] = features[out] @ (part.T @ found.beta) + found.beta.sum(axis=0)
            else:
                scores[out] = features[np.ix_(out, rest)] @ found.beta
        return scores

    def _keep(self, rows: Any, found: RankFit) -> None:
        if self._linear:
            self.coef_ = np.asarray(rows.T @ found.beta).T / self.scale_
            self.intercept_ = found.beta.sum(axis=0)
        else:
            used = np.flatnonzero(found.beta.any(axis=1))
            self.points_, self.dual_coef_ = rows[used], found.beta[used]
        self.objective_, self.gap_, self.history_ = found.objective, found.gap, found.history
        self.n_iter_ = found.n_iter
        if not found.converged:
            warn_user(
                f"RankSVM did not converge in {self.n_iter_} passes: its objective "
                f"{self.objective_:.4g} is up to {self.gap_:.2g} too high; raise alpha or "
                "max_iter",
                ConvergenceWarning,
            )

    def _scores(self, X: Any) -> Modular:
        if self._linear:
            scores = np.asarray(X @ self.coef_.T) + self.intercept_
        else:
            scores = self._kernel(scaled(X, self.scale_), self.points_) @ self.dual_coef_
        cuts = CutRule(self.threshold_coef_, self.threshold_intercept_).cuts(scores)
        return Modular(scores - cuts[:, None])

    def _row_bytes(self) -> int:
        return 32 * (self._n_columns + (0 if self._linear else self.points_.shape[0]))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.alpha, "alpha", above=0.0)
        check_choice(self.kernel, "kernel", ("rbf", "linear"))
        check_real(self.gamma, "gamma", above=0.0)
        check_choice(self.scale, "scale", (True, False))
        check_choice(self.threshold_inputs, "threshold_inputs", ("ranked", "scores"))
        if self.n_folds is not None:
            check_whole(self.n_folds, "n_folds", least=2)
        check_real(self.tol, "tol", above=0.0)
        check_whole(self.max_iter, "max_iter", least=1)
