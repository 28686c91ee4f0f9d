"""Statistics of comparisons: which differences between methods are more than chance.

All functions are pure: arrays in, a frozen dataclass out. They raise ``ValueError`` where values
are missing; leave such rows or columns out first.

Over several datasets (Demšar 2006), ``values`` of shape (n_datasets, n_methods), one mean of a
measure in each place; ``greater_is_better=False`` for losses:

- ``average_ranks(values)``: array of shape (n_methods,); 1 is best, equal values share their ranks.
- ``friedman(values)``: ``ranks``, ``statistic``, ``p_value``, and the sharper ``f_statistic``,
  ``f_p_value`` of Iman and Davenport (1980).
- ``nemenyi(values, alpha=0.05)``: ``ranks``, ``critical_difference``, ``p_values`` (n_methods,
  n_methods), and ``groups``, the bars of a critical-difference diagram: tuples of columns, best
  first. ``critical_difference(n_methods, n_datasets, alpha)`` is the length alone.
- ``wilcoxon_holm(values, alpha=0.05)``: every pair of methods: ``pairs``, ``statistics``,
  ``p_values``, ``adjusted`` for their number (Holm 1979), ``significant``. ``holm(p_values)`` is
  the correction alone.
- ``bayesian_signed_rank(first, second, rope=0.01)``: ``p_first``, ``p_equal``, ``p_second``, the
  probabilities that one method is better in practice, or that they are equal (Benavoli et al.
  2017).

On one dataset:

- ``mean_sd(values)``: ``mean``, ``sd``, ``n`` over folds and seeds; prints as ``0.520 ± 0.013``.
- ``corrected_t_test(first, second, test_share)``: over the folds of repeated cross-validation,
  whose training sets overlap (Nadeau and Bengio 2003): ``difference``, ``error``, ``statistic``,
  ``p_value``, ``degrees_of_freedom``, ``interval(confidence)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_random_state

__all__ = [
    "BayesianSignedRank",
    "CorrectedTTest",
    "Friedman",
    "MeanSd",
    "Nemenyi",
    "WilcoxonHolm",
    "average_ranks",
    "bayesian_signed_rank",
    "corrected_t_test",
    "critical_difference",
    "friedman",
    "holm",
    "mean_sd",
    "nemenyi",
    "wilcoxon_holm",
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


def average_ranks(values: ArrayLike, *, greater_is_better: bool = True) -> np.ndarray:
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
    return _ranks(_check_table(values, n_datasets=1), greater_is_better).mean(axis=0)


def friedman(
    values: ArrayLike, *, greater_is_better: bool = True, correct_ties: bool = False
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
    table = _check_table(values)
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


def nemenyi(values: ArrayLike, *, greater_is_better: bool = True, alpha: float = 0.05) -> Nemenyi:
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
    table = _check_table(values)
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
    _check_level(alpha)
    if n_methods < 2 or n_datasets < 1:
        raise ValueError("at least 2 methods and 1 dataset are needed")
    q = stats.studentized_range.ppf(1.0 - alpha, n_methods, np.inf) / np.sqrt(2.0)
    return float(q) * _scale(n_methods, n_datasets)


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
    values: ArrayLike, *, greater_is_better: bool = True, alpha: float = 0.05
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
    table = _check_table(values)
    _check_level(alpha)
    pairs = tuple(combinations(range(table.shape[1]), 2))
    sign = 1.0 if greater_is_better else -1.0
    differences = [sign * (table[:, i] - table[:, j]) for i, j in pairs]
    tests = np.array([_signed_rank(difference) for difference in differences])
    wins = np.array([0.5 * (1.0 + np.sign(some)).sum() for some in differences])
    return WilcoxonHolm(pairs, tests[:, 0], tests[:, 1], holm(tests[:, 1]), wins, alpha)


def holm(p_values: ArrayLike) -> np.ndarray:
    """Adjust p-values for their number, step by step from the smallest (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = _check_sample(p_values)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


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
    first: ArrayLike,
    second: ArrayLike,
    *,
    rope: float = 0.01,
    greater_is_better: bool = True,
    prior: float = 0.5,
    n_samples: int = 50_000,
    random_state: int | np.random.RandomState | None = 0,
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
    better = _check_pair(first, second) * (1.0 if greater_is_better else -1.0)
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


@dataclass(frozen=True)
class MeanSd:
    """A mean, and the standard deviation of what it is the mean of (NaN for one value)."""

    mean: float
    sd: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f}" if np.isnan(self.sd) else f"{self.mean:.3f} ± {self.sd:.3f}"


