"""The door for ``Y``: any container in, a 0/1 matrix inside, the same container out.

============================  ==============================  =============================
``Y`` given to ``fit``        inside                          ``predict`` gives
============================  ==============================  =============================
(n, L) array                  int8 array                      array, same integer dtype
scipy sparse matrix or array  int8 CSR array                  CSR matrix or array
DataFrame                     int8 array, names kept          DataFrame with the names
1-D, two classes              one column                      1-D, same classes
1-D, other number of classes  a column per class              1-D, same classes
============================  ==============================  =============================
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["TargetFormat", "dense_labels", "encode_target", "label_columns"]

Kind = Literal["array", "sparse", "frame", "binary", "multiclass"]
COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
    "(n_samples,), for example using ravel()."
)


@dataclass(frozen=True, eq=False)
class TargetFormat:
    """What ``Y`` looked like, so that predictions can be given back the same way.

    Parameters
    ----------
    kind : {"array", "sparse", "frame", "binary", "multiclass"}
    classes : ndarray
        ``arange(n_labels)`` for label matrices, the sorted classes for 1-D targets.
    dtype : str
        Integer (or bool) dtype of predicted label matrices.
    sparse_array : bool
        Whether sparse predictions are arrays (``csr_array``) or matrices (``csr_matrix``).
    backend : str
        Data frame library, ``""`` if none.
    label_names : tuple of str
        Column names of a data frame, else empty.
    """

    kind: Kind
    classes: NDArray[Any]
    dtype: str = "int64"
    sparse_array: bool = False
    backend: str = ""
    label_names: tuple[str, ...] = ()

    @property
    def one_dimensional(self) -> bool:
        """Whether ``y`` was a single class per sample."""
        return self.kind in ("binary", "multiclass")

    def restore(self, labels: Any, index: Any = None) -> Any:
        """Give labels (n_samples, n_columns) back in the container of ``Y``.

        ``index`` is a pandas index for the rows of a pandas frame.
        """
        if self.kind == "sparse":
            container = sparse.csr_array if self.sparse_array else sparse.csr_matrix
            return container(labels, dtype=self.dtype)
        if self.kind == "binary":
            return self.classes[labels[:, 0].astype(np.intp)]
        if self.kind == "multiclass":
            return self.classes[np.argmax(labels, axis=1)]
        labels = labels.astype(self.dtype)
        return self._frame(labels, index) if self.kind == "frame" else labels

    def _frame(self, labels: NDArray, index: Any) -> Any:
        import narwhals as nw

        columns = {name: labels[:, i] for i, name in enumerate(self.label_names)}
        backend: Any = self.backend
        frame = nw.from_dict(columns, backend=backend).to_native()
        if index is not None and self.backend == "pandas":
            frame.index = index
        return frame


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
            "give fit a matrix of labels, one column a label"
        )
    if sparse.issparse(Y):
        return _encode_sparse(Y)
    frame = _as_frame(Y)
    if frame is not None:
        return _encode_frame(frame)
    array = _as_array(Y)
    if array.ndim == 1:
        return _encode_classes(array)
    if array.ndim != 2:
        raise ValueError(f"Y must have 1 or 2 axes, not {array.ndim}")
    if array.shape[1] == 1 and not _is_binary(array):
        warnings.warn(COLUMN_VECTOR, DataConversionWarning, stacklevel=2)
        return _encode_classes(array.ravel())
    names = [str(i) for i in range(array.shape[1])]
    labels = _binary_matrix(array, names)
    return labels, TargetFormat("array", np.arange(labels.shape[1]), _label_dtype(array.dtype))


def dense_labels(Y: Any) -> NDArray[np.int8]:
    """Return an encoded label matrix as a dense array."""
    return np.ascontiguousarray(Y.toarray()) if sparse.issparse(Y) else Y


def label_columns(Y: Any) -> list[NDArray[np.int8]]:
    """Return the columns of an encoded label matrix, each dense, without a dense matrix."""
    if not sparse.issparse(Y):
        return list(np.ascontiguousarray(Y.T))
    by_label = sparse.csc_array(Y)
    columns = []
    for start, stop in zip(by_label.indptr[:-1], by_label.indptr[1:], strict=True):
        column = np.zeros(Y.shape[0], dtype=np.int8)
        column[by_label.indices[start:stop]] = 1
        columns.append(column)
    return columns


def _as_frame(Y: Any) -> Any:
    """Return a narwhals frame if ``Y`` is a data frame, else None."""
    if isinstance(Y, np.ndarray | list | tuple):
        return None
    import narwhals as nw

    frame = nw.from_native(Y, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _as_array(Y: Any) -> NDArray:
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
    is_array = isinstance(Y, sparse.sparray)
    labels = sparse.csr_array(Y)
    labels.sum_duplicates()
    labels.eliminate_zeros()
    if not np.all(labels.data == 1):
        wrong = int(np.flatnonzero(labels.data != 1)[0])
        row = int(np.searchsorted(labels.indptr, wrong, side="right")) - 1
        column = int(labels.indices[wrong])
        raise ValueError(_not_binary(labels.data[wrong], row, str(column)))
    _require_labels(labels.shape[1])
    encoded = labels.astype(np.int8)
    form = TargetFormat(
        "sparse",
        np.arange(labels.shape[1]),
        _label_dtype(labels.dtype),
        sparse_array=is_array,
    )
    return encoded, form


def _encode_frame(frame: Any) -> tuple[Any, TargetFormat]:
    names = [str(name) for name in frame.columns]
    array = frame.to_numpy()
    labels = _binary_matrix(array, names)
    form = TargetFormat(
        "frame",
        np.arange(len(names)),
        _label_dtype(array.dtype),
        backend=str(frame.implementation.value),
        label_names=tuple(names),
    )
    return labels, form


def _encode_classes(y: NDArray) -> tuple[Any, TargetFormat]:
    if y.dtype.kind == "f" and not np.all(np.isfinite(y)):
        raise ValueError("Input y contains NaN or infinity.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    codes = codes.reshape(-1)
    if len(classes) == 2:
        return codes.astype(np.int8)[:, None], TargetFormat("binary", classes)
    labels = (codes[:, None] == np.arange(len(classes))).astype(np.int8)
    return labels, TargetFormat("multiclass", classes)


def _binary_matrix(array: NDArray, names: list[str]) -> NDArray[np.int8]:
    _require_labels(array.shape[1])
    if not _is_binary(array):
        wrong = ~((array == 0) | (array == 1))
        row, column = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(_not_binary(array[row, column], row, names[column]))
    return np.ascontiguousarray(array, dtype=np.int8)


def _is_binary(array: NDArray) -> bool:
    return bool(np.all((array == 0) | (array == 1)))


def _require_labels(n_labels: int) -> None:
    if n_labels == 0:
        raise ValueError("Y has no columns: at least one label is required")


def _not_binary(value: Any, row: int, label: str) -> str:
    found = "NaN" if isinstance(value, float | np.floating) and np.isnan(value) else repr(value)
    if isinstance(value, np.generic) and found != "NaN":
        found = repr(value.item())
    return (
        f"Y must hold only 0 and 1, one column a label; row {row}, label {label!r} holds {found}. "
        "For one class per sample pass a 1-D y."
    )


def _label_dtype(dtype: np.dtype) -> str:
    """Integers and booleans are given back as they came, anything else as int64."""
    return str(dtype) if dtype.kind in "iub" else "int64"
