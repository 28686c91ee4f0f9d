"""Methods side by side on the same data, splits and measures."""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from colabel.datasets import Dataset, load
from colabel.lab.cell import CellResult, run_cell
from colabel.lab.methods import METHODS, get_method, make
from colabel.lab.splits import Fold, check_split, default_split, list_folds
from colabel.lab.store import ResultFile

__all__ = [
    "Row",
    "Variant",
    "compare",
    "default_methods",
    "first_sentence",
    "missing_values",
    "summarise",
]

# Up to how many distinct label sets in training a method is quick enough to run unasked.
MAX_LABEL_SETS = {"powset": 300}
LONG_MESSAGE = 200


@dataclass(frozen=True)
class Variant:
    """An estimator to compare: its name, how to build it for a seed, and its parameters.

    ``key`` is equal for variants that build equal estimators, whatever their names; None is equal
    to no other. One that is not ``seeded`` gives the same on a fixed split whatever the seed.
    """

    name: str
    build: Callable[[int], Any]
    parameters: dict[str, Any]
    key: Hashable | None = None
    seeded: bool = True


@dataclass(frozen=True)
class Row:
    """One finished cell."""

    data: str
    split: str
    fold: int
    seed: int
    method: str
    parameters: dict[str, Any]
    result: CellResult

    def as_dict(self) -> dict[str, Any]:
        """Return the row as the columns of ``results.csv``."""
        return {
            "data": self.data,
            "split": self.split,
            "fold": self.fold,
            "seed": self.seed,
            "method": self.method,
            "parameters": self.parameters,
            "status": self.result.status,
            "fit_seconds": self.result.fit_seconds,
            "predict_seconds": self.result.predict_seconds,
            "peak_memory_mb": self.result.peak_memory_mb,
            **self.result.measures,
        }


def default_methods(n_label_sets: int = 0) -> list[str]:
    """Return the methods that are compared when none are named: quick ones, plain and tuned.

    Parameters
    ----------
    n_label_sets : int
        Distinct label sets in the training data; methods that would be slow with so many are
        left out.
    """
    plain = [
        name
        for name, method in METHODS.items()
        if method.demo and n_label_sets <= MAX_LABEL_SETS.get(name, n_label_sets)
    ]
    return [*plain, *(f"{name}+top_1" for name in plain)]


def compare(
    data: Sequence[str],
    methods: Sequence[str | Variant] | None = None,
    *,
    split: str | None = None,
    seeds: Iterable[int] = (0,),
    run_dir: str | os.PathLike[str] | None = None,
    load_data: Callable[..., Dataset] = load,
    done: dict[Hashable, CellResult] | None = None,
    on_plan: Callable[[int], None] = lambda n_cells: None,
    on_start: Callable[[str, str], None] = lambda data, method: None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Fit and measure every method on every fold of every dataset.

    Parameters
    ----------
    data : sequence of str
        Registered names or paths.
    methods : sequence of str or Variant, or None
        Registered names; None is ``default_methods()``, less those that are slow with as many
        label sets as the data has.
    split : str or None
        ``official``, ``cv:K`` or ``holdout:F``; None is the official split where there is one,
        five folds otherwise.
    seeds : iterable of int
        Each seed draws its own folds and sets every ``random_state``.
    run_dir : path-like or None
        Folder for ``results.csv`` and ``run.json``.
    load_data : callable
        Replaces ``colabel.datasets.load``.
    done : dict or None
        Cells that earlier comparisons of the same data have run, which are not run again; those
        run are added. For variants that have a ``key``.
    on_plan, on_start, on_row : callable
        Told the number of cells, what starts, and what has finished.

    Returns
    -------
    list of Row
    """
    named = [_variant(method) for method in methods or ()]
    seeds = list(seeds)
    splits = {name: check_split(split) if split else default_split(name) for name in data}
    # Data is loaded and divided before anything runs, so that a wrong name stops at once.
    folds = [
        fold
        for name in dict.fromkeys(data)
        for fold in list_folds(name, splits[name], seeds, load_data)
    ]
    first = {fold.name: fold for fold in reversed(folds)}
    variants = {name: named or _default_variants(fold) for name, fold in first.items()}
    store = _open_store(run_dir, variants, splits, seeds, folds)
    on_plan(sum(len(variants[fold.name]) for fold in folds))
    rows = []
    for fold in folds:
        train, test = fold.train(), fold.test()
        for variant in variants[fold.name]:
            on_start(fold.name, variant.name)
            where = fold.name, splits[fold.name], fold.number, fold.seed
            same = splits[fold.name] == "official" and not variant.seeded
            seed = None if same else fold.seed
            cell = None if variant.key is None else (*where[:3], seed, variant.key)
            result = None if done is None else done.get(cell)
            if result is None:
                build = partial(variant.build, fold.seed)
                result = _brief(run_cell(build, train, test), train, test)
            if done is not None and cell is not None:
                done[cell] = result
            row = Row(*where, variant.name, variant.parameters, result)
            rows.append(row)
            if store is not None:
                store.append(row.as_dict())
            on_row(row)
    return rows


def summarise(rows: Sequence[Row]) -> dict[tuple[str, str], dict[str, float]]:
    """Average measures and times over folds and seeds, for each data and method.

    ``n_cells`` and ``n_failed`` count the cells; failed ones are left out of the averages.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.data, row.method), []).append(row)
    return {key: _average(group) for key, group in groups.items()}


