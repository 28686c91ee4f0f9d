"""A line on the terminal that says how far a fit is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Report", "progress"]


Report = Callable[..., None]


@contextmanager
def progress(show: bool, title: str) -> Iterator[Report | None]:
    """Give a learner something to report to, or nothing if not shown.

    It shows the passes made, the objective and, where there is one, the gap.
    """
    if not show:
        yield None
        return
    from rich.console import Console

    console = Console(stderr=True)
    with console.status(title) as status:

        def report(n_iter: int, objective: float, gap: float | None = None) -> None:
            proved = "" if gap is None else f", gap {gap:.1e}"
            status.update(f"{title}: {n_iter} passes, objective {objective:.5g}{proved}")

        yield report
    console.print(f"{title}: done")
