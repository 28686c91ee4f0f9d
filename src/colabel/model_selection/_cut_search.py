"""Exact search for the cuts on scores that are best for a measure.

A cut ``t`` turns on the labels with a score above ``t``. As the cut falls, labels enter one by one
in the order of their scores, and each entry changes the measure by a known amount. So a sort and a
running sum give the measure at every cut: O(n_samples n_labels log(n_samples n_labels)). Only
cuts between different scores count; of equally good cuts the highest is taken (fewest labels).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CUT_MEASURES", "Cut", "best_global_cut", "best_label_cuts", "measure_of"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Counts = NDArray[np.float64]

# Passes over the labels before the search for cuts of a measure that joins them gives up.
MAX_PASSES = 50


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut (one number, or one per label) and what the search maximised there.

    That is the measure itself, but for Hamming loss, where it is a number that falls with the
    errors; ``measure_of`` gives the measure.
    """

    threshold: Floats
    value: float


@dataclass(frozen=True)
class _Measure:
    """How a measure is summed.

    ``over`` is what it averages over (``"rows"``, ``"labels"`` or ``"all"`` entries at once), and
    ``of_counts(n_true, hits, predicted, beta)`` its value for one row, one label, or the whole.
    """

    over: str
    of_counts: Callable[[Counts, Counts, Counts, float], Floats]


def _f_score(empty: float) -> Callable[[Counts, Counts, Counts, float], Floats]:
    def score(n_true: Counts, hits: Counts, predicted: Counts, beta: float) -> Floats:
        weight = beta * beta
        below = weight * n_true + predicted
        return np.where(below > 0, (1.0 + weight) * hits / np.where(below > 0, below, 1.0), empty)

    return score


def _jaccard(n_true: Counts, hits: Counts, predicted: Counts, beta: float) -> Floats:
    union = n_true + predicted - hits
    return np.where(union > 0, hits / np.where(union > 0, union, 1.0), 1.0)


def _subset(n_true: Counts, hits: Counts, predicted: Counts, beta: float) -> Floats:
    return ((hits == n_true) & (predicted == n_true)).astype(np.float64)


def _errors(n_true: Counts, hits: Counts, predicted: Counts, beta: float) -> Floats:
    return 2.0 * hits - n_true - predicted


# Both-empty counts as 1 for a row and as 0 for a label, as in colabel.metrics.
CUT_MEASURES = {
    "example_f1": _Measure("rows", _f_score(1.0)),
    "micro_f1": _Measure("all", _f_score(0.0)),
    "macro_f1": _Measure("labels", _f_score(0.0)),
    "example_jaccard": _Measure("rows", _jaccard),
    "subset_accuracy": _Measure("rows", _subset),
    "hamming_loss": _Measure("all", _errors),
}


def best_global_cut(
    scores: Floats,
    Y: Bools,
    measure: str,
    *,
    beta: float = 1.0,
    weight: Floats | None = None,
    top_1: bool = False,
) -> Cut:
    """Find the one cut for all labels that is best for ``measure``. Exact.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
    Y : ndarray of shape (n_samples, n_labels), bool
    measure : str
        A key of ``CUT_MEASURES``.
    beta : float, default=1.0
        Weight of recall in the F measures.
    weight : ndarray of shape (n_samples,) or None
    top_1 : bool, default=False
        Rows with no score above the cut get their best label all the same.
    """
    rule = CUT_MEASURES[measure]
    row_weight = np.ones(len(Y)) if weight is None else weight
    always = _top_1_mask(scores) if top_1 else np.zeros(Y.shape, dtype=bool)
    if rule.over == "rows":
        start, gain = _row_gains(scores, Y, always, rule, beta, row_weight)
    elif rule.over == "labels":
        start, gain = _label_gains(scores, Y, always, rule, beta, row_weight)
    else:
        return _best_pooled(scores, Y, always, rule, beta, row_weight)
    return _best_additive(scores.ravel(), gain.ravel(), start)


def measure_of(
    on: Bools, Y: Bools, measure: str, *, beta: float = 1.0, weight: Floats | None = None
) -> float:
    """Return the measure of predictions ``on``."""
    rule = CUT_MEASURES[measure]
    row_weight = np.ones(len(Y)) if weight is None else weight
    if rule.over == "rows":
        n_true, hits, predicted = (part.sum(axis=1, dtype=float) for part in (Y, on & Y, on))
        value = rule.of_counts(n_true, hits, predicted, beta)
        return float(np.average(value, weights=row_weight))
    n_true, hits, predicted = ((part * row_weight[:, None]).sum(axis=0) for part in (Y, on & Y, on))
    if rule.over == "labels":
        return float(rule.of_counts(n_true, hits, predicted, beta).mean())
    pooled = float(rule.of_counts(n_true.sum(), hits.sum(), predicted.sum(), beta))
    return -pooled / (row_weight.sum() * Y.shape[1]) if measure == "hamming_loss" else pooled


