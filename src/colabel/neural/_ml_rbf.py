"""ML-RBF: a network of radial basis functions for label sets (Zhang 2009)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from colabel._parameters import check_choice, check_real
from colabel._renamed import Renamed
from colabel._weighted import DistinctRowsClassifier
from colabel.decoders import BaseDecoder
from colabel.neural._radial import (
    bumps,
    count_centres,
    find_centres,
    find_width,
    solve_outputs,
    spread,
)
from colabel.numerics.magnitude import scaled
from colabel.scores import Modular

__all__ = ["MLRBF"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class MLRBF(DistinctRowsClassifier):
    """Gaussian bumps around cluster centres of each label, and least squares on top.

    The rows that have a label are clustered by k-means, label by label. All centres together are
    the hidden layer, which the labels share; each label's output is fitted to +1 where it is on
    and to -1 where it is off. A label is on where its output is positive.

    Parameters
    ----------
    ratio : float, default=0.15
        Centres of a label, as a share of its rows; rounded up. Published: 0.01.
    width : float, default=0.5
        Standard deviation of the bumps, in units of the mean distance between two centres.
        Published: 1.
    scale : bool, default=True
        Whether features are divided by their standard deviations first. Published: no.
    alpha : float, default=1e-4
        Ridge: penalty on squared output weights, per row. 0 is least squares to machine precision,
        as published.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is ``"threshold"``: outputs above 0.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.
    random_state : int, RandomState or None, default=None
        Seeds the clusters.

    Attributes
    ----------
    centres_ : ndarray of shape (n_centres, n_features)
        In scaled features.
    scale_ : ndarray of shape (n_features,)
        What features are divided by.
    width_ : float
    coef_ : ndarray of shape (n_centres + 1, n_labels)
        Output weights; the last row is the constant.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    O(n d m) for clusters and the layer of ``m`` centres, O(n m^2) for least squares by an
    orthogonal factorisation, in memory O(n m). Equal rows are merged first, so a weight of two is a
    row that comes twice, and results depend neither on the order of rows nor on the number of
    threads.

    References
    ----------
    Zhang, "ML-RBF: RBF neural networks for multi-label learning", Neural Processing Letters 29,
    2009.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> Y = np.array([[1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1]])
    >>> MLRBF(ratio=0.5, random_state=0).fit(X, Y).predict([[0.1], [2.4], [4.9]])
    array([[1, 0],
           [0, 1],
           [1, 1]])
    """

    _table: ClassVar[type[Modular]] = Modular
    _decoder: ClassVar[str] = "threshold"
    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"ridge": "alpha"}

    def __init__(
        self,
        ratio: float = 0.15,
        width: float = 0.5,
        *,
        scale: bool = True,
        alpha: float = 1e-4,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.ratio = ratio
        self.width = width
        self.scale = scale
        self.alpha = alpha
        self.decoder = decoder
        self.empty = empty
        self.random_state = random_state

    def _fit_rows(self, X: Any, Y: Labels, weight: Floats) -> None:
        self.scale_ = spread(X, weight) if self.scale else np.ones(X.shape[1])
        X = scaled(X, self.scale_)
        self.centres_ = self._find_centres(X, Y, weight)
        self.width_ = find_width(self.centres_, self.width)
        hidden = bumps(X, self.centres_, self.width_)
        targets = 2.0 * Y.astype(np.float64) - 1.0
        self.coef_ = solve_outputs(hidden, targets, weight, self.alpha)

    def _find_centres(self, X: Any, Y: Labels, weight: Floats) -> Floats:
        rng = check_random_state(self.random_state)
        # Where no row has a label, all rows are one cluster.
        members = [member for member in Y.T.astype(bool) if member.any()]
        parts = []
        for member in members or [np.ones(len(Y), dtype=bool)]:
            n_centres = count_centres(self.ratio, float(weight[member].sum())) if members else 1
            parts.append(find_centres(X[member], weight[member], n_centres, rng))
        return np.unique(np.concatenate(parts), axis=0)

    def _scores(self, X: Any) -> Modular:
        hidden = bumps(scaled(X, self.scale_), self.centres_, self.width_)
        return Modular(hidden @ self.coef_)

    def _row_bytes(self) -> int:
        return 32 * (len(self.centres_) + self._n_columns)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.ratio, "ratio", above=0.0)
        check_real(self.width, "width", above=0.0)
        check_real(self.alpha, "alpha", least=0.0)
        check_choice(self.scale, "scale", (True, False))
