"""Readers and writers of multi-label data files.

:func:`read` and :func:`write` choose the format by the file's suffix: Mulan and MEKA ARFF,
LIBSVM/svmlight multi-label text, CSV and ``.npz``, plain or gzip. ``docs/guide/data-formats.md``
states the rules in full.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from colabel.datasets._dataset import Dataset
from colabel.datasets.formats._stream import stem
from colabel.datasets.formats.arff import read_arff, write_arff
from colabel.datasets.formats.csv import read_csv, write_csv
from colabel.datasets.formats.npz import read_npz, write_npz
from colabel.datasets.formats.svmlight import read_svmlight, write_svmlight
from colabel.exceptions import DataFormatError

__all__ = ["read", "write"]

_SUFFIXES = {
    ".arff": "arff",
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".txt": "svmlight",
    ".csv": "csv",
    ".tsv": "csv",
    ".npz": "npz",
}
_FORMATS = {
    "arff": "arff",
    "mulan": "mulan",
    "meka": "meka",
    "svmlight": "svmlight",
    "svm": "svmlight",
    "libsvm": "svmlight",
    "csv": "csv",
    "npz": "npz",
}
_R_SUFFIXES = (".rda", ".rdata", ".rds")
_LABEL_SOURCES = {"arff": ("xml", "relation"), "mulan": ("xml",), "meka": ("relation",)}
_SPLIT = re.compile(r"[-_.](train|test)(?![a-z])", re.IGNORECASE)


def read(
    path: str | os.PathLike[str],
    *,
    labels: Sequence[str] | int | None = None,
    format: str | None = None,
    xml: str | os.PathLike[str] | None = None,
    n_features: int | None = None,
    n_labels: int | None = None,
    zero_based: bool | str = "auto",
    one_hot: bool = True,
) -> Dataset:
    r"""Read a multi-label data file, plain or gzip.

    Parameters
    ----------
    path : str or path
        The file. Its suffix (``.arff``, ``.svm``, ``.libsvm``, ``.txt``, ``.csv``, ``.tsv``,
        ``.npz``, each but the last also with ``.gz``) says the format.
    labels : sequence of str, int or None
        ARFF and CSV: names of the label columns, or their number: ``n`` for the first n columns,
        ``-n`` for the last; an empty list for data without labels. An ARFF file without it is
        asked itself (see Notes).
    format : {"arff", "mulan", "meka", "svmlight", "csv", "npz"} or None
        In place of the suffix. ``"mulan"`` and ``"meka"`` settle where ARFF's labels are named.
    xml : str, path or None
        Mulan's label file, if it is not beside the ARFF file.
    n_features, n_labels : int or None
        svmlight: the widths, so that a train and a test file agree.
    zero_based : bool or "auto"
        svmlight: whether features count from 0. ``"auto"`` takes 1, unless the file has a header
        or a feature 0; state it where files must agree, for one part may happen to have no 0.
    one_hot : bool
        ARFF and CSV: whether a nominal feature (other than 0/1) becomes one column ``name=value``
        per value, or one column with the value's place (0, 1, ...).

    Returns
    -------
    Dataset
        ``X`` float64, dense or CSR as the file is; ``Y`` int8.

    Raises
    ------
    DataFormatError
        The file is malformed; the message has its name, line, column and the reason.
    DatasetNotFoundError
        There is no such file.

    Notes
    -----
    Labels of an ARFF file are those of an XML file beside it; only if none fits, those of
    ``-C n`` in ``@relation``. They come in the order of the file's columns.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "birds.csv"
    >>> _ = file.write_text("length,forest,sings,swims\n7.5,pine,1,0\n41,none,0,1\n")
    >>> data = read(file, labels=["sings", "swims"])
    >>> data.feature_names
    ('length', 'forest=none', 'forest=pine')
    >>> data.X.tolist(), data.Y.tolist()
    ([[7.5, 0.0, 1.0], [41.0, 1.0, 0.0]], [[1, 0], [0, 1]])
    """
    path = Path(path)
    kind = _kind(path, format)
    options = {
        "labels": labels,
        "xml": xml,
        "n_features": n_features,
        "n_labels": n_labels,
        "zero_based": _as_base(zero_based),
    }
    _check_options(kind, options)
    X, Y, feature_names, label_names = _READERS[kind](path, one_hot=one_hot, **options)
    name = stem(path)
    split = _SPLIT.search(name)
    return Dataset(
        X,
        Y,
        feature_names,
        label_names,
        name=name,
        split=split[1].lower() if split else "all",
        source=str(path),
    )


def write(dataset: Dataset, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write a dataset; a failure leaves no half-written file.

    Parameters
    ----------
    dataset : Dataset
        Its features must not be infinite; unknown ones (NaN) are kept. Names must differ.
    path : str or path
        The suffix says the format: ``.arff`` (Mulan, with an ``.xml`` beside it), ``.svm``,
        ``.csv``, ``.npz``. With ``.gz`` after it, text is packed.
    format : {"mulan", "meka", "svmlight", "csv", "npz"} or None
        In place of the suffix.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from colabel.datasets._dataset import Dataset
    >>> data = Dataset(np.eye(2), np.array([[1], [0]], np.int8), ("a", "b c"), ("on",), name="tiny")
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "tiny.arff"
    >>> write(data, file, format="meka")
    >>> print(file.read_text())
    @relation 'tiny: -C 1'
    <BLANKLINE>
    @attribute on {0,1}
    @attribute a numeric
    @attribute 'b c' numeric
    <BLANKLINE>
    @data
    1,1,0
    0,0,1
    <BLANKLINE>
    """
    path = Path(path)
    kind = _kind(path, format)
    stored = dataset.X.data if sparse.issparse(dataset.X) else np.asarray(dataset.X)
    if np.isinf(stored).any():
        raise ValueError("X has infinite values, which no reader takes; replace them first")
    for name in (*dataset.feature_names, *dataset.label_names):
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise ValueError(f"the name {name!r} has a lone surrogate, which UTF-8 cannot hold")
    _refuse_twins(dataset, kind)
    _WRITERS[kind](dataset, path)


