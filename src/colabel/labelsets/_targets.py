"""The door for exclusive label sets: any container in, class numbers inside, the same out.

=======================================  ==============  ====================================
``Y`` given to ``fit``                   sets            ``predict`` gives
=======================================  ==============  ====================================
1-D, one class a sample                  one             1-D, same classes
(n, S) array or frame of classes, S > 1  a set a column  the same, each column its classes
(n, L) of 0 and 1, with ``label_sets``   those named     the same container, one on in each set
(n, L) of 0 and 1, without               a set a column  the same container
=======================================  ==============  ====================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets

from colabel._targets import (
    TargetFormat,
    _as_array,
    _as_frame,
    dense_labels,
    encode_target,
    warn_of_column_vector,
)
from colabel.base import PROBABILITY_FLOOR
from colabel.metrics import set_columns

__all__ = ["SetTarget", "encode_sets", "kept_apart", "one_hot"]

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SetTarget:
    """What ``Y`` looked like, and the classes of each set.

    Parameters
    ----------
    kind : {"vector", "columns", "labels", "indicator"}
        The rows of the table above; ``"labels"`` is the last.
    names : tuple of str
        Of the sets.
    classes : tuple of ndarray
        Of each set; of an indicator, its labels by name or column.
    form : TargetFormat or None
        Container of a matrix of 0 and 1, or of a data frame.
    members : tuple of tuple of int
        Columns of each set, of an indicator.
    dtype : str
        Of an array of classes.
    """

    kind: Literal["vector", "columns", "labels", "indicator"]
    names: tuple[str, ...]
    classes: tuple[NDArray[Any], ...]
    form: TargetFormat | None = None
    members: tuple[tuple[int, ...], ...] = ()
    dtype: str = "object"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of classes of each set."""
        return tuple(len(classes) for classes in self.classes)

    @property
    def one_dimensional(self) -> bool:
        """Whether ``Y`` was a vector of classes."""
        return self.kind == "vector"

    def restore(self, codes: Codes, like: Any = None) -> Any:
        """Give class numbers (n_samples, n_sets) back as ``Y`` came."""
        if self.kind == "vector":
            return self.classes[0][codes[:, 0]]
        if self.kind == "labels":
            assert self.form is not None
            return self.form.restore(codes.astype(np.int8), like=like)
        if self.kind == "indicator":
            assert self.form is not None
            return self.form.restore(self.by_column(one_hot(codes, self.sizes)), like=like)
        parts = [classes[code] for classes, code in zip(self.classes, codes.T, strict=True)]
        if self.form is None:
            return np.column_stack([part.astype(self.dtype) for part in parts])
        return _frame(self.form, parts, like)

    def by_column(self, by_set: NDArray[Any]) -> NDArray[Any]:
        """Put labels that stand set by set in the order of an indicator's columns."""
        out = np.empty_like(by_set)
        out[:, [column for members in self.members for column in members]] = by_set
        return out

    def probabilities(self, parts: Sequence[NDArray[np.float64]]) -> Any:
        """Give probabilities (n_samples, n_classes) of each set in the shape of ``Y``."""
        if self.kind == "vector":
            return parts[0]
        if self.kind == "columns":
            return list(parts)
        if self.kind == "labels":
            p = np.column_stack([part[:, 1] for part in parts])
        else:
            p = self.by_column(np.hstack(parts))
        return np.clip(p, PROBABILITY_FLOOR, 1.0 - PROBABILITY_FLOOR)


def encode_sets(Y: Any, label_sets: Any = None) -> tuple[Codes, SetTarget]:
    """Turn ``Y`` into class numbers (n_samples, n_sets), and say how it looked.

    Raises
    ------
    ValueError
        If classes are missing, or a row has not exactly one label of a set.
    """
    if label_sets is not None:
        return _encode_indicator(Y, label_sets)
    if Y is None or sparse.issparse(Y):
        return _encode_labels(Y)
    frame = _as_frame(Y)
    array = _as_array(kept_apart(Y) if frame is None else frame.to_numpy())
    if array.ndim > 2:
        raise ValueError(f"Y must have 1 or 2 axes, not {array.ndim}")
    if array.ndim == 1:
        classes, codes = _encode_column(array, "y")
        return codes[:, None], SetTarget("vector", ("1",), (classes,))
    if array.dtype.kind in "biuf" and np.all((array == 0) | (array == 1)):
        return _encode_labels(Y)
    if array.shape[1] == 1 and frame is None:
        warn_of_column_vector()
        return encode_sets(array.ravel())
    return _encode_columns(Y, frame, array)


