"""What chains and dependency networks have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from colabel.reduction._base import ReductionClassifier
from colabel.reduction._conditionals import Conditionals, Parents, fit_conditionals

__all__ = ["ConditionalClassifier", "chain_order", "chain_parents"]

Order = NDArray[np.intp]


class ConditionalClassifier(ReductionClassifier):
    """Base of the estimators that model ``p(y_l | x, other labels)``, one classifier a label.

    Labels stand beside the features of ``X``, which must therefore be numbers, dense or sparse.
    """

    _needs_probabilities: ClassVar[bool] = False

    n_jobs: int | None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        inner = self._inner()
        if self._needs_probabilities and not hasattr(inner, "predict_proba"):
            raise ValueError(
                f"{type(self).__name__} needs an estimator with predict_proba; got {inner!r}"
            )

    def _validate(self, X: Any, *, reset: bool) -> Any:
        finite = "allow-nan" if get_tags(self._inner()).input_tags.allow_nan else True
        return validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=finite,
            reset=reset,
        )

    def _fit_conditionals(
        self, X: Any, Y: Any, parents: Sequence[Parents], weight: Any, params: dict[str, Any]
    ) -> list[Conditionals]:
        return fit_conditionals(
            self._fresh(), X, Y, parents, weight=weight, params=params, n_jobs=self.n_jobs
        )


def chain_order(order: Any, n_labels: int, rng: np.random.RandomState) -> Order:
    """Return the order of a chain: as given, or drawn.

    Parameters
    ----------
    order : None, "random" or array-like of shape (n_labels,)
        ``None`` is the order of the columns.
    n_labels : int
    rng : RandomState
    """
    if order is None:
        return np.arange(n_labels)
    if isinstance(order, str):
        if order != "random":
            raise ValueError(f"order must be None, 'random' or a list of labels, not {order!r}")
        return rng.permutation(n_labels)
    given = np.asarray(order)
    if given.shape != (n_labels,) or not np.array_equal(np.sort(given), np.arange(n_labels)):
        raise ValueError(f"order must hold each of the labels 0 to {n_labels - 1} once")
    return given.astype(np.intp)


def chain_parents(order: Order) -> list[Order]:
    """Return the labels before each label, in the order of the chain."""
    place = np.argsort(order)
    return [order[: place[label]] for label in range(len(order))]
