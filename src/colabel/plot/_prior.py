"""The learned label prior, as a graph and as an ordered heat map.

The matrix A of a quadratic prior (Lajugie et al. 2015) mixes two things: which labels attract or
repel one another, and, in its mean, how many labels a labeling should have. The picture takes the
mean off, shows the rest twice (its strongest pairs as a graph, all of it as a heat map, in one
order of the labels), and shows the mean by itself, as a bar and in words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from colabel.exceptions import IncompatibleError
from colabel.plot._pyplot import pyplot
from colabel.plot.names import elide

__all__ = ["label_prior"]

# Blue and vermilion of Okabe and Ito: which colour-blind readers can distinguish too.
ATTRACTS, REPELS = "#0072b2", "#d55e00"
# The map goes on to darker shades, so that a few strong pairs leave the others visible.
SHADES = ("#00304d", ATTRACTS, "white", REPELS, "#5c2700")
UNIFORM, STRUCTURE = "0.25", "0.82"
EDGES_PER_LABEL = 1.5
# More names than these are a smear; only every second, third, ... label is named.
MAX_NAMES = 80
NAME_WIDTH = 22
# Entries this small beside the largest are rounding errors of taking the mean off.
ROUNDING = 1e-12
# Inches: a row of the map, its smallest and largest side; the least distance of names around the
# circle, its least radius, the gap from there to the names; a character, per point of type.
CELL, SIDE, AROUND, RADIUS, GAP, CHARACTER = 0.125, (2.6, 7.5), 0.16, 1.1, 0.14, 0.0085
# Inches: the colour bar, the legend's width, titles and legend, the strip with the uniform part.
BAR, LEGEND, MARGIN, STRIP = 1.2, 4.2, 1.0, 0.85


def label_prior(
    model_or_matrix: Any,
    *,
    label_names: Sequence[str] | None = None,
    n_edges: int | None = None,
    figure: Any = None,
) -> Any:
    """Draw which labels a model holds together and which apart.

    The score of a labeling ``y`` in {-1, +1} has the term ``-y'Ay / 2``: ``A_lm > 0`` repels and
    ``A_lm < 0`` attracts. ``A`` is split into ``a``, the mean of its pairs, which only sees how
    many labels are on, and the rest, ``A - a``, which is orthogonal to it. On the left the
    strongest pairs of ``A - a``, as wide as they are strong; on the right all of it, in an order
    that puts labels that attract one another side by side; below, ``a`` and its share of the
    squared norm.

    Parameters
    ----------
    model_or_matrix : fitted estimator or array-like of shape (n_labels, n_labels)
        An estimator with ``prior_``, which is drawn as it is, or with ``couplings_`` (positive
        attracts), drawn with its sign turned round, in its own units; or a symmetric matrix, read
        as ``prior_``. The diagonal is ignored: it adds the same to every labeling.
    label_names : sequence of str or None
        Label names; None takes those that the estimator was fitted with.
    n_edges : int or None
        Number of pairs in the graph; None draws 1.5 per label. Pairs with ``A_lm = 0`` are not
        coupled and never drawn.
    figure : matplotlib Figure, SubFigure or None
        Where to draw; None makes a figure of the right size.

    Returns
    -------
    matplotlib Figure or SubFigure

    Raises
    ------
    ValueError
        If the matrix is not square, symmetric and finite, if the number of names is not that of
        the labels, or if ``n_edges`` is negative.
    IncompatibleError
        If the estimator has neither ``prior_`` nor ``couplings_``.
    """
    plt = pyplot()
    A = _matrix_of(model_or_matrix)
    prior = _split(A, _names(model_or_matrix, label_names, len(A)))
    edges = _strongest(prior, _number_of_edges(n_edges, len(A)))
    side, text = _sizes(prior)
    heights, widths = (side + MARGIN, STRIP), (side, side + BAR)
    if figure is None:
        figure = plt.figure(figsize=(sum(widths), sum(heights)), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=heights)
    left, right = above.subfigures(1, 2, width_ratios=widths)
    _draw_graph(left.subplots(), prior, edges, side / 2, side / 2 - text - GAP)
    _draw_map(right, prior)
    _draw_uniform(below, prior)
    return figure


@dataclass(frozen=True)
class _Prior:
    """A in two parts, ``uniform`` off the diagonal plus ``structure``, and how to lay it out."""

    matrix: NDArray
    uniform: float
    structure: NDArray
    order: NDArray
    names: tuple[str, ...]

    @property
    def n_labels(self) -> int:
        return len(self.matrix)

    @property
    def share(self) -> float:
        """Share of the uniform part in the squared norm, where A is not 0."""
        # Scaled, for the square of a small entry may be 0.
        whole = np.abs(self.matrix).max()
        n_pairs = self.n_labels * (self.n_labels - 1)
        return n_pairs * (self.uniform / whole) ** 2 / float(((self.matrix / whole) ** 2).sum())

    @property
    def step(self) -> int:
        """Every which label is named."""
        return math.ceil(self.n_labels / MAX_NAMES)

    @property
    def thinness(self) -> float:
        """How much thinner lines and dots are than with few labels."""
        return min(1.0, math.sqrt(50 / self.n_labels))

    @property
    def font(self) -> float:
        return 8.0 if self.n_labels <= 20 else 6.5

    def named(self) -> list[tuple[int, str]]:
        """Places in the order that have a name, with the name."""
        places = range(0, self.n_labels, self.step)
        return [(place, elide(self.names[self.order[place]], NAME_WIDTH)) for place in places]


def _matrix_of(source: Any) -> NDArray:
    """Find A, with a zero diagonal; positive repels."""
    if hasattr(source, "prior_"):
        A = source.prior_
    elif hasattr(source, "couplings_"):
        A = -source.couplings_
    elif hasattr(source, "fit"):
        raise IncompatibleError(
            f"{type(source).__name__} has neither prior_ nor couplings_: fit it first, or draw "
            "another model"
        )
    else:
        A = source
    A = np.array(A.toarray() if sparse.issparse(A) else A, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not len(A):
        raise ValueError(f"a label prior is a square matrix, not an array of shape {A.shape}")
    if not np.isfinite(A).all():
        raise ValueError("the label prior has entries that are not finite")
    np.fill_diagonal(A, 0.0)
    if not np.allclose(A, A.T, rtol=1e-8, atol=1e-8 * np.abs(A).max()):
        raise ValueError("a label prior is symmetric, and this matrix is not: draw (A + A.T) / 2")
    return A


def _names(source: Any, label_names: Sequence[str] | None, n_labels: int) -> tuple[str, ...]:
    if label_names is None:
        label_names = getattr(source, "label_names_in_", [f"label {m}" for m in range(n_labels)])
    if len(label_names) != n_labels:
        raise ValueError(f"{len(label_names)} names for {n_labels} labels")
    return tuple(str(name) for name in label_names)


def _number_of_edges(n_edges: int | None, n_labels: int) -> int:
    if n_edges is None:
        return math.ceil(EDGES_PER_LABEL * n_labels)
    if not isinstance(n_edges, Integral) or isinstance(n_edges, bool) or n_edges < 0:
        raise ValueError(f"n_edges must be an integer of at least 0, or None, not {n_edges!r}")
    return int(n_edges)


def _split(A: NDArray, names: tuple[str, ...]) -> _Prior:
    off_diagonal = ~np.eye(len(A), dtype=bool)
    uniform = float(A[off_diagonal].mean()) if len(A) > 1 else 0.0
    structure = np.where(off_diagonal, A - uniform, 0.0)
    structure[np.abs(structure) <= ROUNDING * np.abs(A).max()] = 0.0
    return _Prior(A, uniform, structure, _order(structure), names)


def _order(structure: NDArray) -> NDArray:
    """Order labels so that those that attract one another are neighbours (average linkage)."""
    if len(structure) < 3 or not structure.any():
        return np.arange(len(structure))
    distances = squareform(structure, checks=False)
    distances = distances - distances.min()
    return leaves_list(linkage(distances, "average", optimal_ordering=True)).astype(np.int64)


def _strongest(prior: _Prior, n_edges: int) -> NDArray:
    """Find the strongest coupled pairs of the structure, weakest first: (n_edges, 2) labels."""
    i, j = np.triu_indices(prior.n_labels, 1)
    strength = np.abs(prior.structure[i, j]) * (prior.matrix[i, j] != 0)
    best = np.argsort(-strength, kind="stable")[:n_edges]
    best = best[strength[best] > 0][::-1]
    return np.stack([i[best], j[best]], axis=1)


def _sizes(prior: _Prior) -> tuple[float, float]:
    """Inches: side of the graph and of the map, with the names around them; a name's length."""
    text = CHARACTER * prior.font * max(len(name) for _, name in prior.named())
    table = text + float(np.clip(CELL * prior.n_labels, *SIDE))
    radius = max(RADIUS, AROUND * len(prior.named()) / (2 * math.pi))
    return max(table, 2 * (radius + GAP + text), LEGEND), text


