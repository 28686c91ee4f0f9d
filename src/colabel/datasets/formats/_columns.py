"""What a file's columns mean: which are labels, and how their texts become numbers.

Every cell of a file becomes one number, its *cell*: a numeric value as it is; a nominal value 0 or
1 that number; another nominal value its place among the declared ones; a label 1 where it is on.
Places turn into one-hot columns only at the end (`_assemble`), so blocks stay small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from colabel.datasets.formats._numbers import number

__all__ = ["Attribute", "Coding", "Columns", "by_group", "on_value", "short"]

# Pairs of label values that say themselves which one is "on"; others are named after their value.
_ON = ("1", "true", "yes", "y", "t", "on", "present", "positive")
_OFF = ("0", "false", "no", "n", "f", "off", "absent", "negative")


class Attribute(NamedTuple):
    """A column as the file declares it; ``values`` is None for numbers."""

    name: str
    values: tuple[str, ...] | None = None


class Coding:
    """How the texts of one kind of column become cells.

    Parameters
    ----------
    values : tuple of str or None
        The declared values; None for numbers.
    label : bool
        Whether the column is a label.

    Attributes
    ----------
    cells : dict of str to float, or None
        The cell of each declared value.
    keys, key_cells : ndarray or None
        Where all values are numbers: those numbers in order, and their cells.
    n_places : int
        Number of one-hot columns this coding asks for; 0 if its cells are final.
    suffix : str
        What a label's name takes on to say which value is "on"; empty for 0/1.
    default : float
        The cell of a value that a sparse row leaves out: the first declared value, or 0.
    """

    def __init__(self, values: tuple[str, ...] | None, label: bool) -> None:
        if values is None and label:
            values = ("0", "1")
        self.values, self.label = values, label
        self.cells = None if values is None else _cells(values, label)
        self.n_places = 0
        if values is not None and not label and not _is_binary(values):
            self.n_places = len(values)
        self.default = 0.0 if not values or self.cells is None else self.cells[values[0]]
        on, named = on_value(values) if label else (None, False)
        self.suffix = f"={on}" if named else ""
        self.keys, self.key_cells = _number_keys(self.cells)

    @property
    def is_plain(self) -> bool:
        """Whether the column is numeric, or holds 0 and 1 whose cells are themselves."""
        if self.keys is None:
            return self.cells is None
        return self.keys.tolist() == self.key_cells.tolist() == [0, 1]

    @property
    def textual(self) -> bool:
        """Whether some value is not a number, so that tokens are looked up one by one."""
        return self.cells is not None and self.keys is None

    def encode(self, text: str, quoted: bool = False) -> float:
        """Return the cell of a text; a ValueError says what is wrong with it."""
        if text == "?" and not quoted:
            if self.label:
                raise ValueError("a label cannot be missing (?)")
            return float("nan")
        value = None if self.cells is None else self.cells.get(text)
        if value is not None:
            return value
        as_number = number(text.encode()) if self.keys is not None or self.cells is None else None
        if self.cells is None:
            if as_number is None:
                raise ValueError(f"{short(text)} is not a number")
            return as_number
        if as_number is not None and self.keys is not None and as_number in self.keys:
            return float(self.key_cells[np.searchsorted(self.keys, as_number)])
        raise ValueError(f"{short(text)} is none of the declared values {_some(self.values)}")

    def encode_numbers(self, values: np.ndarray) -> np.ndarray | None:
        """Return the cells of numbers; None where one is not allowed."""
        if self.keys is None or (self.is_plain and ((values == 0) | (values == 1)).all()):
            return values
        missing = np.isnan(values)
        at = np.searchsorted(self.keys, values)
        at[at == len(self.keys)] = 0
        known = self.keys[at] == values
        if not known.all():
            if self.label or not (known | missing).all():
                return None
            return np.where(missing, np.nan, self.key_cells[at])
        return self.key_cells[at]

    def byte_table(self) -> np.ndarray:
        """Return the cell of each one-byte text as int8, -1 where it has none that fits."""
        table = np.full(256, -1, np.int8)
        if self.cells is None:
            table[48:58] = np.arange(10)
        for text, cell in (self.cells or {}).items():
            if len(text) == 1 and text < "\x7f" and text != "?" and cell < 127:
                table[ord(text)] = cell
        return table


class Columns:
    """The columns of a file, each with its coding and its place in X or Y.

    Parameters
    ----------
    attributes : sequence of Attribute
        In file order.
    labels : sequence of int
        Which of them are labels.
    one_hot : bool
        Whether nominal features other than 0/1 become one column per value.

    Attributes
    ----------
    codings : list of Coding
        The distinct codings.
    group : ndarray of shape (n_attributes,), int
        Which coding each attribute has.
    features, labels : ndarray of int
        Attribute numbers, ascending.
    target : ndarray of shape (n_attributes,), int32
        Feature number, or ``~label number``.
    """

    def __init__(
        self, attributes: Sequence[Attribute], labels: Sequence[int], one_hot: bool
    ) -> None:
        self.attributes, self.one_hot = attributes, one_hot
        is_label = np.zeros(len(attributes), bool)
        is_label[list(labels)] = True
        self.labels, self.features = np.flatnonzero(is_label), np.flatnonzero(~is_label)
        self.target = np.empty(len(attributes), np.int32)
        self.target[self.features] = np.arange(len(self.features))
        self.target[self.labels] = ~np.arange(len(self.labels))
        known: dict[tuple, int] = {}
        self.codings: list[Coding] = []
        group: list[int] = []
        last, place = None, 0
        for attribute, label in zip(attributes, is_label.tolist(), strict=True):
            key = (attribute.values, label)
            # Neighbours mostly share their values: compare before hashing them.
            if last is None or key[1] != last[1] or key[0] is not last[0]:
                if key not in known:
                    known[key] = len(self.codings)
                    self.codings.append(Coding(*key))
                last, place = key, known[key]
            group.append(place)
        self.group = np.array(group, np.int64)

    def coding(self, j: int) -> Coding:
        """Return the coding of attribute ``j``."""
        return self.codings[self.group[j]]

    @property
    def width(self) -> int:
        """Number of attributes."""
        return len(self.attributes)

    @property
    def n_places(self) -> np.ndarray:
        """One-hot columns of each feature; 0 where it keeps its one column."""
        if not self.one_hot:
            return np.zeros(len(self.features), np.int64)
        places = np.array([coding.n_places for coding in self.codings], np.int64)
        return places[self.group[self.features]]

    def defaults(self, which: np.ndarray) -> np.ndarray:
        """Return the cells that a sparse row leaves out, for the given attributes."""
        cells = np.array([coding.default for coding in self.codings], np.float64)
        return cells[self.group[which]]

    def feature_names(self) -> tuple[str, ...]:
        """Return the names of X's columns; a one-hot column is ``name=value``."""
        places = self.n_places
        if not places.any():
            return tuple(self.attributes[j].name for j in self.features.tolist())
        names: list[str] = []
        for j, n in zip(self.features.tolist(), places.tolist(), strict=True):
            name, values = self.attributes[j].name, self.coding(j).values or ()
            names.extend([f"{name}={value}" for value in values] if n else [name])
        return tuple(names)

    def name_characters(self) -> int:
        """Return how many characters the names of X's columns have in all."""
        if not self.n_places.any():
            return sum(len(attribute.name) for attribute in self.attributes)
        values = [sum(map(len, coding.values or ())) for coding in self.codings]
        total = 0
        for j, n in zip(self.features.tolist(), self.n_places.tolist(), strict=True):
            total += len(self.attributes[j].name) * max(n, 1) + (values[self.group[j]] if n else 0)
        return total

    def label_names(self) -> tuple[str, ...]:
        """Return the names of Y's columns; a label with other values than 0/1 is ``name=value``."""
        named = [(self.attributes[j].name, self.coding(j).suffix) for j in self.labels.tolist()]
        return tuple(name + suffix for name, suffix in named)