def best_label_cuts(
    scores: Floats,
    Y: Bools,
    measure: str,
    *,
    beta: float = 1.0,
    weight: Floats | None = None,
) -> Cut:
    """Find a cut for each label.

    Exact for macro-F and Hamming (labels do not interact) and for micro-F (a ratio of sums over
    labels, maximised by Dinkelbach's iteration). Measures of whole rows are climbed label by
    label from the best global cut, each step exact, until no single cut can be improved.
    """
    rule = CUT_MEASURES[measure]
    row_weight = np.ones(len(Y)) if weight is None else weight
    if rule.over == "rows":
        return _climb_label_cuts(scores, Y, measure, beta, row_weight)
    nothing_on = np.zeros(Y.shape, dtype=bool)
    if rule.over == "labels":
        start, gain = _label_gains(scores, Y, nothing_on, rule, beta, row_weight)
        cuts = [_best_additive(s, g, 0.0) for s, g in zip(scores.T, gain.T, strict=True)]
        return Cut(np.array([cut.threshold for cut in cuts]), start + sum(c.value for c in cuts))
    if measure == "hamming_loss":
        return _pooled_label_cuts(scores, Y, row_weight, hit_gain=1.0, price=0.5)
    return _dinkelbach(scores, Y, beta, row_weight)


