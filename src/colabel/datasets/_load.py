"""One function that gets data by registered name or by path."""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from colabel.dataset import Dataset
from colabel.datasets._find import require
from colabel.datasets._frequency_gender import frequency_gender
from colabel.datasets._registry import (
    SPLITS,
    DatasetInfo,
    check_split,
    get_info,
    is_registered,
    names_like,
)
from colabel.datasets.formats import ReadOptions, format_of, read_file
from colabel.exceptions import (
    DataFormatError,
    DatasetNotFoundError,
    OptionError,
    UnknownNameError,
)

__all__ = ["load", "load_labelled"]

# Data sets that are made from the files of another.
MADE_FROM = {"frequency-gender": frequency_gender}


def load(name_or_path: str | os.PathLike[str], split: str | None = None, **options: Any) -> Dataset:
    """Get a dataset by registered name or from a file.

    Parameters
    ----------
    name_or_path : str or path-like
        A registered name, ``"yeast"``, ``"yeast:train"`` or ``"yeast:test"``; or the path of a file
        in any format that ``read`` takes. A string that is a registered name is taken as one: write
        ``./yeast`` for a file of that name.
    split : {"all", "train", "test"} or None
        Official split of a registered dataset; the same as the ending of the name. None: the
        ending of the name, or all of the data.
    **options : dict
        How a file is read, fields of ``ReadOptions``: ``labels``, ``format``, ``xml``,
        ``n_features``, ``n_labels``, ``zero_based``, ``one_hot``.

    Returns
    -------
    Dataset
        Registered data are checked against their SHA-256 before they are read.

    Raises
    ------
    ValueError
        An option was given that the format, or the registered dataset, does not take.

    Examples
    --------
    >>> from colabel.datasets import load
    >>> load("yeast:train")
    Dataset('yeast', split='train', 1500 samples, 103 dense features, 14 labels)
    """
    reading = ReadOptions(**options)
    if isinstance(name_or_path, str):
        name, ending = _parse(name_or_path)
        if is_registered(name):
            info = get_info(name)
            chosen = check_split(info, _one_split(name_or_path, ending, split))
            return _load_registered(info, chosen, reading)
    return _load_path(name_or_path, split, reading)


def load_labelled(name: str, text: str, **options: Any) -> Dataset:
    """Load a file whose labels a text names.

    Parameters
    ----------
    name : str
        The file.
    text : str
        Names separated by commas, those with a comma in double quotes; or how many of the first
        (negative: last) columns are labels, unless a column is called by that number.
    **options : dict
        Other arguments of ``load``.
    """
    try:
        return load(name, labels=_label_names(text), **options)
    except DataFormatError as error:
        count = _count(text)
        if count is None or error.kind != "unknown label":
            raise
    return load(name, labels=count, **options)


def _parse(text: str) -> tuple[str, str | None]:
    """Split ``NAME:SPLIT``; a colon after anything but a registered name belongs to a path."""
    name, colon, ending = text.rpartition(":")
    return (name, ending) if colon and is_registered(name) else (text, None)


def _one_split(text: str, ending: str | None, split: str | None) -> str:
    if ending is not None and split is not None and ending != split:
        raise UnknownNameError(f"{text} asks for the split {ending!r}, split={split!r} for another")
    return ending or split or "all"


def _load_registered(info: DatasetInfo, split: str, reading: ReadOptions) -> Dataset:
    _check_options(info, reading)
    paths = require(info, info.split_files(split))
    if info.shipped:
        whole = _read_shipped(info, paths[info.all[0]])
        return whole.take(slice(*info.rows[split]), split) if split in info.rows else whole
    known: dict[str, Any] = {}
    if reading.labels is None and info.labels:
        known["labels"] = list(info.labels)
    if reading.labels is None and reading.xml is None and info.xml:
        known["xml"] = paths[info.xml]
    names = getattr(info, split)
    if format_of(names[0]) == "svmlight":  # it does not say how wide it is, and halves must agree
        known |= {"n_features": info.n_features, "n_labels": info.n_labels}
    parts = [read_file(paths[name], replace(reading, **known)) for name in names]
    found = _join(parts, info, split, [str(paths[name]) for name in names])
    return MADE_FROM[info.name](found) if info.name in MADE_FROM else found


def _check_options(info: DatasetInfo, reading: ReadOptions) -> None:
    """Refuse an option that says what the registry knows, or that would be ignored."""
    for name in reading.given():
        if info.shipped or name not in ("labels", "xml"):
            raise OptionError(name, f"is for files; the registered {info.name} does not take it")


def _join(parts: list[Dataset], info: DatasetInfo, split: str, paths: list[str]) -> Dataset:
    first = parts[0]
    for part, path in zip(parts[1:], paths[1:], strict=True):
        if (part.feature_names, part.label_names) != (first.feature_names, first.label_names):
            raise DataFormatError(path, f"its columns are not those of {paths[0]}")
    return Dataset(
        _stack([part.X for part in parts]),
        _stack([part.Y for part in parts]),
        first.feature_names,
        first.label_names,
        info.name,
        split,
        info.citation,
        first.facets,
    )


def _stack(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    if any(map(sparse.issparse, blocks)):
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))
    return np.concatenate(blocks)


def _read_shipped(info: DatasetInfo, path: Path) -> Dataset:
    """Unpack the file that ``tools/pack_yeast.py`` made: features are whole millionths."""
    with np.load(path, allow_pickle=False) as arrays:
        millionths = (arrays["high"].astype(np.int32) << 16) | arrays["low"]
        label_names = tuple(arrays["label_names"].tolist())
        return Dataset(
            millionths / 1e6,
            np.unpackbits(arrays["labels"], axis=1, count=len(label_names)).view(np.int8),
            tuple(arrays["feature_names"].tolist()),
            label_names,
            info.name,
            "all",
            info.citation,
        )


def _load_path(path: str | os.PathLike[str], split: str | None, reading: ReadOptions) -> Dataset:
    text = os.fspath(path)
    if split not in (None, "all"):
        raise UnknownNameError(
            f"split={split!r} is for registered names; {text} is read whole: name the file instead"
        )
    if os.path.isdir(text):
        raise DatasetNotFoundError(f"{text} is a folder: name a data file in it")
    if not os.path.exists(text):
        raise DatasetNotFoundError(_unknown_sentence(text))
    return read_file(Path(text), reading)


def _unknown_sentence(text: str) -> str:
    stem, _, ending = text.rpartition(":")
    if ending in SPLITS and os.path.exists(stem):
        return f"{text}: only registered names have splits; {stem} is a file, load it as it is"
    if Path(text).name != text or Path(text).suffix:
        return f"there is no file {text}"
    name = stem if ending in SPLITS else text
    return f"{name!r} is neither a registered dataset nor a file{names_like(name)}"


def _label_names(text: str) -> list[str]:
    try:
        names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True))]
    except csv.Error as error:
        raise UnknownNameError(f"--labels {text!r} cannot be read: {error}") from error
    if not any(names):
        raise UnknownNameError("--labels names no column")
    return names


def _count(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None
