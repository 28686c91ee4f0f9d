"""What structured support vector machines keep of a solution, and say of it."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from colabel.learners.margin import MarginSolution

__all__ = ["keep_solution"]


def keep_solution(estimator: Any, found: MarginSolution, advice: str) -> None:
    """Set the attributes that tell of the optimum; warn where its gap is open.

    Called by ``_fit``, or by what it calls: the warning is to point at the user's line.
    """
    estimator.history_, estimator.lower_bounds_ = found.history, found.lower
    estimator.certified_ = found.certified
    estimator.n_iter_ = found.n_iter
    estimator.gap_ = max(0.0, found.gap)
    estimator.objective_ = float(found.lower.max()) + found.gap
    if not found.converged:
        warnings.warn(
            f"{type(estimator).__name__} stopped after {found.n_iter} passes: its objective, "
            f"{estimator.objective_:.4g}, is up to {estimator.gap_:.2g} too high; {advice}",
            ConvergenceWarning,
            stacklevel=7,
        )
