"""How data is divided for a comparison: the official split, folds, or a held-out share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from colabel.datasets import Dataset, list_datasets, load
from colabel.exceptions import UnknownNameError
from colabel.lab.identity import hash_data
from colabel.model_selection import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit

__all__ = ["Fold", "Loader", "Rows", "check_split", "default_split", "divide", "list_folds"]

Loader = Callable[..., Dataset]
Rows = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Fold:
    """One division into training and test data, made when asked for: only one is in memory.

    ``parts`` are the official training and test data, or all data, which ``rows`` divides.
    ``hash_data`` hashes them, once for all folds.
    """

    name: str
    split: str
    seed: int
    number: int
    facets: tuple[str, ...]
    parts: tuple[Dataset, ...] = field(repr=False)
    rows: Rows | None = field(repr=False)
    hash_data: Callable[[], str] = field(repr=False)

    def train(self) -> Dataset:
        """Return the training data."""
        return divide(self.parts, self.rows)[0]

    def test(self) -> Dataset:
        """Return the test data."""
        return divide(self.parts, self.rows)[1]


def divide(parts: tuple[Dataset, ...], rows: Rows | None) -> tuple[Dataset, Dataset]:
    """Return training and test data."""
    if rows is None:
        train, test = parts
        return train, test
    (data,) = parts
    return data.take(rows[0], "train"), data.take(rows[1], "test")


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
    info = {known.name: known for known in list_datasets()}.get(name.lower())
    return "official" if info is not None and "train" in info.splits else "cv:5"


def list_folds(
    name: str, split: str, seeds: Sequence[int] = (0,), load_data: Loader = load
) -> list[Fold]:
    """Load the data and divide it, once for each seed.

    Folds are iteratively stratified and depend on the data and the seed alone.
    """
    if split == "official":
        train, test = load_data(name, split="train"), load_data(name, split="test")
        sets = tuple(test.facets or ())
        parts, hashed = (train, test), _hash_once(train, test)
        return [Fold(name, split, seed, 0, sets, parts, None, hashed) for seed in seeds]
    data = load_data(name)
    nothing, whole = np.zeros(data.n_samples), (data,)
    sets, hashed = tuple(data.facets or ()), _hash_once(data)
    return [
        Fold(name, split, seed, number, sets, whole, rows, hashed)
        for seed in seeds
        for number, rows in enumerate(_splitter(split, seed).split(nothing, data.Y))
    ]


def _hash_once(*parts: Dataset) -> Callable[[], str]:
    return cache(lambda: " ".join(map(hash_data, parts)))


def _splitter(split: str, seed: int) -> IterativeStratifiedKFold | IterativeStratifiedShuffleSplit:
    kind, _, size = split.partition(":")
    if kind == "cv":
        return IterativeStratifiedKFold(int(size), random_state=seed)
    return IterativeStratifiedShuffleSplit(1, test_size=float(size), random_state=seed)
