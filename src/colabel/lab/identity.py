"""What a cell is, told the same way in every process: the key that finished cells are found by.

Values become plain JSON: an estimator is its class and parameters, an array the hash of its bytes,
a function or class its module and name, and what it does where it is the user's own (see
``user_code``). No address, no ``hash`` and no order of a set goes in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from hashlib import blake2b
from importlib import import_module
from types import FunctionType, MethodType
from typing import Any

import numpy as np
from scipy import sparse

from colabel.datasets import Dataset
from colabel.lab.user_code import constants_of, is_user_code, parts_of_code, path_of

__all__ = ["describe", "digest", "hash_data"]

PLAIN = (bool, int, float, str)


def digest(description: Any) -> str:
    """Return the hash of a description, 32 hexadecimal digits."""
    text = json.dumps(description, sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


def hash_data(data: Dataset) -> str:
    """Return the hash of what a method and the measures see of a dataset; O(size of the data)."""
    parts = [_hash_array(data.X), _hash_array(data.Y)]
    if data.facets is not None:
        parts.append(describe([data.label_names, data.facets]))
    return digest(parts)


def describe(value: Any) -> Any:
    """Return a value as JSON that is equal for equal values, in any process.

    Raises
    ------
    TypeError
        For objects that do not tell what they are made of.
    """
    if value is None or isinstance(value, PLAIN):
        return value
    if isinstance(value, np.generic):
        return value.item()
    for kinds, tell in _TELL:
        if isinstance(value, kinds):
            return tell(value)
    if hasattr(value, "get_params"):
        params = describe(value.get_params(deep=False))
        return {"class": path_of(type(value)), "params": params, **_own_code(type(value))}
    if _is_importable(value):
        return _of_named(value)
    if hasattr(value, "__dict__"):
        state = describe(vars(value))
        return {"class": path_of(type(value)), "state": state, **_own_code(type(value))}
    raise TypeError(f"{type(value).__name__} does not tell what it is made of")


def _hash_array(array: Any) -> list[Any]:
    """Return kind, shape and hash of an array; equal sparse matrices have equal hashes."""
    if not sparse.issparse(array):
        if array.dtype.hasobject:
            return ["objects", list(array.shape), describe(array.ravel().tolist())]
        bytes_of = [np.ascontiguousarray(array)]
    else:
        array = sparse.csr_array(array)
        if not array.has_canonical_format:
            array = array.copy()
            array.sum_duplicates()
        bytes_of = [array.indptr.astype(np.int64), array.indices.astype(np.int64), array.data]
    state = blake2b(digest_size=16)
    for part in bytes_of:
        state.update(part.data.cast("B") if part.size else b"")
    return [str(array.dtype), list(array.shape), len(bytes_of), state.hexdigest()]


def _of_mapping(value: Mapping[Any, Any]) -> Any:
    pairs = [[describe(key), describe(item)] for key, item in value.items()]
    return {"pairs": sorted(pairs, key=json.dumps)}


def _of_function(value: FunctionType) -> Any:
    """Name a function of a module; of one made on the way, hash what it does."""
    if is_user_code(value) or _is_importable(value):
        return _of_named(value)
    closed = [cell.cell_contents for cell in value.__closure__ or ()]
    given = [value.__defaults__, value.__kwdefaults__, closed]
    return {
        "name": path_of(value),
        "code": constants_of(value.__code__),
        "given": describe(given),
    }


def _of_named(value: Any) -> dict[str, Any]:
    return {"name": path_of(value), **_own_code(value)}


def _own_code(value: Any) -> dict[str, Any]:
    """Hash what the user's own code does; empty for other code, whose name says enough."""
    return {"own": digest(parts_of_code(value, describe))} if is_user_code(value) else {}


def _is_importable(value: Any) -> bool:
    """Say whether a module has this very object under its own name."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "")
    if not isinstance(module, str) or module == "__main__" or not name:
        return False
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return False
    return found is value


_TELL: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (bytes, lambda value: {"bytes": value.hex()}),
    (complex, lambda value: {"complex": [value.real, value.imag]}),
    ((list, tuple), lambda value: [describe(item) for item in value]),
    (Mapping, _of_mapping),
    ((set, frozenset), lambda value: {"set": sorted(map(describe, value), key=json.dumps)}),
    (range, lambda value: {"range": [value.start, value.stop, value.step]}),
    (slice, lambda value: {"slice": describe([value.start, value.stop, value.step])}),
    (type, _of_named),
    (np.ndarray, lambda value: {"array": _hash_array(value)}),
    ((sparse.spmatrix, sparse.sparray), lambda value: {"array": _hash_array(value)}),
    (np.dtype, lambda value: {"dtype": value.str}),
    (np.ufunc, lambda value: {"ufunc": value.__name__}),
    (partial, lambda value: {"partial": describe([value.func, value.args, value.keywords])}),
    (MethodType, lambda value: {"method": describe([value.__self__, value.__func__])}),
    (FunctionType, _of_function),
    (np.random.RandomState, lambda value: {"state": describe(value.get_state(legacy=False))}),
    (np.random.Generator, lambda value: {"state": describe(value.bit_generator.state)}),
)
