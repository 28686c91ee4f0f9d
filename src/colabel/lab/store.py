"""Finished cells of a run folder, kept so that nothing but the cells in flight can be lost.

One SQLite file in WAL mode, one transaction a cell. A process that begins a cell claims it; another
one on the same folder leaves it alone until it is finished, or its process has died.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

from colabel.exceptions import ColabelError
from colabel.lab.processes import Owner, is_alive, this_process
from colabel.lab.rows import CellResult

__all__ = ["FILE_NAME", "Claim", "Store", "result_of_json"]

FILE_NAME = "cells.sqlite"
FORMAT = 1
APPLICATION = 0x636F6C61  # "cola"
# Seconds: of waiting for other writers; between two heartbeats; without one, until a process that
# cannot be looked up from here (of another machine or container) is taken for dead.
PATIENCE, HEARTBEAT, STALE = 60.0, 15.0, 120.0

SCHEMA = """
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    place TEXT NOT NULL, pid INTEGER NOT NULL, born TEXT NOT NULL,
    opened TEXT NOT NULL, beat INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE cells (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    about TEXT NOT NULL, status TEXT NOT NULL, result TEXT NOT NULL,
    session INTEGER NOT NULL, finished TEXT NOT NULL
);
CREATE TABLE claims (key TEXT PRIMARY KEY, session INTEGER NOT NULL);
CREATE TABLE views (name TEXT PRIMARY KEY);
"""


class Claim(NamedTuple):
    """What asking for a cell gave: its result, the right to run it, or neither: it is being run."""

    result: CellResult | None = None
    mine: bool = False


class Store:
    """The finished cells of a folder.

    A cell that failed is tried again by a process that opens the store afterwards, once.

    Parameters
    ----------
    folder : path-like
        Made if missing.

    Raises
    ------
    ColabelError
        Where the file is damaged, of a newer format, or cannot be written. It is left as it is.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / FILE_NAME
        self._watched: dict[int, tuple[int, float]] = {}
        with self._plain_errors():
            self._file = self._connect()
            try:
                self._prepare()
                self._session = self._open_session()
            except BaseException:
                self._file.close()
                raise
        self._closing = threading.Event()
        self._heartbeats = threading.Thread(target=self._send_heartbeats, daemon=True)
        self._heartbeats.start()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def results(self, keys: Iterable[str]) -> dict[str, CellResult]:
        """Return the results of the cells that are done and did not fail."""
        found = {}
        with self._plain_errors():
            for key in keys:
                row = self._row("SELECT result FROM cells WHERE key = ? AND status = 'ok'", key)
                if row is not None:
                    found[key] = result_of_json(row[0])
        return found

    def n_failed(self, keys: Iterable[str]) -> int:
        """Count the cells that failed when they were last run."""
        query = "SELECT 1 FROM cells WHERE key = ? AND status != 'ok'"
        with self._plain_errors():
            return sum(self._row(query, key) is not None for key in keys)

    def claim(self, key: str, again: bool = False) -> Claim:
        """Ask to run a cell; ``again`` is even one that is done, whoever has done it.

        One that failed after this store was opened is not tried again.
        """
        with self._plain_errors(), self._transaction():
            row = self._row("SELECT number, status, result FROM cells WHERE key = ?", key)
            if row is not None and (not again if row[1] == "ok" else row[0] > self._last_before):
                return Claim(result_of_json(row[2]))
            if self._is_taken(key):
                return Claim()
            self._file.execute("REPLACE INTO claims VALUES (?, ?)", (key, self._session))
            return Claim(mine=True)

    def finish(
        self, key: str, about: Mapping[str, Any], result: CellResult, finished: str | None = None
    ) -> None:
        """Keep the result of a cell, ``about`` beside it, and end the claim; None is now."""
        row = key, json.dumps(about), result.status, _to_json(result), self._session
        with self._plain_errors(), self._transaction():
            self._file.execute(
                "REPLACE INTO cells (key, about, status, result, session, finished) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (*row, finished or time.strftime("%Y-%m-%dT%H:%M:%S")),
            )
            self._file.execute("DELETE FROM claims WHERE key = ?", (key,))

    @contextmanager
    def register_view(self, folder: str) -> Iterator[bool]:
        """Note after the block that this store makes the results in a folder, as seen from here.

        Gives whether that is new to the store. No other process writes meanwhile.
        """
        with self._plain_errors(), self._transaction():
            yield self._row("SELECT 1 FROM views WHERE name = ?", folder) is None
            self._file.execute("INSERT OR IGNORE INTO views VALUES (?)", (folder,))

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keep other processes from writing to the folder meanwhile."""
        with self._plain_errors(), self._transaction():
            yield

    def close(self) -> None:
        """Give up claims and close the file."""
        self._closing.set()
        self._heartbeats.join()
        with suppress(sqlite3.Error), self._transaction():  # others will see that we have gone
            self._file.execute("DELETE FROM claims WHERE session = ?", (self._session,))
        self._file.close()

    def _connect(self) -> sqlite3.Connection:
        file = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        file.execute("PRAGMA synchronous = FULL")
        return file

    def _prepare(self) -> None:
        """Check that the file is ours, whole and not newer than we are; make what is missing."""
        with self._transaction():
            (written,) = self._file.execute("PRAGMA user_version").fetchone()
            (made_by,) = self._file.execute("PRAGMA application_id").fetchone()
            is_empty = self._row("SELECT 1 FROM sqlite_master") is None
            if is_empty:
                for statement in SCHEMA.split(";"):
                    self._file.execute(statement)
                self._file.execute(f"PRAGMA application_id = {APPLICATION}")
                self._file.execute(f"PRAGMA user_version = {FORMAT}")
            elif made_by != APPLICATION:
                raise ColabelError(f"{self.path} was not made by colabel: choose another folder")
            elif written > FORMAT:
                raise ColabelError(
                    f"{self.path} was written by a newer colabel (format {written}, this one knows "
                    f"{FORMAT}): update colabel, or choose another folder"
                )
            if self._file.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                raise self._damaged()
        self._use_wal()

    def _use_wal(self) -> None:
        """Change the mode, which needs a moment in which nobody else reads or writes."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._file.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                time.sleep(0.02)

    def _open_session(self) -> int:
        """Register this process; what failed up to now may be tried again."""
        row = (*this_process(), time.strftime("%Y-%m-%dT%H:%M:%S"))
        with self._transaction():
            (self._last_before,) = self._file.execute(
                "SELECT coalesce(max(number), 0) FROM cells"
            ).fetchone()
            entry = self._file.execute(
                "INSERT INTO sessions (place, pid, born, opened) VALUES (?, ?, ?, ?)", row
            )
        return int(entry.lastrowid or 0)

    def _is_taken(self, key: str) -> bool:
        """Return whether a cell is claimed by a process that runs, which may be this one."""
        row = self._row(
            "SELECT id, place, pid, born, beat FROM claims JOIN sessions ON id = session "
            "WHERE key = ?",
            key,
        )
        if row is None:
            return False
        session, *owner, beat = row
        if session == self._session:
            return True
        alive = is_alive(Owner(*owner))
        return self._is_beating(session, beat) if alive is None else alive

    def _is_beating(self, session: int, beat: int) -> bool:
        """Return whether a session has had a heartbeat of late, by our own clock."""
        now = time.monotonic()
        last, since = self._watched.get(session, (-1, now))
        if beat != last:
            since = now
        self._watched[session] = beat, since
        return now - since < STALE

    def _send_heartbeats(self) -> None:
        file = None
        while not self._closing.wait(HEARTBEAT):
            with suppress(sqlite3.Error):  # a heartbeat may be late
                file = file or self._connect()
                file.execute("UPDATE sessions SET beat = beat + 1 WHERE id = ?", (self._session,))
        if file is not None:
            file.close()

    def _row(self, query: str, *values: Any) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._file.execute(query, values).fetchone()
        return row

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._file.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            raise

    @contextmanager
    def _plain_errors(self) -> Iterator[None]:
        """Raise errors of the database as one plain sentence."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._plain_error(error) from error

    def _plain_error(self, error: sqlite3.Error) -> ColabelError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest of it says where
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            return self._damaged()
        reason = {
            sqlite3.SQLITE_FULL: "the disk is full; make room",
            sqlite3.SQLITE_IOERR: f"the disk cannot be written ({error}); see to it",
            sqlite3.SQLITE_READONLY: "it cannot be written; allow it",
            sqlite3.SQLITE_CANTOPEN: "it cannot be opened or made; allow it",
            sqlite3.SQLITE_BUSY: "another process does not let go of it; end that",
        }.get(code, f"{error}; see to it")
        return ColabelError(
            f"{self.path}: {reason} and repeat the command: finished cells are kept"
        )

    def _damaged(self) -> ColabelError:
        return ColabelError(
            f"{self.path} is damaged: move it away and repeat the command, which begins anew and "
            "sets results.csv aside under another name"
        )


def _to_json(result: CellResult) -> str:
    whole = asdict(replace(result, files={}))
    del whole["files"]
    return json.dumps(whole, default=_plain)


def _plain(value: Any) -> Any:
    """Return as JSON what a search may try: numbers of numpy, or anything by its text."""
    return value.item() if hasattr(value, "item") else repr(value)


def result_of_json(text: str) -> CellResult:
    """Return a result as the store has written it."""
    return CellResult(**json.loads(text))