@dataclass(frozen=True)
class CorrectedTTest:
    """Whether two methods differ on one dataset.

    Parameters
    ----------
    difference : float
        Mean of the second less the first.
    error : float
        Its standard error, corrected for the overlap of training sets.
    statistic, p_value : float
        Student's t, and the probability of one as far from zero where there is no difference.
    degrees_of_freedom : int
    """

    difference: float
    error: float
    statistic: float
    p_value: float
    degrees_of_freedom: int

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the bounds of the difference."""
        _check_level(confidence, "confidence")
        reach = self.error * stats.t.ppf(0.5 + 0.5 * confidence, self.degrees_of_freedom)
        return float(self.difference - reach), float(self.difference + reach)


def mean_sd(values: ArrayLike) -> MeanSd:
    """Return mean and sample standard deviation.

    Examples
    --------
    >>> print(mean_sd([0.50, 0.52, 0.54]))
    0.520 ± 0.020
    """
    sample = _check_sample(values)
    sd = float(np.std(sample, ddof=1)) if len(sample) > 1 else float("nan")
    return MeanSd(float(np.mean(sample)), sd, len(sample))


def corrected_t_test(first: ArrayLike, second: ArrayLike, test_share: float) -> CorrectedTTest:
    """Compare two methods on the same folds of one dataset.

    Folds share most of their training rows, so that values are not independent, and a plain t-test
    finds differences where there are none. The variance of the mean is that of the values times
    ``1 / n + n_test / n_train`` and not ``1 / n`` (Nadeau and Bengio 2003); over repeated
    cross-validation it is the test of Bouckaert and Frank (2004).

    Parameters
    ----------
    first, second : array-like of shape (n_values,)
        A measure on every fold of every repetition, in the same order.
    test_share : float
        Share of the rows that is tested: 0.1 for ten folds, F for ``holdout:F``.

    Examples
    --------
    >>> found = corrected_t_test([0.50, 0.52, 0.51, 0.53], [0.53, 0.54, 0.55, 0.54], 0.25)
    >>> round(found.difference, 3), round(found.statistic, 2), round(found.p_value, 3)
    (0.025, 2.54, 0.085)
    """
    _check_level(test_share, "test_share")
    difference = _check_pair(first, second, n_values=2)
    n = len(difference)
    mean = float(np.mean(difference))
    if np.ptp(difference) == 0.0:  # rounding would make a variance of it
        statistic = np.copysign(np.inf, mean) if mean else 0.0
        return CorrectedTTest(mean, 0.0, float(statistic), 0.0 if mean else 1.0, n - 1)
    share = 1.0 / n + test_share / (1.0 - test_share)
    error = float(np.sqrt(share * np.var(difference, ddof=1)))
    statistic = mean / error
    return CorrectedTTest(
        mean, error, statistic, float(2.0 * stats.t.sf(abs(statistic), n - 1)), n - 1
    )


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


def _check_table(values: ArrayLike, n_datasets: int = 2) -> np.ndarray:
    """Return values as an array of shape (n_datasets, n_methods); raise if it is none."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(
            f"values need a row a dataset and a column a method, not {table.ndim} axes"
        )
    if len(table) < n_datasets or table.shape[1] < 2:
        needed = f"at least {n_datasets} datasets and 2 methods are needed"
        raise ValueError(f"{needed}, not {len(table)} and {table.shape[1]}")
    for row, column in np.argwhere(~np.isfinite(table)):
        what = f"the value of dataset {row} and method {column}"
        raise ValueError(f"{what} is missing: leave one of them out")
    return table


def _check_sample(values: ArrayLike, n_values: int = 1) -> np.ndarray:
    """Return values as an array of one axis; raise if it is none."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < n_values:
        plural = "s" if n_values > 1 else ""
        raise ValueError(f"at least {n_values} value{plural} on one axis, not {sample.shape}")
    for missing in np.flatnonzero(~np.isfinite(sample)):
        raise ValueError(f"value {missing} is missing: leave it out")
    return sample


def _check_pair(first: ArrayLike, second: ArrayLike, n_values: int = 1) -> np.ndarray:
    """Return ``second - first``, value by value."""
    one, other = _check_sample(first, n_values), _check_sample(second, n_values)
    if len(one) != len(other):
        counts = f"{len(one)}, {len(other)}"
        raise ValueError(f"two methods need as many values as another, not {counts}")
    difference: np.ndarray = other - one
    return difference


def _check_level(alpha: float, name: str = "alpha") -> float:
    """Return a probability that is neither 0 nor 1."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, not at {alpha}")
    return alpha
