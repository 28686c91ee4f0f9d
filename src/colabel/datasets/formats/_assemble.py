"""From the cells of blocks to the arrays of a dataset.

Blocks are kept small (int8 where they can be) until the number of rows is known. Then one-hot
columns are laid out, and what a sparse row left out gets its default.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from colabel.datasets.formats._columns import Columns
from colabel.datasets.formats._dense import as_slice
from colabel.datasets.formats._sparse import Entries
from colabel.exceptions import DataFault, DataFormatError

__all__ = [
    "MAX_DENSE_BYTES",
    "WIDTHS",
    "DenseTable",
    "SparseTable",
    "dense_row",
    "label_matrix",
    "numbered",
    "refuse_width",
    "stack_entries",
    "stored_row",
    "tidy_csr",
]

MAX_DENSE_BYTES = 256 << 20
MAX_FILLED_CELLS = 1 << 25
BLOCK_CELLS = 1 << 20
# A small file may describe a large label matrix; it is dense if this small, or well filled.
FREE_LABEL_CELLS, CELLS_PER_LABEL = 1 << 24, 64
# A file may be this wide without asking; wider if it stores that many entries, or on demand.
FREE_WIDTH = 1 << 20
WIDTHS: dict[str, DataFault] = {"feature": "feature width", "label": "label width"}


class DenseTable:
    """Collects dense blocks of cells and gives X and Y."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self.path, self.columns = path, columns
        self._features, self._labels = as_slice(columns.features), as_slice(columns.labels)
        self._x: list[np.ndarray] = []
        self._y: list[np.ndarray] = []

    def add(self, cells: np.ndarray) -> None:
        """Take the cells of a block, of shape (n_rows, n_attributes)."""
        # A copy, not a view: a view would keep the whole block alive.
        self._x.append(cells[:, self._features].copy())
        self._y.append(cells[:, self._labels].astype(np.int8))

    def arrays(self) -> tuple[Any, Any]:
        """Return X and Y."""
        n_samples = sum(map(len, self._x))
        Y = _stack(self._y, n_samples, len(self.columns.labels), np.int8)
        if Y.nbytes > MAX_DENSE_BYTES:
            Y = sparse.csr_array(Y)
        places = self.columns.n_places
        if not places.any():
            return _stack(self._x, n_samples, len(places), np.float64), Y
        return self._one_hot(n_samples, places), Y

    def _one_hot(self, n_samples: int, places: np.ndarray) -> Any:
        n_columns = int(np.maximum(places, 1).sum())
        n_dense = 8 * n_samples * n_columns
        # A stored entry of a CSR array takes 12 bytes, and each cell stores one.
        if n_dense <= MAX_DENSE_BYTES or n_dense <= 12 * n_samples * len(places):
            out, at = np.zeros((n_samples, n_columns)), 0
            for block in self._x:
                out[at : at + len(block)] = _one_hot_csr(block, places).toarray()
                at += len(block)
            return out
        n_lost = sum(int((_is_lost(block, places) @ places).sum()) for block in self._x)
        _refuse_filling(self.path, n_lost)
        if not n_lost:
            return _one_hot_stack(self._x, n_samples, places)
        packed = [_one_hot_csr(self._x.pop(0), places) for _ in range(len(self._x))]
        return _small_indices(sparse.csr_array(sparse.vstack(packed, format="csr")))