def _draw_graph(axis: Any, prior: _Prior, edges: NDArray, extent: float, radius: float) -> None:
    # From the top, clockwise: the map is read in the same direction.
    angles = np.empty(prior.n_labels)
    angles[prior.order] = np.pi / 2 - 2 * np.pi * np.arange(prior.n_labels) / prior.n_labels
    places = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    _draw_edges(axis, places, edges, prior)
    mass = np.abs(prior.structure).sum(axis=1)
    sizes = (8 + 52 * mass / (mass.max() or 1.0)) * prior.thinness
    axis.scatter(*places.T, s=sizes, color="0.2", edgecolor="white", linewidth=0.6, zorder=3)
    for place, name in prior.named():
        _write_around(axis, name, angles[prior.order[place]], radius + GAP, prior.font)
    axis.set(xlim=(-extent, extent), ylim=(-extent, extent), aspect="equal")
    axis.set_axis_off()
    axis.set_title(_graph_title(len(edges), prior.n_labels), fontsize="medium")
    _draw_legend(axis, prior)


def _graph_title(n_edges: int, n_labels: int) -> str:
    n_pairs = n_labels * (n_labels - 1) // 2
    if not n_edges:
        return "no pairs to draw"
    return f"the {n_edges} strongest of {n_pairs} pairs" if n_edges < n_pairs else "all pairs"


