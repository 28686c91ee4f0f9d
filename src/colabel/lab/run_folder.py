"""The folder of a run: its store, its tables, and what is told about it."""

from __future__ import annotations

import logging
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from colabel.lab.kept import Kept, check_kinds
from colabel.lab.results_file import WHERE, ResultFile, read_results
from colabel.lab.rows import Cell
from colabel.lab.store import Store

__all__ = ["run_in_folder"]

_log = logging.getLogger("colabel.lab")


@contextmanager
def run_in_folder(
    run_dir: str | os.PathLike[str],
    store_dir: str | os.PathLike[str],
    cells: Sequence[Cell],
    about: dict[str, Any],
    keep: Sequence[str] = (),
) -> Iterator[dict[str, Any]]:
    """Open the store and the files of a run; gives what ``run_cells`` takes of them."""
    names = {f"accuracy_{name}" for cell in cells for name in cell.fold.label_sets}
    splits: dict[str, str] = {}
    for fold in dict.fromkeys((cell.fold.name, cell.fold.split) for cell in cells):
        splits[fold[0]] = f"{splits[fold[0]]}, {fold[1]}" if fold[0] in splits else fold[1]
    kept = Kept(store_dir, keep) if check_kinds(keep) else None
    with Store(store_dir) as store:
        _tell_of_others(run_dir, cells)
        file = ResultFile(run_dir, store, (*sorted(names), "accuracy_all") if names else ())
        file.describe(
            {
                "data": list(splits),
                "splits": splits,
                "methods": list(dict.fromkeys(cell.variant.name for cell in cells)),
                **about,
                "n_cells": len(cells),
                "started": time.strftime("%Y-%m-%dT%H:%M:%S"),
                "versions": _versions(),
            }
        )
        yield {"store": store, "file": file, "kept": kept}


def _tell_of_others(run_dir: str | os.PathLike[str], cells: Sequence[Cell]) -> None:
    """Say that results of another comparison will not be shown, and how to see them again."""
    try:
        earlier = {tuple(row[name] for name in WHERE) for row in read_results(run_dir)}
    except (OSError, ValueError, KeyError):  # there are none, or they are none of ours
        return
    shown = {tuple(map(str, cell.where)) for cell in cells}
    if earlier - shown:
        _log.info(
            "%s holds another comparison, of which %d cells are not in this one: results.csv and "
            "reports show the last one alone; the earlier command shows the earlier one again, "
            "from the cells that are kept",
            os.fspath(run_dir),
            len(earlier - shown),
        )


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