def _refuse_twins(dataset: Dataset, kind: str) -> None:
    """Refuse names that the reader of the file would refuse; svmlight has none."""
    features, labels = dataset.feature_names, dataset.label_names
    # npz keeps the two lists apart, the others have one row of names.
    for names in {"svmlight": (), "npz": (features, labels)}.get(kind, (features + labels,)):
        name, count = max(Counter(names).items(), key=lambda item: item[1], default=("", 0))
        if count > 1:
            raise ValueError(f"{count} columns have the name {name!r}; rename them first")


def _kind(path: Path, format: str | None) -> str:
    if format is not None:
        if format not in _FORMATS:
            raise ValueError(f"unknown format {format!r}; known are {', '.join(_FORMATS)}")
        return _FORMATS[format]
    name = path.name.lower()
    is_packed = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in _R_SUFFIXES:
        raise DataFormatError(
            str(path), "an R data file; in R, write it out as CSV or with mldr's write_arff"
        )
    if suffix not in _SUFFIXES or (is_packed and suffix == ".npz"):
        known = ", ".join(_SUFFIXES)
        raise DataFormatError(str(path), f"the suffix says no known format ({known}); give format=")
    return _SUFFIXES[suffix]


def _check_options(kind: str, options: dict[str, Any]) -> None:
    """Refuse an option that the format would ignore."""
    allowed = {
        "csv": ("labels",),
        "svmlight": ("n_features", "n_labels", "zero_based"),
        "npz": (),
    }
    for name, value in options.items():
        if value is not None and name not in allowed.get(kind, ("labels", "xml")):
            raise ValueError(f"{name}= has no meaning for {kind} files")
    for name in ("n_features", "n_labels"):
        if options[name] is not None and not 1 <= options[name] < 2**31:
            raise ValueError(f"{name} must be from 1 to {2**31 - 1}, not {options[name]}")


def _as_base(zero_based: bool | str) -> bool | None:
    if zero_based != "auto" and not isinstance(zero_based, bool):
        raise ValueError(f'zero_based must be True, False or "auto", not {zero_based!r}')
    return None if zero_based == "auto" else bool(zero_based)


def _arff_reader(kind: str) -> Any:
    def reader(path: Path, *, labels: Any, xml: Any, one_hot: bool, **_: Any) -> Any:
        label_file = None if xml is None else Path(xml)
        return read_arff(path, labels, label_file, one_hot, _LABEL_SOURCES[kind])

    return reader


_READERS: dict[str, Any] = {
    **{kind: _arff_reader(kind) for kind in _LABEL_SOURCES},
    "svmlight": lambda path, *, n_features, n_labels, zero_based, **_: read_svmlight(
        path, n_features, n_labels, zero_based
    ),
    "csv": lambda path, *, labels, one_hot, **_: read_csv(path, labels, one_hot),
    "npz": lambda path, **_: read_npz(path),
}
_WRITERS: dict[str, Any] = {
    "arff": write_arff,
    "mulan": write_arff,
    "meka": lambda dataset, path: write_arff(dataset, path, meka=True),
    "svmlight": write_svmlight,
    "csv": write_csv,
    "npz": write_npz,
}
