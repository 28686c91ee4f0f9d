"""How data is divided for a comparison: the official split, folds, or a held-out share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from colabel.datasets import Dataset, load
from colabel.exceptions import UnknownNameError
from colabel.model_selection import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit

__all__ = ["check_split", "default_split", "iterate_folds"]

Loader = Callable[..., Dataset]


def check_split(split: str) -> str:
    """Return ``split`` if it is ``official``, ``cv:K`` or ``holdout:F``, else raise."""
    kind, _, size = split.partition(":")
    try:
        fine = (
            split == "official"
            or (kind == "cv" and int(size) >= 2)
            or (kind == "holdout" and 0.0 < float(size) < 1.0)
        )
    except ValueError:
        fine = False
    if not fine:
        raise UnknownNameError(
            f"{split!r} is not a split: use official, cv:K (K folds) or holdout:F (share tested)"
        )
    return split


def default_split(name: str) -> str:
    """Return the official split where the data has one, five folds otherwise."""
    from colabel.datasets import list_datasets

    info = {known.name: known for known in list_datasets()}.get(name)
    return "official" if info is not None and "train" in info.splits else "cv:5"


def iterate_folds(
    name: str, split: str, seed: int, load_data: Loader = load
) -> Iterator[tuple[int, Dataset, Dataset]]:
    """Yield ``fold, train, test``.

    Folds are iteratively stratified and depend on the data and the seed alone.
    """
    if split == "official":
        yield 0, load_data(name, split="train"), load_data(name, split="test")
        return
    data = load_data(name)
    kind, _, size = split.partition(":")
    splitter: Any
    if kind == "cv":
        splitter = IterativeStratifiedKFold(int(size), random_state=seed)
    else:
        splitter = IterativeStratifiedShuffleSplit(1, test_size=float(size), random_state=seed)
    for fold, (train, test) in enumerate(splitter.split(np.zeros(data.n_samples), data.Y)):
        yield fold, data.take(train, split="train"), data.take(test, split="test")
