"""The best labeling with exactly one label of each of several facets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit

from colabel._parameters import check_whole
from colabel._renamed import Renamed
from colabel._rows import Span
from colabel.decoders.base import BaseDecoder, Floats, Labels
from colabel.numerics.threads import in_threads
from colabel.results import Decoded
from colabel.scores import Mixture, Modular, ScoreTable, Support

__all__ = ["OnePerSet"]

Facets = Sequence[ArrayLike] | Mapping[str, ArrayLike]


class OnePerSet(BaseDecoder):
    """Choose the best labeling among those with exactly one label of each facet on. Exact.

    Parameters
    ----------
    facets : sequence or mapping of sequences of int, or None, default=None
        Columns of the labels of each facet; no label is in two. Labels in none are free. ``None``
        is one facet of all labels.
    max_nodes : int, default=1_000_000
        Of a ``Mixture``: most options looked at per sample. A sample that needs more gets the best
        labeling found and an upper bound above its value.

    Notes
    -----
    ``Modular``: the best label of each facet, O(n_labels). ``Support``: the best of its labelings
    that have one label of each facet; where none has, each facet's most probable label, of value
    ``-inf``. ``Mixture``: branch and bound over the facets, O(n_components) for an option of a
    facet looked at, at most as many as there are combinations. A labeling that has not one label of
    each facet has the value ``-inf``. Of equals the first label of a facet is chosen, and free
    labels are off.

    Examples
    --------
    >>> from colabel.scores import Modular
    >>> table = Modular([[-3.0, -1.0, 2.0, 4.0, 1.0]])
    >>> OnePerSet([[0, 1], [2, 3]]).decode(table).labels
    array([[0, 1, 0, 1, 1]], dtype=int8)
    """

    _renamed: ClassVar[Mapping[str, str | Renamed]] = {"label_sets": "facets"}
    accepts: ClassVar[tuple[type[ScoreTable], ...]] = (Modular, Mixture, Support)
    exact: ClassVar[bool] = True

    def __init__(self, facets: Facets | None = None, max_nodes: int = 1_000_000) -> None:
        self.facets = facets
        self.max_nodes = max_nodes

    def _objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        return np.where(_feasible(Z, self._sets(scores.n_labels)), scores.value(Z), -np.inf)

    def _decode(self, scores: ScoreTable, nonempty: bool) -> Decoded:
        check_whole(self.max_nodes, "max_nodes", least=1)
        sets = self._sets(scores.n_labels)
        free = np.setdiff1d(np.arange(scores.n_labels), [m for s in sets for m in s])
        if isinstance(scores, Support):
            return _decode_support(scores, sets, free)
        if isinstance(scores, Mixture):
            return _decode_mixture(scores, sets, free, self.max_nodes)
        assert isinstance(scores, Modular)
        labels = _best_labels(scores.unary, sets, free)
        return Decoded.exact(labels, scores.value(labels))

    def _sets(self, n_labels: int) -> list[NDArray[np.intp]]:
        given = self.facets
        if given is None:
            return [np.arange(n_labels)] if n_labels else []
        members = list(given.values()) if isinstance(given, Mapping) else list(given)
        if not members and n_labels:
            raise ValueError("facets must name at least one facet")
        sets = [np.asarray(some, dtype=np.intp).ravel() for some in members]
        known = np.concatenate([*sets, np.zeros(0, dtype=np.intp)])
        if any(len(some) == 0 for some in sets):
            raise ValueError("a facet is empty: it can have no label on")
        if np.any((known < 0) | (known >= n_labels)):
            raise ValueError(f"facets must hold numbers of labels, 0 to {n_labels - 1}")
        if len(np.unique(known)) < len(known):
            raise ValueError("facets must not share labels")
        return sets


def _feasible(Z: Labels, sets: list[NDArray[np.intp]]) -> NDArray[np.bool_]:
    fine = np.ones(Z.shape[:-1], dtype=bool)
    for members in sets:
        fine &= Z[..., members].sum(axis=-1) == 1
    return fine


def _best_labels(unary: Floats, sets: list[NDArray[np.intp]], free: NDArray[np.intp]) -> Labels:
    labels = np.zeros(unary.shape, dtype=np.int8)
    rows = np.arange(len(unary))
    for members in sets:
        labels[rows, members[np.argmax(unary[:, members], axis=1)]] = 1
    labels[:, free] = unary[:, free] > 0.0
    return labels


def _decode_support(
    scores: Support, sets: list[NDArray[np.intp]], free: NDArray[np.intp]
) -> Decoded:
    fine = _feasible(scores.labelings, sets)
    count = scores.labelings.sum(axis=-1, dtype=np.int64)
    values = np.where(fine, scores.scores, -np.inf)
    value = values.max(axis=1)
    equal = fine & (values == value[:, None])
    # Of equals the one with the fewest labels.
    best = np.argmin(np.where(equal, count, scores.n_labels + 1), axis=1)
    labels = scores.pick(best)
    lost = np.flatnonzero(~equal.any(axis=1))
    if len(lost):
        some = scores.take(lost)
        unary = some.log_p if some.is_distribution else some.scores
        weight = np.exp(unary - unary.max(axis=1, keepdims=True))
        Z = some.labelings.astype(np.float64)
        marginal = (weight[:, None] @ Z)[:, 0] if some.own_labelings else weight @ Z
        labels[lost] = _best_labels(marginal - 0.5 * weight.sum(axis=1)[:, None], sets, free)
    bound = value if scores.rest is None else np.maximum(value, scores.rest)
    return Decoded(labels, value, bound)


def _others(log_off: Floats) -> Floats:
    """Sum over all entries of the last axis but each: of numbers of one sign, to full precision."""
    nothing = np.zeros((*log_off.shape[:-1], 1))
    before = np.cumsum(log_off[..., :-1], axis=-1)
    after = np.cumsum(log_off[..., :0:-1], axis=-1)[..., ::-1]
    before, after = np.concatenate([nothing, before], -1), np.concatenate([after, nothing], -1)
    return before + after


def _decode_mixture(
    scores: Mixture, sets: list[NDArray[np.intp]], free: NDArray[np.intp], max_nodes: int
) -> Decoded:
    """Options are the labels of a facet, the others of it being off; of a free label off and on."""
    from colabel._kernels.set_mixture import best_choices

    on, off = log_expit(scores.logits), log_expit(-scores.logits)
    parts = [on[..., s] + _others(off[..., s]) for s in sets]
    parts += [np.stack([off[..., label], on[..., label]], axis=2) for label in free]
    sizes = [part.shape[2] for part in parts]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n, empty = scores.n_samples, np.zeros((*scores.logits.shape[:2], 0))
    log_p = np.ascontiguousarray(np.concatenate([*parts, empty], axis=2))
    choice = np.zeros((n, len(parts)), dtype=np.int64)
    value, bound = np.empty(n), np.empty(n)

    def block(r: Span) -> None:
        found = choice[r], value[r], bound[r]
        best_choices(scores.log_weights[r], log_p[r], starts, max_nodes, *found)

    in_threads(block, n)
    labels = np.zeros((n, scores.n_labels), dtype=np.int8)
    for g, members in enumerate(sets):
        labels[np.arange(n), members[choice[:, g]]] = 1
    labels[:, free] = choice[:, len(sets) :]
    value = scores.value(labels)
    return Decoded(labels, value, np.maximum(value, bound))