def _draw_edges(axis: Any, places: NDArray, edges: NDArray, prior: _Prior) -> None:
    """Draw bows that bend to the centre the more the further apart their ends; best on top."""
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    values = prior.structure[edges[:, 0], edges[:, 1]]
    strength = np.abs(values) / (np.abs(prior.structure).max() or 1.0)
    ends = places[edges]
    middles = ends.mean(axis=1)
    # 1 for neighbours, 0 for labels that face one another.
    closeness = (middles**2).sum(axis=1, keepdims=True) / (places**2).sum(axis=1).max()
    bends = 0.75 * closeness * middles
    curve = [Path.MOVETO, Path.CURVE3, Path.CURVE3]
    bows = [Path([i, bend, j], curve) for (i, j), bend in zip(ends, bends, strict=True)]
    colours = [REPELS if value > 0 else ATTRACTS for value in values]
    widths = 0.3 + 4.0 * strength * prior.thinness
    lines = PathCollection(bows, facecolors="none", edgecolors=colours, linewidths=widths)
    lines.set(alpha=0.85, zorder=2, label="pairs")
    axis.add_collection(lines, autolim=False)


def _write_around(axis: Any, name: str, angle: float, radius: float, font: float) -> None:
    leftwards = np.cos(angle) < -1e-9
    axis.text(
        radius * np.cos(angle),
        radius * np.sin(angle),
        name,
        rotation=np.degrees(angle) + (180 if leftwards else 0),
        rotation_mode="anchor",
        ha="right" if leftwards else "left",
        va="center",
        fontsize=font,
        parse_math=False,
    )


def _draw_legend(axis: Any, prior: _Prior) -> None:
    """Name the colours; where A has one sign, the other colour is only less of the same."""
    from matplotlib.lines import Line2D

    attracts, repels = "attracts (A − a < 0)", "repels (A − a > 0)"
    if prior.matrix.any() and prior.matrix.min() >= 0:
        attracts, repels = "repels less than the mean pair", "repels more"
    elif prior.matrix.any() and prior.matrix.max() <= 0:
        attracts, repels = "attracts more than the mean pair", "attracts less"
    named = ((ATTRACTS, attracts), (REPELS, repels))
    handles = [Line2D([], [], color=colour, linewidth=3, label=text) for colour, text in named]
    axis.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=2,
        frameon=False,
        fontsize="small",
        title="size of a label: its |A − a| summed over all pairs",
        title_fontsize="small",
    )


def _draw_map(figure: Any, prior: _Prior) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    axis = figure.subplots()
    colours = LinearSegmentedColormap.from_list("prior", SHADES)
    shown = prior.structure[np.ix_(prior.order, prior.order)]
    np.fill_diagonal(shown, np.nan)
    limit = np.abs(prior.structure).max() or 1.0
    image = axis.imshow(
        shown,
        cmap=colours.with_extremes(bad="0.9"),
        vmin=-limit,
        vmax=limit,
        interpolation="nearest",
    )
    places, names = zip(*prior.named(), strict=True)
    axis.set_yticks(places, names, fontsize=prior.font, parse_math=False)
    axis.set_xticks(places, names, fontsize=prior.font, rotation=90, parse_math=False)
    axis.tick_params(length=2, pad=1.5)
    axis.set_title(_map_title(prior), fontsize="medium")
    bar = figure.colorbar(image, ax=axis, shrink=0.6, label="A − a")
    bar.ax.tick_params(labelsize="small")


def _map_title(prior: _Prior) -> str:
    thinned = f"; one label in {prior.step} is named" if prior.step > 1 else ""
    return f"all pairs, their mean a taken off{thinned}"


def _draw_uniform(figure: Any, prior: _Prior) -> None:
    """Draw the share of the mean in the squared norm of A, and say what it does."""
    axis = figure.subplots()
    if prior.matrix.any():
        axis.barh(0, prior.share, color=UNIFORM)
        axis.barh(0, 1 - prior.share, left=prior.share, color=STRUCTURE)
    axis.set(xlim=(0, 1), yticks=[])
    axis.set_xticks([0, 0.5, 1], ["0", "50 %", "100 % of |A|²"], fontsize="small")
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_title(_uniform_text(prior), fontsize="medium", loc="left")


def _uniform_text(prior: _Prior) -> str:
    if prior.n_labels == 1:
        return "one label has no pairs"
    if not prior.matrix.any():
        return "A = 0: no pair attracts or repels"
    value = f"{prior.uniform:+.3g}".replace("-", "−")
    text = f"uniform part (dark) a = {value}: {100 * prior.share:.1f} % of |A|²"
    if abs(prior.uniform) <= ROUNDING * np.abs(prior.matrix).max():
        return f"{text}; A does not see how many labels are on"
    # -a (1'y)^2 / 2 is concave in the number of labels where a > 0.
    less = "less" if prior.uniform > 0 else "more"
    return f"{text}; each further label is worth {less} than the one before"
