"""From cells to rows: what is known is read, the rest is run, here or in processes of its own."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from colabel.lab.cell import CellResult, brief, run_cell
from colabel.lab.cluster import Cluster
from colabel.lab.kept import Kept
from colabel.lab.results_file import ResultFile
from colabel.lab.rows import Cell, Row
from colabel.lab.store import Claim, Store
from colabel.lab.workers import Limits, Workers

__all__ = ["run_cells"]

WAIT = 0.5  # seconds until cells that another process runs are looked for again
PAUSE = 2.0  # seconds between two writings of the results
REST = 20.0  # times as long as writing took: many rows take longer

_log = logging.getLogger("colabel.lab")


def run_cells(
    cells: Sequence[Cell],
    *,
    store: Store | None = None,
    done: dict[str, CellResult] | None = None,
    file: ResultFile | None = None,
    kept: Kept | None = None,
    limits: Limits | None = None,
    on_start: Callable[[str, str], None] = lambda data, method: None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Run cells, and return their rows in the same order.

    Parameters
    ----------
    cells : sequence of Cell
    store : Store or None
        Where results are kept; those that are there are not computed again.
    done : dict or None
        The same for one process, failures included: results by key, added to.
    file : ResultFile or None
        Brought up to date every few seconds, and however the run ends.
    kept : Kept or None
        Files of cells; a cell whose files are wanted and not there is run anew.
    limits : Limits or None
        One cell at a time in this process by default.
    on_start, on_row : callable
        Told what starts, and of each row: known ones first, others as they come.
    """
    run = _Run(cells, store, done, file, kept)
    executor = _executor(limits or Limits(), () if kept is None else kept.kinds)
    try:
        run.read(on_row)
        run.compute(executor, on_start, on_row)
    finally:
        executor.close()
        run.show(at_once=True)
    return [cell.row(result) for cell, result in run.known()]


def _executor(limits: Limits, keep: Sequence[str]) -> Workers | Cluster | _Here:
    if limits.dask is not None:
        return Cluster(limits.dask, keep)
    return Workers(limits, keep) if limits.isolated else _Here(keep)


class _Run:
    """Cells, and the results so far."""

    def __init__(
        self,
        cells: Sequence[Cell],
        store: Store | None,
        done: dict[str, CellResult] | None,
        file: ResultFile | None,
        kept: Kept | None,
    ) -> None:
        self.cells, self.store, self.done, self.file = cells, store, done, file
        self.kept = kept
        self.results: list[CellResult | None] = [None] * len(cells)
        self._keyed = store is not None or done is not None
        self._next = 0.0

    def known(self) -> list[tuple[Cell, CellResult]]:
        pairs = zip(self.cells, self.results, strict=True)
        return [(cell, result) for cell, result in pairs if result is not None]

    def read(self, on_row: Callable[[Row], None]) -> None:
        """Take what is known before anything is run."""
        if not self._keyed:
            return
        keys = [cell.key for cell in self.cells]
        found = {} if self.store is None else self.store.results(dict.fromkeys(keys))
        if found and self.store is not None:
            n_failed = self.store.n_failed(dict.fromkeys(keys))
            again = f"; {n_failed} that failed are tried again" if n_failed else ""
            n_found = sum(key in found for key in keys)
            _log.info("%d of %d cells are done already%s", n_found, len(keys), again)
        found |= self.done or {}
        if self.kept is not None:
            found = {key: result for key, result in found.items() if self.kept.has(key)}
        for i, key in enumerate(keys):
            if key in found:
                self._keep(i, found[key], on_row)
        self.show(at_once=True)

    def compute(
        self,
        executor: Workers | Cluster | _Here,
        on_start: Callable[[str, str], None],
        on_row: Callable[[Row], None],
    ) -> None:
        """Run what is not known; leave for the end what another process is running."""
        waiting = deque(i for i, result in enumerate(self.results) if result is None)
        blocked: list[int] = []
        look_again, told = 0.0, False
        while waiting or blocked or executor.running:
            while waiting and executor.room:
                i = waiting.popleft()
                claim = self._claim(i)
                if claim.result is not None:
                    self._keep(i, claim.result, on_row)
                elif claim.mine:
                    on_start(self.cells[i].fold.name, self.cells[i].variant.name)
                    executor.submit(i, self.cells[i])
                else:
                    blocked.append(i)
            for i, result in executor.collect():
                self._keep(i, self._finish(i, result), on_row)
            self.show()
            if blocked and not waiting:
                if not executor.running:
                    told = told or self._say_waiting(len(blocked))
                    time.sleep(WAIT)
                if time.monotonic() >= look_again:
                    look_again = time.monotonic() + WAIT
                    waiting.extend(blocked)
                    blocked.clear()

    def show(self, at_once: bool = False) -> None:
        """Write the results, now and then or at once."""
        began = time.monotonic()
        if self.file is None or not (at_once or began >= self._next):
            return
        known = [(cell, cell.row(result).as_dict()) for cell, result in self.known()]
        self.file.write(row for _, row in known)
        searched = [(cell, result) for cell, result in self.known() if result.trials]
        if searched:
            self.file.write_inner(
                {**cell.row(result).as_dict(), **trial}
                for cell, result in searched
                for trial in result.trials
            )
        if self.kept is not None:
            self.file.write_kept(
                {**row, "key": cell.key, **self.kept.paths(cell.key, self.file.folder)}
                for cell, row in known
            )
        self._next = began + max(PAUSE, REST * (time.monotonic() - began))

    def _claim(self, i: int) -> Claim:
        if not self._keyed:
            return Claim(mine=True)
        key = self.cells[i].key
        is_whole = self.kept is None or self.kept.has(key)
        if self.done is not None and key in self.done and is_whole:
            return Claim(self.done[key])
        return Claim(mine=True) if self.store is None else self.store.claim(key, not is_whole)

    def _finish(self, i: int, result: CellResult) -> CellResult:
        """Store a result; its files first, so that a cell in the store has them."""
        if self.kept is not None:
            self.kept.write(self.cells[i].key, result.files)
            result = replace(result, files={})
        if self.store is not None:
            self.store.finish(self.cells[i].key, self.cells[i].about, result)
        return result

    def _keep(self, i: int, result: CellResult, on_row: Callable[[Row], None]) -> None:
        self.results[i] = result
        if self.done is not None:
            self.done[self.cells[i].key] = result
        on_row(self.cells[i].row(result))

    def _say_waiting(self, n_cells: int) -> bool:
        _log.info("waiting for %d cells that another process is running", n_cells)
        return True


class _Here:
    """Runs cells in this process, one at a time."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._keep = keep
        self._task: tuple[int, Cell] | None = None
        self._fold: Any = None
        self._data: Any = None

    @property
    def running(self) -> bool:
        return self._task is not None

    @property
    def room(self) -> bool:
        return self._task is None

    def submit(self, number: int, cell: Cell) -> None:
        self._task = number, cell

    def collect(self) -> list[tuple[int, CellResult]]:
        if self._task is None:
            return []
        number, cell = self._task
        if self._fold is not cell.fold:
            self._data = None  # one fold in memory, not two
            self._fold, self._data = cell.fold, (cell.fold.train(), cell.fold.test())
        train, test = self._data
        result = brief(run_cell(cell.build, train, test, self._keep))
        self._task = None
        return [(number, result)]

    def close(self) -> None:
        self._data = None
