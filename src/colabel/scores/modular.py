"""A score for each label: labels apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, log_expit
from sklearn.utils import check_random_state

from colabel._rows import RowIndex
from colabel.scores.base import (
    Floats,
    Labels,
    RandomState,
    ScoreTable,
    binary,
    floats,
)

__all__ = ["Modular"]


@dataclass(frozen=True, eq=False)
class Modular(ScoreTable):
    """Independent labels: ``score(y) = sum_l unary_l y_l``.

    Parameters
    ----------
    unary : array-like of shape (n_samples, n_labels)
        Gain of turning each label on.
    log_odds : bool, default=False
        Whether ``unary`` holds log-odds, so that the table is a product of Bernoullis.

    Examples
    --------
    >>> table = Modular([[0.0, 2.0]], log_odds=True)
    >>> table.marginals().round(2)
    array([[0.5 , 0.88]])
    >>> float(table.value([[1, 1]])[0])
    2.0
    """

    unary: Floats
    log_odds: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "unary", floats(self.unary, 2, "unary"))

    @property
    def n_samples(self) -> int:
        return int(self.unary.shape[0])

    @property
    def n_labels(self) -> int:
        return int(self.unary.shape[1])

    @property
    def is_distribution(self) -> bool:
        return self.log_odds

    def value(self, Z: ArrayLike) -> Floats:
        return np.einsum("nl,nl->n", self.unary, floats(Z, 2, "Z"))

    def value_all(self, labelings: ArrayLike) -> Floats:
        return self.unary @ floats(labelings, 2, "labelings").T

    def take(self, rows: RowIndex) -> Modular:
        return Modular(self.unary[rows], self.log_odds)

    def plus_unary(self, cost: ArrayLike) -> Modular:
        """Return the table with ``cost`` (n_samples, n_labels) added to the unary scores."""
        return Modular(self.unary + floats(cost, 2, "cost"))

    def log_prob(self, Y: ArrayLike) -> Floats:
        self._require_log_odds()
        Y = binary(Y, self.unary.shape, "Y")
        return np.sum(log_expit(np.where(Y > 0, self.unary, -self.unary)), axis=1)

    def marginals(self) -> Floats:
        self._require_log_odds()
        return expit(self.unary)

    def label_scores(self) -> Floats:
        return self.unary

    def sample(self, n_draws: int, random_state: RandomState = None) -> Labels:
        draws = check_random_state(random_state).random_sample(
            (self.n_samples, n_draws, self.n_labels)
        )
        return (draws < self.marginals()[:, None, :]).astype(np.int8)

    def correlations(self) -> Floats:
        self._require_log_odds()
        return np.broadcast_to(np.eye(self.n_labels), (self.n_samples,) + 2 * (self.n_labels,))

    def _require_log_odds(self) -> None:
        if not self.log_odds:
            raise self._no_distribution()
