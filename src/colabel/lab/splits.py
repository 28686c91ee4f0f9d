"""How data is divided for a comparison: the official split, folds, or a held-out share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from colabel.datasets import Dataset, list_datasets, load
from colabel.exceptions import UnknownNameError
from colabel.lab.identity import hash_data
from colabel.model_selection import IterativeStratifiedKFold, IterativeStratifiedShuffleSplit

__all__ = ["Fold", "check_split", "default_split", "list_folds"]

Loader = Callable[..., Dataset]


@dataclass(frozen=True)
class Fold:
    """One division into training and test data, made when asked for: only one is in memory.

    ``hash_data`` hashes what is divided, once for all folds of it.
    """

    name: str
    split: str
    seed: int
    number: int
    label_sets: tuple[str, ...]
    train: Callable[[], Dataset]
    test: Callable[[], Dataset]
    hash_data: Callable[[], str]


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
        sets = tuple(test.label_sets or ())
        parts = (lambda: train), (lambda: test), _hash_once(train, test)
        return [Fold(name, split, seed, 0, sets, *parts) for seed in seeds]
    data = load_data(name)
    rows = np.zeros(data.n_samples)
    hashed = _hash_once(data)
    return [
        Fold(
            name,
            split,
            seed,
            number,
            tuple(data.label_sets or ()),
            partial(data.take, train_rows, "train"),
            partial(data.take, test_rows, "test"),
            hashed,
        )
        for seed in seeds
        for number, (train_rows, test_rows) in enumerate(_splitter(split, seed).split(rows, data.Y))
    ]


def _hash_once(*parts: Dataset) -> Callable[[], str]:
    return cache(lambda: " ".join(map(hash_data, parts)))


def _splitter(split: str, seed: int) -> Any:
    kind, _, size = split.partition(":")
    if kind == "cv":
        return IterativeStratifiedKFold(int(size), random_state=seed)
    return IterativeStratifiedShuffleSplit(1, test_size=float(size), random_state=seed)
