"""ML-kNN: how many neighbours have a label is evidence for it (Zhang and Zhou 2007)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from colabel._parameters import check_real
from colabel.decoders import BaseDecoder
from colabel.neighbors._base import NeighborClassifier
from colabel.neighbors._search import Neighbors
from colabel.neighbors._votes import votes

__all__ = ["MLkNN"]

Floats = NDArray[np.float64]
# Rows counted at a time are those of about so many entries.
ENTRIES = 2**22


class MLkNN(NeighborClassifier):
    """Bayes' rule on the number of neighbours that have a label.

    In training, each row's neighbours among the others are counted: how often ``j`` of ``k``
    neighbours have a label, for rows that have it and for rows that have not. Smoothed, these are
    likelihoods; with the label's frequency as prior they give its probability.

    Parameters
    ----------
    n_neighbors : int or "tune", default=10
    smoothing : float, default=1.0
        Added to every count; 1 is Laplace's.
    weights : {"uniform", "mild", "distance", "tune"}, default="uniform"
        As published, neighbours count alike. With other weights (see ``KNNClassifier``) their
        share is rounded to a number ``j`` of ``k``.
    threshold : float or "tune", default=0.5
        A label is on if its probability is above this, where no ``decoder`` is given.
    measure : {"micro_f1", "example_f1"}, default="micro_f1"
        What ``"tune"`` is for, on the training rows, each with its neighbours among the others.
    index : transformer or None, default=None
        Finds neighbours instead of the exact search; see ``KNNClassifier``.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is the threshold; ``"f1"`` the label set of the highest expected F1, and so on.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.

    Attributes
    ----------
    rule_ : ndarray of shape (n_neighbors_ + 1, n_labels)
        Log-odds of each label where ``j`` of the neighbours have it.
    n_neighbors_, weights_, threshold_ : int, str, float
        As given or tuned; less neighbours than training rows.
    tuned_score_ : float
        The measure on the training rows at the setting chosen; NaN where nothing was tuned.
    points_, labels_
        Training rows and their labels.
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    Training and prediction cost ``2 n_samples n_features`` flops a row, less where ``X`` is sparse.

    References
    ----------
    .. [1] Zhang and Zhou, ML-KNN: a lazy learning approach to multi-label learning, Pattern
       Recognition 40, 2007.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> model = MLkNN().fit(train.X, train.Y)
    >>> f"{f1_score(test.Y, model.predict(test.X), average='micro'):.2f}"
    '0.62'
    """

    _asks_training_rows: ClassVar[bool] = True

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        smoothing: float = 1.0,
        weights: str = "uniform",
        threshold: float | str = 0.5,
        measure: str = "micro_f1",
        index: Any = None,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.weights = weights
        self.threshold = threshold
        self.measure = measure
        self.index = index
        self.decoder = decoder
        self.empty = empty

    def _fit_rule(self, near: Neighbors, weights: str) -> Floats:
        n, n_labels = self.labels_.shape
        # A single training row has no neighbour; the one it will be counts for nothing.
        n_counts = max(near.k, 1) + 1
        with_label, without = np.zeros((2, n_counts * n_labels))
        step = max(1, ENTRIES // n_labels)
        for i in range(0, n, step):
            rows = slice(i, min(i + step, n))
            cell = self._counts(near.take(rows), weights) * n_labels + np.arange(n_labels)
            on = self.labels_[rows].toarray() > 0
            with_label += np.bincount(cell[on], minlength=len(with_label))
            without += np.bincount(cell[~on], minlength=len(without))
        n_on = np.asarray(self.labels_.sum(axis=0)).ravel()
        s = float(self.smoothing)
        prior = logit((s + n_on) / (2.0 * s + n))  # Eqs. (3) and (4)
        on, off = (count.reshape(n_counts, n_labels) for count in (with_label, without))
        # Eqs. (5) and (6): the likelihood of j neighbours with the label, if it is on or off.
        log_on = np.log(s + on) - np.log(s * n_counts + on.sum(axis=0))
        log_off = np.log(s + off) - np.log(s * n_counts + off.sum(axis=0))
        return prior + log_on - log_off  # Eq. (2)

    def _log_odds(self, rule: Any, near: Neighbors, weights: str) -> Floats:
        return np.take_along_axis(rule, self._counts(near, weights), axis=0)

    def _entries(self, rule: Any, near: Neighbors, weights: str) -> Floats:
        # A label that no neighbour has may still be likely.
        return self._log_odds(rule, near, weights)

    def _counts(self, near: Neighbors, weights: str) -> NDArray[np.int64]:
        """Count the neighbours that have each label."""
        return np.rint(near.k * votes(near, self.labels_, weights).toarray()).astype(np.int64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real(self.smoothing, "smoothing", above=0.0)
