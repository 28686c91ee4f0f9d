"""Output codes by canonical correlation analysis (Zhang and Schneider 2011).

The directions ``v`` of label space whose projections ``v'y`` correlate best with the features are
regressed on these beside the labels themselves, and both predictions are weighed in decoding.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from colabel._parameters import check_real
from colabel.decoders import BaseDecoder
from colabel.embedding._moments import centred_product, label_scatter
from colabel.embedding._output_code import OutputCode, floored
from colabel.embedding._sizes import n_codes
from colabel.linear.ridge import RidgeFit

__all__ = ["CCAOutputCode", "canonical_directions", "constant_directions"]

Floats = NDArray[np.float64]

# Directions that the features do not predict are no canonical ones: there are at most as many as
# there are features.
LEAST_CORRELATION = 1e-6
# Below this variance a label, or a combination of labels, does not vary: what is left of it is the
# rounding of second moments. One row in n that differs makes about 1 / n.
LEAST_SPREAD = 1e-10
# A combination that did not vary is believed if independent labels would have moved it in so many
# rows: two labels that were on once, in the same row, need not be equal.
SUPPORT = 10


class CCAOutputCode(OutputCode):
    """Output code by canonical correlations: labels and what features say of their combinations.

    The score of a labeling ``y`` is, with log-odds ``f_l`` of a logistic regression for each label
    and a Gaussian with mean ``m_k`` and variance ``s_k^2`` for each canonical variate ``v_k'y``,

    ``sum_l f_l(x) y_l - code_weight sum_k (v_k'y - m_k(x))^2 / (2 s_k^2)``,

    quadratic in ``y``: a table of label pairs, with couplings that all rows share.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of canonical variates, those of the largest correlations; a float is a share of the
        labels, ``None`` all there are: no more than labels, or than features.
    label_C : float, default=1.0
        Inverse strength of the penalty of the logistic regressions.
    alpha : float or None, default=1.0
        Weight of the ridge penalty of the linear regressions, and of the features' covariance in
        the canonical correlations; ``None`` is chosen by generalised cross-validation, 0 is as
        published.
    code_weight : float, default=1.0
        Weight of the variates beside the labels; 0 is binary relevance.
    shrinkage : float, default=0.0
        Added to the labels' variances, in units of their mean, when directions are scaled.
    variance : {"left_out", "training"}, default="left_out"
        Errors from which ``s_k^2`` is taken: of regressions without the row (in closed form), or
        of the one that was fitted to it.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"mean_field"``, as published, but annealed (see ``MeanField``).
        ``"branch_and_bound"`` is exact, for up to about 40 labels, and tells which labelings are
        proved the best.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out of prediction.

    Attributes
    ----------
    components_ : ndarray of shape (n_codes, n_labels)
        ``v_k``; the variance of ``v_k'y`` is 1. Combinations that do not vary come last, scaled to
        ``|v_k| = 1``.
    correlations_ : ndarray of shape (n_codes,)
        Canonical correlations; 0 where nothing varies.
    precision_ : ndarray of shape (n_codes,)
        ``1 / s_k^2``.
    metric_ : ndarray of shape (n_labels, n_labels)
        ``sum_k v_k v_k' / s_k^2``.
    coef_, intercept_ : ndarray of shape (n_labels, n_features) and (n_labels,)
        Logistic regressions.
    regression_coef_, regression_intercept_ : ndarray, of the same shapes
        Linear regression of the labels; ``m_k`` is its projection.
    alpha_ : float
        Weight of the ridge penalty that was used.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    Directions solve ``S_yx (S_xx + alpha/n I)^-1 S_xy v = rho^2 S_yy v``. Those without a
    correlation are left out. Combinations of labels that do not vary, the sum of labels of which
    exactly one is on above all, are no canonical variates, but known for sure: beyond what is
    published they are a part of the code, however few components are asked for, if independent
    labels would have moved them in ten rows or more. Labels that are constant by themselves are
    predicted by their share alone. ``s_k^2`` is at least a thousandth, and ``|v_k|^2 / 20`` times
    the mean variance of a label.

    For ``n`` rows, ``d`` features and ``q`` labels the fit takes O(q^3 + n q^2) beside the
    regressions, and O(q^2) memory; mean field O(q) for each mean that moves, at most O(q^2) a row
    and sweep.

    References
    ----------
    .. [1] Zhang and Schneider, Multi-label output codes using canonical correlation analysis,
       2011.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> model = CCAOutputCode().fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, model.predict(test.X)):.2f}"
    '0.63'
    >>> bool(model.decode(test.X[:100], "branch_and_bound").certified.all())
    True
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        label_C: float = 1.0,
        alpha: float | None = 1.0,
        code_weight: float = 1.0,
        shrinkage: float = 0.0,
        variance: str = "left_out",
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
    ) -> None:
        self.n_components = n_components
        self.label_C = label_C
        self.alpha = alpha
        self.code_weight = code_weight
        self.shrinkage = shrinkage
        self.variance = variance
        self.decoder = decoder
        self.empty = empty

    def _code(
        self, X: Any, Y: sparse.csr_array, fit: RidgeFit, residual: Floats
    ) -> tuple[Floats, Floats]:
        n, q = Y.shape
        between = centred_product(X, Y).T @ fit.coef / n
        within = label_scatter(Y) / n
        shrunk = within + self.shrinkage * np.trace(within) / q * np.eye(q)
        V, correlations = canonical_directions(between, shrunk, n_codes(self.n_components, q))
        # With no more rows than labels there always are combinations that do not vary in them.
        fixed = constant_directions(within, n) if n > q else np.empty((q, 0))
        self.correlations_ = np.concatenate([correlations, np.zeros(fixed.shape[1])])
        V = np.hstack([V, fixed])
        error = np.einsum("qk,qk->k", residual @ V, V)
        return V, 1.0 / floored(error, V, within)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.shrinkage, "shrinkage", least=0.0)


