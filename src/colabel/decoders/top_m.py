"""The most probable labelings of each sample, in order."""

from __future__ import annotations

from heapq import heappop, heappush
from numbers import Integral

import numpy as np
from scipy.special import log_expit
from sklearn.exceptions import ConvergenceWarning

from colabel._parameters import check_whole
from colabel.decoders.base import Floats, Labels
from colabel.decoders.mixture_mode import most_probable
from colabel.decoders.support_mode import ONLY_EMPTY
from colabel.exceptions import IncompatibleError
from colabel.messages import warn_user
from colabel.scores import Mixture, Modular, ScoreTable, Support

__all__ = ["top_m"]


def top_m(
    scores: ScoreTable, m: int, *, nonempty: bool = False, max_nodes: int = 100_000
) -> tuple[Labels, Floats]:
    """Return the ``m`` most probable labelings of each sample, most probable first.

    Parameters
    ----------
    scores : Mixture, Modular with log-odds, or Support with probabilities
    m : int
        At least 1, at most the number of labelings (of the support).
    nonempty : bool, default=False
        Leave the empty labeling out.
    max_nodes : int, default=100_000
        Nodes opened per sample of a ``Mixture``; where more are needed a ``ConvergenceWarning``
        is given and better labelings may have been missed.

    Returns
    -------
    labelings : ndarray of shape (n_samples, m, n_labels), int8
    log_probabilities : ndarray of shape (n_samples, m)
        Falling; ``-inf`` for labelings of a support that are impossible, and where the first
        stands again since a sample has fewer than ``m``.

    Notes
    -----
    Exact. Of equally probable labelings those with fewer labels come first (for ``Modular`` the
    first found). ``Mixture``: branch and bound, as in ``MixtureMode``. ``Modular``:
    O(n_labels log n_labels + m n_labels) per sample by a heap of flips in rising order of cost.
    ``Support``: a sort.

    Examples
    --------
    >>> from colabel.scores import Modular
    >>> labelings, log_p = top_m(Modular([[2.0, -1.0]], log_odds=True), 3)
    >>> labelings[0]
    array([[1, 0],
           [1, 1],
           [0, 0]], dtype=int8)
    >>> np.exp(log_p).round(2)
    array([[0.64, 0.24, 0.09]])
    """
    if not isinstance(scores, Mixture | Modular | Support) or not scores.is_distribution:
        raise IncompatibleError(
            "top_m needs a table of probabilities (Mixture, Modular with log-odds, Support)"
        )
    check_whole(max_nodes, "max_nodes", least=1)
    known = scores.scores.shape[1] if isinstance(scores, Support) else 2**scores.n_labels
    known -= nonempty and not isinstance(scores, Support)
    if not isinstance(m, Integral) or not 1 <= m <= known:
        raise ValueError(
            f"m must be a whole number, 1 to {known} (the number of labelings), not {m}"
        )
    if isinstance(scores, Support):
        return _of_support(scores, m, nonempty)
    if isinstance(scores, Modular):
        return _of_modular(scores, m, nonempty)
    labels, values, left = most_probable(scores, m, nonempty, max_nodes)
    missed = int(np.sum(left > values[:, -1]))
    if missed:
        warn_user(
            f"max_nodes={max_nodes} ended the search of {missed} samples: labelings more probable "
            "than the last ones may have been missed",
            ConvergenceWarning,
        )
    # The search ranks by bounds, which differ from the values by rounding: near-ties.
    order = np.argsort(-values, axis=1, kind="stable")
    return (
        np.take_along_axis(labels, order[:, :, None], axis=1),
        np.take_along_axis(values, order, axis=1),
    )


def _of_support(scores: Support, m: int, nonempty: bool) -> tuple[Labels, Floats]:
    count = np.broadcast_to(scores.labelings.sum(axis=-1, dtype=np.int64), scores.scores.shape)
    out = (count == 0) & nonempty
    if out.all(axis=1).any():
        raise ValueError(ONLY_EMPTY)
    values = np.where(out, -np.inf, scores.scores)
    chosen = np.lexsort((count, out, -values), axis=1)[:, :m]
    log_p = np.take_along_axis(values, chosen, axis=1)
    # The empty labeling comes last, if at all.
    chosen = np.where(np.take_along_axis(out, chosen, axis=1), chosen[:, :1], chosen)
    return scores.pick(chosen), log_p


def _of_modular(scores: Modular, m: int, nonempty: bool) -> tuple[Labels, Floats]:
    if nonempty:  # it is one of m + 1, or less probable than they are
        labels, values = _of_modular(scores, m + 1, False)
        kept = np.argsort(~labels.any(axis=2), axis=1, kind="stable")[:, :m]
        return np.take_along_axis(labels, kept[:, :, None], axis=1), np.take_along_axis(
            values, kept, axis=1
        )
    best = (scores.unary > 0).astype(np.int8)
    labels = np.repeat(best[:, None, :], m, axis=1)
    for i, cost in enumerate(np.abs(scores.unary)):
        order = np.argsort(cost, kind="stable")
        for j, flips in enumerate(_cheapest_sets(cost[order], m)):
            labels[i, j, order[flips]] ^= 1
    spoken = np.where(labels > 0, scores.unary[:, None, :], -scores.unary[:, None, :])
    values = log_expit(spoken).sum(axis=2)
    # The heap added the costs in another order: what is equal but for rounding may be out of place.
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(labels, order[:, :, None], axis=1), np.take_along_axis(
        values, order, axis=1
    )


def _cheapest_sets(cost: Floats, m: int) -> list[list[int]]:
    """Return the ``m`` sets of indices of least total cost, for costs that rise and are >= 0.

    Each set but the empty one arises once from a cheaper one: with last member ``l``, by adding
    ``l + 1``, or by replacing ``l`` with ``l + 1``.
    """
    sets: list[list[int]] = [[]]
    waiting: list[tuple[float, int, list[int]]] = []
    if len(cost):
        heappush(waiting, (float(cost[0]), 1, [0]))
    while len(sets) < m:
        total, size, members = heappop(waiting)
        sets.append(members)
        last = members[-1]
        if last + 1 < len(cost):
            step = float(cost[last + 1])
            heappush(waiting, (total + step, size + 1, members + [last + 1]))
            swapped = total - float(cost[last]) + step
            heappush(waiting, (swapped, size, members[:-1] + [last + 1]))
    return sets
