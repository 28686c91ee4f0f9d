"""Cells of which results are known are read; the rest is run, here or in processes of its own."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from colabel.datasets import Dataset
from colabel.lab.cell import Cell, run_cell
from colabel.lab.rows import CellResult, Row
from colabel.lab.run_folder import RunFolder
from colabel.lab.splits import Fold
from colabel.lab.store import Claim

if TYPE_CHECKING:
    from colabel.lab.cluster import Cluster
    from colabel.lab.workers import Workers

__all__ = ["Limits", "run_cells"]

# What runs cells: in this process, in others, or on a cluster.
Executor: TypeAlias = "_InThisProcess | Workers | Cluster"

WAIT = 0.5  # seconds until cells that another process runs are looked for again
PAUSE = 2.0  # seconds between two writings of the results
REST = 20.0  # times as long as writing took: many rows take longer

_log = logging.getLogger("colabel.lab")


@dataclass(frozen=True)
class Limits:
    """How cells are run.

    Parameters
    ----------
    jobs : int
        Cells at a time.
    timeout : float or None
        Seconds that a cell may take.
    memory : float or None
        MiB that the process of a cell may hold.
    dask : str or None
        Address of a Dask scheduler, on whose workers cells are run instead.
    """

    jobs: int = 1
    timeout: float | None = None
    memory: float | None = None
    dask: str | None = None

    def __post_init__(self) -> None:
        for name in ("jobs", "timeout", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} of cells must be above zero, not {value}")
        if self.dask is not None and self.isolated:
            raise ValueError(
                "on Dask the number of cells at a time is that of its workers' threads, and limits "
                "of memory are theirs: leave out jobs, timeout and memory, or dask"
            )

    @property
    def isolated(self) -> bool:
        """Whether cells need processes of their own."""
        return self.jobs > 1 or self.timeout is not None or self.memory is not None


def run_cells(
    cells: Sequence[Cell],
    folder: RunFolder | None = None,
    *,
    done: dict[str, CellResult] | None = None,
    limits: Limits | None = None,
    on_start: Callable[[str, str], None] = lambda data, method: None,
    on_row: Callable[[Row], None] = lambda row: None,
) -> list[Row]:
    """Run cells, and return their rows in the same order.

    Parameters
    ----------
    cells : sequence of Cell
    folder : RunFolder or None
        Where results are kept, and the tables are brought up to date every few seconds, however
        the run ends. Cells that are there, with the files that are wanted, are not run again.
    done : dict or None
        Results by key that are known besides, failures included; added to.
    limits : Limits or None
        One cell at a time in this process by default.
    on_start, on_row : callable
        Called with what starts, and with each row: known ones first, others as they end.
    """
    run = _Run(cells, folder, done, on_row)
    executor = _executor(limits or Limits(), () if run.kept is None else run.kept.kinds)
    try:
        run.read()
        run.compute(executor, on_start)
    finally:
        executor.close()
        run.write_tables(at_once=True)
    return [cell.row(result) for cell, result in run.finished()]


def _executor(limits: Limits, keep: Sequence[str]) -> Executor:
    if limits.dask is not None:
        from colabel.lab.cluster import Cluster

        return Cluster(limits.dask, keep)
    if limits.isolated:
        from colabel.lab.workers import Workers

        return Workers(limits, keep)
    return _InThisProcess(keep)


class _Run:
    """Cells, and the results so far."""

    def __init__(
        self,
        cells: Sequence[Cell],
        folder: RunFolder | None,
        done: dict[str, CellResult] | None,
        on_row: Callable[[Row], None],
    ) -> None:
        self.cells, self.folder, self.done, self.on_row = cells, folder, done, on_row
        self.store = None if folder is None else folder.store
        self.kept = None if folder is None else folder.kept
        self.results: list[CellResult | None] = [None] * len(cells)
        self._next_write = 0.0

    def finished(self) -> list[tuple[Cell, CellResult]]:
        pairs = zip(self.cells, self.results, strict=True)
        return [(cell, result) for cell, result in pairs if result is not None]

    def read(self) -> None:
        """Take what is known before anything is run."""
        if self.store is None and self.done is None:
            return
        keys = [cell.key for cell in self.cells]
        found = {} if self.store is None else self.store.results(dict.fromkeys(keys))
        if found and self.store is not None:
            n_failed = self.store.n_failed(dict.fromkeys(keys))
            again = f"; {n_failed} that failed are tried again" if n_failed else ""
            n_found = sum(key in found for key in keys)
            _log.info("%d of %d cells are done already%s", n_found, len(keys), again)
        found |= self.done or {}
        for i, key in enumerate(keys):
            if key in found and self._has_files(key):
                self._take(i, found[key])
        self.write_tables(at_once=True)

    def compute(self, executor: Executor, on_start: Callable[[str, str], None]) -> None:
        """Run what is not known; leave for the end what another process is running."""
        waiting = deque(i for i, result in enumerate(self.results) if result is None)
        blocked: list[int] = []
        look_again, is_logged = 0.0, False
        while waiting or blocked or executor.running:
            while waiting and executor.room:
                i = waiting.popleft()
                claim = self._claim(i)
                if claim.result is not None:
                    self._take(i, claim.result)
                elif claim.mine:
                    on_start(self.cells[i].fold.name, self.cells[i].variant.name)
                    executor.submit(i, self.cells[i])
                else:
                    blocked.append(i)
            for i, result in executor.collect():
                self._take(i, self._keep(i, result))
            self.write_tables()
            if blocked and not waiting:
                if not executor.running:
                    if not is_logged:
                        n_blocked, is_logged = len(blocked), True
                        _log.info("waiting for %d cells that another process is running", n_blocked)
                    time.sleep(WAIT)
                if time.monotonic() >= look_again:
                    look_again = time.monotonic() + WAIT
                    waiting.extend(blocked)
                    blocked.clear()

    def write_tables(self, at_once: bool = False) -> None:
        """Write the results, now and then or at once."""
        began = time.monotonic()
        if self.folder is not None and (at_once or began >= self._next_write):
            self.folder.write_results(self.finished())
            self._next_write = began + max(PAUSE, REST * (time.monotonic() - began))

    def _has_files(self, key: str) -> bool:
        return self.kept is None or self.kept.has(key)

    def _claim(self, i: int) -> Claim:
        if self.done is None and self.store is None:
            return Claim(mine=True)
        key = self.cells[i].key  # which takes hashing the data
        if self.done is not None and key in self.done and self._has_files(key):
            return Claim(self.done[key])
        if self.store is None:
            return Claim(mine=True)
        return self.store.claim(key, again=not self._has_files(key))

    def _keep(self, i: int, result: CellResult) -> CellResult:
        """Store a result; its files first, so that a cell in the store has them."""
        if self.folder is None:
            return result
        if self.kept is not None:
            self.kept.write(self.cells[i].key, result.files)
            result = replace(result, files={})
        self.folder.store.finish(self.cells[i].key, self.cells[i].about, result)
        return result

    def _take(self, i: int, result: CellResult) -> None:
        self.results[i] = result
        if self.done is not None:
            self.done[self.cells[i].key] = result
        self.on_row(self.cells[i].row(result))


class _InThisProcess:
    """Runs cells in this process, one at a time, when they are collected."""

    def __init__(self, keep: Sequence[str]) -> None:
        self._keep = keep
        self._task: tuple[int, Cell] | None = None
        self._data: tuple[Fold, Dataset, Dataset] | None = None

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
        if self._data is None or self._data[0] is not cell.fold:
            self._data = None  # one fold in memory, not two
            self._data = cell.fold, cell.fold.train(), cell.fold.test()
        result = run_cell(cell.build, *self._data[1:], self._keep)
        self._task = None
        return [(number, result)]

    def close(self) -> None:
        self._data = None