def canonical_directions(between: Floats, within: Floats, n_codes: int) -> tuple[Floats, Floats]:
    """Solve ``between v = rho^2 within v``, scaled to ``v'within v = 1``.

    Parameters
    ----------
    between : ndarray of shape (q, q)
        ``S_yx (S_xx + a I)^-1 S_xy``; its symmetric part counts.
    within : ndarray of shape (q, q)
        ``S_yy``, positive semidefinite; directions in which it vanishes are left out.
    n_codes : int

    Returns
    -------
    V : ndarray of shape (q, at most n_codes)
    rho : ndarray of as many canonical correlations, falling
    """
    values, U = eigh(within, check_finite=False)
    kept = values > LEAST_SPREAD
    T = U[:, kept] / np.sqrt(values[kept])
    inner = T.T @ between @ T
    square, W = eigh(0.5 * (inner + inner.T), check_finite=False)
    square, W = square[::-1][:n_codes], W[:, ::-1][:, :n_codes]
    related = square > LEAST_CORRELATION**2
    return T @ W[:, related], np.sqrt(np.minimum(square[related], 1.0))


def constant_directions(within: Floats, n_rows: int) -> Floats:
    """Return orthonormal combinations of labels that vary which do not vary themselves.

    Where exactly one of some labels is on, their sum is one: it is known without any features.
    Combinations of which too few rows could have told otherwise are left out.

    Parameters
    ----------
    within : ndarray of shape (q, q)
        ``S_yy``.
    n_rows : int
        Rows that it is of.

    Returns
    -------
    ndarray of shape (q, any number)
    """
    variance = np.diag(within)
    varies = np.flatnonzero(variance > LEAST_SPREAD)
    if not len(varies):
        return np.empty((len(within), 0))
    values, U = eigh(within[np.ix_(varies, varies)], check_finite=False)
    flat = np.zeros((len(within), int(np.sum(values <= LEAST_SPREAD))))
    flat[varies] = U[:, values <= LEAST_SPREAD]
    if not flat.shape[1]:
        return flat
    # Of all bases the one that tells best apart what many rows say from what few do.
    flat = flat @ eigh(flat.T @ (variance[:, None] * flat), check_finite=False)[1]
    largest = np.abs(flat).max(axis=0, initial=LEAST_SPREAD)
    return flat[:, n_rows * (variance @ (flat / largest) ** 2) >= SUPPORT]
