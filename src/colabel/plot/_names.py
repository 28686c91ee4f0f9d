"""Names in pictures: long ones are cut, and those that would overlap are left out."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["elide", "place_names"]

Box = tuple[float, float, float, float]


def elide(name: str, width: int) -> str:
    """Cut a long name in the middle, where names differ least."""
    half = width // 2
    return name if len(name) <= width else f"{name[: half - 1]}…{name[-half:]}"


def place_names(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    wanted: Sequence[bool],
    frame: Box,
    radius: float = 5.0,
) -> list[tuple[float, float] | None]:
    """Put names beside points so that they cover neither one another nor points.

    Parameters
    ----------
    points : sequence of (float, float)
        Centres of the marks.
    sizes : sequence of (float, float)
        Width and height of each name.
    wanted : sequence of bool
        Names that are placed first.
    frame : tuple of float
        Left, top, right and bottom of the picture, inside which names must stay; y grows downwards.
    radius : float
        Of a mark.

    Returns
    -------
    list of (float, float) or None
        Left and top of each name; None where there is no room for it.
    """
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    places: list[tuple[float, float] | None] = [None] * len(points)
    for i in sorted(range(len(points)), key=lambda i: not wanted[i]):
        for left, top in _around(points[i], sizes[i], radius + 2.0):
            box = left, top, left + sizes[i][0], top + sizes[i][1]
            inside = box[0] >= frame[0] and box[1] >= frame[1]
            inside = inside and box[2] <= frame[2] and box[3] <= frame[3]
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                places[i] = left, top
                break
    return places


def _around(
    point: tuple[float, float], size: tuple[float, float], gap: float
) -> list[tuple[float, float]]:
    """List places for a name: at the corners, above ones first, then at the sides."""
    (x, y), (width, height) = point, size
    near = 0.8 * gap
    lefts, tops = (x - near - width, x + near), (y - near - height, y + near)
    corners = [(left, top) for top in tops for left in lefts]
    middle, centre = y - height / 2, x - width / 2
    sides = [(x + gap, middle), (x - gap - width, middle)]
    return [*corners, *sides, (centre, y - gap - height), (centre, y + gap)]


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