def _average(group: list[Row]) -> dict[str, float]:
    done = [row.result for row in group if row.result.ok]
    out: dict[str, float] = {"n_cells": len(group), "n_failed": len(group) - len(done)}
    if done:
        for name in done[0].measures:
            out[name] = float(np.mean([result.measures[name] for result in done]))
        for name in ("fit_seconds", "predict_seconds", "peak_memory_mb"):
            out[name] = float(np.mean([getattr(result, name) for result in done]))
    return out


def _variant(method: str | Variant) -> Variant:
    if isinstance(method, Variant):
        return method
    get_method(method)
    return Variant(method, lambda seed: make(method, seed=seed), {})


def _default_variants(fold: Fold) -> list[Variant]:
    n_label_sets = int(fold.train().statistics()["n_labelsets"])
    names = default_methods(n_label_sets)
    left_out = [name for name in default_methods() if name not in names]
    if left_out:
        warnings.warn(
            f"{fold.name} has {n_label_sets} distinct label sets: {' and '.join(left_out)} would "
            "take long and are left out; name the methods to run them",
            UserWarning,
            stacklevel=3,
        )
    return [_variant(name) for name in names]


def first_sentence(text: str) -> str:
    """Return a message on one line; of a long one, its first sentence alone."""
    line = " ".join(text.split())
    return line.split(". ")[0] if len(line) > LONG_MESSAGE else line


def missing_values(data: Dataset) -> str | None:
    """Say how many features are missing, and where the first is; None where all are there."""
    rows, columns = np.nonzero(np.isnan(data.X)) if not data.is_sparse else _stored_nan(data.X)
    if not len(rows):
        return None
    name = data.feature_names[columns.min()]
    here = int((columns == columns.min()).sum())
    values = "missing value" if here == 1 else "missing values"
    return f"column {name!r} has {here} {values} ({len(rows)} in all)"


def _stored_nan(X: Any) -> tuple[np.ndarray, np.ndarray]:
    entries = X.tocoo()
    is_missing = np.isnan(entries.data)
    return entries.row[is_missing], entries.col[is_missing]


def _brief(result: CellResult, train: Dataset, test: Dataset) -> CellResult:
    """Keep one sentence of why a cell failed; of missing values, one that says where they are."""
    if result.ok:
        return result
    missing = missing_values(train) or missing_values(test) if "NaN" in result.status else None
    if missing is not None:
        return replace(result, status=f"failed: {missing}; fill them in or leave such columns out")
    return replace(result, status=first_sentence(result.status))


def _open_store(
    run_dir: str | os.PathLike[str] | None,
    variants: dict[str, list[Variant]],
    splits: dict[str, str],
    seeds: list[int],
    folds: list[Fold],
) -> ResultFile | None:
    if run_dir is None:
        return None
    names = {f"accuracy_{name}" for fold in folds for name in fold.label_sets}
    extra = (*sorted(names), "accuracy_all") if names else ()
    store = ResultFile(run_dir, extra)
    store.describe(
        {
            "data": list(splits),
            "splits": splits,
            "methods": list(dict.fromkeys(v.name for some in variants.values() for v in some)),
            "seeds": seeds,
            "started": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "versions": _versions(),
        }
    )
    return store


def _versions() -> dict[str, str]:
    import numpy
    import scipy
    import sklearn

    import colabel

    return {
        "colabel": colabel.__version__,
        "scikit-learn": sklearn.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "python": platform.python_version(),
    }
