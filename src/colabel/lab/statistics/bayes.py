"""How probable it is that a method is better in practice (Benavoli et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from colabel.lab.statistics._check import check_pair

__all__ = ["BayesianSignedRank", "bayesian_signed_rank"]


@dataclass(frozen=True)
class BayesianSignedRank:
    """Probabilities of the three answers, which sum to one.

    Parameters
    ----------
    p_first, p_equal, p_second : float
        That the first method is better by more than ``rope``, that neither is, and that the
        second is.
    rope : float
        Region of practical equivalence.
    sample : ndarray of shape (n_samples, 3)
        Draws of the posterior: the shares of the three, for pictures.
    """

    p_first: float
    p_equal: float
    p_second: float
    rope: float
    sample: np.ndarray = field(repr=False)


def bayesian_signed_rank(
    first: Any,
    second: Any,
    *,
    rope: float = 0.01,
    greater_is_better: bool = True,
    prior: float = 0.5,
    n_samples: int = 50_000,
    random_state: Any = 0,
) -> BayesianSignedRank:
    """Compare two methods over datasets by a Dirichlet process on their differences.

    The posterior is sampled. O(n_samples n_datasets²) time.

    Parameters
    ----------
    first, second : array-like of shape (n_datasets,)
        Means of a measure on each dataset.
    rope : float
        Differences up to this are none in practice; 0.01 is customary for shares.
    greater_is_better : bool
    prior : float
        Weight of the belief that there is no difference, in datasets.
    n_samples : int
    random_state : int, RandomState or None

    Examples
    --------
    >>> found = bayesian_signed_rank([0.9, 0.8, 0.7, 0.9], [0.8, 0.7, 0.7, 0.7])
    >>> found.p_first > 0.9 > found.p_equal > found.p_second
    True
    """
    better = check_pair(first, second) * (1.0 if greater_is_better else -1.0)
    if rope < 0 or prior <= 0 or n_samples < 1:
        raise ValueError("rope must not be below zero; prior and n_samples must be above it")
    z = np.concatenate([[0.0], better])  # the prior is one more dataset, without a difference
    weights = check_random_state(random_state).dirichlet(
        np.concatenate([[prior], np.ones(len(better))]), n_samples
    )
    sums = z[:, None] + z
    shares = np.empty((n_samples, 3))
    for column, some in ((0, -sums), (2, sums)):
        beyond = np.heaviside(some - 2.0 * rope, 0.5)
        shares[:, column] = ((weights @ beyond) * weights).sum(axis=1)
    shares[:, 1] = np.maximum(1.0 - shares[:, 0] - shares[:, 2], 0.0)
    is_most = shares == shares.max(axis=1, keepdims=True)
    p = (is_most / is_most.sum(axis=1, keepdims=True)).mean(axis=0)
    return BayesianSignedRank(float(p[0]), float(p[1]), float(p[2]), rope, shares)
