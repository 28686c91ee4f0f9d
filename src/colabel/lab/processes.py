"""Which process is which, so that a claim of one that has died is known for what it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

__all__ = ["Owner", "is_alive", "this_process"]

PROC = Path("/proc")


class Owner(NamedTuple):
    """A process: where numbers of processes mean the same, its number, and when it began.

    ``place`` is the boot of a machine and the process namespace in it (a container has its own).
    It is empty where the system does not tell.
    """

    place: str
    pid: int
    born: str


def this_process() -> Owner:
    """Return who we are."""
    return Owner(_place(), os.getpid(), _born(os.getpid()) or "")


def is_alive(owner: Owner) -> bool | None:
    """Say whether a process runs; None where that cannot be told from here."""
    if not owner.place or owner.place != _place():
        return None
    return _born(owner.pid) == owner.born


def _place() -> str:
    try:
        boot = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink(PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def _born(pid: int) -> str | None:
    """Return the start of a process in ticks since the boot; None where there is no such process.

    One that has ended and was not yet waited for (a zombie) does no more work: it is none.
    """
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return None
    # The name, which may hold anything, ends at the last bracket; state is next, start 20th.
    state, *rest = text.rpartition(")")[2].split()
    return None if state in "ZX" else rest[18]
