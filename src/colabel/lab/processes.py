"""What the system knows of processes: which is which, their memory, and the time of their work."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "Owner",
    "is_alive",
    "peak_memory_mb",
    "reset_peak",
    "resident_mb",
    "seconds_of_work",
    "this_process",
]

PROC = Path("/proc")


class Owner(NamedTuple):
    """A process: where numbers of processes mean the same, its number, and when it began.

    ``place`` is the boot of a machine and the process namespace in it (a container has its own).
    It is empty where the system does not know.
    """

    place: str
    pid: int
    born: str


def this_process() -> Owner:
    """Return who we are."""
    return Owner(_place(), os.getpid(), _born(os.getpid()) or "")


def is_alive(owner: Owner) -> bool | None:
    """Return whether a process runs; None where that cannot be known from here."""
    if not owner.place or owner.place != _place():
        return None
    return _born(owner.pid) == owner.born


def seconds_of_work() -> float:
    """Return seconds, of which differences count; the clock stands still while kernels compile.

    Compiling takes seconds, once on a machine, and loading what was compiled a moment, once in a
    process. They would make the cell that happens to be the first a slow one.
    """
    from colabel._kernels import seconds_compiling  # imports Numba, before it counts

    return time.perf_counter() - seconds_compiling()


def reset_peak() -> bool:
    """Start a new measurement of memory; False where there is one for the whole process."""
    try:
        (PROC / "self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def peak_memory_mb() -> float:
    """Return the largest resident size of this process since ``reset_peak``, in MiB."""
    peak = _status("self", "VmHWM")
    return _peak_of_process() if peak is None else peak


def resident_mb(pid: int) -> float | None:
    """Return the resident size of a process in MiB; None where the system does not know."""
    return _status(str(pid), "VmRSS")


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


def _status(process: str, name: str) -> float | None:
    try:
        lines = (PROC / process / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), None)


def _peak_of_process() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
