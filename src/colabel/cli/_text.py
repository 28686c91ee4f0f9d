"""Foreign text on a terminal: names from files are shown, never obeyed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from colabel.messages import printable

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["number", "one_line", "shown"]


def one_line(text: str) -> str:
    """Return ``text`` on one line, control characters spelled out."""
    return printable(" ".join(text.split()))


def shown(text: object, style: str = "") -> Text:
    """Return ``text`` for a table or a sentence; square brackets are no markup in it."""
    from rich.text import Text

    return Text(printable(str(text)), style)


def number(value: float | None) -> str:
    """Format a measure for a table."""
    return "–" if value is None or value != value else f"{value:.4f}"
