"""Pairwise conditional random field on label sets (Ghamrawi and McCallum 2005).

The collective multi-label model: a linear score for each label and one number for each pair of
labels, normalised over the label sets seen in training ("support inference", which they found the
most effective) or, for few labels, over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from colabel._parameters import check_choice, check_real, check_whole
from colabel._renamed import Renamed, inverse
from colabel._weighted import WeightedClassifier
from colabel.decoders import BaseDecoder
from colabel.linear.log_likelihood import LogLinearFit
from colabel.linear.log_linear import fit_log_linear, label_pairs
from colabel.messages import warn_user
from colabel.numerics.distinct_labelings import distinct_labelings
from colabel.numerics.magnitude import check_magnitude
from colabel.scores import Pairwise, Support

__all__ = ["PairwiseCRF"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# 4096 labelings: beyond it they are too many to list for every sample.
EXACT_LABELS = 12


class PairwiseCRF(WeightedClassifier):
    """Pairwise conditional random field: ``p(y | x)`` with a coupling for each pair of labels.

    ``p(y | x)`` is proportional to ``exp(sum_l y_l (w_l . x + b_l) + sum_{l<m} A_lm y_l y_m)``,
    fitted by maximum likelihood with Gaussian priors on ``w`` and ``A``. The couplings do not
    depend on ``x``. The problem is convex, and solved to its optimum.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge on the feature weights (the intercepts have none): one over the variance of their
        prior. ``C`` is ``1 / alpha``, and may be given instead.
    coupling_alpha : float or None, default=None
        Ridge on the couplings; ``None`` is ``alpha / 4``, see Notes.
    inference : {"support", "exact", "auto"}, default="support"
        The labelings that share the probability. ``"support"``: those seen in training, so others
        are never predicted. ``"exact"``: all of them, for at most 12 labels (a label with one
        value in training keeps it). ``"auto"``: exact where possible.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"support_mode"``: the most probable labeling. ``"marginal"``, ``"expected_f"``
        and ``"expected_jaccard"`` aim at other measures.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out.
    max_iter : int, default=1000
    tol : float, default=1e-6
        Training stops where the objective is, by estimate, this close to its optimum (relative).

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
    intercept_ : ndarray of shape (n_labels,)
    couplings_ : ndarray of shape (n_labels, n_labels)
        Symmetric, with a zero diagonal. Positive attracts. Zero where no labeling has the pair.
    labelings_ : ndarray of shape (n_labelings, n_labels), int8
        The labelings of positive probability.
    history_ : ndarray of shape (n_iter_ + 1,)
        Objective at the start and after each iteration.
    gap_ : float
        How far the objective may be above its optimum: a bound, from its strong convexity, but
        for the share of the intercepts, which have no prior and add an estimate.
    n_iter_ : int
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    The model is often written with a number for each of the four configurations of a pair. Only
    one of them is identified beside the intercepts, and with the ridge ``alpha`` on each of the
    four the fitted distribution is the one found here with ``coupling_alpha = alpha / 4``.

    Training takes about ``4 n L (min(n, d) + S)`` flops an iteration for ``S`` labelings, some 10
    to 300 iterations, and memory for blocks of samples; prediction ``n L (d + S)``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> crf = PairwiseCRF(alpha=0.1).fit(X, Y)
    >>> crf.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    >>> crf.predict_joint([[1.5]]).log_prob([[1, 0]]).round(2)
    array([-0.69])
    """

    _table: ClassVar[type[Support]] = Support
    _decoder: ClassVar[str] = "support_mode"
    _sparse_labels: ClassVar[bool] = True
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {
        "C": Renamed("alpha", inverse, warn=False),
        "C_pair": Renamed("coupling_alpha", inverse),
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        coupling_alpha: float | None = None,
        inference: str = "support",
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.alpha = alpha
        self.coupling_alpha = coupling_alpha
        self.inference = inference
        self.decoder = decoder
        self.empty = empty
        self.max_iter = max_iter
        self.tol = tol

    def predict_pairwise(self, X: Any) -> Pairwise:
        """Return unary scores and couplings as a table for the pairwise decoders.

        ``BranchAndBound().decode(crf.predict_pairwise(X))`` searches all labelings, seen or not.
        After support inference this extrapolates: the probability of labelings that were not
        listed in training was held at zero, not learnt.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        Pairwise
            Its score of a labeling is the log-probability up to a constant for each sample.
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        i, j = np.nonzero(np.triu(self.couplings_, 1))
        return Pairwise(self._unary(X), np.stack([i, j], axis=1), self.couplings_[i, j])

    def _fit(self, X: Any, Y: Any, **given: Any) -> None:
        weight: Floats | None = given["sample_weight"]
        check_magnitude(X)
        if weight is not None:
            rows = np.flatnonzero(weight)
            X, Y, weight = X[rows], Y[rows], weight[rows]
        self.labelings_, code = self._list(*distinct_labelings(Y))
        if self._nonempty and not self.labelings_.any():
            raise ValueError(
                "empty='forbid' leaves nothing to predict: no training row has a label"
            )
        coupling_alpha = self.alpha / 4.0 if self.coupling_alpha is None else self.coupling_alpha
        found = fit_log_linear(
            X,
            code,
            self.labelings_,
            penalty=self.alpha,
            pair_penalty=coupling_alpha,
            weight=weight,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._keep(found)

    def _list(self, seen: Labels, code: NDArray[np.int64]) -> tuple[Labels, NDArray[np.int64]]:
        """List the labelings of positive probability, and place the samples among them."""
        varies = np.flatnonzero(seen.any(axis=0) & ~seen.all(axis=0))
        few = len(varies) <= EXACT_LABELS
        if self.inference == "support" or (self.inference == "auto" and not few):
            return seen, code
        if not few:
            raise ValueError(
                f"inference='exact' lists all labelings, too many for {len(varies)} labels (at "
                f"most {EXACT_LABELS}); use inference='support'"
            )
        bits = np.arange(len(varies))[::-1]
        labelings = np.repeat(seen[:1], 2 ** len(varies), axis=0)
        labelings[:, varies] = (np.arange(len(labelings))[:, None] >> bits) & 1
        return labelings, (seen[:, varies].astype(np.int64) << bits).sum(axis=1)[code]

    def _keep(self, found: LogLinearFit) -> None:
        self.coef_, self.intercept_ = found.coef, found.intercept
        i, j = label_pairs(self.labelings_).T
        self.couplings_ = np.zeros((len(found.intercept), len(found.intercept)))
        self.couplings_[i, j] = self.couplings_[j, i] = found.couplings
        self.history_, self.gap_, self.n_iter_ = found.history, found.gap, found.n_iter
        if not found.converged:
            warn_user(
                f"PairwiseCRF did not converge in {self.n_iter_} iterations: its objective is up "
                f"to {self.gap_:.2g} too high; scale the features, raise alpha or max_iter",
                ConvergenceWarning,
            )

    def _scores(self, X: Any) -> Support:
        S = self.labelings_.astype(np.float64)
        pairs = 0.5 * np.einsum("sl,sl->s", S @ self.couplings_, S)
        return Support(self.labelings_, self._unary(X) @ S.T + pairs)

    def _unary(self, X: Any) -> Floats:
        return np.asarray(X @ self.coef_.T) + self.intercept_

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.alpha, "alpha", above=0.0)
        if self.coupling_alpha is not None:
            check_real(self.coupling_alpha, "coupling_alpha", above=0.0)
        check_choice(self.inference, "inference", ("support", "exact", "auto"))
        check_whole(self.max_iter, "max_iter", least=1)
        check_real(self.tol, "tol", least=0.0)

    def _probabilistic(self) -> bool:
        return True

    def _row_bytes(self) -> int:
        return 32 * (len(self.labelings_) + self._n_columns)
