"""Seeds of the classifiers inside an estimator, drawn from its own."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["seeded"]


def seeded(estimator: Any, rng: np.random.RandomState) -> Any:
    """Give a number to every ``random_state`` of ``estimator`` that is None; return it.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> seeded(DecisionTreeClassifier(), np.random.RandomState(0)).random_state
    209652396
    """
    params = estimator.get_params()
    seeds = {
        key: rng.randint(np.iinfo(np.int32).max)
        for key in sorted(params)
        if key.rpartition("__")[2] == "random_state" and params[key] is None
    }
    return estimator.set_params(**seeds)
