"""Peak memory of a stretch of code, without slowing it down."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["peak_memory_mb", "reset_peak", "resident_mb"]

_PROC = Path("/proc")
_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def reset_peak() -> bool:
    """Start a new measurement; False where the system keeps one peak for the whole process."""
    try:
        _CLEAR.write_text("5")
    except OSError:
        return False
    return True


def peak_memory_mb() -> float:
    """Return the largest resident size of this process since ``reset_peak``, in MiB."""
    peak = _read(_STATUS, "VmHWM")
    return _peak_of_process() if peak is None else peak


def resident_mb(pid: int) -> float | None:
    """Return the resident size of another process in MiB; None where the system does not tell."""
    return _read(_PROC / str(pid) / "status", "VmRSS")


def _read(path: Path, name: str) -> float | None:
    try:
        lines = path.read_text().splitlines()
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
