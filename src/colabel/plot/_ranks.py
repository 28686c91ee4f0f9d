"""Average ranks of methods and which of them do not differ (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from colabel.plot._pyplot import pyplot
from colabel.plot.names import elide

__all__ = ["Level", "RankLayout", "critical_difference", "lay_out_ranks"]

NAME_WIDTH = 28
# Inches: a line of text, the width of the axis, a character.
LINE, WIDTH, CHARACTER = 0.2, 4.0, 0.085


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


def critical_difference(
    ranks: Mapping[str, float],
    groups: Sequence[Sequence[str]],
    *,
    distance: float | None = None,
    figure: Any = None,
) -> Any:
    """Draw average ranks on a line, with bars over methods that do not differ.

    Parameters
    ----------
    ranks : mapping of str to float
        Average rank of each method over datasets; 1 is best.
    groups : sequence of sequences of str
        Names of methods that do not differ, such as the groups of ``colabel.lab.statistics``.
    distance : float or None
        Critical difference, drawn above the axis.
    figure : matplotlib Figure, SubFigure or None
        Where to draw; None makes a figure of the right size.

    Returns
    -------
    matplotlib Figure or SubFigure

    Raises
    ------
    ValueError
        If there are fewer than two methods, or a group names another.
    """
    if len(ranks) < 2:
        raise ValueError("a diagram of ranks needs at least two methods")
    unknown = [name for group in groups for name in group if name not in ranks]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is in a group and has no rank")
    plt = pyplot()
    layout = lay_out_ranks(ranks, groups)
    bars_end = 0.6 + 0.5 * layout.n_bar_rows
    n_lines = 2.2 + bars_end + layout.n_rows
    text = CHARACTER * max(len(elide(name, NAME_WIDTH)) + 6 for name in ranks)
    if figure is None:
        figure = plt.figure(figsize=(WIDTH + 2 * text, LINE * n_lines))
    axes = figure.add_axes((0, 0, 1, 1))
    margin = text / WIDTH * (layout.high - 1)
    axes.set(xlim=(1 - margin, layout.high + margin), ylim=(n_lines - 2.2, -2.2))
    axes.set_axis_off()
    _draw_axis(axes, layout, distance)
    for level in layout.levels:
        _draw_level(axes, level, layout, bars_end + level.row + 0.3)
    for start, stop, row in layout.bars:
        pad = 0.01 * (layout.high - 1)
        height = 0.5 + 0.5 * row
        axes.plot([start - pad, stop + pad], [height] * 2, "k", linewidth=3, solid_capstyle="butt")
    return figure


def _draw_axis(axes: Any, layout: RankLayout, distance: float | None) -> None:
    axes.plot([1, layout.high], [0, 0], "k", linewidth=0.8)
    for tick in range(1, layout.high + 1):
        axes.plot([tick, tick], [0, -0.3], "k", linewidth=0.8)
        axes.text(tick, -0.4, str(tick), ha="center", va="bottom", fontsize="small")
    if distance is not None:
        stop = 1 + distance
        axes.plot([1, stop], [-1.5, -1.5], "k", linewidth=1.2, marker="|")
        words = f"critical difference {distance:.2f}"
        axes.text(stop, -1.5, f"  {words}", ha="left", va="center", fontsize="small")


def _draw_level(axes: Any, level: Level, layout: RankLayout, height: float) -> None:
    end = 1 if level.on_left else layout.high
    axes.plot([level.rank, level.rank, end], [0, height, height], color="0.4", linewidth=0.8)
    name = elide(level.name, NAME_WIDTH)
    words = f"{name}  {level.rank:.2f} " if level.on_left else f" {level.rank:.2f}  {name}"
    side = "right" if level.on_left else "left"
    axes.text(end, height, words, ha=side, va="center", fontsize="small", parse_math=False)
