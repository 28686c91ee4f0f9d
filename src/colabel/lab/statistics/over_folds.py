"""One dataset: means over folds and seeds, and a t-test that knows how folds overlap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from colabel.lab.statistics._check import check_level, check_pair, check_sample

__all__ = ["CorrectedTTest", "MeanSd", "corrected_t_test", "mean_sd"]


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
        check_level(confidence, "confidence")
        reach = self.error * stats.t.ppf(0.5 + 0.5 * confidence, self.degrees_of_freedom)
        return float(self.difference - reach), float(self.difference + reach)


def mean_sd(values: ArrayLike) -> MeanSd:
    """Return mean and sample standard deviation.

    Examples
    --------
    >>> print(mean_sd([0.50, 0.52, 0.54]))
    0.520 ± 0.020
    """
    sample = check_sample(values)
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
    check_level(test_share, "test_share")
    difference = check_pair(first, second, n_values=2)
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
