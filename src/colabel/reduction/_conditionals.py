"""One conditional distribution ``p(y_l | x, some other labels)`` a label: fitting and keeping it.

Chains give label ``l`` the labels before it, dependency networks all others. Training uses the true
labels, so the conditionals are independent problems: logistic regressions are solved in one batch,
for one chain or many, on ``[X, Y]`` with a mask; any other classifier is fitted step by step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from colabel.linear.logistic import fit_logistic
from colabel.numerics.magnitude import check_magnitude
from colabel.reduction._binary_relevance import _constant_log_odds, _fit_label
from colabel.reduction._conditional_search import FittedRows, join
from colabel.reduction._linear_rows import LinearRows
from colabel.reduction._logistic import BatchLogisticRegression

__all__ = [
    "Conditionals",
    "FittedConditionals",
    "LinearConditionals",
    "Parents",
    "fit_conditionals",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
# The labels that each label is given, in the order in which a classifier sees them.
Parents = list[NDArray[np.intp]]

# Coefficients solved at once: the solver keeps some twenty numbers for each.
COEFFICIENTS = 2_000_000


@dataclass(frozen=True, eq=False)
class LinearConditionals:
    """Log-odds ``coef_l . x + intercept_l + couplings_l . y`` of each label.

    Parameters
    ----------
    coef : ndarray of shape (n_labels, n_features)
    intercept : ndarray of shape (n_labels,)
    couplings : ndarray of shape (n_labels, n_labels)
        Effect of label ``m`` on label ``l`` at ``[l, m]``; zero where ``l`` is not given ``m``.
    """

    coef: Floats
    intercept: Floats
    couplings: Floats

    def at(self, X: Any) -> LinearRows:
        """Return the conditionals of the rows of ``X``."""
        return LinearRows(np.asarray(X @ self.coef.T) + self.intercept, self.couplings)

    def row_bytes(self, n_labelings: int, n_features: int) -> int:
        """Bytes that a row takes while ``n_labelings`` of it are scored."""
        return 32 * n_labelings + 16 * len(self.intercept)


@dataclass(frozen=True, eq=False)
class FittedConditionals:
    """A classifier a label, on ``x`` and the labels that it is given.

    Parameters
    ----------
    estimators : list
        ``None`` for a label that is constant in training.
    parents : list of ndarray
    constant : ndarray of shape (n_labels,)
        Log-odds of the constant labels, NaN for the others.
    """

    estimators: list[Any]
    parents: list[NDArray[np.intp]]
    constant: Floats

    def at(self, X: Any) -> FittedRows:
        """Return the conditionals of the rows of ``X``."""
        return FittedRows(X, self.estimators, self.parents, self.constant)

    def row_bytes(self, n_labelings: int, n_features: int) -> int:
        """Bytes that a row takes while ``n_labelings`` of it are scored, each beside a copy."""
        return n_labelings * (32 + 16 * (n_features + len(self.estimators)))


Conditionals = LinearConditionals | FittedConditionals


def fit_conditionals(
    base: Any,
    X: Any,
    Y: Labels,
    parents: Sequence[Parents],
    *,
    weight: Floats | None,
    params: dict[str, Any],
    n_jobs: int | None,
) -> list[Conditionals]:
    """Fit a set of conditionals for each entry of ``parents``.

    Parameters
    ----------
    base : classifier
        Cloned; a ``BatchLogisticRegression`` is solved in batches.
    X : array or CSR matrix of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels), int8
    parents : sequence of sequences of ndarray
    weight : ndarray of shape (n_samples,) or None
        Also in ``params``, where the classifier takes it.
    params : dict
        Of the classifier's ``fit``.
    n_jobs : int or None
        Classifiers fitted at the same time.
    """
    constant = _constant_log_odds(Y, weight)
    if isinstance(base, BatchLogisticRegression):
        return [*_fit_linear(base, X, Y, parents, weight, constant)]
    learnt = np.flatnonzero(np.isnan(constant)).tolist()
    fitted = iter(
        Parallel(n_jobs=n_jobs)(
            delayed(_fit_label)(base, join(X, Y[:, given[label]]), Y[:, label], params)
            for given in parents
            for label in learnt
        )
    )
    return [
        FittedConditionals(
            [next(fitted) if learn else None for learn in np.isnan(constant)], given, constant
        )
        for given in parents
    ]


def _fit_linear(
    base: BatchLogisticRegression,
    X: Any,
    Y: Labels,
    parents: Sequence[Parents],
    weight: Floats | None,
    constant: Floats,
) -> Iterator[LinearConditionals]:
    check_magnitude(X)
    n_features, n_labels = X.shape[1], Y.shape[1]
    learnt = np.flatnonzero(np.isnan(constant))
    features = join(X, Y)
    step = max(1, COEFFICIENTS // max(1, len(learnt) * features.shape[1]))
    for first in range(0, len(parents), step):
        some = parents[first : first + step]
        coef = np.zeros((len(some), n_labels, features.shape[1]))
        intercept = np.tile(np.nan_to_num(constant), (len(some), 1))
        if len(learnt):
            mask = np.concatenate([_mask(given, learnt, features.shape) for given in some])
            found = fit_logistic(
                features,
                np.tile(Y[:, learnt], len(some)),
                weight=weight,
                mask=mask,
                **base._options(),
            )
            base._warn(found)
            coef[:, learnt] = found.coef.reshape(len(some), len(learnt), -1)
            intercept[:, learnt] = found.intercept.reshape(len(some), -1)
        for c, b in zip(coef, intercept, strict=True):
            x, y = np.split(c, [n_features], axis=1)
            yield LinearConditionals(np.ascontiguousarray(x), b, np.ascontiguousarray(y))


def _mask(given: Parents, learnt: NDArray[np.intp], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Mark the features and the parents of each label learnt: (n_learnt, n_features + n_labels)."""
    n_features = shape[1] - len(given)
    mask = np.zeros((len(learnt), shape[1]), dtype=bool)
    mask[:, :n_features] = True
    for row, label in zip(mask, learnt, strict=True):
        row[n_features + given[label]] = True
    return mask