def _best_additive(scores: Floats, gain: Floats, start: float) -> Cut:
    """Best cut for a measure that each entering score changes by its ``gain``."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    value = start + np.concatenate([[0.0], np.cumsum(gain[order])])
    return _best_of(ranked, value)


def _best_of(ranked: Floats, value: Floats) -> Cut:
    """Best admissible cut, given falling scores and the measure after each of them has entered."""
    admissible = np.ones(len(value), dtype=bool)
    admissible[1:-1] = ranked[1:] < ranked[:-1]
    value = np.where(admissible, value, -np.inf)
    # Equal values differ in the last digits, having been summed in another order.
    best = int(np.argmax(value >= value.max() - 1e-12 * max(1.0, abs(float(value.max())))))
    return Cut(np.asarray(_between(ranked, best)), float(value[best]))


def _between(ranked: Floats, n_above: int) -> float:
    """Return a cut with exactly the first ``n_above`` of the falling scores above it."""
    # Where none (or all) should be on, scores a little beyond those seen should not change that.
    margin = min(float(ranked[0] - ranked[-1]) or 1.0, 1e300)
    if n_above == 0:
        return float(ranked[0]) + margin
    if n_above == len(ranked):
        return float(ranked[-1]) - margin
    above, below = float(ranked[n_above - 1]), float(ranked[n_above])
    middle = below + 0.5 * (above - below)
    return middle if middle < above else below


def _top_1_mask(scores: Floats) -> Bools:
    mask = np.zeros(scores.shape, dtype=bool)
    mask[np.arange(len(scores)), np.argmax(scores, axis=1)] = True
    return mask


def _gains_along(
    order: NDArray[np.intp], Y: Bools, always: Bools, unit: Floats, axis: int
) -> tuple[Counts, Counts]:
    """Hits and predictions of each row (axis=1) or label (axis=0) as its scores enter in order.

    Entries that are ``always`` on count from the start. Shapes have one more place than ``Y``
    along ``axis``: the counts before anything has entered.
    """
    enters = np.take_along_axis(np.where(always, 0.0, unit), order, axis=axis)
    true = np.take_along_axis(Y, order, axis=axis)
    fixed = np.where(always, unit, 0.0)
    hits = np.concatenate(
        [np.sum(fixed * Y, axis=axis, keepdims=True), enters * true], axis=axis
    ).cumsum(axis=axis)
    predicted = np.concatenate([np.sum(fixed, axis=axis, keepdims=True), enters], axis=axis)
    return hits, predicted.cumsum(axis=axis)


def _row_gains(
    scores: Floats, Y: Bools, always: Bools, rule: _Measure, beta: float, weight: Floats
) -> tuple[float, Floats]:
    """Mean over rows with nothing entered, and what each entry adds to it."""
    order = np.argsort(-scores, axis=1, kind="stable")
    hits, predicted = _gains_along(order, Y, always, np.broadcast_to(1.0, Y.shape), axis=1)
    n_true = Y.sum(axis=1, keepdims=True, dtype=np.float64)
    value = rule.of_counts(n_true, hits, predicted, beta) * (weight / weight.sum())[:, None]
    gain = np.empty(Y.shape)
    np.put_along_axis(gain, order, np.diff(value, axis=1), axis=1)
    return float(value[:, 0].sum()), gain


def _label_gains(
    scores: Floats, Y: Bools, always: Bools, rule: _Measure, beta: float, weight: Floats
) -> tuple[float, Floats]:
    """Mean over labels with nothing entered, and what each entry adds to it."""
    order = np.argsort(-scores, axis=0, kind="stable")
    unit = np.broadcast_to(weight[:, None], Y.shape)
    hits, predicted = _gains_along(order, Y, always, unit, axis=0)
    n_true = np.sum(Y * unit, axis=0, keepdims=True)
    value = rule.of_counts(n_true, hits, predicted, beta) / Y.shape[1]
    gain = np.empty(Y.shape)
    np.put_along_axis(gain, order, np.diff(value, axis=0), axis=0)
    return float(value[0].sum()), gain


def _best_pooled(
    scores: Floats, Y: Bools, always: Bools, rule: _Measure, beta: float, weight: Floats
) -> Cut:
    """Best cut for a measure of the pooled counts."""
    order = np.argsort(-scores.ravel(), kind="stable")
    unit = np.broadcast_to(weight[:, None], Y.shape)
    flat = (order, Y.ravel(), always.ravel(), unit.ravel())
    hits, predicted = _gains_along(*flat, axis=0)
    n_true = np.asarray(np.sum(Y * unit))
    return _best_of(scores.ravel()[order], rule.of_counts(n_true, hits, predicted, beta))


def _pooled_label_cuts(
    scores: Floats, Y: Bools, weight: Floats, *, hit_gain: float, price: float
) -> Cut:
    """Best cut of each label when a hit earns ``hit_gain`` and every prediction costs ``price``."""
    gain = (hit_gain * Y - price) * weight[:, None]
    cuts = [_best_additive(s, g, 0.0) for s, g in zip(scores.T, gain.T, strict=True)]
    return Cut(np.array([cut.threshold for cut in cuts]), sum(cut.value for cut in cuts))


def _dinkelbach(scores: Floats, Y: Bools, beta: float, weight: Floats) -> Cut:
    """Maximise micro-F over one cut per label: ratio ``(1 + b^2) hits / (b^2 n_true + predicted)``.

    For a trial ratio r the labels separate: a hit earns 1 + b^2, a prediction costs r. The ratio
    reached rises until it is its own trial value, which is then the optimum.
    """
    best = Cut(np.empty(0), -1.0)
    for _ in range(MAX_PASSES):
        price = max(best.value, 0.0)
        cut = _pooled_label_cuts(scores, Y, weight, hit_gain=1.0 + beta * beta, price=price)
        on = scores > cut.threshold
        ratio = measure_of(on, Y, "micro_f1", beta=beta, weight=weight)
        if ratio <= best.value:
            break
        best = Cut(cut.threshold, ratio)
    return best


def _climb_label_cuts(scores: Floats, Y: Bools, measure: str, beta: float, weight: Floats) -> Cut:
    """Improve one label's cut at a time, from the best global cut."""
    rule, share = CUT_MEASURES[measure], weight / weight.sum()
    start = best_global_cut(scores, Y, measure, beta=beta, weight=weight)
    cuts = np.full(Y.shape[1], float(start.threshold))
    on = scores > cuts
    n_true = Y.sum(axis=1, dtype=np.float64)
    hits, predicted = (on & Y).sum(axis=1, dtype=np.float64), on.sum(axis=1, dtype=np.float64)
    reached = start.value
    for _ in range(MAX_PASSES):
        before = reached
        for label in range(Y.shape[1]):
            hits -= on[:, label] & Y[:, label]
            predicted -= on[:, label]
            off_value = rule.of_counts(n_true, hits, predicted, beta)
            on_value = rule.of_counts(n_true, hits + Y[:, label], predicted + 1.0, beta)
            cut = _best_additive(
                scores[:, label], (on_value - off_value) * share, float(off_value @ share)
            )
            if cut.value > reached + 1e-12:
                cuts[label], reached = float(cut.threshold), cut.value
                on[:, label] = scores[:, label] > cuts[label]
            hits += on[:, label] & Y[:, label]
            predicted += on[:, label]
        if reached <= before:
            break
    return Cut(cuts, reached)
