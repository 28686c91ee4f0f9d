"""Methods side by side on the same data, splits and measures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import Any

from colabel.datasets import load
from colabel.exceptions import MissingExtraError, UnknownNameError
from colabel.lab.cell import Cell, Variant
from colabel.lab.methods import METHODS, get_method, make
from colabel.lab.rows import CellResult, Row
from colabel.lab.run_folder import open_run
from colabel.lab.running import Limits, run_cells
from colabel.lab.search import Search
from colabel.lab.splits import Fold, Loader, check_split, default_split, list_folds
from colabel.lab.tune import SearchedMethod
from colabel.messages import warn_user

__all__ = ["compare", "default_methods", "list_cells", "variant_of"]

Splits = str | Sequence[str] | Mapping[str, str | Sequence[str]] | None

# Up to how many distinct labelings in training a method is quick enough to run unasked.
MAX_LABELINGS = {"powset": 300}


def default_methods(n_labelings: int = 0) -> list[str]:
    """Return the methods that are compared when none are named: quick ones, plain and tuned.

    Parameters
    ----------
    n_labelings : int
        Distinct labelings of the training data; methods that would be slow with so many are
        left out.
    """
    plain = [
        name
        for name, method in METHODS.items()
        if method.demo and n_labelings <= MAX_LABELINGS.get(name, n_labelings)
    ]
    return [*plain, *(f"{name}+top_1" for name in plain)]


def compare(
    data: Sequence[str],
    methods: Sequence[str | Variant] | None = None,
    *,
    split: Splits = None,
    seeds: Iterable[int] = (0,),
    search: Search | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    load_data: Loader = load,
    done: dict[str, CellResult] | None = None,
    jobs: int = 1,
    cell_timeout: float | None = None,
    cell_memory: float | None = None,
    dask: str | None = None,
    keep: Sequence[str] = (),
    about: Mapping[str, Any] | None = None,
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
        labelings as the data has; for data with facets, the methods made for these.
    split : str, sequence of str, mapping of them by data, or None
        ``official``, ``cv:K`` or ``holdout:F``; None is the official split where there is one,
        five folds otherwise.
    seeds : iterable of int
        Each seed draws its own folds and sets every ``random_state``.
    search : Search or None
        Choose the parameters of the methods that are given by name on the training data of each
        cell.
    run_dir : path-like or None
        Folder for ``results.csv``, ``run.json`` and the store of finished cells. Cells that are in
        the store are read, those that failed are tried again; several processes may work on one
        folder.
    load_data : callable
        Replaces ``colabel.datasets.load``.
    done : dict or None
        Cells that earlier comparisons have run, which are not run again; those run are added.
    jobs : int
        Cells at a time, in processes that share the cores. A script needs
        ``if __name__ == "__main__":`` around its work then, as for all of Python's processes.
    cell_timeout, cell_memory : float or None
        Seconds that a cell may take, and MiB that its process may hold; beyond, it has failed.
        Memory is watched on Linux; elsewhere it is judged when the cell ends.
    dask : str or None
        Address of a Dask scheduler, on whose workers cells are run instead.
    keep : sequence of str
        ``"predictions"``, ``"models"``: kept as files in ``run_dir``, see ``colabel.lab.kept``.
    about : mapping or None
        Written to ``run.json`` besides.
    on_plan, on_start, on_row : callable
        Called with the number of cells, what starts, and each row: those known first.

    Returns
    -------
    list of Row
        In the order of data, seeds, folds and methods.
    """
    seeds = list(seeds)
    cells = list_cells(data, methods, split, seeds, load_data, search)
    on_plan(len(cells))
    limits = Limits(jobs, cell_timeout, cell_memory, dask)
    run = partial(run_cells, cells, done=done, limits=limits, on_start=on_start, on_row=on_row)
    if run_dir is None:
        return run()
    asked = {"seeds": seeds, **({} if search is None else {"search": asdict(search)})}
    with open_run(run_dir, run_dir, cells, {**asked, **(about or {})}, keep) as folder:
        return run(folder)


def list_cells(
    data: Sequence[str],
    methods: Sequence[str | Variant] | None,
    split: Splits,
    seeds: Sequence[int],
    load_data: Loader = load,
    search: Search | None = None,
) -> list[Cell]:
    """List the cells of a comparison; see ``compare``.

    Data is loaded and divided before anything runs, so that a wrong name stops at once.
    """
    named = [variant_of(method, search) for method in methods or ()]
    names = [variant.name for variant in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UnknownNameError(f"two methods are called {twice!r}: give one of them another name")
    splits = {name: _splits_of(name, split) for name in data}
    folds = [
        fold
        for name, some in splits.items()
        for one in some
        for fold in list_folds(name, one, seeds, load_data)
    ]
    first = {fold.name: fold for fold in reversed(folds)}
    variants = {name: named or _default_variants(first[name], search) for name in splits}
    return [Cell(fold, variant) for fold in folds for variant in variants[fold.name]]


def variant_of(
    method: str | Variant,
    search: Search | None = None,
    *,
    name: str | None = None,
    parameters: Mapping[str, Any] | None = None,
    tried: Mapping[str, Any] | None = None,
) -> Variant:
    """Return a method as ``compare`` takes it.

    Parameters
    ----------
    method : str or Variant
        A registered name; a Variant is returned as it is.
    search : Search or None
        How parameters are chosen inside cells, if they are.
    name : str or None
        What it is called in the results.
    parameters : mapping or None
        Fixed ones.
    tried : mapping or None
        Values to search, in place of the registered ones.
    """
    if isinstance(method, Variant):
        return method
    get_method(method)
    fixed = dict(parameters or {})
    build = partial(make, method, fixed)
    if search is not None:
        build = partial(SearchedMethod, method, search, fixed, dict(tried or {}))
    with suppress(MissingExtraError):  # the cells will say so
        build(0)  # a wrong parameter or measure is an error before anything runs
    return Variant(name or method, build, fixed)


def _splits_of(name: str, split: Splits) -> list[str]:
    chosen = split.get(name) if isinstance(split, Mapping) else split
    if not chosen:
        return [default_split(name)]
    return [check_split(one) for one in ([chosen] if isinstance(chosen, str) else chosen)]


def _default_variants(fold: Fold, search: Search | None) -> list[Variant]:
    if fold.facets:
        return [variant_of(name, search) for name, method in METHODS.items() if method.facets]
    n_labelings = int(fold.train().statistics()["n_labelsets"])
    names = default_methods(n_labelings)
    left_out = [name for name in default_methods() if name not in names]
    if left_out:
        warn_user(
            f"{fold.name} has {n_labelings} distinct labelings: {' and '.join(left_out)} would "
            "take long and are left out; name the methods to run them",
        )
    return [variant_of(name, search) for name in names]
