"""The components that speak for a sample, as bars (Figure 2 of Li et al. 2016)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colabel._parameters import check_whole
from colabel.mixture import NEAR_ZERO, Explanation, explain
from colabel.plot._pyplot import pyplot
from colabel.plot.names import elide

__all__ = ["components"]

# More labels than these are a wall, and the picture says that some are left out. Half of the room
# is for labels that the reasons speak of first, the other for the most probable ones.
MAX_LABELS = 16
# So many labels leave room for numbers in the table of correlations.
NUMBERED = 6
NAME_WIDTH = 22
IN_SET, NOT_IN_SET = "#1f6f9f", "#c3cdd3"
# Inches: a row of bars, a cell with a number, a panel, the text beside the correlations; a line
# and a character of text.
ROW, CELL, PANEL, TEXT, LINE, CHARACTER = 0.24, 0.36, 1.9, 4.6, 0.15, 0.06


def components(
    clf: Any,
    x: Any,
    *,
    n_components: int = 4,
    labels: Sequence[str] | None = None,
    figure: Any = None,
) -> Any:
    """Draw why a mixture predicts the label set it does for one sample.

    Above, a panel for each of the most influential components, with its weight and its label
    probabilities as bars, and a panel with the labels' own probabilities; labels of the most
    probable set are dark. Below, the correlations of the labels given the sample, and the reasons
    why a label that is unlikely alone is in the set, or a likely one is not.

    Parameters
    ----------
    clf : fitted estimator
        One whose ``predict_joint`` gives a ``Mixture``, or a pipeline or a search that ends in one.
    x : array-like of shape (n_features,) or (1, n_features)
        One sample.
    n_components : int, default=4
        Number of components shown, those that weigh most or have the largest shares of the most
        probable set; negligible ones are left out.
    labels : sequence of str or None
        Label names; None takes those that ``clf`` was fitted with.
    figure : matplotlib Figure, SubFigure or None
        Where to draw; None makes a figure of the right size.

    Returns
    -------
    matplotlib Figure or SubFigure

    See Also
    --------
    colabel.mixture.explain : The same as data and as text.
    """
    check_whole(n_components, "n_components", least=1)
    plt = pyplot()
    story = explain(clf, x, labels=labels)
    shown = story.influential(n_components)
    kept = _labels_to_show(story, shown)
    names = _short(story, kept)
    heights = 1.1 + ROW * max(len(kept), 4), _table_height(names)
    if figure is None:
        width = max(1.6 + PANEL * (len(shown) + 1), 2 * TEXT)
        figure = plt.figure(figsize=(width, sum(heights)), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=heights)
    _draw_bars(above, story, shown, kept, names)
    left, right = below.subfigures(1, 2)
    _draw_correlations(left, story.correlations[np.ix_(kept, kept)], names)
    _write_reasons(right, story.reasons, int(heights[1] / LINE) - 4)
    return figure


def _labels_to_show(story: Explanation, shown: NDArray) -> NDArray:
    """Choose labels that are in the set or not negligible somewhere; most probable first."""
    anywhere = np.maximum(story.marginals, story.probabilities[shown].max(axis=0))
    is_explained = np.isin(np.arange(len(story.names)), story.surprising[: MAX_LABELS // 2])
    order = np.lexsort((-story.marginals, -story.mode, ~is_explained))
    kept = order[(story.mode[order] > 0) | (anywhere[order] >= NEAR_ZERO)][:MAX_LABELS]
    kept = kept if len(kept) else order[:1]
    return kept[np.argsort(-story.marginals[kept], kind="stable")]


def _table_height(names: list[str]) -> float:
    cells = len(names) * (CELL if len(names) <= NUMBERED else ROW)
    return 0.8 + 0.08 * max(map(len, names)) + max(cells, 1.2)


def _draw_bars(
    figure: Any, story: Explanation, shown: NDArray, kept: NDArray, names: list[str]
) -> None:
    axes = figure.subplots(1, len(shown) + 1, sharey=True, squeeze=False)[0]
    for axis, k in zip(axes, shown, strict=False):
        title = f"$\\pi$ = {story.weights[k]:.2f}\n{story.shares[k]:.0%} of the set"
        _draw_panel(axis, story.probabilities[k, kept], title, story.mode[kept])
    _draw_panel(axes[-1], story.marginals[kept], "marginals\nlabels alone", story.mode[kept])
    axes[-1].axvline(0.5, color="0.4", linewidth=0.8, linestyle=":")
    axes[0].set_yticks(np.arange(len(kept)), names)
    axes[0].invert_yaxis()
    figure.suptitle(_headline(story, len(kept)), fontsize="medium")


def _headline(story: Explanation, n_shown: int) -> str:
    what = "most probable set (dark)" if story.labels else "most probable set (empty)"
    rest = f"; {n_shown} of {len(story.names)} labels shown" if n_shown < len(story.names) else ""
    return f"{what}: p = {story.mode_probability:.3g}{rest}"


def _draw_panel(axis: Any, probabilities: NDArray, title: str, mode: NDArray) -> None:
    colours = [IN_SET if on else NOT_IN_SET for on in mode]
    axis.barh(np.arange(len(mode)), probabilities, color=colours)
    axis.set_title(title, fontsize="small")
    axis.set_xlim(0, 1)
    axis.set_xticks([0, 0.5, 1], ["0", ".5", "1"])
    axis.tick_params(labelsize="small")
    axis.spines[["top", "right"]].set_visible(False)


def _draw_correlations(figure: Any, correlations: NDArray, names: list[str]) -> None:
    axis = figure.subplots()
    places = np.arange(len(names))
    matrix = np.where(np.eye(len(names), dtype=bool), np.nan, correlations)
    image = axis.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
    axis.set_yticks(places, names, fontsize="small")
    axis.set_xticks(places, names, fontsize="small", rotation=90)
    axis.set_title("correlations given x", fontsize="small")
    axis.set_anchor("N")
    if len(names) <= NUMBERED:
        for (i, j), value in np.ndenumerate(matrix):
            if i != j:
                colour = "white" if abs(value) > 0.6 else "black"
                text = f"{value:+.2f}".replace("0.", ".")
                axis.text(j, i, text, ha="center", va="center", fontsize=7, color=colour)
    bar = figure.colorbar(image, ax=axis, shrink=0.6, anchor=(0.0, 1.0), panchor=False)
    bar.ax.tick_params(labelsize="small")


def _write_reasons(figure: Any, reasons: tuple[str, ...], n_lines: int) -> None:
    """Write as many reasons as there is room for."""
    axis = figure.subplots()
    axis.set_axis_off()
    axis.set_title("why", fontsize="small", loc="left")
    reasons = reasons or ("Every label of the set is likelier than not, and no other is.",)
    text: list[str] = []
    for done, reason in enumerate(reasons):
        lines = [*textwrap.wrap(reason, int(TEXT / CHARACTER)), ""]
        if text and len(text) + len(lines) > n_lines:
            text.append(f"... and {len(reasons) - done} more")
            break
        text.extend(lines)
    axis.text(0, 1, "\n".join(text), va="top", fontsize=8, parse_math=False)


def _short(story: Explanation, kept: NDArray) -> list[str]:
    """Return names that fit, in which dollars are no mathematics."""
    return [elide(story.names[m], NAME_WIDTH).replace("$", r"\$") for m in kept]
