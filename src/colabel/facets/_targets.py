"""Targets with facets: any container in, a column of class numbers per facet inside, the same out.

=======================================  ===================  ====================================
``Y`` given to ``fit``                   facets               ``predict`` gives
=======================================  ===================  ====================================
1-D, one class per sample                one                  1-D, same classes
(n, S) array or frame of classes, S > 1  one per column       the same, each column its classes
(n, L) of 0 and 1, with ``facets``       those named          the same container, one on per facet
(n, L) of 0 and 1, without               one per label, of 2  the same container
=======================================  ===================  ====================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel._targets import (
    TargetFormat,
    as_array,
    as_frame,
    dense_labels,
    encode_column,
    encode_target,
    frame_columns,
    is_binary,
    warn_of_column_vector,
)
from colabel.base import PROBABILITY_FLOOR
from colabel.metrics import facet_columns

__all__ = ["Codes", "FacetTarget", "encode_facets", "one_hot", "rows_as_objects"]

Codes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class FacetTarget:
    """What ``Y`` looked like, and the classes of each facet.

    Parameters
    ----------
    form : TargetFormat
        The container.
    names : tuple of str
        Of the facets.
    facets : tuple of ndarray
        Classes of each facet; of a matrix of 0 and 1, its labels by name or column.
    columns : tuple of sequence of int
        Where the classes of each facet stand in a matrix of 0 and 1; one column alone for the two
        classes of a label. Empty for other containers.
    """

    form: TargetFormat
    names: tuple[str, ...]
    facets: tuple[NDArray[Any], ...]
    columns: tuple[Sequence[int], ...] = ()

    @property
    def classes(self) -> NDArray[Any] | list[NDArray[Any]]:
        """A list with the classes of each facet; of a vector its classes."""
        return self.facets[0] if self.one_dimensional else list(self.facets)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of classes of each facet."""
        return tuple(len(classes) for classes in self.facets)

    @property
    def one_dimensional(self) -> bool:
        """Whether ``Y`` was a vector of classes."""
        return self.form.one_dimensional

    def restore(self, codes: Codes, like: Any = None) -> Any:
        """Return class numbers (n_samples, n_facets) as ``Y`` came."""
        if self.columns:
            return self.form.restore(self._by_column(_indicators(codes, self.sizes)), like=like)
        parts = [classes[code] for classes, code in zip(self.facets, codes.T, strict=True)]
        return parts[0] if self.one_dimensional else self.form.restore(parts, like=like)

    def probabilities(self, parts: Sequence[NDArray[np.float64]]) -> Any:
        """Return probabilities (n_samples, n_classes) of each facet in the shape of ``Y``."""
        if self.columns:
            return np.clip(self._by_column(parts), PROBABILITY_FLOOR, 1.0 - PROBABILITY_FLOOR)
        return parts[0] if self.one_dimensional else list(parts)

    def _by_column(self, parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Put a column per class of each facet where the label stands in ``Y``."""
        out = np.empty((len(parts[0]), sum(map(len, self.columns))), dtype=parts[0].dtype)
        for part, columns in zip(parts, self.columns, strict=True):
            out[:, columns] = part[:, -len(columns) :]
        return out


def encode_facets(Y: Any, facets: Any = None) -> tuple[Codes, FacetTarget]:
    """Validate ``Y`` and encode it as class numbers (n_samples, n_facets).

    Raises
    ------
    ValueError
        If classes are missing, or a row has not exactly one label of a facet.
    """
    if Y is None or sparse.issparse(Y) or facets is not None:
        return _encode_labels(Y, facets)
    frame = as_frame(Y)
    array = as_array(rows_as_objects(Y) if frame is None else frame.to_numpy())
    if array.ndim > 2:
        raise ValueError(f"Y must have 1 or 2 axes, not {array.ndim}")
    if array.ndim == 2 and array.dtype.kind in "biuf" and is_binary(array):
        return _encode_labels(Y, None)
    if array.ndim == 2 and (array.shape[1] != 1 or frame is not None):
        return _encode_columns(Y, frame, array)
    if array.ndim == 2:
        warn_of_column_vector()
    classes, codes = encode_column(array.ravel())
    return codes[:, None], FacetTarget(TargetFormat("multiclass", classes), ("1",), (classes,))


def rows_as_objects(Y: Any) -> Any:
    """Return a list of rows of words and numbers as an array of objects: numbers stay numbers."""
    if isinstance(Y, list) and Y and all(isinstance(row, list | tuple) for row in Y):
        words = [isinstance(value, str) for row in Y for value in row]
        if any(words) and not all(words) and len({len(row) for row in Y}) == 1:
            return np.array(Y, dtype=object)
    return Y


def one_hot(codes: Codes, sizes: Sequence[int]) -> NDArray[np.int8]:
    """Return the labels that class numbers turn on: (n_samples, sum of sizes), by facet."""
    return np.hstack(_indicators(codes, sizes)).astype(np.int8)


def _indicators(codes: Codes, sizes: Sequence[int]) -> list[NDArray[np.bool_]]:
    return [code[:, None] == np.arange(size) for code, size in zip(codes.T, sizes, strict=True)]


def _encode_labels(Y: Any, facets: Any) -> tuple[Codes, FacetTarget]:
    encoded, form = encode_target(Y)
    if form.one_dimensional:
        raise ValueError("facets need a matrix of labels, one column per label; y has one axis")
    labels, known = dense_labels(encoded), tuple(map(str, form.label_names))
    numbers = range(labels.shape[1])
    if facets is None:
        names = known or tuple(str(number + 1) for number in numbers)
        both = tuple(np.array([0, 1]) for _ in numbers)
        return labels.astype(np.intp), FacetTarget(form, names, both, tuple([i] for i in numbers))
    columns = facet_columns(facets, len(numbers), known or None)
    labeled = np.array(known, dtype=object) if known else np.arange(len(numbers))
    in_none = sorted(set(numbers).difference(*columns.values()))
    if in_none:
        raise ValueError(f"label {labeled.tolist()[in_none[0]]!r} is in none of the facets")
    codes = [_only_one(labels[:, members], name) for name, members in columns.items()]
    parts = tuple(labeled[members] for members in columns.values())
    return np.column_stack(codes), FacetTarget(form, tuple(columns), parts, (*columns.values(),))


def _only_one(labels: NDArray[np.int8], name: str) -> Codes:
    count = labels.sum(axis=1, dtype=np.int64)
    wrong = np.flatnonzero(count != 1)
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"row {row} has {int(count[row])} labels of facet {name!r}; each row needs exactly one"
        )
    return np.argmax(labels, axis=1)


def _encode_columns(Y: Any, frame: Any, array: NDArray[Any]) -> tuple[Codes, FacetTarget]:
    if array.shape[1] == 0:
        raise ValueError("Y has no columns: at least one facet is required")
    names: tuple[Any, ...] = tuple(range(1, array.shape[1] + 1))
    backend, columns = "", list(array.T)
    if frame is not None:
        backend, names = frame_columns(Y, frame)
        columns = [np.asarray(frame[:, place].to_numpy()) for place in range(len(names))]
    named = zip(columns, map(str, names), strict=True)
    classes, codes = zip(*(encode_column(c, f"Column {n!r} of Y") for c, n in named), strict=True)
    form = TargetFormat("columns", np.arange(len(names)), array.dtype.str, False, backend, names)
    return np.column_stack(codes), FacetTarget(form, tuple(map(str, names)), classes)
