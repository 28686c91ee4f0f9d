"""What colabel knows about public multi-label datasets: files, hashes, statistics, citations.

The table itself is ``data/registry.toml``. A file is known by the SHA-256 of its *unpacked*
content, so that a user may bring the original or a gzip-packed copy of it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

from colabel.exceptions import DatasetNotFoundError, UnknownNameError
from colabel.messages import did_you_mean

__all__ = ["SPLITS", "DataFile", "DatasetInfo", "get_info", "list_datasets"]

SPLITS = ("all", "train", "test")


@dataclass(frozen=True)
class DataFile:
    """One file of a dataset.

    Parameters
    ----------
    name : str
        File name without ``.gz``.
    size : int
        Bytes of the unpacked content.
    sha256 : str
        Of the unpacked content.
    packed_sha256 : str or None
        Of the gzip-packed copy that is known, so that it can be checked without unpacking.
    urls : tuple of str
        Where the file, plain or packed, can be downloaded.
    """

    name: str
    size: int
    sha256: str
    packed_sha256: str | None = None
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class DatasetInfo:
    """A registered dataset.

    Parameters
    ----------
    name : str
        The name ``load`` takes.
    domain : str
        Where the data come from, in a word.
    n_samples, n_features, n_labels : int
        Counts of the whole set; a nominal feature counts once, however it is coded.
    cardinality : float
        Mean number of labels per sample.
    n_labelsets : int
        Number of distinct labelings.
    files : tuple of DataFile
        Everything the dataset needs.
    all, train, test : tuple of str
        Names of the files of each split, concatenated in this order; empty: no such split.
    rows : dict of str to tuple of int
        For splits that are a slice of their file: first row and the row after the last.
    n_train, n_test : int or None
        Sizes of the official split, where there is one.
    citation_key, citation : str
        For a bibliography, and in plain words.
    folder : str
        Folder in which a data collection keeps the files, besides one called ``name``.
    labels : tuple of str or None
        Label columns, for files that do not name them.
    xml : str or None
        Name of the file that lists the labels.
    shipped : bool
        Whether the data are inside the package.
    partial : bool
        Whether this is only a part or a derivative of the data its name suggests.
    notes : str
        Quirks worth knowing.
    """

    name: str
    domain: str
    n_samples: int
    n_features: int
    n_labels: int
    cardinality: float
    n_labelsets: int
    files: tuple[DataFile, ...]
    all: tuple[str, ...]
    citation_key: str
    citation: str
    folder: str
    train: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    rows: dict[str, tuple[int, int]] = field(default_factory=dict, hash=False)
    n_train: int | None = None
    n_test: int | None = None
    labels: tuple[str, ...] | None = None
    xml: str | None = None
    shipped: bool = False
    partial: bool = False
    notes: str = ""

    @property
    def density(self) -> float:
        """Cardinality divided by the number of labels."""
        return self.cardinality / self.n_labels

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits that ``load`` can give."""
        return tuple(split for split in SPLITS if getattr(self, split))

    def split_files(self, split: str) -> tuple[DataFile, ...]:
        """Return the data files of ``split``, then the file that lists the labels, if any."""
        names = (*getattr(self, split), *((self.xml,) if self.xml else ()))
        by_name = {file.name: file for file in self.files}
        return tuple(by_name[name] for name in names)

    @property
    def downloadable(self) -> bool:
        """Whether every file has an address to download it from."""
        return not self.shipped and all(file.urls for file in self.files)


def list_datasets() -> list[DatasetInfo]:
    """Return what is known about every registered dataset, sorted by name.

    Examples
    --------
    >>> from colabel.datasets import list_datasets
    >>> info = {info.name: info for info in list_datasets()}["yeast"]
    >>> info.n_samples, info.n_features, info.n_labels, info.splits
    (2417, 103, 14, ('all', 'train', 'test'))
    """
    return list(_table().values())


def get_info(name: str) -> DatasetInfo:
    """Return the entry of ``name``, upper or lower case, or say which names are close to it."""
    info = _table().get(name.lower())
    if info is None:
        raise DatasetNotFoundError(f"no dataset is called {name!r}{names_like(name)}")
    return info


def is_registered(name: str) -> bool:
    """Whether ``name``, upper or lower case, is in the table."""
    return name.lower() in _table()


def check_split(info: DatasetInfo, split: str) -> str:
    """Return ``split`` if the dataset has it, or say what it has instead."""
    if split not in SPLITS:
        known = ", ".join(info.splits)
        raise UnknownNameError(f"{info.name} has no split called {split!r}; it has: {known}")
    if split not in info.splits:
        raise UnknownNameError(
            f"{info.name} has no official train/test split, so {info.name}:{split} does not exist: "
            f"load {info.name} and split it yourself (on the command line: --split cv:5)"
        )
    return split


def names_like(name: str) -> str:
    """Return the end of a sentence: the registered names close to ``name``, or where they are."""
    return did_you_mean(
        name, _table(), "list_datasets(), or colabel datasets, names those that are known"
    )


@cache
def _table() -> dict[str, DatasetInfo]:
    text = resources.files("colabel.datasets").joinpath("data/registry.toml").read_text("utf-8")
    return {name: _entry(name, row) for name, row in sorted(tomllib.loads(text).items())}


def _entry(name: str, row: dict[str, Any]) -> DatasetInfo:
    files = tuple(DataFile(**_frozen(file)) for file in row.pop("files"))
    return DatasetInfo(**{"name": name, "folder": name, "files": files, **_frozen(row)})


def _frozen(value: Any) -> Any:
    """Return what TOML gives with tuples for its lists."""
    if isinstance(value, dict):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
