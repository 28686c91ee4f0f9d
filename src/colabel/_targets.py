"""The door for ``Y``: any container in, a 0/1 matrix inside, the same container out.

============================  ==============================  =============================
``Y`` given to ``fit``        inside                          ``predict`` gives
============================  ==============================  =============================
(n, L) array                  int8 array                      array, same integer dtype
scipy sparse matrix or array  int8 CSR array                  CSR matrix or array
DataFrame                     int8 array, names kept          DataFrame with the names
1-D, two classes              one column                      1-D, same classes
1-D, other number of classes  a column per class              1-D, same classes
(n, S) of classes             facets (``colabel.facets``)     the same, S columns of classes
============================  ==============================  =============================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from colabel.messages import warn_user

__all__ = [
    "TargetFormat",
    "as_array",
    "as_frame",
    "count_labels",
    "dense_labels",
    "encode_column",
    "encode_target",
    "frame_columns",
    "is_binary",
    "label_columns",
    "warn_of_column_vector",
]

Kind = Literal["array", "sparse", "frame", "binary", "multiclass", "columns"]


@dataclass(frozen=True, eq=False)
class TargetFormat:
    """What ``Y`` looked like, so that predictions can be given back the same way.

    Parameters
    ----------
    kind : {"array", "sparse", "frame", "binary", "multiclass", "columns"}
        The rows of the table above; a frame of columns of classes has a ``backend``.
    classes : ndarray
        ``arange(n_columns)`` for matrices, the sorted classes for 1-D targets.
    dtype : str
        Integer (or bool) dtype of predicted label matrices; any dtype of columns of classes.
    sparse_array : bool
        Whether sparse predictions are arrays (``csr_array``) or matrices (``csr_matrix``).
    backend : str
        Data frame library, ``""`` if none.
    label_names : tuple
        Columns of a data frame as they were (pandas allows other things than text), else empty.
    """

    kind: Kind
    classes: NDArray[Any]
    dtype: str = "int64"
    sparse_array: bool = False
    backend: str = ""
    label_names: tuple[Any, ...] = ()

    @property
    def one_dimensional(self) -> bool:
        """Whether ``y`` was a single class per sample."""
        return self.kind in ("binary", "multiclass")

    def restore(self, labels: Any, like: Any = None) -> Any:
        """Return labels (n_samples, n_columns) in the container of ``Y``.

        Columns of classes are taken as a list of them. A pandas frame takes over the index of
        ``like``, if that is a pandas frame too.
        """
        if self.kind == "sparse":
            container = sparse.csr_array if self.sparse_array else sparse.csr_matrix
            return container(labels, dtype=self.dtype)
        if self.kind == "binary":
            return self.classes[labels[:, 0].astype(np.intp)]
        if self.kind == "multiclass":
            return self.classes[np.argmax(labels, axis=1)]
        if self.kind == "columns":
            if self.backend:
                return self._frame(dict(enumerate(labels)), labels, like)
            return np.column_stack([column.astype(self.dtype) for column in labels])
        labels = labels.astype(self.dtype)
        return self._frame(labels, labels.T, like) if self.kind == "frame" else labels

    def _frame(self, values: Any, columns: Any, like: Any) -> Any:
        if self.backend == "pandas":
            import pandas as pd

            index = like.index if isinstance(like, pd.DataFrame) else None
            frame = pd.DataFrame(values, index=index)
            frame.columns = pd.Index(list(self.label_names))
            return frame
        import narwhals as nw

        backend: Any = self.backend
        named = dict(zip(map(str, self.label_names), columns, strict=True))
        return nw.from_dict(named, backend=backend).to_native()


def encode_target(Y: Any) -> tuple[Any, TargetFormat]:
    """Validate ``Y`` and encode it as an int8 matrix of zeros and ones, dense or CSR.

    Raises
    ------
    ValueError
        If ``Y`` is missing, not binary, has NaN, or has a shape that is not understood.
    """
    if Y is None:
        raise ValueError(
            "This estimator requires y to be passed, but the target y is None: "
            "give fit a matrix of labels, one column per label"
        )
    if sparse.issparse(Y):
        return _encode_sparse(Y)
    frame = as_frame(Y)
    array = as_array(Y if frame is None else frame.to_numpy())
    if array.ndim == 1:
        return _encode_classes(array)
    if array.ndim != 2:
        raise ValueError(f"Y must have 1 or 2 axes, not {array.ndim}")
    if array.shape[1] == 1 and not is_binary(array):
        warn_of_column_vector()
        return _encode_classes(array.ravel())
    if frame is not None:
        return _encode_frame(Y, frame, array)
    labels = _binary_matrix(array, range(array.shape[1]))
    return labels, TargetFormat("array", np.arange(labels.shape[1]), _label_dtype(array.dtype))


def warn_of_column_vector() -> None:
    """Warn, as scikit-learn does, of one column of classes where a vector is meant."""
    warn_user(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )


def dense_labels(Y: Any) -> NDArray[np.int8]:
    """Return an encoded label matrix as a dense array."""
    return np.ascontiguousarray(Y.toarray()) if sparse.issparse(Y) else Y


def count_labels(Y: Any) -> NDArray[np.int64]:
    """Count the samples of each label of an encoded label matrix."""
    return np.asarray(Y.sum(axis=0, dtype=np.int64)).ravel()


def label_columns(Y: Any, labels: Any) -> Iterator[NDArray[np.int8]]:
    """Yield the given columns of an encoded label matrix, each dense, one at a time."""
    if not sparse.issparse(Y):
        for label in labels:
            yield np.ascontiguousarray(Y[:, label])
        return
    by_label = sparse.csc_array(Y)
    for label in labels:
        column = np.zeros(Y.shape[0], dtype=np.int8)
        column[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = 1
        yield column


def as_frame(Y: Any) -> Any:
    """Return a narwhals frame if ``Y`` is a data frame, else None."""
    if isinstance(Y, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    try:
        frame = nw.from_native(Y, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise ValueError("the columns of Y must have different names") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def as_array(Y: Any) -> NDArray:
    """Return ``Y`` as an array of at least one axis; refuse lists of labels."""
    if isinstance(Y, np.ma.MaskedArray) and np.ma.is_masked(Y):
        raise ValueError("Y is masked in places; colabel cannot learn from missing labels")
    try:
        array = np.asarray(Y)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype == object and array.ndim <= 1 and _holds_sequences(Y):
        raise ValueError(
            "Y is a list of label lists; turn it into a label matrix first, for example with "
            "sklearn.preprocessing.MultiLabelBinarizer"
        )
    if array.ndim == 0:
        raise ValueError("Y must have one row per sample; it is a single value")
    return array


def _holds_sequences(Y: Any) -> bool:
    return any(isinstance(row, list | tuple | set | np.ndarray) for row in Y)


def _encode_sparse(Y: Any) -> tuple[Any, TargetFormat]:
    if Y.ndim != 2:
        raise ValueError(f"a sparse Y must have 2 axes, not {Y.ndim}")
    is_array = isinstance(Y, sparse.sparray)
    labels = sparse.csr_array(Y, copy=True)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    if not np.all(labels.data == 1):
        wrong = int(np.flatnonzero(labels.data != 1)[0])
        row = int(np.searchsorted(labels.indptr, wrong, side="right")) - 1
        column = int(labels.indices[wrong])
        raise ValueError(_not_binary(labels.data[wrong], row, column))
    _require_labels(labels.shape[1])
    encoded = labels.astype(np.int8)
    form = TargetFormat(
        "sparse",
        np.arange(labels.shape[1]),
        _label_dtype(labels.dtype),
        sparse_array=is_array,
    )
    return encoded, form


def _encode_frame(Y: Any, frame: Any, array: NDArray) -> tuple[Any, TargetFormat]:
    backend, names = frame_columns(Y, frame)
    if len(set(names)) < len(names):
        raise ValueError("the columns of Y must have different names")
    labels = _binary_matrix(array, names)
    dtype = _label_dtype(array.dtype)
    form = TargetFormat("frame", np.arange(len(names)), dtype, backend=backend, label_names=names)
    return labels, form


def _encode_classes(y: NDArray) -> tuple[Any, TargetFormat]:
    classes, codes = encode_column(y)
    if len(classes) == 2:
        return codes.astype(np.int8)[:, None], TargetFormat("binary", classes)
    labels = (codes[:, None] == np.arange(len(classes))).astype(np.int8)
    return labels, TargetFormat("multiclass", classes)


def encode_column(column: NDArray, name: str = "Input y") -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes of a column of any dtype, and which of them each row has."""
    if column.dtype.kind == "f" and not np.all(np.isfinite(column)):
        raise ValueError(f"{name} contains NaN or infinity.")
    if column.dtype == object and any(value is None or value != value for value in column):
        raise ValueError(f"{name} has missing classes")
    kinds = {type(value) for value in column} if column.dtype == object else set()
    if len(kinds) == 1 and issubclass(next(iter(kinds)), int | float | np.number | np.bool_):
        column = np.array(column.tolist())
    try:
        classes, codes = np.unique(column, return_inverse=True)
    except TypeError:
        found = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(f"{name} must hold classes of one kind, not {found}") from None
    check_classification_targets(column)
    return classes, codes.reshape(-1).astype(np.intp)