def kept_apart(Y: Any) -> Any:
    """Return a list of rows with words and numbers as an array of objects: numbers stay numbers."""
    if isinstance(Y, list) and Y and all(isinstance(row, list | tuple) for row in Y):
        words = [isinstance(value, str) for row in Y for value in row]
        if any(words) and not all(words) and len({len(row) for row in Y}) == 1:
            return np.array(Y, dtype=object)
    return Y


def one_hot(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int8]:
    """Return the labels that class numbers turn on, set by set: (n_samples, sum of sizes)."""
    parts = [code[:, None] == np.arange(size) for code, size in zip(codes.T, sizes, strict=True)]
    return np.hstack(parts).astype(np.int8)


def _encode_labels(Y: Any) -> tuple[Codes, SetTarget]:
    labels, form = encode_target(Y)
    labels = dense_labels(labels)
    n_labels = labels.shape[1]
    names = tuple(map(str, form.label_names or range(1, n_labels + 1)))
    classes = tuple(np.array([0, 1]) for _ in range(n_labels))
    return labels.astype(np.intp), SetTarget("labels", names, classes, form)


def _encode_indicator(Y: Any, label_sets: Any) -> tuple[Codes, SetTarget]:
    labels, form = encode_target(Y)
    if form.one_dimensional:
        raise ValueError("label_sets need a matrix of labels, one column per label; y has one axis")
    labels = dense_labels(labels)
    known = tuple(map(str, form.label_names)) if form.kind == "frame" else None
    columns = set_columns(label_sets, labels.shape[1], known)
    in_none = sorted(set(range(labels.shape[1])).difference(*columns.values()))
    if in_none:
        label = in_none[0] if known is None else known[in_none[0]]
        raise ValueError(f"label {label!r} is in none of label_sets")
    names = np.arange(labels.shape[1]) if known is None else np.array(known, dtype=object)
    codes = [_only_one(labels[:, members], name) for name, members in columns.items()]
    target = SetTarget(
        "indicator",
        tuple(columns),
        tuple(names[members] for members in columns.values()),
        form,
        tuple(tuple(members) for members in columns.values()),
    )
    return np.column_stack(codes), target


def _only_one(labels: NDArray[np.int8], name: str) -> Codes:
    count = labels.sum(axis=1, dtype=np.int64)
    wrong = np.flatnonzero(count != 1)
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"row {row} has {int(count[row])} labels of set {name!r}; each row needs exactly one"
        )
    return np.argmax(labels, axis=1)


def _encode_columns(Y: Any, frame: Any, array: NDArray[Any]) -> tuple[Codes, SetTarget]:
    if array.shape[1] == 0:
        raise ValueError("Y has no columns: at least one label set is required")
    form, dtype = None, array.dtype.str
    names: tuple[Any, ...] = tuple(range(1, array.shape[1] + 1))
    columns = list(array.T)
    if frame is not None:
        backend = str(frame.implementation.value)
        names = tuple(Y.columns if backend == "pandas" else frame.columns)
        form = TargetFormat("frame", np.arange(len(names)), backend=backend, label_names=names)
        columns = [np.asarray(frame[:, place].to_numpy()) for place in range(len(names))]
    encoded = [_encode_column(c, str(n)) for c, n in zip(columns, names, strict=True)]
    classes, codes = zip(*encoded, strict=True)
    target = SetTarget("columns", tuple(map(str, names)), tuple(classes), form, dtype=dtype)
    return np.column_stack(codes), target


def _encode_column(column: NDArray[Any], name: str) -> tuple[NDArray[Any], Codes]:
    if column.dtype.kind == "f" and not np.all(np.isfinite(column)):
        raise ValueError(f"column {name!r} of Y contains NaN or infinity.")
    if column.dtype == object and any(value is None or value != value for value in column):
        raise ValueError(f"column {name!r} of Y has missing classes")
    kinds = {type(value) for value in column} if column.dtype == object else set()
    if len(kinds) == 1 and issubclass(next(iter(kinds)), int | float | np.number | np.bool_):
        column = np.array(column.tolist())
    try:
        classes, codes = np.unique(column, return_inverse=True)
    except TypeError:
        found = sorted(kind.__name__ for kind in kinds)
        raise ValueError(
            f"the classes of column {name!r} of Y must be of one kind, not {' and '.join(found)}"
        ) from None
    check_classification_targets(column)
    return classes, codes.reshape(-1).astype(np.intp)


def _frame(form: TargetFormat, parts: list[NDArray[Any]], like: Any) -> Any:
    if form.backend == "pandas":
        import pandas as pd

        index = like.index if isinstance(like, pd.DataFrame) else None
        frame = pd.DataFrame(dict(enumerate(parts)), index=index)
        frame.columns = pd.Index(list(form.label_names))
        return frame
    import narwhals as nw

    backend: Any = form.backend
    columns = dict(zip(map(str, form.label_names), parts, strict=True))
    return nw.from_dict(columns, backend=backend).to_native()
