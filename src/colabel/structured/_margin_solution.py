"""What structured support vector machines keep of a solution, and say of it."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from colabel.learners.margin import MarginSolution

__all__ = ["keep_solution"]


def keep_solution(estimator: Any, found: MarginSolution, advice: str, unit: str = "passes") -> None:
    """Set the attributes that tell of the optimum; warn, at the caller's line, of an open gap."""
    estimator.history_, estimator.lower_bounds_ = found.history, found.lower
    estimator.certified_ = found.certified
    estimator.n_iter_ = found.n_iter
    estimator.gap_ = max(0.0, found.gap)
    estimator.objective_ = float(found.lower.max()) + found.gap
    if not found.converged:
        warnings.warn(
            f"{type(estimator).__name__} stopped after {found.n_iter} {unit}: its objective, "
            f"{estimator.objective_:.4g}, is up to {estimator.gap_:.2g} too high; {advice}",
            ConvergenceWarning,
            stacklevel=_levels_inside() + 1,
        )


def _levels_inside() -> int:
    """Count the calls from the user's line to the function that asks."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("colabel."):
        level, frame = level + 1, frame.f_back
    return level - 1
