"""Plan files: comparisons written down in TOML, with data, splits, methods, searches, seeds.

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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from colabel.datasets import Dataset, list_datasets, load
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab.cell import Variant
from colabel.lab.compare import compare, variant_of
from colabel.lab.rows import Row
from colabel.lab.search import Search
from colabel.lab.splits import check_split
from colabel.messages import did_you_mean
from colabel.metrics import get_measure

__all__ = ["Comparison", "read_plan"]

SOURCE = {"name": str, "split": (str, list), "labels": (list, int), "xml": str, "n_features": int}
METHOD = {"method": str, "name": str, "parameters": dict, "search": (dict, bool)}
FIELDS = {"trials": "n_trials", "folds": "n_folds"}  # of ``Search``
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
    """What a plan file compares.

    Parameters
    ----------
    file, text : str
        Where it was read, and what stood there.
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
    search : Search or None
        How parameters of methods that are not named are chosen, if they are.
    """

    file: str
    text: str
    data: tuple[str, ...]
    methods: tuple[Variant, ...] | None
    splits: Mapping[str, Sequence[str]]
    seeds: tuple[int, ...]
    measures: tuple[str, ...]
    options: Mapping[str, Mapping[str, Any]]
    search: Search | None

    def run(self, run_dir: str | os.PathLike[str] | None = None, **options: Any) -> list[Row]:
        """Run it; ``options`` are those of ``compare``: jobs, limits, dask, keep."""
        about = {"plan_file": self.file, "plan_text": self.text, "measures": [*self.measures]}
        return compare(
            self.data,
            self.methods,
            split=self.splits,
            seeds=self.seeds,
            search=self.search,
            run_dir=run_dir,
            load_data=self.load,
            about={key: value for key, value in about.items() if value},
            **options,
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
    return _Reader(path).read(content, text)


class _Reader:
    """Turns what a file holds into a comparison; errors name the key that is wrong."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, content: dict[str, Any], text: str) -> Comparison:
        self.check(content, WHOLE, "")
        if not content.get("data"):
            raise self.wrong("data", "names no data")
        search = self.search(content["tune"]) if "tune" in content else None
        splits = self.splits(content.get("split"), "split")
        sources = [
            self.source(entry, f"data, entry {i}") for i, entry in enumerate(content["data"], 1)
        ]
        names = tuple(name for name, *_ in sources)
        self.differ("data", names, "name it once, with a list of splits if it has several")
        listed = enumerate(content.get("methods", ()), start=1)
        methods = tuple(self.method(entry, search, f"methods, entry {i}") for i, entry in listed)
        called = [variant.name for variant in methods]
        self.differ("methods", called, "give one of them another name")
        return Comparison(
            str(self.path),
            text,
            names,
            methods or None,
            {name: own or splits for name, own, _ in sources if own or splits},
            self.seeds(content.get("seeds", 1)),
            self.measures(content.get("measures", ())),
            {name: given for name, _, given in sources if given},
            search,
        )

    def source(self, entry: Any, where: str) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        """Return name, splits and other options of data."""
        entry = self.table(entry, "name", SOURCE, where)
        options = {key: entry[key] for key in ("labels", "n_features") if key in entry}
        if "xml" in entry:
            options["xml"] = str(self.path.parent / entry["xml"])
        known = {info.name for info in list_datasets()}
        name = entry["name"]
        if name.lower().partition(":")[0] not in known:
            name = str(self.path.parent / name)
        return name, self.splits(entry.get("split"), f"{where}, split"), options

    def method(self, entry: Any, search: Search | None, where: str) -> Variant:
        entry = self.table(entry, "method", METHOD, where)
        asked = entry.get("search", search is not None)
        if asked is not False and search is None:
            raise self.wrong(where, "is searched, and there is no [tune] that says for what")
        tried = asked if isinstance(asked, dict) else {}
        for key, values in tried.items():
            if not isinstance(values, list) or not values:
                raise self.wrong(f"{where}, search, {key}", "must be a list of values to try")
        given = {"name": entry.get("name"), "parameters": entry.get("parameters"), "tried": tried}
        chosen = search if asked is not False else None
        return self.attempt(where, lambda: variant_of(entry["method"], chosen, **given))

    def search(self, entry: dict[str, Any]) -> Search:
        self.check(entry, TUNE, "tune")
        given = {FIELDS.get(key, key): value for key, value in entry.items()}
        return self.attempt("tune", lambda: Search(**given))

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
        found = [
            name
            if isinstance(name, str) and name.startswith("accuracy_")  # of a facet
            else self.attempt("measures", partial(get_measure, name)).name
            for name in entry
        ]
        self.differ("measures", found, "name it once")
        return tuple(found)

    def differ(self, where: str, names: Sequence[str], remedy: str) -> None:
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self.wrong(where, f"{twice!r} is there twice: {remedy}")

    def table(self, entry: Any, key: str, known: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return an entry, which may be its name alone, as a table."""
        if isinstance(entry, str):
            return {key: entry}
        if not isinstance(entry, dict):
            raise self.wrong(where, "must be a name or a table with one")
        self.check(entry, known, where)
        if key not in entry:
            raise self.wrong(where, f"has no {key}")
        return entry

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
