"""Ranks over several datasets: Friedman's test, and Nemenyi's after it (Demšar 2006)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import stats

from colabel.lab.statistics._check import check_level, check_table

__all__ = [
    "Friedman",
    "Nemenyi",
    "average_ranks",
    "critical_difference",
    "friedman",
    "nemenyi",
]


@dataclass(frozen=True)
class Friedman:
    """Whether methods differ at all.

    Parameters
    ----------
    ranks : ndarray of shape (n_methods,)
        Average ranks; 1 is best.
    statistic, p_value : float
        Friedman's chi-squared, with ``n_methods - 1`` degrees of freedom.
    f_statistic, f_p_value : float
        The F of Iman and Davenport (1980), with ``n_methods - 1`` and
        ``(n_methods - 1) * (n_datasets - 1)`` degrees of freedom; infinite where all datasets
        rank alike.
    n_datasets : int
    """

    ranks: np.ndarray = field(repr=False)
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    n_datasets: int


@dataclass(frozen=True)
class Nemenyi:
    """Which methods differ from which.

    Parameters
    ----------
    ranks : ndarray of shape (n_methods,)
        Average ranks; 1 is best.
    critical_difference : float
        Ranks at least so far apart differ at level ``alpha``.
    p_values : ndarray of shape (n_methods, n_methods)
        Of all pairs together; 1 on the diagonal.
    groups : tuple of tuple of int
        Columns that do not differ, best first: the bars of a critical-difference diagram. Those
        inside another, or of one method, are left out.
    alpha : float
    """

    ranks: np.ndarray = field(repr=False)
    critical_difference: float
    p_values: np.ndarray = field(repr=False)
    groups: tuple[tuple[int, ...], ...]
    alpha: float


def average_ranks(values: Any, *, greater_is_better: bool = True) -> np.ndarray:
    """Rank methods on each dataset, and average over datasets.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
    greater_is_better : bool

    Returns
    -------
    ndarray of shape (n_methods,)
        1 is best; equal values share the mean of their ranks.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    array([1.25, 1.75, 3.  ])
    """
    return _ranks(check_table(values, n_datasets=1), greater_is_better).mean(axis=0)


def friedman(
    values: Any, *, greater_is_better: bool = True, correct_ties: bool = False
) -> Friedman:
    """Test whether all methods are alike.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
    greater_is_better : bool
    correct_ties : bool
        Divide by what equal values leave of the variance of ranks, as scipy does. Demšar (2006)
        does not, which finds fewer differences.

    Examples
    --------
    >>> found = friedman([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4], [0.3, 0.1, 0.2]])
    >>> round(found.statistic, 2), round(found.f_statistic, 2), round(found.f_p_value, 3)
    (4.67, 7.0, 0.049)
    """
    table = check_table(values)
    n, k = table.shape
    ranks = _ranks(table, greater_is_better)
    means = ranks.mean(axis=0)
    # Section 3.2.2, Demšar 2006; written with deviations, as equal ranks give 0 exactly so.
    statistic = 12.0 * n / (k * (k + 1)) * float(((means - (k + 1) / 2) ** 2).sum())
    if correct_ties:
        left = float(ranks.var(axis=1).sum()) / (n * (k * k - 1) / 12.0)
        statistic = statistic / left if left > 0 else 0.0
    rest = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 1e-12 * n * k else np.inf
    return Friedman(
        means,
        statistic,
        float(stats.chi2.sf(statistic, k - 1)),
        float(f_statistic),
        float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1))),
        n,
    )


def nemenyi(values: Any, *, greater_is_better: bool = True, alpha: float = 0.05) -> Nemenyi:
    """Compare all pairs of methods by their average ranks.

    Parameters
    ----------
    values : array-like of shape (n_datasets, n_methods)
    greater_is_better : bool
    alpha : float
        Probability of finding any difference where there is none.

    Examples
    --------
    >>> found = nemenyi([[0.9, 0.8, 0.1], [0.8, 0.9, 0.2], [0.7, 0.6, 0.3], [0.6, 0.5, 0.4]])
    >>> round(found.critical_difference, 3), found.groups
    (1.657, ((0, 1), (1, 2)))
    """
    table = check_table(values)
    n, k = table.shape
    ranks = average_ranks(table, greater_is_better=greater_is_better)
    length = critical_difference(k, n, alpha)
    gaps = np.abs(ranks[:, None] - ranks)
    # The studentised range is that of deviations whose own scale has no factor of two.
    p_values = stats.studentized_range.sf(np.sqrt(2.0) * gaps / _scale(k, n), k, np.inf)
    np.fill_diagonal(p_values, 1.0)
    return Nemenyi(ranks, length, np.minimum(p_values, 1.0), _groups(ranks, length), alpha)


def critical_difference(n_methods: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Return how far apart average ranks must be to differ by Nemenyi's test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)  # Demšar 2006
    1.25
    """
    check_level(alpha)
    if n_methods < 2 or n_datasets < 1:
        raise ValueError("at least 2 methods and 1 dataset are needed")
    q = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q) * _scale(n_methods, n_datasets)


def _ranks(table: np.ndarray, greater_is_better: bool) -> np.ndarray:
    ranks: np.ndarray = stats.rankdata(-table if greater_is_better else table, axis=1)
    return ranks


def _scale(k: int, n: int) -> float:
    """Return the standard error of a difference of average ranks."""
    return float(np.sqrt(k * (k + 1) / (6.0 * n)))


def _groups(ranks: np.ndarray, length: float) -> tuple[tuple[int, ...], ...]:
    """List the longest stretches of ranks shorter than a length."""
    order = np.argsort(ranks, kind="stable")
    found: list[tuple[int, ...]] = []
    reached = 0
    for start, column in enumerate(order):
        stop = start + int(np.sum(ranks[order[start:]] - ranks[column] < length))
        if stop - start > 1 and stop > reached:
            found.append(tuple(int(one) for one in order[start:stop]))
        reached = max(reached, stop)
    return tuple(found)
