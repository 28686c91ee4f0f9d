"""Comparisons written down: a TOML file with data, splits, methods, searches, measures and seeds.

::

    data = ["yeast", { name = "mine.csv", labels = ["a", "b"], split = "cv:10" }]
    split = "cv:5"
    seeds = 3
    measures = ["subset_accuracy", "example_f1"]
    methods = [
        "br",
        { method = "br", name = "br, weak prior", parameters = { C = 100.0 } },
        { method = "sml", search = { alpha = [0.1, 0.01] } },
    ]

    [tune]
    metric = "example_f1"
    strategy = "halving"

With ``[tune]``, parameters of all methods are searched inside each cell; one with
``search = false`` is left as it is. Paths are as seen from the file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from colabel.datasets import Dataset, list_datasets, load
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab.compare import compare, variant_of
from colabel.lab.rows import Row, Variant
from colabel.lab.searched import Search
from colabel.lab.splits import check_split
from colabel.messages import did_you_mean
from colabel.metrics import get_measure

__all__ = ["Comparison", "read_plan"]

SOURCE = {"name": str, "split": (str, list), "labels": (list, int), "xml": str, "n_features": int}
METHOD = {"method": str, "name": str, "parameters": dict, "search": (dict, bool)}
TUNE = {"metric": str, "strategy": str, "trials": int, "folds": int}
WHOLE = {
    "data": list,
    "split": (str, list),
    "seeds": (int, list),
    "methods": list,
    "measures": list,
    "tune": dict,
}
WORDS = {
    str: "a text",
    int: "a whole number",
    list: "a list",
    dict: "a table",
    bool: "true or false",
}


@dataclass(frozen=True)
class Comparison:
    """What is compared.

    Parameters
    ----------
    data : tuple of str
        Registered names or paths.
    methods : tuple of Variant, or None
        None is the quick ones.
    splits : mapping of str to tuple of str
        Of the data that have some; see ``compare``.
    seeds : tuple of int
    measures : tuple of str
        Those to show; all are kept.
    options : mapping of str to mapping
        How data are loaded, beyond their names.
    file, text : str or None
        Where it was read, and what stood there.
    search : Search or None
        How parameters of methods that are not named are chosen, if they are.
    """

    data: tuple[str, ...]
    methods: tuple[Variant, ...] | None = None
    splits: Mapping[str, Sequence[str]] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    measures: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    file: str | None = None
    search: Search | None = None
    text: str | None = None

    def run(self, run_dir: str | os.PathLike[str] | None = None, **options: Any) -> list[Row]:
        """Run it; ``options`` are those of ``compare``: jobs, limits, dask, keep."""
        about = {
            "plan_file": self.file,
            "plan_text": self.text,
            "options": {} if self.file else {name: dict(v) for name, v in self.options.items()},
            "measures": list(self.measures),
        }
        given = {
            "load_data": self.load,
            "about": {key: value for key, value in about.items() if value},
            **options,
        }
        return compare(
            self.data,
            self.methods,
            split=self.splits,
            seeds=self.seeds,
            search=self.search,
            run_dir=run_dir,
            **given,
        )

    def load(self, name: str, split: str | None = None) -> Dataset:
        """Load one of the data."""
        return load(name, split, **self.options.get(name, {}))


def read_plan(path: str | os.PathLike[str], text: str | None = None) -> Comparison:
    """Read a comparison from a TOML file; the module says how it is written.

    Parameters
    ----------
    path : path-like
    text : str or None
        What stood in the file when it was run, which may have been changed since; None reads it.

    Raises
    ------
    UnknownNameError
        Where something in it is wrong: one sentence with the file and the key.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8") if text is None else text
        content = tomllib.loads(text)
    except FileNotFoundError as error:
        raise UnknownNameError(f"{path}: there is no such file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnknownNameError(f"{path}: this is not TOML: {error}") from error
    return replace(_Reader(path).read(content), text=text)


class _Reader:
    """Turns what a file holds into a comparison, and blames the key that is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, content: dict[str, Any]) -> Comparison:
        self.check(content, WHOLE, "")
        if not content.get("data"):
            raise self.wrong("data", "names no data")
        search = None
        if "tune" in content:
            search = self.search(content["tune"])
        splits = self.splits(content.get("split"), "split")
        names, own, options = [], {}, {}
        for number, entry in enumerate(content["data"], start=1):
            name, some, given = self.source(entry, f"data, entry {number}")
            names.append(name)
            own[name], options[name] = some or splits, given
        self.differ("data", names, "name it once, with a list of splits if it has several")
        methods = None
        if "methods" in content:
            listed = enumerate(content["methods"], start=1)
            methods = tuple(self.method(one, search, f"methods, entry {i}") for i, one in listed)
            called = [variant.name for variant in methods]
            self.differ("methods", called, "give one of them another name")
        return Comparison(
            tuple(names),
            methods or None,
            {name: some for name, some in own.items() if some},
            self.seeds(content.get("seeds", 1)),
            self.measures(content.get("measures", ())),
            {name: given for name, given in options.items() if given},
            str(self.path),
            search,
        )

    def source(self, entry: Any, where: str) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        """Return name, splits and other options of data."""
        if isinstance(entry, str):
            entry = {"name": entry}
        elif not isinstance(entry, dict):
            raise self.wrong(where, "must be a name or a table with one")
        self.check(entry, SOURCE, where)
        if "name" not in entry:
            raise self.wrong(where, "has no name")
        options = {key: entry[key] for key in ("labels", "n_features") if key in entry}
        if "xml" in entry:
            options["xml"] = str(self.path.parent / entry["xml"])
        known = {info.name for info in list_datasets()}
        name = entry["name"]
        if name.lower().partition(":")[0] not in known:
            name = str(self.path.parent / name)
        return name, self.splits(entry.get("split"), f"{where}, split"), options

    def method(self, entry: Any, search: Search | None, where: str) -> Variant:
        if isinstance(entry, str):
            entry = {"method": entry}
        elif not isinstance(entry, dict):
            raise self.wrong(where, "must be a name or a table with one")
        self.check(entry, METHOD, where)
        if "method" not in entry:
            raise self.wrong(where, "has no method")
        asked = entry.get("search", search is not None)
        if asked is not False and search is None:
            raise self.wrong(where, "is searched, and there is no [tune] that says for what")
        tried = asked if isinstance(asked, dict) else {}
        for key, values in tried.items():
            if not isinstance(values, list) or not values:
                raise self.wrong(f"{where}, search, {key}", "must be a list of values to try")
        return self.attempt(
            where,
            lambda: variant_of(
                entry["method"],
                search if asked is not False else None,
                name=entry.get("name"),
                parameters=entry.get("parameters"),
                tried=tried,
            ),
        )

    def search(self, entry: dict[str, Any]) -> Search:
        self.check(entry, TUNE, "tune")
        names = {"trials": "n_trials", "folds": "n_folds"}
        return self.attempt(
            "tune", lambda: Search(**{names.get(key, key): v for key, v in entry.items()})
        )

    def splits(self, entry: Any, where: str) -> tuple[str, ...]:
        listed = [] if entry is None else [entry] if isinstance(entry, str) else entry
        if entry is not None and not listed:
            raise self.wrong(where, "is empty")
        found = [self.attempt(where, partial(check_split, str(one))) for one in listed]
        self.differ(where, found, "name it once")
        return tuple(found)

    def seeds(self, entry: Any) -> tuple[int, ...]:
        listed = [*range(entry)] if isinstance(entry, int) else entry
        fine = all(isinstance(one, int) and one >= 0 for one in listed)
        if not listed or not fine:
            raise self.wrong("seeds", "must be a number above zero, or a list of numbers")
        return tuple(dict.fromkeys(listed))

    def measures(self, entry: Sequence[Any]) -> tuple[str, ...]:
        found = [self.measure(name) for name in entry]
        self.differ("measures", found, "name it once")
        return tuple(found)

    def measure(self, name: Any) -> str:
        if isinstance(name, str) and name.startswith("accuracy_"):  # of a label set
            return name
        return self.attempt("measures", lambda: get_measure(name).name)

    def differ(self, where: str, names: list[str], remedy: str) -> None:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self.wrong(where, f"{twice!r} is there twice: {remedy}")

    def check(self, content: dict[str, Any], known: Mapping[str, Any], where: str) -> None:
        """Check names and kinds of the keys of a table."""
        for key, value in content.items():
            full = f"{where}, {key}" if where else key
            if key not in known:
                raise self.wrong(full, f"is no key here{did_you_mean(key, known)}")
            kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
            fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
            if not fits:
                wanted = " or ".join(WORDS[kind] for kind in kinds)
                raise self.wrong(full, f"must be {wanted}, not {value!r}")

    def attempt(self, where: str, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except (ColabelError, ValueError, TypeError) as error:
            raise self.wrong(where, str(error)) from error

    def wrong(self, key: str, reason: str) -> UnknownNameError:
        return UnknownNameError(f"{self.path}: {key}: {reason}")