def by_group(group: np.ndarray) -> list[np.ndarray]:
    """Return, for each group that occurs, in ascending order, the places where it does.

    Examples
    --------
    >>> [places.tolist() for places in by_group(np.array([4, 0, 4]))]
    [[1], [0, 2]]
    """
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if len(order) else []


def on_value(values: tuple[str, ...] | None) -> tuple[str | None, bool]:
    """Return which of a label's values means "on", and whether its name must say so.

    Examples
    --------
    >>> on_value(("1", "0")), on_value(("no", "yes")), on_value(("male", "female"))
    (('1', False), ('yes', False), ('male', True))
    """
    if values is None or _is_binary(values):
        return next((v for v in values or () if number(v.encode()) == 1), None), False
    folded = [value.strip().lower() for value in values]
    for value, word in zip(values, folded, strict=True):
        other = [w for w in folded if w != word]
        if word in _ON and all(w in _OFF or (word == "1" and w == "-1") for w in other):
            return value, False
    if len(values) == 1 and folded[0] in _OFF:
        return None, False
    return sorted(values)[-1], True


def _cells(values: tuple[str, ...], label: bool) -> dict[str, float]:
    if label:
        on, _ = on_value(values)
        return {value: float(value == on) for value in values}
    if _is_binary(values):
        return {value: float(value) for value in values}
    return {value: float(place) for place, value in enumerate(values)}


def _is_binary(values: tuple[str, ...]) -> bool:
    as_numbers = [number(value.encode()) for value in values]
    return len(set(as_numbers)) == len(as_numbers) and set(as_numbers) <= {0.0, 1.0}


def _number_keys(
    cells: dict[str, float] | None,
) -> tuple[np.ndarray | None, np.ndarray]:
    nothing = np.empty(0)
    if not cells:
        return None, nothing
    spelt = [number(text.encode()) for text in cells]
    keys = np.array([np.nan if value is None else value for value in spelt])
    if np.isnan(keys).any() or len(np.unique(keys)) < len(keys):
        return None, nothing
    order = np.argsort(keys)
    return keys[order], np.array(list(cells.values()))[order]


def short(text: str) -> str:
    """Return a text in quotes, cut where an error message would get too long."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _some(values: tuple[str, ...] | None) -> str:
    shown = [short(value)[1:-1] for value in (values or ())[:8]]
    return "{" + ",".join(shown) + (",...}" if len(values or ()) > 8 else "}")
