"""Maximum margin output codes (Zhang and Schneider 2012).

A metric on label space in which the labels of a row are nearer to what is predicted for it than
any other labels, by a margin: projections of labels that are both predictable and far apart.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from colabel._parameters import check_real, check_whole
from colabel.decoders import BaseDecoder
from colabel.embedding._code_margins import CodeMargins
from colabel.embedding._moments import label_scatter
from colabel.embedding._output_code import OutputCode, floored
from colabel.embedding._sizes import n_codes
from colabel.linear.ridge import RidgeFit
from colabel.messages import warn_user
from colabel.metric_learning.metric_bundle import minimise_planes

__all__ = ["MaxMarginOutputCode"]

Floats = NDArray[np.float64]

# Share of the tolerance that the programs over boxes may take.
QP_SHARE = 0.1


class MaxMarginOutputCode(OutputCode):
    """Maximum margin output code: projections of labels that can be told apart and predicted.

    With the codeword ``z_i = P'x_i`` of a ridge regression ``P`` of the labels, minimises over
    ``Q = V V'``, positive semidefinite,

    ``trace(Q) / 2 + C/n sum_i xi_i``  such that, for every ``y`` in ``[0, 1]^q``,
    ``|z_i - y_i|_Q^2 + |y_i - y|_1 - xi_i <= |z_i - y|_Q^2``,

    the problem of Zhang and Schneider (2012; Eq. (2) of Liu and Tsang 2015) with labelings in
    between allowed ("over-generating"). It is convex. Each most violated ``y`` is a concave
    quadratic program over a box; all of them together make one cutting plane.

    The projections ``V'y`` then join the labels in a code that is decoded like that of
    ``CCAOutputCode``: by label pairs.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of projections, those of the largest eigenvalues of ``Q``; a float is a share of the
        labels, ``None`` all that the trace leaves.
    C : float, default=10.0
        Weight of the margins beside the trace.
    label_C : float, default=1.0
        Inverse strength of the penalty of the logistic regressions.
    alpha : float or None, default=1.0
        Weight of the ridge penalty on ``P``; ``None`` is chosen by generalised cross-validation.
    code_weight : float, default=1.0
        Weight of the projections beside the labels; 0 is binary relevance.
    variance : {"left_out", "training", "unit"}, default="left_out"
        Variances of the projections' Gaussians: errors of regressions without the row (in closed
        form), of the one that was fitted to it; or ``"unit"``, the metric as learned: the score is
        ``- code_weight |z - y|_Q^2``.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"mean_field"``, as published, but annealed (see ``MeanField``).
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` leaves the empty label set out of prediction.
    tol : float, default=1e-2
        Training stops where the gap is this share of the objective, or 25 planes have lowered it
        by less than a tenth of that.
    max_iter : int, default=200
        Most cutting planes.

    Attributes
    ----------
    components_ : ndarray of shape (n_codes, n_labels)
        ``V'``: eigenvectors of ``Q`` times the roots of their eigenvalues, largest first.
    precision_ : ndarray of shape (n_codes,)
        What each squared difference is multiplied with.
    metric_, coef_, intercept_, regression_coef_, regression_intercept_, alpha_, classes_
        As of ``CCAOutputCode``.
    history_ : ndarray
        Objective, upper bounds of it, after each plane; never rises.
    gap_ : float
        Proved: how far the objective may be above its optimum. Loose for many labels.
    n_iter_ : int

    Notes
    -----
    The published solver keeps the constraints of all rows and hands a semidefinite program to a
    general solver. Here planes are sums over the rows, and a master problem near the best point
    is solved in its dual, a weight a plane, by eigendecompositions (``metric_bundle``). For ``n``
    rows and ``q`` labels a plane takes O(n q^2) at most (coordinates of the box that stay put are
    skipped) and O(q^3) a step of the master; memory for a few (n, q) arrays and 30 (q, q) ones.

    Gaussian variances make the scale of a projection immaterial; what the margin gives is then
    their directions.

    References
    ----------
    .. [1] Zhang and Schneider, Maximum margin output coding, 2012.
    .. [2] Liu and Tsang, Large margin metric learning for multi-label prediction, 2015.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1], [0, 1], [1, 0], [1, 0]])
    >>> model = MaxMarginOutputCode().fit(X, Y)
    >>> model.predict([[0.2], [2.9]])
    array([[0, 1],
           [1, 0]])
    >>> bool(model.gap_ < 0.01 * model.history_[-1])
    True
    """

    _variances: ClassVar[tuple[str, ...]] = ("left_out", "training", "unit")

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        C: float = 10.0,
        label_C: float = 1.0,
        alpha: float | None = 1.0,
        code_weight: float = 1.0,
        variance: str = "left_out",
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        tol: float = 1e-2,
        max_iter: int = 200,
    ) -> None:
        self.n_components = n_components
        self.C = C
        self.label_C = label_C
        self.alpha = alpha
        self.code_weight = code_weight
        self.variance = variance
        self.decoder = decoder
        self.empty = empty
        self.tol = tol
        self.max_iter = max_iter

    def _code(
        self, X: Any, Y: sparse.csr_array, fit: RidgeFit, residual: Floats
    ) -> tuple[Floats, Floats]:
        V = self._learn(Y, fit.predict(X))[:, : n_codes(self.n_components, Y.shape[1])]
        if self.variance == "unit":
            return V, np.full(V.shape[1], 2.0)
        error = np.einsum("qk,qk->k", residual @ V, V)
        within = label_scatter(Y) / Y.shape[0]
        # A combination of labels that does not vary says nothing.
        varies = np.einsum("qk,qk->k", within @ V, V) > 0.0
        V, error = V[:, varies], error[varies]
        return V, 1.0 / floored(error, V, within)

    def _learn(self, Y: sparse.csr_array, Z: Floats) -> Floats:
        """Return ``V``, most important columns first."""
        margins = CodeMargins(Y.toarray(), Z, self.C, QP_SHARE * self.tol)
        found = minimise_planes(margins, np.eye(Y.shape[1]), tol=self.tol, max_iter=self.max_iter)
        self.history_, self.gap_, self.n_iter_ = found.history, found.gap, found.n_iter
        if not found.converged:
            warn_user(
                f"MaxMarginOutputCode did not converge in {self.n_iter_} planes: its objective is "
                f"up to {self.gap_:.2g} too high; raise max_iter or tol",
                ConvergenceWarning,
            )
        return found.coef[:, ::-1]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.C, "C", above=0.0)
        check_real(self.tol, "tol", above=0.0)
        check_whole(self.max_iter, "max_iter", least=1)