class SparseTable:
    """Collects the stored cells of sparse blocks and gives X and Y."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self.path, self.columns = path, columns
        self._x: list[Entries] = []
        self._y: list[Entries] = []

    def add(self, entries: Entries) -> None:
        """Take the cells of a block."""
        target = self.columns.target.take(entries.cols)
        is_feature = target >= 0
        bounds = np.concatenate(([0], np.cumsum(entries.counts)))
        before = np.concatenate(([0], np.cumsum(is_feature, dtype=np.int32)))
        n_features = np.diff(before[bounds])
        cell = entries.cells[is_feature]
        self._x.append(Entries(target[is_feature], cell, n_features))
        is_label = ~is_feature
        label_cell = entries.cells[is_label].astype(np.int8)
        self._y.append(Entries(~target[is_label], label_cell, entries.counts - n_features))

    def arrays(self) -> tuple[Any, Any]:
        """Return X and Y."""
        columns = self.columns
        X = stack_entries(self._x, len(columns.features), np.float64)
        Y = stack_entries(self._y, len(columns.labels), np.int8)
        # The parsers give rows in order; SciPy would look through them all to find that out.
        X.has_canonical_format = Y.has_canonical_format = True
        Y = self._filled(Y, columns.defaults(columns.labels))
        defaults, places = columns.defaults(columns.features), columns.n_places
        special = np.flatnonzero((defaults != 0) | (places > 0))
        if len(special):
            X = self._expanded(X, special, defaults, places)
        return tidy_csr(X), label_matrix(Y)

    def _filled(self, Y: sparse.csr_array, defaults: np.ndarray) -> sparse.csr_array:
        """Set the labels that are on unless a row says otherwise."""
        on = np.flatnonzero(defaults)
        if len(on):
            _refuse_filling(self.path, Y.shape[0] * len(on))
            rest = np.flatnonzero(defaults == 0)
            parts = [_with_default(Y, on, defaults), Y[:, rest]]
            Y = sparse.csr_array(sparse.hstack(parts, format="csr"))
            Y = Y[:, np.argsort(np.concatenate((on, rest)))]
        return tidy_csr(Y)

    def _expanded(
        self, X: sparse.csr_array, special: np.ndarray, defaults: np.ndarray, places: np.ndarray
    ) -> sparse.csr_array:
        """Lay out one-hot columns and those whose left-out value is not 0."""
        n_lost = int(places[X.indices[np.isnan(X.data)]].sum())
        _refuse_filling(self.path, X.shape[0] * len(special) + n_lost)
        rest = np.setdiff1d(np.arange(X.shape[1]), special)
        # Columns come out grouped as special, rest; this puts them back in file order.
        widths = np.maximum(places, 1)
        order = np.concatenate([np.repeat(special, widths[special]), np.repeat(rest, widths[rest])])
        back = np.argsort(order, kind="stable")
        step, blocks = max(1, BLOCK_CELLS // len(special)), []
        for at in range(0, X.shape[0], step):
            rows = X[at : at + step]
            cells = _with_default(rows, special, defaults)
            parts = [_one_hot_csr(cells, places[special]), rows[:, rest]]
            joined = sparse.csr_array(sparse.hstack(parts, format="csr"))
            blocks.append(tidy_csr(joined[:, back]))
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))


def label_matrix(Y: sparse.csr_array) -> Any:
    """Return Y as a dense int8 array, unless that is large for what it holds or over 256 MiB."""
    limit = min(max(FREE_LABEL_CELLS, CELLS_PER_LABEL * Y.nnz), MAX_DENSE_BYTES)
    return Y if Y.shape[0] * Y.shape[1] > limit else Y.toarray()


def _refuse_filling(path: Path, n_cells: int) -> None:
    if n_cells > MAX_FILLED_CELLS:
        raise DataFormatError(
            path,
            f"one-hot or default values would fill {n_cells} cells; "
            "read with one_hot=False, or declare the most frequent value first",
        )


def _stack(blocks: list[np.ndarray], n_rows: int, width: int, dtype: type) -> np.ndarray:
    out: np.ndarray = np.empty((n_rows, width), dtype)
    at = 0
    for i, block in enumerate(blocks):
        out[at : at + len(block)] = block
        at += len(block)
        blocks[i] = block[:0]
    return out


def numbered(what: str, width: int) -> tuple[str, ...]:
    """Return names for columns that have none: ``feature_0``, ``feature_1`` and so on."""
    return tuple(f"{what}_{j}" for j in range(width))


def refuse_width(path: Path, what: str, width: int, n_stored: int) -> None:
    """Refuse a number of nameless columns that only a mistake or an attack would have."""
    if width > max(FREE_WIDTH, n_stored):
        raise DataFormatError(
            path,
            f"{width} {what}s are far more than the file holds",
            kind=WIDTHS[what],
            advice=f"if meant, give n_{what}s= (svmlight) or {what}_names (npz)",
        )


def dense_row(A: Any, i: int) -> np.ndarray:
    """Return one row of a dense or sparse matrix."""
    return A[[i]].toarray()[0] if sparse.issparse(A) else np.asarray(A[i])


def stored_row(A: sparse.csr_array, i: int) -> tuple[list[int], list[float]]:
    """Return the columns and values of one row of a CSR array."""
    part = slice(A.indptr[i], A.indptr[i + 1])
    return A.indices[part].tolist(), A.data[part].astype(np.float64).tolist()


def tidy_csr(A: sparse.csr_array) -> sparse.csr_array:
    """Drop stored zeros, sort, and use int32 indices where they fit."""
    A.sort_indices()
    if not A.data.all():
        A.eliminate_zeros()
    return _small_indices(A)


def stack_entries(
    parts: list[Entries], width: int, dtype: type, first: int = 0
) -> sparse.csr_array:
    """Return the CSR array of some entries, their columns counted from ``first``; clear them."""
    sizes = [len(part.cols) for part in parts]
    index: np.ndarray = np.empty(sum(sizes), np.int32)
    cell: np.ndarray = np.empty(sum(sizes), dtype)
    at = 0
    for part, size in zip(parts, sizes, strict=True):
        index[at : at + size], cell[at : at + size] = part.cols, part.cells
        at += size
    index -= first
    count = np.concatenate([np.zeros(1, np.int64), *(part.counts for part in parts)])
    indptr = np.cumsum(count)
    parts.clear()
    if indptr[-1] < 2**31:
        indptr = indptr.astype(np.int32)
    return sparse.csr_array((cell, index, indptr), shape=(len(count) - 1, width))


def _with_default(A: sparse.csr_array, cols: np.ndarray, defaults: np.ndarray) -> np.ndarray:
    """Return some columns as a dense array in which unstored cells have their default."""
    part = A[:, cols].tocoo()
    dense = np.tile(defaults[cols].astype(A.dtype), (A.shape[0], 1))
    dense[part.row, part.col] = part.data
    return dense


def _one_hot_stack(blocks: list[np.ndarray], n_rows: int, places: np.ndarray) -> sparse.csr_array:
    """Lay out blocks without unknown places, each cell one entry, straight into one CSR array."""
    first = np.concatenate(([0], np.cumsum(np.maximum(places, 1))))
    is_place, width = places > 0, len(places)
    index, data = np.empty((n_rows, width), np.int32), np.ones((n_rows, width))
    at = 0
    for block in blocks:
        part = slice(at, at + len(block))
        np.add(first[:-1], np.where(is_place, block, 0), out=index[part], casting="unsafe")
        data[part, ~is_place] = block[:, ~is_place]
        at = part.stop
    indptr = np.arange(n_rows + 1, dtype=np.int64) * width
    parts = (data.ravel(), index.ravel(), indptr)
    return tidy_csr(sparse.csr_array(parts, shape=(n_rows, int(first[-1]))))


def _one_hot_csr(cells: np.ndarray, places: np.ndarray) -> sparse.csr_array:
    """Lay out the places of nominal cells; an unknown one is NaN in all its columns."""
    first = np.concatenate(([0], np.cumsum(np.maximum(places, 1)))).astype(np.int32)
    is_lost = _is_lost(cells, places)
    is_place = (places > 0) & ~is_lost
    index = first[:-1] + np.where(is_place, cells, 0).astype(np.int32)
    data = np.where(is_place, 1.0, cells)
    n_rows, width = cells.shape
    indptr = np.arange(n_rows + 1, dtype=np.int64) * width
    shape = (n_rows, int(first[-1]))
    out = sparse.csr_array((data.ravel(), index.ravel(), indptr), shape=shape)
    if is_lost.any():
        out = sparse.csr_array(out + _lost_places(is_lost, places, first, shape))
    if not data.all():
        out.eliminate_zeros()
    return out


def _lost_places(
    is_lost: np.ndarray, places: np.ndarray, first: np.ndarray, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return NaN at all places of unknown cells but the first, which is stored already."""
    row, col = np.nonzero(is_lost)
    more = places[col] - 1
    step = np.arange(more.sum()) - np.repeat(np.cumsum(more) - more, more) + 1
    at = np.repeat(row, more), np.repeat(first[col], more) + step
    return sparse.csr_array((np.full(len(step), np.nan), at), shape=shape)


def _is_lost(cells: np.ndarray, places: np.ndarray) -> np.ndarray:
    if cells.dtype.kind != "f":
        return np.zeros(cells.shape, bool)
    return np.isnan(cells) & (places > 0)


def _small_indices(A: sparse.csr_array) -> sparse.csr_array:
    """Return A with int32 indices where they fit; SciPy widens them in some operations."""
    A.indices = A.indices.astype(np.int32, copy=False)
    if A.nnz < 2**31:
        A.indptr = A.indptr.astype(np.int32, copy=False)
    return A
