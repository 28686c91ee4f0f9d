"""Names, numbers and times as a person reads them."""

from __future__ import annotations

from colabel.messages import printable
from colabel.plot.names import elide

__all__ = [
    "duration",
    "listed",
    "measure_name",
    "number",
    "plural",
    "seconds",
    "short",
]

# Longer names are cut in the middle, and stand in full at the end of the page.
NAME_WIDTH = 60
_UPPER = {"f1": "F1", "ndcg": "NDCG", "lrap": "LRAP", "hamming": "Hamming", "jaccard": "Jaccard"}


def short(text: object, width: int = NAME_WIDTH) -> str:
    """Return a name from elsewhere as it is shown."""
    return elide(printable(text), width)


def measure_name(measure: str) -> str:
    """Return the words of a measure's name."""
    words = measure.replace("_", " ").split(" ")
    return short(" ".join(_UPPER.get(word, word) for word in words))


def number(value: float | None, digits: int = 4, *, sign: bool = False) -> str:
    """Format a value, with a true minus; empty where there is none."""
    if value is None or value != value:
        return ""
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def seconds(value: float | None) -> str:
    """Format seconds to about three digits."""
    if value is None or value != value:
        return ""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def duration(value: float) -> str:
    """Format a time in days, hours, minutes or seconds."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if value >= 2 * size:
            return f"{value / size:.1f} {unit}"
    return f"{value:.0f} seconds" if value >= 2 else f"{value:.2f} seconds"


def plural(n: int, one: str, many: str | None = None) -> str:
    """Count things."""
    return f"{n:,} {one if n == 1 else many or one + 's'}".replace(",", "\u202f")


def listed(names: list[str], at_most: int = 4) -> str:
    """Join names: a, b and c; beyond so many, the others are counted."""
    if len(names) > at_most + 1:
        names = [*names[:at_most], f"{len(names) - at_most} others"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
