"""Pictures of the page as plain geometry: templates turn it into SVG in the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from colabel.lab.report.standings import Standing
from colabel.plot import lay_out_ranks, pareto_front
from colabel.plot.names import elide, place_names

__all__ = ["Dot", "Leader", "RankPicture", "Scatter", "draw_ranks", "draw_scatter"]

Point = tuple[float, float]
Box = tuple[float, float, float, float]
# Pixels, at the size of the page's text.
CHARACTER, BOLD, LINE = 7.2, 8.3, 22.0
NAME_WIDTH = 26
AXIS, MARGIN_TOP = 420.0, 62.0
# Times below this are the clock's, not the method's; zero has no place on the axis.
LEAST_SECONDS = 1e-3


@dataclass(frozen=True)
class Leader:
    """A method in a diagram of ranks: a bent line from its rank to its name."""

    name: str
    rank: float
    x: float
    y: float
    end: float
    text_x: float
    on_left: bool


@dataclass(frozen=True)
class RankPicture:
    """A critical-difference diagram."""

    width: float
    height: float
    axis_y: float
    ticks: Sequence[tuple[float, int]]
    leaders: Sequence[Leader]
    bars: Sequence[tuple[float, float, float]]
    ruler: tuple[float, float, float]
    words: str


@dataclass(frozen=True)
class Dot:
    """A method by time and measure."""

    name: str
    x: float
    y: float
    on_front: bool
    label: tuple[float, float, str] | None
    seconds: float
    value: float


@dataclass(frozen=True)
class Scatter:
    """Time against a measure on one dataset."""

    data: str
    width: float
    height: float
    frame: tuple[float, float, float, float]
    x_ticks: Sequence[tuple[float, str]]
    y_ticks: Sequence[tuple[float, str]]
    dots: Sequence[Dot]
    front: str
    words: str


def draw_ranks(standing: Standing) -> RankPicture | None:
    """Lay out average ranks, and the groups in which Nemenyi's test finds no difference."""
    if standing.nemenyi is None:
        return None
    methods = standing.compared[1]
    groups = [[methods[column] for column in group] for group in standing.nemenyi.groups]
    layout = lay_out_ranks(standing.ranks, groups)
    distance = standing.nemenyi.critical_difference
    margin = 16 + CHARACTER * max(len(elide(name, NAME_WIDTH)) + 6 for name in methods)
    scale = AXIS / (layout.high - 1)

    def at(rank: float) -> float:
        return round(margin + scale * (rank - 1), 1)

    below = MARGIN_TOP + 14 + 9 * layout.n_bar_rows
    left, right = at(1), at(layout.high)
    leaders = [
        Leader(
            elide(level.name, NAME_WIDTH),
            level.rank,
            at(level.rank),
            below + LINE * (level.row + 0.5),
            left if level.on_left else right,
            left - 8 if level.on_left else right + 8,
            level.on_left,
        )
        for level in layout.levels
    ]
    return RankPicture(
        width=2 * margin + AXIS,
        height=below + LINE * (layout.n_rows + 0.4),
        axis_y=MARGIN_TOP,
        ticks=[(at(rank), rank) for rank in range(1, layout.high + 1)],
        leaders=leaders,
        bars=[
            (at(start) - 4, at(stop) + 4, MARGIN_TOP + 12 + 9 * row)
            for start, stop, row in layout.bars
        ],
        ruler=(left, left + scale * distance, distance),
        words=_in_words(standing, groups),
    )


