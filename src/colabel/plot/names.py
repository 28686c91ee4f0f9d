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
    lines: Sequence[Box] = (),
) -> list[tuple[float, float] | None]:
    """Place names beside points so that they cover neither one another nor points.

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
    lines : sequence of tuples of float
        Boxes that names should not cross; those of ``wanted`` names may, for want of a better
        place.

    Returns
    -------
    list of (float, float) or None
        Left and top of each name; None where there is no room for it.
    """
    taken = [(x - radius, y - radius, x + radius, y + radius) for x, y in points]
    places: list[tuple[float, float] | None] = [None] * len(points)
    for i in sorted(range(len(points)), key=lambda i: not wanted[i]):
        around = _around(points[i], sizes[i], radius + 2.0)
        boxes = [(left, top, left + sizes[i][0], top + sizes[i][1]) for left, top in around]
        free = [box for box in boxes if _is_inside(box, frame) and not _meets(box, taken)]
        clear = [box for box in free if not _meets(box, lines)] or (free if wanted[i] else [])
        if clear:
            taken.append(clear[0])
            places[i] = clear[0][:2]
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


def _is_inside(box: Box, frame: Box) -> bool:
    return frame[0] <= box[0] and frame[1] <= box[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(
        box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
        for other in others
    )
