"""Every pair of methods over several datasets: Wilcoxon's test with Holm's correction."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

from colabel.lab.statistics._check import check_level, check_sample, check_table

__all__ = ["WilcoxonHolm", "holm", "wilcoxon_holm"]


@dataclass(frozen=True)
class WilcoxonHolm:
    """All pairs of methods.

    Parameters
    ----------
    pairs : tuple of (int, int)
        Columns, the smaller first.
    statistics : ndarray of shape (n_pairs,)
        The smaller of the two sums of ranks.
    p_values : ndarray of shape (n_pairs,)
        Of both sides, each pair for itself.
    adjusted : ndarray of shape (n_pairs,)
        For all pairs together (Holm 1979).
    wins : ndarray of shape (n_pairs,)
        Datasets on which the first is better, equal ones counted as halves.
    alpha : float
    """

    pairs: tuple[tuple[int, int], ...]
    statistics: np.ndarray = field(repr=False)
    p_values: np.ndarray = field(repr=False)
    adjusted: np.ndarray = field(repr=False)
    wins: np.ndarray = field(repr=False)
    alpha: float

    @property
    def significant(self) -> np.ndarray:
        """Whether the two differ at level ``alpha``, all pairs together."""
        return self.adjusted <= self.alpha


def wilcoxon_holm(
    values: Any, *, greater_is_better: bool = True, alpha: float = 0.05
) -> WilcoxonHolm:
    """Compare all pairs of methods by the signed ranks of their differences.

    Ranks of zero differences are shared by both sides, as Demšar (2006) does. The distribution is
    exact, for equal differences too: O(n_datasets³) time a pair.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
    greater_is_better : bool
    alpha : float

    Examples
    --------
    >>> found = wilcoxon_holm([[0.9, 0.8], [0.7, 0.5], [0.6, 0.3], [0.5, 0.1], [0.8, 0.3]])
    >>> found.statistics, found.p_values
    (array([0.]), array([0.0625]))
    """
    table = check_table(values)
    check_level(alpha)
    pairs = tuple(combinations(range(table.shape[1]), 2))
    sign = 1.0 if greater_is_better else -1.0
    differences = [sign * (table[:, i] - table[:, j]) for i, j in pairs]
    tests = np.array([_signed_rank(difference) for difference in differences])
    wins = np.array([0.5 * (1.0 + np.sign(some)).sum() for some in differences])
    return WilcoxonHolm(pairs, tests[:, 0], tests[:, 1], holm(tests[:, 1]), wins, alpha)


def holm(p_values: Any) -> np.ndarray:
    """Adjust p-values for their number, step by step from the smallest (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = check_sample(p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def _signed_rank(difference: np.ndarray) -> tuple[float, float]:
    """Return the smaller sum of ranks, and how probable one as small is under random signs.

    Ranks are doubled, so that shared ones and halves of those of zeros are whole numbers.
    """
    ranks = np.rint(2.0 * stats.rankdata(np.abs(difference))).astype(np.int64)
    signed, sign = ranks[difference != 0.0], np.sign(difference[difference != 0.0])
    ways = np.ones(1)  # ways[s]: probability that the positive ranks so far sum to s
    for rank in signed:
        longer = np.zeros(len(ways) + rank)
        longer[: len(ways)] += 0.5 * ways
        longer[rank:] += 0.5 * ways
        ways = longer
    smaller = int(min(signed[sign > 0].sum(), signed[sign < 0].sum()))
    of_zeros = int(ranks[difference == 0.0].sum())
    p_value = min(1.0, 2.0 * float(ways[: smaller + 1].sum()))
    return 0.5 * smaller + 0.25 * of_zeros, p_value
