"""Time against a measure: which methods are worth their time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel.plot._pyplot import pyplot
from colabel.plot.names import elide, place_names

__all__ = ["pareto_front", "time_accuracy"]

NAME_WIDTH = 24
FRONT, BEHIND = "#0072b2", "0.6"


def pareto_front(
    seconds: Sequence[float] | NDArray,
    values: Sequence[float] | NDArray,
    *,
    greater_is_better: bool = True,
) -> NDArray[np.bool_]:
    """Find the points that no other one beats: none is at least as good in both and better in one.

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


def time_accuracy(
    points: Mapping[str, tuple[float, float]],
    *,
    greater_is_better: bool = True,
    x_label: str = "seconds",
    y_label: str = "",
    figure: Any = None,
) -> Any:
    """Draw methods by their time and a measure, with the Pareto front.

    Parameters
    ----------
    points : mapping of str to (float, float)
        Seconds, above zero, and value of the measure, for each method.
    greater_is_better : bool, default=True
        Which way the measure is better.
    x_label, y_label : str
        Names of the axes.
    figure : matplotlib Figure, SubFigure or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Figure or SubFigure

    Raises
    ------
    ValueError
        If there is nothing to draw, or a time is not above zero.
    """
    if not points:
        raise ValueError("there is nothing to draw: no method has a time and a value")
    seconds, values = np.array([*points.values()], dtype=np.float64).T
    if not (seconds > 0).all():
        raise ValueError("times must be above zero, for their axis is logarithmic")
    on_front = pareto_front(seconds, values, greater_is_better=greater_is_better)
    plt = pyplot()
    if figure is None:
        figure = plt.figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    order = np.flatnonzero(on_front)[np.argsort(seconds[on_front], kind="stable")]
    axes.step(seconds[order], values[order], where="post", color=FRONT, linewidth=1.0)
    for mask, colour in ((~on_front, BEHIND), (on_front, FRONT)):
        axes.scatter(seconds[mask], values[mask], s=24, color=colour, zorder=3)
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.margins(0.15, 0.12)
    axes.spines[["top", "right"]].set_visible(False)
    _write_names(figure, axes, [*points], seconds, values, on_front)
    return figure


def _write_names(
    figure: Any, axes: Any, names: list[str], seconds: NDArray, values: NDArray, wanted: NDArray
) -> None:
    """Name those on the front, and of the others those that there is room for."""
    root = axes.get_figure(root=True)
    root.draw_without_rendering()  # fixes where the axes are
    short = [elide(name, NAME_WIDTH) for name in names]
    at = axes.transData.transform(np.column_stack([seconds, values])) * (1, -1)
    point = root.dpi / 72
    sizes = [(4.6 * point * len(name), 8.0 * point) for name in short]
    (left, low), (right, high) = axes.get_window_extent().get_points()
    frame = left, -high, right + 30 * point, -low
    places = place_names([*map(tuple, at)], sizes, [*wanted], frame, radius=3.5 * point)
    for name, place, (_, height) in zip(short, places, sizes, strict=True):
        if place is not None:
            x, y = axes.transData.inverted().transform((place[0], -place[1] - 0.8 * height))
            axes.text(x, y, name, fontsize=8, parse_math=False)