def frame_columns(Y: Any, frame: Any) -> tuple[str, tuple[Any, ...]]:
    """Return the library of a data frame, and its columns as they are called there."""
    backend = str(frame.implementation.value)
    return backend, tuple(Y.columns if backend == "pandas" else frame.columns)


def _binary_matrix(array: NDArray, names: Sequence[Any]) -> NDArray[np.int8]:
    _require_labels(array.shape[1])
    if not is_binary(array):
        wrong = ~((array == 0) | (array == 1)) | (array.dtype.kind == "c")
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(_not_binary(array[row, column], row, names[column]))
    return np.ascontiguousarray(array, dtype=np.int8)


def is_binary(array: NDArray) -> bool:
    """Return whether an array holds only 0 and 1."""
    return array.dtype.kind != "c" and bool(np.all((array == 0) | (array == 1)))


def _require_labels(n_labels: int) -> None:
    if n_labels == 0:
        raise ValueError("Y has no columns: at least one label is required")


def _not_binary(value: Any, row: int, label: Any) -> str:
    found = "NaN" if isinstance(value, float | np.floating) and np.isnan(value) else repr(value)
    if isinstance(value, np.generic) and found != "NaN":
        found = repr(value.item())
    return (
        f"Y must hold only 0 and 1, one column per label; row {row}, label {str(label)!r} holds "
        f"{found}. "
        "For one class per sample pass a 1-D y."
    )


def _label_dtype(dtype: np.dtype) -> str:
    """Integers and booleans are given back as they came, anything else as int64."""
    return str(dtype) if dtype.kind in "iub" else "int64"
