"""LM-kNN: nearest neighbours under a metric learned with a large margin (Liu and Tsang 2015)."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from colabel._parameters import check_choice, check_real, check_whole
from colabel.decoders import BaseDecoder
from colabel.messages import warn_user
from colabel.metric_learning.proximal import proximal_gradient
from colabel.neighbors._base import NeighborClassifier
from colabel.neighbors._codeword_maps import Codewords, fit_ridge_map
from colabel.neighbors._margin_problem import MarginProblem
from colabel.neighbors._search import fit_index, nearest
from colabel.numerics.blas import one_blas_thread

__all__ = ["LargeMarginKNN"]

Floats = NDArray[np.float64]

# Up to so many labels the eigenvalue problems are too small to share among threads.
SMALL = 512


class LargeMarginKNN(NeighborClassifier):
    """Nearest neighbours in a space that rows and label sets share.

    A regression ``P`` maps a row to the labels, ``z = P'x``, and a metric ``Q`` is learned in which
    ``z`` is nearer to its own label set than to those of its neighbours, by a margin of as many
    labels as the sets differ in:

        min_{Q >= 0}  trace(Q) / 2 + C/n sum_i xi_i^2,
        |z_i - y_i|_Q^2 + |y_i - y_j|_1 - xi_i <= |z_i - y_j|_Q^2   for the neighbours j of i.

    A row is then predicted by the votes of the training rows nearest to it in this space.

    Parameters
    ----------
    n_neighbors : int or "tune", default=10
        How many vote.
    C : float, default=10.0
        Weight of the margins against the trace, which takes away labels that too few rows have:
        raise it, or leave ``metric="identity"``, where labels are many and rows few.
    alpha : float or None, default=None
        Ridge penalty on ``P``, in units of squared features; None is chosen by generalised
        cross-validation.
    fit_intercept : bool, default=True
        Whether the ridge regression has one.
    metric : {"learned", "identity"}, default="learned"
        ``"identity"`` leaves ``Q = I``: the regression alone.
    margin_neighbors : int, default=10
        ``k`` of the constraints.
    neighborhood : {"codewords", "features"}, default="codewords"
        Where the neighbours of the constraints are found; ``"features"`` is as published.
    held_out : bool, default=True
        Whether margins are those of codewords that have not seen the row's own labels; as
        published, they have.
    weights : {"distance", "mild", "uniform", "tune"}, default="distance"
        Of the neighbours; see ``KNNClassifier``.
    threshold : float or "tune", default=0.5
        A label is on if its share of the votes is above this, where no ``decoder`` is given.
    measure : {"micro_f1", "example_f1"}, default="micro_f1"
        What ``"tune"`` is for, on the training rows with held-out codewords.
    index : transformer or None, default=None
        Finds neighbours instead of the exact search; see ``KNNClassifier``. One more than are
        asked for is needed in training.
    tol : float, default=1e-3
        Learning ends after three relative changes of the objective below this.
    max_iter : int, default=500
    decoder : str, BaseDecoder or None, default=None
        ``None`` is the threshold; ``"f1"`` the label set of the highest expected F1, and so on.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.

    Attributes
    ----------
    components_ : ndarray of shape (n_labels, rank)
        ``V`` with ``Q = V V'``.
    map_ : CodewordMap
        ``P`` and its intercept.
    projection_, offset_ : ndarray of shape (d, rank) and (rank,)
        ``P V`` and what is added to it.
    history_ : ndarray
        Objective, iteration by iteration; never rising.
    n_iter_ : int
    n_neighbors_, weights_, threshold_, tuned_score_
        See ``KNNClassifier``.
    points_, labels_
        Training rows in the learned space, and their labels.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    The paper leaves ridge, bias, the first ``Q`` (here ``I``: from 0 neighbours that differ equally
    tie, and no step is short enough) and the weights open. ``alpha=10, fit_intercept=False,
    neighborhood="features", held_out=False, weights="mild"`` comes near its numbers. Most of the
    gain over plain neighbours is due to ``P``; compare with ``metric="identity"``. For a kernel put
    ``sklearn.kernel_approximation.Nystroem`` before it in a pipeline. An iteration costs
    O(n q d) flops, less for sparse ``X``, and O(q^3) for the eigenvalues, with ``q`` labels; pairs
    of rows are never stored.

    References
    ----------
    .. [1] Liu and Tsang, Large margin metric learning for multi-label prediction, AAAI 2015.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> model = LargeMarginKNN("tune", threshold="tune").fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, model.predict(test.X), average='micro'):.2f}"
    '0.67'
    """

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        C: float = 10.0,
        alpha: float | None = None,
        fit_intercept: bool = True,
        metric: str = "learned",
        margin_neighbors: int = 10,
        neighborhood: str = "codewords",
        held_out: bool = True,
        weights: str = "distance",
        threshold: float | str = 0.5,
        measure: str = "micro_f1",
        index: Any = None,
        tol: float = 1e-3,
        max_iter: int = 500,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.C = C
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.metric = metric
        self.margin_neighbors = margin_neighbors
        self.neighborhood = neighborhood
        self.held_out = held_out
        self.weights = weights
        self.threshold = threshold
        self.measure = measure
        self.index = index
        self.tol = tol
        self.max_iter = max_iter
        self.decoder = decoder
        self.empty = empty

    def _fit_space(self, X: Any) -> Floats:
        self.map_, held_out = fit_ridge_map(X, self.labels_, self.alpha, self.fit_intercept)
        n, q = self.labels_.shape
        fitted = Codewords(X, self.map_.P, self.map_.b, np.ones(n), np.zeros(n))
        self.components_, self.history_, self.n_iter_ = np.eye(q), np.empty(0), 1
        if self.metric == "learned" and n > 1:
            self._learn(X, fitted, held_out)
        self.projection_ = self.map_.P @ self.components_
        self.offset_ = self.map_.b @ self.components_
        self._queries = held_out.times(self.components_, self.labels_) if self._tunes() else None
        return np.asarray(X @ self.projection_) + self.offset_

    def _learn(self, X: Any, fitted: Codewords, held_out: Codewords) -> None:
        """Set the components by accelerated proximal gradients."""
        n, q = self.labels_.shape
        words = held_out if self.held_out else fitted
        near = self._margin_neighbors(X, fitted, words)
        problem = MarginProblem(words, self.labels_, near, float(self.C))
        with one_blas_thread() if q <= SMALL else nullcontext():
            found = proximal_gradient(
                problem,
                np.eye(q),
                tau=0.01 * n * float(self.C),
                tol=self.tol,
                max_iter=self.max_iter,
            )
        if not found.converged:
            remedy = (
                "raise max_iter or tol"
                if found.n_iter >= self.max_iter
                else "neighbours tie in every row; metric='identity' needs none"
            )
            warn_user(
                f"the metric did not converge in {found.n_iter} iterations: {remedy}",
                ConvergenceWarning,
            )
        self.history_, self.n_iter_ = found.history, found.n_iter
        # Where no neighbour differs there is nothing to learn, and the trace is all that is left.
        if found.coef.shape[1]:
            self.components_ = found.coef

    def _margin_neighbors(self, X: Any, fitted: Codewords, words: Codewords) -> NDArray[np.int64]:
        queries = points = X
        if self.neighborhood == "codewords":
            identity = np.eye(self.labels_.shape[1])
            points = fitted.times(identity, self.labels_)
            queries = words.times(identity, self.labels_)
        index = fit_index(self.index, points)
        k = int(self.margin_neighbors)
        return nearest(queries, points, k, index=index, leave_own_out=True).index

    def _embed(self, X: Any) -> Floats:
        return np.asarray(X @ self.projection_) + self.offset_

    def _held_out(self) -> Floats:
        queries, self._queries = self._queries, None
        assert queries is not None
        return queries

    def _row_bytes(self) -> int:
        return super()._row_bytes() + 16 * self.components_.shape[1]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("C", "tol"):
            check_real(getattr(self, name), name, above=0.0)
        if self.alpha is not None:
            check_real(self.alpha, "alpha", least=0.0)
        for name in ("margin_neighbors", "max_iter"):
            check_whole(getattr(self, name), name, least=1)
        check_choice(self.metric, "metric", ("learned", "identity"))
        check_choice(self.neighborhood, "neighborhood", ("codewords", "features"))
        for name in ("fit_intercept", "held_out"):
            check_choice(getattr(self, name), name, (True, False))
