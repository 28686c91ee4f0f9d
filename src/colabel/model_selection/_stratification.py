"""Stratified splits of multi-label data as scikit-learn splitters.

Plain random folds can miss a rare label altogether; these folds give each label its share, and
can keep groups of samples together. How rows are dealt out is explained in
:mod:`colabel.model_selection._deal`.
"""

from collections.abc import Iterator
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator, BaseShuffleSplit
from sklearn.utils import check_random_state, indexable

from colabel._sklearn import n_rows, take_rows
from colabel.model_selection._deal import deal

__all__ = [
    "IterativeStratifiedKFold",
    "IterativeStratifiedShuffleSplit",
    "train_validation_test_split",
]


class IterativeStratifiedKFold(BaseCrossValidator):
    """K folds, each with its share of every label.

    Each sample is in exactly one test fold. Without groups, fold sizes differ by at most one.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=True
        Deal samples in random order and break ties at random. Without it the folds depend on
        the data alone.
    random_state : int, RandomState instance or None, default=None
        Fixes the folds; only with ``shuffle=True``.

    References
    ----------
    Sechidis, Tsoumakas and Vlahavas (2011), On the Stratification of Multi-label Data.

    Examples
    --------
    >>> import numpy as np
    >>> from colabel.model_selection import IterativeStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [1, 0], [1, 1], [0, 1]])
    >>> folds = IterativeStratifiedKFold(n_splits=2, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for train, test in folds.split(Y, Y)]
    [[2, 2], [2, 2]]
    """

    # Asks scikit-learn's metadata routing to hand on ``groups`` where the user gives some.
    __metadata_request__split = {"groups": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        if not isinstance(n_splits, Integral) or n_splits < 2:
            raise ValueError(f"n_splits must be a whole number of at least 2, got {n_splits!r}.")
        if not shuffle and random_state is not None:
            raise ValueError("random_state has no effect without shuffle; leave it at None.")
        self.n_splits: int = int(n_splits)
        self.shuffle: bool = shuffle
        self.random_state: int | np.random.RandomState | None = random_state

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the row numbers of each training and test set.

        Parameters
        ----------
        X : array-like of length n_samples
            Only its length is looked at.
        y : array-like, sparse matrix or DataFrame of shape (n_samples, n_labels), or 1-D classes
            The labels.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group are never split over folds.

        Yields
        ------
        train, test : int64 ndarray
            Row numbers in increasing order.
        """
        _, y, groups = _checked(X, y, groups)
        n_samples, k = n_rows(y), self.n_splits
        if k > n_samples:
            raise ValueError(f"n_splits={k} folds cannot be made of {n_samples} samples.")
        sizes = np.full(k, n_samples // k)
        sizes[: n_samples % k] += 1
        rng = check_random_state(self.random_state) if self.shuffle else None
        fold = deal(y, groups, sizes, rng, shares=np.ones(k, np.int64))
        # The larger folds come first up to here; numbered at random, no fold differs from another.
        numbers = np.arange(k) if rng is None else rng.permutation(k)
        for j in numbers:
            yield np.flatnonzero(fold != j), np.flatnonzero(fold == j)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; the arguments are there for scikit-learn and ignored."""
        return self.n_splits


class IterativeStratifiedShuffleSplit(BaseShuffleSplit):
    """Repeated random splits in two, each side with its share of every label.

    Sizes are exact without groups. With groups they are what whole groups allow, and count
    samples, not groups. A label with too few positives for both sides goes to the larger one.

    Parameters
    ----------
    n_splits : int, default=10
        Number of independent splits.
    test_size, train_size : float, int or None, default=None
        A fraction or a number of samples; what is left out complements the other, and 0.1 is
        tested when both are. Samples beyond the sum of both are in neither set.
    random_state : int, RandomState instance or None, default=None
        Fixes the splits.

    Examples
    --------
    >>> import numpy as np
    >>> from colabel.model_selection import IterativeStratifiedShuffleSplit
    >>> Y = np.tile([[1, 0], [0, 1], [1, 1], [0, 0]], (5, 1))
    >>> splits = IterativeStratifiedShuffleSplit(n_splits=2, test_size=0.4, random_state=0)
    >>> [Y[test].sum(axis=0).tolist() for train, test in splits.split(Y, Y)]
    [[4, 4], [4, 4]]
    """

    __metadata_request__split = {"groups": True}

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | None = None,
        train_size: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        if not isinstance(n_splits, Integral) or n_splits < 1:
            raise ValueError(f"n_splits must be a whole number of at least 1, got {n_splits!r}.")
        super().__init__(
            n_splits, test_size=test_size, train_size=train_size, random_state=random_state
        )

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Generate the row numbers of each training and test set.

        Parameters
        ----------
        X : array-like of length n_samples
            Only its length is looked at.
        y : array-like, sparse matrix or DataFrame of shape (n_samples, n_labels), or 1-D classes
            The labels.
        groups : array-like of shape (n_samples,), default=None
            Samples of one group stay together.

        Yields
        ------
        train, test : int64 ndarray
            Row numbers in increasing order.
        """
        _, y, groups = _checked(X, y, groups)
        n_samples = n_rows(y)
        n_train, n_test = _train_and_test_sizes(n_samples, self.train_size, self.test_size)
        rest = n_samples - n_train - n_test
        sizes = np.array([n_train, n_test, rest] if rest else [n_train, n_test])
        rng = check_random_state(self.random_state)
        for _ in range(self.n_splits):
            part = deal(y, groups, sizes, rng)
            yield np.flatnonzero(part == 0), np.flatnonzero(part == 1)


def train_validation_test_split(
    *arrays: Any,
    Y: Any,
    sizes: tuple[float, ...] = (0.6, 0.2, 0.2),
    groups: Any = None,
    random_state: int | np.random.RandomState | None = None,
) -> list[Any]:
    """Split arrays and their labels into parts, each with its share of every label.

    Parameters
    ----------
    *arrays : sequence of arrays, lists, sparse matrices or DataFrames of length n_samples
        What to split along with ``Y``.
    Y : array-like, sparse matrix or DataFrame of shape (n_samples, n_labels), or 1-D classes
        The labels.
    sizes : tuple of float or int, default=(0.6, 0.2, 0.2)
        Two or more parts: fractions that sum to 1, or numbers of samples that sum to n_samples.
        Exact (fractions rounded) without groups, aimed at with groups.
    groups : array-like of shape (n_samples,), default=None
        Samples of one group stay together.
    random_state : int, RandomState instance or None, default=None
        Fixes the split.

    Returns
    -------
    parts : list
        The parts of the first array, of the second, and so on, then those of ``Y``.

    Examples
    --------
    >>> import numpy as np
    >>> from colabel.model_selection import train_validation_test_split
    >>> X, Y = np.arange(20).reshape(10, 2), np.tile([[1, 0], [0, 1]], (5, 1))
    >>> X_train, X_val, X_test, Y_train, Y_val, Y_test = train_validation_test_split(
    ...     X, Y=Y, sizes=(0.6, 0.2, 0.2), random_state=0
    ... )
    >>> Y_train.sum(axis=0).tolist(), Y_val.sum(axis=0).tolist(), Y_test.sum(axis=0).tolist()
    ([3, 3], [1, 1], [1, 1])
    """
    *everything, groups = _checked(*arrays, Y, groups)
    Y = everything[-1]
    n_samples = n_rows(Y)
    part = deal(Y, groups, _part_sizes(n_samples, sizes), check_random_state(random_state))
    rows = [np.flatnonzero(part == j) for j in range(len(sizes))]
    return list(chain.from_iterable([take_rows(a, r) for r in rows] for a in everything))


def _checked(*arrays: Any) -> list[Any]:
    """Return the arrays made indexable and of equal length; the last but one is Y."""
    if arrays[-2] is None:
        raise ValueError("The labels are missing: a stratified split needs Y.")
    return indexable(*arrays)


def _count(name: str, size: Any, n_samples: int) -> float:
    """Return a size as a number of samples, not yet rounded."""
    if isinstance(size, Real) and not isinstance(size, bool):
        limit, unit = (n_samples, 1) if isinstance(size, Integral) else (1, n_samples)
        if 0 < float(size) < limit:
            return float(size) * unit
    raise ValueError(
        f"{name}={size!r} must be a fraction between 0 and 1 or a number of samples "
        f"between 0 and {n_samples}, both ends excluded."
    )


def _train_and_test_sizes(n_samples: int, train_size: Any, test_size: Any) -> tuple[int, int]:
    """Return the numbers of training and test samples, rounded as scikit-learn does."""
    if train_size is None and test_size is None:
        test_size = 0.1
    if test_size is None:
        n_train = _floor(_count("train_size", train_size, n_samples))
        n_test = n_samples - n_train
    else:
        n_test = _ceil(_count("test_size", test_size, n_samples))
        n_train = n_samples - n_test
        if train_size is not None:
            n_train = _floor(_count("train_size", train_size, n_samples))
    if n_train < 1 or n_test < 1 or n_train + n_test > n_samples:
        raise ValueError(
            f"{n_samples} samples cannot give {n_train} to train and {n_test} to test on."
        )
    return n_train, n_test


# A fraction such as 0.07 times 100 misses the whole number by rounding alone; both forgive that.
def _ceil(count: float) -> int:
    return int(np.ceil(count - 1e-9))


def _floor(count: float) -> int:
    return int(np.floor(count + 1e-9))


def _part_sizes(n_samples: int, sizes: tuple[float, ...]) -> np.ndarray:
    """Return whole sizes that sum to ``n_samples``, fractions rounded by largest remainder."""
    if len(sizes) < 2:
        raise ValueError("sizes must name at least two parts.")
    exact = np.array([_count("each of sizes", size, n_samples) for size in sizes])
    if abs(exact.sum() - n_samples) > 1e-6 * n_samples:
        raise ValueError(f"sizes={sizes!r} must sum to 1, or to the {n_samples} samples.")
    whole = np.array([_floor(count) for count in exact])
    order = np.argsort(whole - exact, kind="stable")
    whole[order[: n_samples - whole.sum()]] += 1
    if whole.min() < 1:
        raise ValueError(f"{n_samples} samples are too few for sizes={sizes!r}.")
    return whole
