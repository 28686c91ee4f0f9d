"""Peak memory of a stretch of code, without slowing it down."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["peak_memory_mb", "reset_peak"]

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
    try:
        lines = _STATUS.read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return _peak_of_process()


def _peak_of_process() -> float:
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 1024
