"""The nearest training rows vote."""

from __future__ import annotations

from typing import Any

from colabel.decoders import BaseDecoder
from colabel.neighbors._base import NeighborClassifier

__all__ = ["KNNClassifier"]


class KNNClassifier(NeighborClassifier):
    """A label is on if enough of the nearest training rows have it.

    The weighted share of the neighbours that have a label is its probability. Neighbours are exact
    by Euclidean distance on the features as they are; of equally near rows the earlier one counts.

    Parameters
    ----------
    n_neighbors : int or "tune", default=10
    weights : {"mild", "uniform", "distance", "tune"}, default="mild"
        ``1 - d / sum(d)``, which does little more than break ties; all alike; or ``1 / d``, where
        neighbours at distance 0 share all the weight.
    threshold : float or "tune", default=0.5
        A label is on if its probability is above this, where no ``decoder`` is given.
    measure : {"micro_f1", "example_f1"}, default="micro_f1"
        What ``"tune"`` is for: the setting is taken that does best on the training rows, each
        predicted from the others.
    index : transformer or None, default=None
        Finds neighbours instead of the exact search: scikit-learn's ``KNeighborsTransformer``, or
        one of its kind (pynndescent, faiss), with ``mode="distance"`` and as many neighbours as
        are asked for, or one more where something is tuned.
    decoder : str, BaseDecoder or None, default=None
        ``None`` is the threshold; ``"f1"`` the label set of the highest expected F1, and so on.
    empty : {"allow", "forbid"}, default="allow"
        ``"forbid"`` turns the best label on where none is.

    Attributes
    ----------
    n_neighbors_, weights_, threshold_ : int, str, float
        As given or tuned; never more neighbours than training rows.
    tuned_score_ : float
        The measure on the training rows at the setting chosen; NaN where nothing was tuned.
    points_ : array or CSR array of shape (n_samples, n_features)
        Training rows.
    labels_ : CSR array of shape (n_samples, n_labels)
    classes_ : ndarray
        ``arange(n_labels)``, or the classes of a 1-D target.

    Notes
    -----
    Prediction costs ``2 n_samples n_features`` flops a row, less where ``X`` is sparse; tuning the
    same for each training row. Of the sum of weights, exactly one half is not above one half.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> from colabel.metrics import f1_score
    >>> train, test = load("yeast:train"), load("yeast:test")
    >>> plain = KNNClassifier().fit(train.X, train.Y)
    >>> tuned = KNNClassifier("tune", threshold="tune").fit(train.X, train.Y)
    >>> for model in (plain, tuned):
    ...     print(f"{f1_score(test.Y, model.predict(test.X), average='micro'):.2f}")
    0.64
    0.66
    """

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        weights: str = "mild",
        threshold: float | str = 0.5,
        measure: str = "micro_f1",
        index: Any = None,
        decoder: str | BaseDecoder | None = None,
        empty: str = "allow",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.threshold = threshold
        self.measure = measure
        self.index = index
        self.decoder = decoder
        self.empty = empty
