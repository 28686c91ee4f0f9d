"""Features so large that their squares are beyond double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["check_magnitude", "largest_magnitude"]

# A hundred million squares of this add up within double precision.
LARGEST = 1e150


def check_magnitude(X: Any) -> None:
    """Refuse features that a linear model cannot square and add up.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features), finite
    """
    largest = largest_magnitude(X)
    if largest > LARGEST:
        raise ValueError(
            f"X holds {largest:.3g}, whose square is beyond double precision; scale the features"
        )


def largest_magnitude(X: Any) -> float:
    """Return the largest absolute value of ``X``, dense or sparse; 0 where it has none."""
    values = X.data if sparse.issparse(X) else X
    return float(max(np.max(values, initial=0.0), -np.min(values, initial=0.0)))
