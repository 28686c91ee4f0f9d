"""Turning whatever a caller holds into one of two validated forms: labels or scores.

Labels become a boolean array, or a boolean CSR array where the caller's were sparse; scores become
a dense float array. Everything that can be wrong with them is refused here, in one sentence each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse

__all__ = [
    "as_labels",
    "as_scores",
    "as_weights",
    "check_same_columns",
    "check_same_shape",
    "column_names",
    "dense_rows",
    "label_pair",
    "row_blocks",
    "unframed",
]

# Cells of a block of rows: a few float64 arrays of this size stay in the processor's cache.
BLOCK_CELLS = 2**18


def label_pair(
    truth: Any, prediction: Any, names: tuple[str, str] = ("Y_true", "Y_pred")
) -> tuple[Any, Any]:
    """Validate truth and prediction; both come back dense, or both as CSR arrays."""
    check_same_columns(truth, prediction, *names)
    Y, Z = as_labels(truth, names[0]), as_labels(prediction, names[1])
    check_same_shape(Y, Z, *names)
    if sparse.issparse(Y) != sparse.issparse(Z):
        Y, Z = sparse.csr_array(Y), sparse.csr_array(Z)
    return Y, Z


def as_labels(Y: Any, name: str = "Y") -> Any:
    """Return ``Y`` as a boolean array or, where it is sparse, a canonical boolean CSR array."""
    if sparse.issparse(Y):
        _check_filled(Y.shape, name)
        return _sparse_labels(Y, name)
    values = unframed(Y, name)
    _check_filled(values.shape, name)
    return _binary(values, name)


def as_scores(scores: Any, name: str = "scores") -> np.ndarray:
    """Return ``scores`` as a dense array of float32 or float64 without NaN."""
    if sparse.issparse(scores):
        raise ValueError(f"{name} must be dense, for an absent score is not a score of zero")
    values = unframed(scores, name)
    _check_filled(values.shape, name)
    if values.dtype not in (np.float32, np.float64):
        values = _to_float(values, f"{name} must be numbers")
    if any(np.isnan(values[rows]).any() for rows in row_blocks(*values.shape)):
        raise ValueError(f"{name} must not contain NaN")
    return values


def as_weights(sample_weight: Any, n_samples: int) -> np.ndarray | None:
    """Return the weights as float64, or None where every sample counts the same."""
    if sample_weight is None:
        return None
    weights = _to_float(np.asarray(sample_weight), "sample_weight must be numbers")
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but there are {n_samples} samples"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must be finite and not negative")
    if not weights.any():
        raise ValueError("sample_weight is zero for every sample")
    return weights


def check_same_shape(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Refuse two arguments of different shapes."""
    if first.shape != second.shape:
        raise ValueError(
            f"{first_name} has shape {first.shape}, but {second_name} has shape {second.shape}"
        )


def check_same_columns(first: Any, second: Any, first_name: str, second_name: str) -> None:
    """Refuse two data frames whose columns are not the same labels in the same order."""
    names, others = column_names(first), column_names(second)
    if names is None or others is None or len(names) != len(others):
        return
    for here, there in zip(names, others, strict=True):
        if here != there:
            raise ValueError(
                f"{first_name} has column {here!r} where {second_name} has {there!r}: "
                "give both the same columns in the same order"
            )


def column_names(table: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, None for anything else."""
    return tuple(str(name) for name in _eager(table).columns) if _is_frame(table) else None


def unframed(table: Any, name: str) -> np.ndarray:
    """Return a data frame's or any other array-like's values as an array."""
    if _is_frame(table):
        return np.asarray(_eager(table).to_numpy())
    try:
        return np.asarray(table)
    except ValueError:
        raise ValueError(f"{name} has rows of different lengths") from None


def row_blocks(n_samples: int, n_labels: int) -> Iterator[slice]:
    """Cut the rows into blocks that keep dense temporaries small."""
    step = max(1, BLOCK_CELLS // n_labels)
    return (slice(start, start + step) for start in range(0, n_samples, step))


def dense_rows(Y: Any, rows: slice) -> np.ndarray:
    """Return some rows of validated labels as a boolean array."""
    block = Y[rows]
    return block.toarray() if sparse.issparse(block) else block


def _is_frame(table: Any) -> bool:
    # Asked of the type: the attribute of a lazy frame would compute its schema.
    return hasattr(type(table), "columns") and not sparse.issparse(table)


def _eager(table: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(table, eager_only=True)
    except TypeError:
        raise ValueError(
            f"a {type(table).__name__} is not a data frame in memory: collect it first"
        ) from None
    except nw.exceptions.DuplicateError:
        raise ValueError("a data frame has two columns of the same name") from None


def _check_filled(shape: Sequence[int], name: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{name} must be two-dimensional, (n_samples, n_labels), not of shape {tuple(shape)}"
        )
    for size, what in zip(shape, ("samples", "labels"), strict=True):
        if size == 0:
            raise ValueError(f"{name} has no {what}")


def _binary(values: np.ndarray, name: str) -> np.ndarray:
    """Return an array of any shape as booleans, or refuse what is neither 0 nor 1."""
    if values.dtype == bool:
        return values
    if values.dtype.kind not in "fiu":
        values = _to_float(values, f"{name} must hold only 0 and 1")
    on = values != 0
    wrong = values != on
    if wrong.any():
        raise ValueError(f"{name} must hold only 0 and 1, not {values[wrong][0]}")
    return on


def _sparse_labels(Y: Any, name: str) -> Any:
    rows = sparse.csr_array(Y)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    on = _binary(rows.data, name)
    labels = sparse.csr_array((on, rows.indices, rows.indptr), shape=rows.shape)
    if not on.all():
        labels = labels.copy()
        labels.eliminate_zeros()
    return labels


def _to_float(values: np.ndarray, message: str) -> np.ndarray:
    texts = values.dtype.kind == "O" and any(isinstance(value, str) for value in values.flat)
    if texts or values.dtype.kind not in "fiubO":
        raise ValueError(message)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(message) from None
