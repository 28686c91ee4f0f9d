"""colabel's own compact file: a zip of plain NumPy arrays, which cannot execute anything.

Keys: ``X`` and ``Y`` if dense, or ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape`` (and
the same for Y) if CSR; ``feature_names`` and ``label_names``, arrays of strings, may be left out,
and so may Y: data without labels.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from colabel.dataset import Dataset
from colabel.datasets.formats._assemble import numbered, refuse_width
from colabel.datasets.formats._format import Arrays, Format, ReadOptions
from colabel.datasets.formats._names import check_distinct, refuse_twins
from colabel.datasets.formats._stream import refuse_bomb, refuse_irregular
from colabel.exceptions import DataFormatError
from colabel.files import atomic

__all__ = ["NPZ", "read_npz", "write_npz"]

MAX_HEADER_BYTES = 10_000
_PARTS = ("data", "indices", "indptr", "shape")


def read_npz(path: Path, options: ReadOptions) -> Arrays:
    """Read a ``.npz`` file, which leaves nothing to ``options``; no pickled object is ever loaded.

    Returns
    -------
    X, Y, feature_names, label_names
    """
    arrays = _load(path)
    X = _matrix(path, arrays, "X")
    has_labels = any(key.split("_")[0] == "Y" for key in arrays)
    Y = _matrix(path, arrays, "Y") if has_labels else np.zeros((X.shape[0], 0), np.int8)
    if X.shape[0] != Y.shape[0]:
        raise DataFormatError(path, f"X has {X.shape[0]} rows, Y has {Y.shape[0]}")
    values: Any = Y.data if sparse.issparse(Y) else Y
    if not ((values == 0) | (values == 1)).all():
        raise DataFormatError(path, "Y has values other than 0 and 1")
    if np.isinf(X.data if sparse.issparse(X) else X).any():
        raise DataFormatError(path, "X has infinite values; replace them first")
    features, labels = _names(path, arrays, "feature", X), _names(path, arrays, "label", Y)
    for names in (features, labels):
        refuse_twins(path, names)
    return X.astype(np.float64, copy=False), Y.astype(np.int8, copy=False), features, labels


def write_npz(dataset: Dataset, path: Path) -> None:
    """Write the arrays of a dataset, packed."""
    arrays: dict[str, Any] = {
        "feature_names": np.array(dataset.feature_names, np.str_),
        "label_names": np.array(dataset.label_names, np.str_),
    }
    for key, A in (("X", dataset.X), ("Y", dataset.Y)):
        if sparse.issparse(A):
            csr = sparse.csr_array(A)
            arrays |= {f"{key}_{part}": getattr(csr, part) for part in _PARTS}
        else:
            arrays[key] = np.asarray(A)
    for names in (dataset.feature_names, dataset.label_names):
        check_distinct(names)
        if any(name.endswith("\0") for name in names):
            raise ValueError("a name ends in a NUL character, which NumPy strings cannot keep")
    with atomic(path) as file:
        np.savez_compressed(file, **arrays)


def _load(path: Path) -> dict[str, np.ndarray]:
    wanted = {"X", "Y", "feature_names", "label_names"}
    wanted |= {f"{key}_{part}" for key in "XY" for part in _PARTS}
    refuse_irregular(path)
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename: info for info in archive.infolist()}
            refuse_bomb(path, path.stat().st_size, sum(info.file_size for info in members.values()))
            return {
                key: _array(path, archive, members[f"{key}.npy"])
                for key in sorted(wanted)
                if f"{key}.npy" in members
            }
    except (DataFormatError, MemoryError):
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError) as error:
        raise DataFormatError(path, f"not a readable .npz file ({error})") from error
    except Exception as error:  # NumPy parses headers as Python text, which fails in many ways
        raise DataFormatError(path, f"a damaged array in the .npz file ({error})") from error


def _array(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> np.ndarray:
    """Read one array, after checking that its header promises no more than the member holds."""
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DataFormatError(
            path, f"array {info.filename} is packed in a way that NumPy does not write"
        )
    with archive.open(info) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file, max_header_size=MAX_HEADER_BYTES)
        if dtype.hasobject:
            raise DataFormatError(
                path, f"array {info.filename} holds Python objects, which are not loaded"
            )
        size = dtype.itemsize
        for length in shape:
            size *= max(int(length), 0)
        if any(length < 0 for length in shape) or size > info.file_size or dtype.itemsize == 0:
            raise DataFormatError(
                path, f"array {info.filename} claims shape {shape}, more than the file holds"
            )
    with archive.open(info) as file:
        return npy.read_array(file, allow_pickle=False, max_header_size=MAX_HEADER_BYTES)


def _matrix(path: Path, arrays: dict[str, np.ndarray], key: str) -> Any:
    if key in arrays:
        A = arrays[key]
        if A.ndim != 2 or A.dtype.kind not in "biuf":
            raise DataFormatError(path, f"{key} is not a two-dimensional array of numbers")
        return A
    parts = [arrays[f"{key}_{part}"] for part in _PARTS if f"{key}_{part}" in arrays]
    if len(parts) < len(_PARTS):
        raise DataFormatError(
            path,
            f"{key} is missing: neither {key} nor all of {key}_data, _indices, _indptr, _shape",
        )
    data, indices, indptr, shape = parts
    try:
        rows, cols = (int(length) for length in np.asarray(shape).tolist())
        if min(rows, cols) < 0 or data.dtype.kind not in "biuf" or indices.dtype.kind not in "iu":
            raise ValueError("wrong types")
        A = sparse.csr_array((data, indices, indptr), shape=(rows, cols))
        A.check_format(full_check=True)
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise DataFormatError(path, f"{key} is no valid CSR matrix ({error})") from error
    A.sum_duplicates()
    return A


def _names(path: Path, arrays: dict[str, np.ndarray], what: str, A: Any) -> tuple[str, ...]:
    names, width = arrays.get(f"{what}_names"), A.shape[1]
    if names is None:
        refuse_width(path, what, width, A.nnz if sparse.issparse(A) else A.size)
        return numbered(what, width)
    if names.ndim != 1 or len(names) != width or (names.dtype.kind != "U" and len(names)):
        raise DataFormatError(path, f"{what}_names is not an array of {width} strings")
    return tuple(map(str, names.tolist()))


NPZ = Format(("npz",), read_npz, write_npz, suffixes=(".npz",), packed=False)
