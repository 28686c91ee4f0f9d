"""Where things stand in a picture, whatever draws it: ranks and their bars, fronts, names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Level", "RankLayout", "elide", "lay_out_ranks", "pareto_front", "place_names"]

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Level:
    """A method and where its name stands.

    Parameters
    ----------
    name : str
    rank : float
    row : int
        Line of text below the axis, from 0.
    on_left : bool
        Whether the name stands on the left, with the better half.
    """

    name: str
    rank: float
    row: int
    on_left: bool


@dataclass(frozen=True)
class RankLayout:
    """A critical-difference diagram in units of ranks and of lines.

    Parameters
    ----------
    levels : tuple of Level
        Best first.
    bars : tuple of (float, float, int)
        From rank, to rank and line of each group that does not differ.
    high : int
        End of the axis, which begins at 1.
    n_rows, n_bar_rows : int
        Lines of names and of bars.
    """

    levels: tuple[Level, ...]
    bars: tuple[tuple[float, float, int], ...]
    high: int
    n_rows: int
    n_bar_rows: int


def lay_out_ranks(ranks: Mapping[str, float], groups: Sequence[Sequence[str]]) -> RankLayout:
    """Decide where names and bars stand.

    Parameters
    ----------
    ranks : mapping of str to float
        Average rank of each method.
    groups : sequence of sequences of str
        Methods that do not differ.
    """
    order = sorted(ranks, key=lambda name: ranks[name])
    n_left = math.ceil(len(order) / 2)
    levels = tuple(
        Level(name, ranks[name], i if i < n_left else len(order) - 1 - i, i < n_left)
        for i, name in enumerate(order)
    )
    bars: list[tuple[float, float, int]] = []
    for group in groups:
        first, last = (f(ranks[name] for name in group) for f in (min, max))
        taken = {row for start, stop, row in bars if start <= last and first <= stop}
        bars.append((first, last, min({*range(len(bars) + 1)} - taken)))
    n_bar_rows = 1 + max((row for *_, row in bars), default=-1)
    return RankLayout(levels, tuple(bars), len(order), n_left, n_bar_rows)


def pareto_front(
    seconds: Sequence[float] | NDArray,
    values: Sequence[float] | NDArray,
    *,
    greater_is_better: bool = True,
) -> NDArray[np.bool_]:
    """Say which points no other one beats: none is at least as good in both and better in one.

    Parameters
    ----------
    seconds : array-like of shape (n_points,)
        Times; less is better.
    values : array-like of shape (n_points,)
        Of a measure.
    greater_is_better : bool, default=True
        Which way the measure is better.

    Returns
    -------
    ndarray of bool of shape (n_points,)

    Examples
    --------
    >>> from colabel.plot import pareto_front
    >>> pareto_front([1.0, 2.0, 3.0], [0.5, 0.4, 0.6])
    array([ True, False,  True])
    """
    t = np.asarray(seconds, dtype=np.float64)
    v = np.asarray(values, dtype=np.float64) * (1.0 if greater_is_better else -1.0)
    no_worse = (t[:, None] <= t) & (v[:, None] >= v)
    better = (t[:, None] < t) | (v[:, None] > v)
    beaten = np.any(no_worse & better, axis=0)
    front: NDArray[np.bool_] = ~beaten & np.isfinite(t) & np.isfinite(v)
    return front


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
