"""A multi-class network of radial basis functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from colabel._one_target import check_one_target
from colabel._parameters import check_choice, check_real
from colabel._renamed import Renamed, RenamedParameters
from colabel._unchanged import unchanged_on_failure
from colabel.neural._radial import (
    bumps,
    count_centres,
    find_centres,
    find_width,
    solve_outputs,
    spread,
)
from colabel.numerics.distinct_rows import distinct_rows
from colabel.numerics.magnitude import check_magnitude, scaled

__all__ = ["RBFNetwork"]

Floats = NDArray[np.float64]


class RBFNetwork(RenamedParameters, ClassifierMixin, BaseEstimator):
    """Gaussian bumps around cluster centres of each class, and least squares on top.

    An ordinary classifier of two or more classes, quick to fit: the base learner of Liu et al.
    (2018), and one for any estimator here that takes a classifier.

    Parameters
    ----------
    ratio : float, default=0.1
        Centres of a class, found by k-means from rows drawn at random, as a share of its rows;
        rounded up.
    width : float, default=0.5
        Standard deviation of the bumps, in units of the mean distance between two centres.
    scale : bool, default=True
        Whether features are divided by their standard deviations first.
    alpha : float, default=1e-8
        Ridge: penalty on squared output weights, per row. 0 is least squares to machine precision,
        which bumps that overlap much may need (see Notes).
    random_state : int, RandomState or None, default=None
        Seeds the clusters.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    centres_ : ndarray of shape (n_centres, n_features)
        In scaled features.
    scale_ : ndarray of shape (n_features,)
        What features are divided by.
    width_ : float
    coef_ : ndarray of shape (n_centres + 1, n_classes)
        Output weights; the last row is the constant.

    Notes
    -----
    O(n d m) for the clusters and the layer of ``m`` bumps, O(n m^2) for least squares. On features
    of very different scales that are not divided by them (``scale=False``) bumps may be dependent
    to twelve digits, and what is learned lies in the last ones; only ``alpha=0`` keeps them. Equal
    rows are merged first, so a weight of two is a row that comes twice, and results depend neither
    on the order of rows nor on the number of threads.

    References
    ----------
    Liu, Zhao, Huang, Jiang and Zhou, "Dual set multi-label learning", AAAI 2018.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = np.array(["low", "low", "high", "high", "low", "low"])
    >>> RBFNetwork(ratio=0.5, random_state=0).fit(X, y).predict([[0.1], [2.4], [4.8]])
    array(['low', 'high', 'low'], dtype='<U4')
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"ridge": "alpha"}

    def __init__(
        self,
        ratio: float = 0.1,
        width: float = 0.5,
        *,
        scale: bool = True,
        alpha: float = 1e-8,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ratio = ratio
        self.width = width
        self.scale = scale
        self.alpha = alpha
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to features ``X`` and classes ``y``.

        Parameters
        ----------
        X : array-like, sparse matrix or array, or DataFrame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Rows of weight zero are left out.

        Returns
        -------
        self
        """
        check_real(self.ratio, "ratio", above=0.0)
        check_real(self.width, "width", above=0.0)
        check_real(self.alpha, "alpha", least=0.0)
        check_choice(self.scale, "scale", (True, False))
        with unchanged_on_failure(self):
            X, self.classes_, code, weight = check_one_target(self, X, y, sample_weight, least=1)
            check_magnitude(X)
            one_hot = (code[:, None] == np.arange(len(self.classes_))).astype(np.int8)
            self._fit_rows(*_merged(X, one_hot, weight))
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the largest output."""
        outputs = self._outputs(X)
        return self.classes_[np.argmax(outputs, axis=1)]

    def decision_function(self, X: Any) -> Floats:
        """Return the outputs, (n_samples, n_classes); of two classes their half difference."""
        outputs = self._outputs(X)
        return 0.5 * (outputs[:, 1] - outputs[:, 0]) if len(self.classes_) == 2 else outputs

    def _fit_rows(self, X: Any, one_hot: NDArray[np.int8], weight: Floats) -> None:
        rng = check_random_state(self.random_state)
        self.scale_ = spread(X, weight) if self.scale else np.ones(X.shape[1])
        X = scaled(X, self.scale_)
        parts = []
        for member in one_hot.T.astype(bool):
            n_centres = count_centres(self.ratio, float(weight[member].sum()))
            parts.append(find_centres(X[member], weight[member], n_centres, rng, "random"))
        self.centres_ = np.concatenate(parts)
        self.width_ = find_width(self.centres_, self.width)
        hidden = bumps(X, self.centres_, self.width_)
        targets = 2.0 * one_hot.astype(np.float64) - 1.0
        self.coef_ = solve_outputs(hidden, targets, weight, self.alpha)

    def _outputs(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return bumps(scaled(X, self.scale_), self.centres_, self.width_) @ self.coef_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _merged(
    X: Any, one_hot: NDArray[np.int8], weight: Floats | None
) -> tuple[Any, NDArray[np.int8], Floats]:
    if sparse.issparse(X):
        return distinct_rows(X, one_hot, weight)
    # Far quicker than hashes of rows, and half of the time of a small fit otherwise.
    table = np.hstack([X + 0.0, one_hot])  # no negative zero
    rows = table.view(np.dtype((np.void, table.itemsize * table.shape[1]))).ravel()
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    total = np.bincount(which.ravel(), weights=weight).astype(np.float64)
    return X[first], one_hot[first], total
