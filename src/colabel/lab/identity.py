"""What a cell is, the same in every process: the key that finished cells are found by.

Values become plain JSON: an estimator is its class and parameters, an array the hash of its bytes,
a function or class its module and name. No address, no ``hash`` and no order of a set goes in.

Code of colabel, of Python and of installed packages is known by its name alone. The user's own (of
a script, a notebook, a module beside it, a package installed in place) is known by what Python has
compiled of it, which is what runs, whatever its file says by now: methods, base classes, defaults,
what is closed over, and whatever of the user's the names in it lead to. Comments, the order of
definitions and code that is not reached do not count; another version of Python compiles another
code. Objects that such code names count by their content where they are data or of user classes,
and by their class otherwise (a logger, a lock); modules, and classes without Python code, by their
files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from colabel.datasets import Dataset

__all__ = ["describe", "digest", "hash_data", "is_user_code"]

PLAIN = (bool, int, float, str)
INSTALLED = {"site-packages", "dist-packages"}
# Where wrappers, properties and compiled functions keep the function that was written.
INSIDE = ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "py_func", "fn", "check")


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
        For objects of which the content cannot be known.
    """
    return _Describer().describe(value)


def is_user_code(value: Any) -> bool:
    """Return whether a function, class or module is neither colabel's nor installed."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if not isinstance(name, str):
        return False
    top = name.partition(".")[0]
    if top == "__main__":  # even where an installed program runs the script, or a notebook
        return True
    if top == "colabel" or top in sys.stdlib_module_names:
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    return not INSTALLED & {*Path(file or "").parts}


class _Describer:
    """Describes values; of code, given a list, to which the user's code that is reached is added.

    What has no content that can be known is an error if ``strict``, else known by its class.
    """

    def __init__(self, reached: list[Any] | None = None, strict: bool = True) -> None:
        self.reached, self.strict = reached, strict
        self._open: set[int] = set()  # what is being described, which may lead back to itself

    def describe(self, value: Any) -> Any:
        if value is None or isinstance(value, PLAIN):
            return value
        if self.reached is not None and id(value) in self._open:
            return "itself"
        self._open.add(id(value))
        try:
            for kinds, description in _KINDS:
                if isinstance(value, kinds):
                    return description(self.describe, value)
            if isinstance(value, FunctionType | type):
                return self._of_code(value)
            return self._of_object(value)
        finally:
            self._open.discard(id(value))

    def _of_object(self, value: Any) -> Any:
        kind = type(value)
        if self.reached is not None and isinstance(value, ModuleType):
            return {"module": value.__name__, "file": _hash_file(value)}
        if self.reached is not None and (inside := _functions_in(value)):
            return {"class": _path_of(kind), "inside": self.describe(inside)}
        if hasattr(value, "get_params"):
            return self._of_instance(kind, "params", value.get_params(deep=False))
        if _is_importable(value):
            return {"name": _path_of(value)}
        if hasattr(value, "__dict__") and (self.strict or is_user_code(kind)):
            return self._of_instance(kind, "state", vars(value))
        if self.strict:
            raise TypeError(f"{kind.__name__} does not tell what it is made of")
        return {"class": _path_of(kind)}

    def _of_instance(self, kind: type, word: str, parts: Mapping[Any, Any]) -> dict[str, Any]:
        named = self._of_code(kind)
        return {"class": named.pop("name"), word: self.describe(parts), **named}

    def _of_code(self, value: Any) -> dict[str, Any]:
        """Name a function or class; of one made on the way, and of the user's, add what it does."""
        name = {"name": _path_of(value)}
        if is_user_code(value):
            if self.reached is None:
                return {**name, "own": digest(_code_reached_from(value))}
            if not any(value is one for one in self.reached):
                self.reached.append(value)
        elif isinstance(value, FunctionType) and not _is_importable(value):
            return {**name, "code": _constants_of(value.__code__), "given": describe(_given(value))}
        return name


