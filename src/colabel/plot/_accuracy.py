"""A measure against a parameter, with methods that lack the parameter as levels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colabel.plot._pyplot import pyplot

__all__ = ["accuracy_curves"]

DASHES = ("--", ":", "-.")


def accuracy_curves(
    curves: Mapping[str, Mapping[float, tuple[float, float]]],
    *,
    levels: Mapping[str, float] | None = None,
    x_label: str = "",
    y_label: str = "",
    log: bool = False,
    figure: Any = None,
) -> Any:
    """Draw how a measure changes with a parameter (Figure 3 of Li et al. 2016).

    Parameters
    ----------
    curves : mapping of str to mapping
        For each method, from values of the parameter to the mean of the measure and its standard
        deviation, drawn as a bar where it is not zero.
    levels : mapping of str to float, or None
        Methods without the parameter: dashed lines from side to side.
    x_label, y_label : str
        Names of the axes.
    log : bool, default=False
        Put the parameter on a logarithmic axis.
    figure : matplotlib Figure, SubFigure or None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib Figure or SubFigure

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    levels = levels or {}
    if not any(curves.values()) and not levels:
        raise ValueError("there is nothing to draw: neither curves nor levels have a value")
    plt = pyplot()
    if figure is None:
        figure = plt.figure(figsize=(6.0, 4.0), layout="constrained")
    axes = figure.subplots()
    for number, (name, level) in enumerate(levels.items()):
        dash = DASHES[number % len(DASHES)]
        axes.axhline(
            level, color=str(0.15 + 0.15 * (number % 4)), linestyle=dash, label=_text(name)
        )
    for name, points in curves.items():
        _draw_curve(axes, _text(name), points)
    places = sorted({place for points in curves.values() for place in points})
    if log:
        axes.set_xscale("log")
        axes.minorticks_off()
    if places:
        axes.set_xticks(places, [f"{place:g}" for place in places])
    axes.set(xlabel=x_label, ylabel=y_label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    return figure


def _draw_curve(axes: Any, name: str, points: Mapping[float, tuple[float, float]]) -> None:
    places = sorted(points)
    means = [points[place][0] for place in places]
    spreads = [points[place][1] for place in places]
    axes.errorbar(places, means, yerr=spreads, marker="o", markersize=4, capsize=2, label=name)


def _text(name: str) -> str:
    """Keep dollars from being read as mathematics."""
    return name.replace("$", r"\$")
