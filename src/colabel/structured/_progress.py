"""A line on the terminal that says how far a fit is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(show: bool, title: str) -> Iterator[Callable[[int, float, float], None] | None]:
    """Give a learner something to report iteration, objective and gap to; nothing if not shown."""
    if not show:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(title) as status:

        def report(n_iter: int, objective: float, gap: float) -> None:
            status.update(f"{title}: {n_iter} passes, objective {objective:.5g}, gap {gap:.1e}")

        yield report
    console.print(f"{title}: done")