def _code_reached_from(value: Any) -> list[Any]:
    """Return what a user's function or class does, and all of the user's that it reaches."""
    reached = [value]
    given, named = _Describer(reached), _Describer(reached, strict=False)
    parts = []
    code: Any
    leads_to: Any
    for one in reached:  # which grows meanwhile
        if isinstance(one, type):
            held = {k: v for k, v in vars(one).items() if k[:2] != "__" or _functions_in(v)}
            has_code = any(map(_functions_in, held.values()))
            code = None if has_code else _hash_file(sys.modules.get(one.__module__))
            leads_to = [one.__bases__, held]
        else:
            code = [_constants_of(one.__code__), given.describe(_given(one))]
            names = {*_names_in(one.__code__)} & one.__globals__.keys()
            leads_to = {name: one.__globals__[name] for name in names}
        parts.append([_path_of(one), code, named.describe(leads_to)])
    return sorted(parts, key=repr)  # functions in a set have no order


def _given(value: FunctionType) -> list[Any]:
    """Return the defaults of a function, and what is closed over."""
    closed = [cell.cell_contents for cell in value.__closure__ or ()]
    return [value.__defaults__, value.__kwdefaults__, closed]


def _functions_in(value: Any) -> list[FunctionType]:
    """Return a function, or those that a wrapper or property is made of."""
    if isinstance(value, FunctionType):
        return [value]
    found = (getattr(value, name, None) for name in INSIDE)
    return [one for one in found if isinstance(one, FunctionType)]


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _constants_of(code: CodeType) -> list[Any]:
    """Return instructions, names and constants of compiled code, those inside it included."""
    return [code.co_code.hex(), list(code.co_names), [*map(_constant, code.co_consts)]]


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return _constants_of(value)
    if isinstance(value, frozenset):  # the order of its text is another in every process
        return sorted(map(_constant, value), key=repr)
    return [*map(_constant, value)] if isinstance(value, tuple) else repr(value)


def _path_of(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"


def _is_importable(value: Any) -> bool:
    """Return whether a module has this very object under its own name."""
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


def _hash_file(module: ModuleType | None) -> str | None:
    """Hash the file of a user's module; None where it has none that can be read."""
    path = getattr(module, "__file__", None) if is_user_code(module) else None
    try:
        return blake2b(Path(path).read_bytes(), digest_size=16).hexdigest() if path else None
    except OSError:
        return None


_KINDS: tuple[tuple[Any, Callable[[Callable[[Any], Any], Any], Any]], ...] = (
    (np.generic, lambda describe, value: value.item()),
    (bytes, lambda describe, value: {"bytes": value.hex()}),
    (complex, lambda describe, value: {"complex": [value.real, value.imag]}),
    ((list, tuple), lambda describe, value: [*map(describe, value)]),
    (Mapping, lambda describe, value: {"pairs": _sorted(describe, value.items())}),
    ((set, frozenset), lambda describe, value: {"set": _sorted(describe, value)}),
    (range, lambda describe, value: {"range": [value.start, value.stop, value.step]}),
    (slice, lambda describe, value: {"slice": describe([value.start, value.stop, value.step])}),
    ((np.ndarray, sparse.spmatrix, sparse.sparray), lambda _, value: {"array": _hash_array(value)}),
    (np.dtype, lambda describe, value: {"dtype": value.str}),
    (np.ufunc, lambda describe, value: {"ufunc": value.__name__}),
    (
        partial,
        lambda describe, value: {"partial": describe([value.func, value.args, value.keywords])},
    ),
    (MethodType, lambda describe, value: {"method": describe([value.__self__, value.__func__])}),
    (np.random.RandomState, lambda describe, value: {"state": describe(value.get_state(False))}),
    (np.random.Generator, lambda describe, value: {"state": describe(value.bit_generator.state)}),
)


def _sorted(describe: Callable[[Any], Any], values: Iterable[Any]) -> list[Any]:
    return sorted(map(describe, values), key=json.dumps)
