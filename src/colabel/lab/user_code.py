"""What functions and classes do, told by their compiled code: edited code is other code.

Code of colabel, of Python and of installed packages is known by its name alone. Any other, of a
script, a notebook, a module beside it or a package installed in place, whose code changes under one
version, is told by what Python has compiled of it, which is there where no source is: methods, base
classes, defaults, what is closed over, and whatever of these the names in it lead to. Comments, the
order of definitions and code that is not reached do not count; another version of Python compiles
another code.

Of values that code reaches by name, numbers, texts, containers, arrays, estimators and objects of
user classes count by their content; others (a logger, a lock, an open file) by their class. A
module of the user's that is named counts by its whole file, and so do classes that no Python code
makes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["constants_of", "is_user_code", "parts_of_code", "path_of"]

INSTALLED = {"site-packages", "dist-packages"}
# Where wrappers, properties and compiled functions keep the function that was written.
INSIDE = ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "py_func", "fn", "check")
NUMBERS = (bool, int, float, complex, np.generic)
LEAVES = (type(None), *NUMBERS, str, bytes, np.ndarray, sparse.sparray)
Tell = Callable[[Any], Any]


def is_user_code(value: Any) -> bool:
    """Say whether a function, class or module is neither colabel's nor installed."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    if not isinstance(name, str):
        return False
    top = name.partition(".")[0]
    if top == "__main__":  # even where an installed program runs the script, or a notebook
        return True
    if top == "colabel" or top in sys.stdlib_module_names:
        return False
    return not INSTALLED & {*Path(_file_of(name) or "").parts}


def path_of(value: Any) -> str:
    """Return the module and the name of a function or class."""
    return f"{value.__module__}.{value.__qualname__}"


def parts_of_code(value: Any, tell: Tell) -> list[Any]:
    """Return what a function or class does, and all user code that it reaches, as JSON.

    Parameters
    ----------
    value : function or class
    tell : callable
        Puts values that are no code as JSON.

    Raises
    ------
    TypeError
        If ``tell`` cannot put what is closed over, or a default.
    """
    walk = _Walk(tell)
    walk.reach(value)
    parts = []
    for one in walk.reached:  # which grows meanwhile
        told = walk.of_class(one) if isinstance(one, type) else walk.of_function(one)
        parts.append([path_of(one), told])
    return sorted(parts, key=repr)  # functions in a set have no order


def constants_of(code: CodeType) -> list[Any]:
    """Return instructions, names and constants of compiled code, those inside it included."""
    return [code.co_code.hex(), list(code.co_names), [*map(_constant, code.co_consts)]]


class _Walk:
    """Follows names from code to code; each is told once."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.reached: list[Any] = []
        self._open: set[int] = set()  # what is being told, which may lead back to itself

    def reach(self, value: Any) -> None:
        if not any(value is one for one in self.reached):
            self.reached.append(value)

    def of_function(self, value: Any) -> Any:
        if not isinstance(value, FunctionType):
            return [self.of_value(one) for one in _inside(value)] or _of_file(value.__module__)
        closed = [_content(cell) for cell in value.__closure__ or ()]
        given = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).items(), *closed]
        known = value.__globals__
        named = {name: known[name] for name in {*_names(value.__code__)} & known.keys()}
        return [
            constants_of(value.__code__),
            [self.of_value(one, strict=True) for one in given],
            self.of_items(named),
        ]

    def of_class(self, value: type) -> Any:
        bases = [self.of_value(base) for base in value.__bases__]
        held = {
            name: one
            for name, one in vars(value).items()
            if not (name.startswith("__") and name.endswith("__")) or _is_code(one)
        }
        written = any(_is_code(one) for one in held.values())
        return [bases, self.of_items(held), None if written else _of_file(value.__module__)]

    def of_items(self, items: Mapping[str, Any], strict: bool = False) -> list[Any]:
        return [[name, self.of_value(items[name], strict)] for name in sorted(items)]

    def of_value(self, value: Any, strict: bool = False) -> Any:
        """Tell one value that code reaches; user code is told later, and here by its name."""
        if isinstance(value, ModuleType):
            return [value.__name__, _of_file(value.__name__) if is_user_code(value) else None]
        if isinstance(value, FunctionType | type):
            if is_user_code(value):
                self.reach(value)
            return path_of(value)
        if isinstance(value, LEAVES):
            return self.tell(value)
        if id(value) in self._open:
            return "itself"
        self._open.add(id(value))
        try:
            return self._of_whole(value, strict)
        finally:
            self._open.discard(id(value))

    def _of_whole(self, value: Any, strict: bool) -> Any:
        """Tell what has parts by its parts."""
        kind = self.of_value(type(value))
        if isinstance(value, list | tuple):
            return [kind, *(self.of_value(one, strict) for one in value)]
        if isinstance(value, set | frozenset):
            return [kind, *sorted((self.of_value(one, strict) for one in value), key=repr)]
        if isinstance(value, Mapping):
            pairs = ([self.of_value(k, strict), self.of_value(v, strict)] for k, v in value.items())
            return [kind, *sorted(pairs, key=repr)]
        if isinstance(value, partial):
            return [
                kind,
                *(self.of_value(one, strict) for one in (value.func, value.args, value.keywords)),
            ]
        if isinstance(value, MethodType):
            return [kind, *(self.of_value(o, strict) for o in (value.__func__, value.__self__))]
        inside = [self.of_value(one) for one in _inside(value)]
        if inside:
            return [kind, *inside]
        if hasattr(value, "get_params"):
            return [kind, *self.of_items(value.get_params(deep=False), strict)]
        if is_user_code(type(value)) and hasattr(value, "__dict__"):
            return [kind, *self.of_items(vars(value), strict)]
        return self.tell(value) if strict else kind


def _inside(value: Any) -> list[Any]:
    found = (getattr(value, name, None) for name in INSIDE)
    return [one for one in found if isinstance(one, FunctionType)]


def _is_code(value: Any) -> bool:
    return isinstance(value, FunctionType) or bool(_inside(value))


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not yet given
        return None


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _constant(value: Any) -> Any:
    if isinstance(value, CodeType):
        return constants_of(value)
    if isinstance(value, frozenset):  # the order of its text is another in every process
        return sorted(map(_constant, value), key=repr)
    return [*map(_constant, value)] if isinstance(value, tuple) else repr(value)


def _file_of(module: str) -> str | None:
    return getattr(sys.modules.get(module), "__file__", None)


def _of_file(module: str) -> str | None:
    """Hash the file of a module; None where it has none that can be read."""
    path = _file_of(module)
    try:
        return blake2b(Path(path).read_bytes(), digest_size=16).hexdigest() if path else None
    except OSError:
        return None
