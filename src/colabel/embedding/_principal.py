"""Principal label space transformation (Tai and Lin 2012), and with an eye to the features.

Labels are projected on a few orthonormal directions, each projection is regressed on the features,
and what is predicted is projected back and rounded. PLST takes the directions that reconstruct the
labels best; CPLST (Chen and Lin 2012) those that can also be predicted.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from colabel._parameters import check_real
from colabel.base import MultiLabelClassifier
from colabel.decoders import BaseDecoder
from colabel.embedding._moments import centred_product, label_scatter
from colabel.embedding._sizes import check_components, n_codes
from colabel.linear.ridge import fit_ridge
from colabel.numerics.magnitude import check_magnitude
from colabel.scores import Modular

__all__ = ["CPLST", "PLST"]

Floats = NDArray[np.float64]


class PLST(MultiLabelClassifier):
    """Principal label space transformation: regress the principal components of the labels.

    With ``Z`` the centred labels and ``V`` orthonormal columns, the code of a row is ``V'z``. PLST
    takes the ``V`` with the least ``|Z - Z V V'|^2``, the leading right singular vectors of ``Z``;
    a ridge regression ``W`` predicts the code; and a label is on where ``V W'x`` plus the label's
    share passes the threshold.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of codes; a float is a share of the labels, ``None`` one code a label. No more than
        there are labels.
    alpha : float or None, default=1.0
        Weight of the ridge penalty ``alpha |W|^2`` beside the sum of squared errors; ``None`` is
        chosen by generalised cross-validation, which suits squared errors: where labels are rare
        it leaves few decoded values above one half, and asks for a lower threshold.
    threshold : float, default=0.5
        What a decoded value must pass; 0.5 rounds it, as published.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns on the label of the largest decoded value where none passes.

    Attributes
    ----------
    components_ : ndarray of shape (n_codes, n_labels)
        ``V'``; orthonormal rows, the most important first.
    importances_ : ndarray of shape (n_codes,)
        Eigenvalues behind them: squared error that each code takes away.
    coef_ : ndarray of shape (n_codes, n_features)
    intercept_ : ndarray of shape (n_codes,)
    label_mean_ : ndarray of shape (n_labels,)
    alpha_ : float
        Weight of the penalty that was used.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    With one code a label the rotation has no effect: the method is a ridge regression of every
    label. Its gain is in fewer codes, where n_labels are many. For ``d`` features, ``q`` labels,
    ``M`` codes and ``m`` the smaller of rows ``n`` and ``d``: O(q^3) for the directions and
    O(m^2 (n + d) + m^3 + n d M) for the regression; prediction ``M (d + q)`` a row. Sparse
    features and labels are not made dense, but for matrices of order ``m`` and ``q``.

    References
    ----------
    .. [1] Tai and Lin, Multilabel classification with principal label space transformation, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1, 1], [0, 1, 1], [1, 0, 0], [1, 0, 0]])
    >>> model = PLST(1).fit(X, Y)
    >>> model.predict([[0.2], [2.9]])
    array([[0, 1, 1],
           [1, 0, 0]])
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"
    _sparse_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        alpha: float | None = 1.0,
        threshold: float = 0.5,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.threshold = threshold
        self.decoder = decoder
        self.empty = empty

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Fit to features ``X`` and labels ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : (n_samples, n_labels) of 0 and 1: array, sparse matrix or array, or DataFrame
            Or a 1-D target with one class per sample.

        Returns
        -------
        self
        """
        return super().fit(X, y)

    def _fit(self, X: Any, Y: Any, **fit_params: Any) -> None:
        check_magnitude(X)
        Y = sparse.csr_array(Y, dtype=np.float64)
        self.label_mean_ = np.asarray(Y.mean(axis=0)).ravel()
        self._fit_code(X, Y, n_codes(self.n_components, Y.shape[1]))

    def _fit_code(self, X: Any, Y: sparse.csr_array, M: int) -> None:
        """Find the directions, then regress the labels along them."""
        self._keep_directions(label_scatter(Y), M)
        fit = fit_ridge(X, np.asarray(Y @ self.components_.T), self.alpha)
        self.coef_, self.alpha_ = np.ascontiguousarray(fit.coef.T), fit.alpha
        self.intercept_ = fit.intercept - self.components_ @ self.label_mean_

    def _keep_directions(self, scatter: Floats, M: int) -> None:
        q = len(scatter)
        values, vectors = eigh(scatter, subset_by_index=(q - M, q - 1), check_finite=False)
        V = vectors[:, ::-1]
        # A direction has two signs; the largest entry is positive.
        V = V * np.where(V[np.abs(V).argmax(axis=0), np.arange(M)] < 0.0, -1.0, 1.0)
        self.components_ = np.ascontiguousarray(V.T)
        self.importances_ = np.maximum(values[::-1], 0.0)

    def _scores(self, X: Any) -> Modular:
        code = np.asarray(X @ self.coef_.T) + self.intercept_
        return Modular(code @ self.components_ + (self.label_mean_ - self.threshold))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_components(self.n_components)
        if self.alpha is not None:
            check_real(self.alpha, "alpha", least=0.0)
        check_real(self.threshold, "threshold")


class CPLST(PLST):
    """Conditional principal label space transformation: codes that can be predicted, too.

    With the centred labels ``Z``, orthonormal ``V`` and a ridge regression ``W`` on the centred
    features, minimises over both

    ``|Z - Z V V'|^2 + |X W - Z V|^2 + alpha |W|^2``,

    what reconstruction and regression lose together: an upper bound of the error of the decoded
    values (Chen and Lin 2012). For given ``V`` the last two terms are ``tr V'Z'(I - H)Z V`` with
    the ridge's hat matrix ``H``, so the best ``V`` are the leading eigenvectors of ``Z'H Z``.

    Parameters
    ----------
    n_components : int, float or None, default=None
        Number of codes; a float is a share of the labels, ``None`` one code a label, where the
        method is the same as PLST.
    alpha : float or None, default=1.0
        Weight of the ridge penalty; ``None`` is chosen by generalised cross-validation of all
        labels.
    threshold : float, default=0.5
        What a decoded value must pass; 0.5 rounds it, as published.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns on the label of the largest decoded value where none passes.

    Attributes
    ----------
    components_, importances_, coef_, intercept_, label_mean_, alpha_, classes_
        As of ``PLST``.

    Notes
    -----
    As of ``PLST``, with one regression of all labels: O(n d q) and a matrix of ``d q`` numbers
    while it is fitted.

    References
    ----------
    .. [1] Chen and Lin, Feature-aware label space dimension reduction for multi-label
       classification, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> Y = np.array([[0, 1, 1, 0], [1, 1, 1, 0], [1, 0, 0, 1], [0, 0, 0, 1]])
    >>> model = CPLST(1).fit(X, Y)
    >>> np.abs(model.components_).round(2)  # the first label cannot be predicted
    array([[0.  , 0.58, 0.58, 0.58]])
    >>> model.predict([[0.2]])
    array([[0, 1, 1, 0]])
    """

    def _fit_code(self, X: Any, Y: sparse.csr_array, M: int) -> None:
        """Regress all labels, then find the directions of what is predicted."""
        fit = fit_ridge(X, Y, self.alpha)
        self.alpha_ = fit.alpha
        self._keep_directions(centred_product(X, Y).T @ fit.coef, M)
        V = self.components_.T
        # A ridge regression is linear in its targets.
        self.coef_ = np.ascontiguousarray((fit.coef @ V).T)
        self.intercept_ = (fit.intercept - self.label_mean_) @ V
