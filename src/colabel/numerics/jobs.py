"""Independent jobs, and who does them: here one after the other, elsewhere on threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Job", "Run", "in_turn"]

Job = Callable[[], Any]
# Does jobs and returns their results, in order.
Run = Callable[[Sequence[Job]], list[Any]]


def in_turn(jobs: Sequence[Job]) -> list[Any]:
    """Do jobs one after the other."""
    return [job() for job in jobs]
