"""What structured support vector machines keep of a solution, and say of it."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from colabel.learners.margin import MarginSolution
from colabel.messages import warn_user

__all__ = ["keep_solution"]


def keep_solution(estimator: Any, found: MarginSolution, advice: str, unit: str = "passes") -> None:
    """Set the attributes that tell of the optimum; warn, at the caller's line, of an open gap."""
    estimator.history_, estimator.lower_bounds_ = found.history, found.lower
    estimator.certified_ = found.certified
    estimator.n_iter_ = found.n_iter
    estimator.gap_ = max(0.0, found.gap)
    estimator.objective_ = float(found.lower.max()) + found.gap
    if not found.converged:
        warn_user(
            f"{type(estimator).__name__} stopped after {found.n_iter} {unit}: its objective, "
            f"{estimator.objective_:.4g}, is up to {estimator.gap_:.2g} too high; {advice}",
            ConvergenceWarning,
        )
