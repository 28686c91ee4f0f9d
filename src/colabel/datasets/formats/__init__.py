"""Readers and writers of multi-label data files.

:func:`read` and :func:`write` choose the format by the file's suffix: Mulan and MEKA ARFF,
LIBSVM/svmlight multi-label text, CSV and ``.npz``, plain or gzip. ``docs/guide/data-formats.md``
states the rules in full.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from colabel.dataset import Dataset
from colabel.datasets.formats._format import Format, ReadOptions
from colabel.datasets.formats._stream import stem
from colabel.datasets.formats.arff import ARFF
from colabel.datasets.formats.csv import CSV
from colabel.datasets.formats.npz import NPZ
from colabel.datasets.formats.svmlight import SVMLIGHT
from colabel.exceptions import DataFormatError, OptionError
from colabel.messages import unknown_name

__all__ = ["Format", "ReadOptions", "format_of", "read", "read_file", "write"]

# A new format is a module that makes a ``Format``, and its name here.
FORMATS = {name: one for one in (*ARFF, SVMLIGHT, CSV, NPZ) for name in one.names}
SUFFIXES = {suffix: one for one in FORMATS.values() for suffix in one.suffixes}
_R_SUFFIXES = (".rda", ".rdata", ".rds")
_SPLIT = re.compile(r"[-_.](train|test)(?![a-z])", re.IGNORECASE)


def read(path: str | os.PathLike[str], **options: Any) -> Dataset:
    r"""Read a multi-label data file, plain or gzip.

    Parameters
    ----------
    path : str or path
        The file. Its suffix (``.arff``, ``.svm``, ``.libsvm``, ``.txt``, ``.csv``, ``.tsv``,
        ``.npz``, each but the last also with ``.gz``) says the format.
    **options : dict
        Fields of :class:`ReadOptions`: ``labels``, ``format``, ``xml``, ``n_features``,
        ``n_labels``, ``zero_based``, ``one_hot``.

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
    return read_file(Path(path), ReadOptions(**options))


def read_file(path: Path, options: ReadOptions) -> Dataset:
    """Read a data file as ``options`` say; see ``read``."""
    form = _format(path, options.format)
    for name in options.given():
        if name not in (*form.takes, "format"):
            raise OptionError(name, f"has no meaning for {form.names[0]} files")
    X, Y, feature_names, label_names = form.read(path, options)
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
    >>> from colabel.dataset import Dataset
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
    form = _format(path, format)
    stored = dataset.X.data if sparse.issparse(dataset.X) else np.asarray(dataset.X)
    if np.isinf(stored).any():
        raise ValueError("X has infinite values, which no reader takes; replace them first")
    for name in (*dataset.feature_names, *dataset.label_names):
        if any("\ud800" <= c <= "\udfff" for c in name):
            raise ValueError(f"the name {name!r} has a lone surrogate, which UTF-8 cannot hold")
    form.write(dataset, path)


def format_of(path: str | os.PathLike[str]) -> str | None:
    """Return the name of the format that a file's suffix says; None where it says none.

    Examples
    --------
    >>> format_of("birds.csv.gz"), format_of("birds.sql")
    ('csv', None)
    """
    name = os.fspath(path).lower()
    form = SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    return None if form is None or (name.endswith(".gz") and not form.packed) else form.names[0]


def _format(path: Path, asked: str | None) -> Format:
    name = format_of(path) if asked is None else asked
    if name in FORMATS:
        return FORMATS[name]
    if name is not None:
        raise unknown_name("unknown format", name, FORMATS)
    if Path(path.name.lower().removesuffix(".gz")).suffix in _R_SUFFIXES:
        raise DataFormatError(
            path, "an R data file; in R, write it out as CSV or with mldr's write_arff"
        )
    reason = f"the suffix says no known format ({', '.join(SUFFIXES)})"
    raise DataFormatError(path, reason, kind="format", advice="give format=")
