"""The clock of cells: it stands still while kernels are compiled.

Compiling takes seconds, once on a machine, and loading what was compiled a moment, once in a
process. Of a cell that happens to be the first they would make a slow one.
"""

from __future__ import annotations

import time

__all__ = ["seconds_of_work"]


def seconds_of_work() -> float:
    """Return seconds, of which differences count, less those of compiling."""
    from colabel._kernels import seconds_compiling  # imports Numba, before it counts

    return time.perf_counter() - seconds_compiling()
