"""Cells that failed, those of one method that failed alike told together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from colabel.lab.rows import Row

__all__ = ["Failure", "list_failures"]


class Failure(NamedTuple):
    """Cells of a method on some data with one reason; ``which`` says which or how many."""

    method: str
    data: str
    which: str
    status: str


def list_failures(rows: Sequence[Row]) -> list[Failure]:
    """Return what failed and why, in the order of the rows."""
    alike: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        if not row.result.ok:
            alike.setdefault((row.method, row.data, row.result.status), []).append(row)
    n_cells = Counter((row.method, row.data) for row in rows)
    return [
        Failure(method, data, _which(some, n_cells[method, data]), status)
        for (method, data, status), some in alike.items()
    ]


def _which(some: list[Row], n_cells: int) -> str:
    if len(some) == 1:
        return f"seed {some[0].seed}, fold {some[0].fold}"
    return f"{len(some)} of {n_cells} cells"