def draw_scatter(standing: Standing, data: str, *, wide: bool = False) -> Scatter | None:
    """Lay out methods by the time of a fit and a measure on one dataset."""
    places = {method: standing.places[data, method] for method in standing.methods}
    known = {m: p for m, p in places.items() if p.known and p.seconds == p.seconds}
    if len(known) < 2:
        return None
    width, height = (760.0, 400.0) if wide else (380.0, 270.0)
    left, top, right, bottom = frame = 52.0, 12.0, width - 16.0, height - 40.0
    seconds = np.array([max(place.seconds, LEAST_SECONDS) for place in known.values()])
    values = np.array([place.mean for place in known.values()])
    x_ends = _widened(np.log10(seconds), 0.12, 0.5)
    y_ends = _widened(values, 0.1, 1e-3)
    across, up = _scale(x_ends, left, right), _scale(y_ends, bottom, top)
    points = [*zip(map(across, np.log10(seconds)), map(up, values), strict=True)]
    on_front = [*map(bool, pareto_front(seconds, values, greater_is_better=standing.upward))]
    front = sorted(point for point, on in zip(points, on_front, strict=True) if on)
    room = left, 0.0, width, bottom  # the margins, too
    labels = _place_labels([*known], points, on_front, front, room)
    shown = zip(known, points, on_front, labels, seconds, values, strict=True)
    dots = [
        Dot(name, at[0], at[1], on, label, float(t), float(v))
        for name, at, on, label, t, v in shown
    ]
    return Scatter(
        data=data,
        width=width,
        height=height,
        frame=frame,
        x_ticks=[(across(log), text) for log, text in _time_ticks(*x_ends)],
        y_ticks=[(up(value), f"{value:.4g}") for value in _ticks(*y_ends)],
        dots=dots,
        front=_steps(front),
        words=_front_in_words(dots, data),
    )


def _scale(ends: Point, start: float, stop: float) -> Callable[[float], float]:
    """Return what maps values between two ends to pixels between two others."""
    low, high = ends
    return lambda value: round(start + float(value - low) / (high - low) * (stop - start), 1)


def _place_labels(
    names: list[str], points: list[Point], on_front: list[bool], front: list[Point], room: Box
) -> list[tuple[float, float, str] | None]:
    """Return where names begin, and as they are shown; None where there is no room."""
    short = [elide(name, NAME_WIDTH) for name in names]
    widths = [BOLD if on else CHARACTER for on in on_front]
    sizes = [(width * len(name), 13.0) for width, name in zip(widths, short, strict=True)]
    places = place_names(points, sizes, on_front, room, lines=_boxes(front))
    return [at and (at[0], at[1] + 10.5, name) for at, name in zip(places, short, strict=True)]


def _steps(points: list[Point]) -> str:
    """Return the front as the d of a path: right to the next method, then to its value."""
    path = f"M{points[0][0]} {points[0][1]}" if points else ""
    return path + "".join(f"H{x}V{y}" for _, (x, y) in pairwise(points))


def _boxes(points: list[Point]) -> list[Box]:
    """Return the front as boxes: of its level parts, and of its steps."""
    level = [(x, y - 1, right, y + 1) for (x, y), (right, _) in pairwise(points)]
    steps = [
        (x - 1, min(y, before), x + 1, max(y, before)) for (_, before), (x, y) in pairwise(points)
    ]
    return level + steps


def _widened(values: np.ndarray, share: float, least: float) -> Point:
    low, high = float(values.min()), float(values.max())
    room = max(share * (high - low), least)
    return low - room, high + room


def _ticks(low: float, high: float, n: int = 5) -> list[float]:
    """List round numbers between two ends."""
    raw = (high - low) / n
    unit = 10.0 ** math.floor(math.log10(raw))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= raw)
    first = math.ceil(low / step)
    return [round(k * step, 10) for k in range(first, math.floor(high / step) + 1)]


def _time_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """List powers of ten, with 2 and 5 between them where the axis is short."""
    parts = (1,) if high - low > 2.2 else (1, 3) if high - low > 1.2 else (1, 2, 5)
    marks = [
        part * 10.0**power
        for power in range(math.floor(low), math.ceil(high) + 1)
        for part in parts
    ]
    return [(math.log10(m), f"{m:g} s") for m in marks if low <= math.log10(m) <= high]


def _in_words(standing: Standing, groups: list[list[str]]) -> str:
    order = sorted(standing.ranks, key=lambda name: standing.ranks[name])
    ranks = ", ".join(f"{elide(name, 60)} {standing.ranks[name]:.2f}" for name in order)
    same = "; ".join(", ".join(elide(name, 60) for name in group) for group in groups)
    return f"Average ranks: {ranks}. No difference found: {same or 'none'}."


def _front_in_words(dots: Sequence[Dot], data: str) -> str:
    front = sorted((dot for dot in dots if dot.on_front), key=lambda dot: dot.x)
    named = ", ".join(
        f"{elide(dot.name, 60)} ({dot.seconds:.3g} s, {dot.value:.4f})" for dot in front
    )
    return f"Pareto front on {elide(data, 60)}: {named}."
