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

from colabel.lab.statistics.over_datasets import (
    BayesianSignedRank,
    Friedman,
    Nemenyi,
    WilcoxonHolm,
    average_ranks,
    bayesian_signed_rank,
    critical_difference,
    friedman,
    holm,
    nemenyi,
    wilcoxon_holm,
)
from colabel.lab.statistics.over_folds import CorrectedTTest, MeanSd, corrected_t_test, mean_sd

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
