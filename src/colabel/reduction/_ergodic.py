"""Whether Gibbs sampling of labels, each given all others, can move from any labeling to another.

It changes one label at a time. A *group* of labels is frozen where no two labelings of it that
occur differ in a single label: whatever the labels outside the group do, those inside stay as they
are. Labels of which exactly one is always on are such a group; so are two that are always equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.special import logit

__all__ = ["why_frozen_in_model", "why_frozen_in_training"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Index = NDArray[np.intp]

# Log-odds beyond which a conditional counts as certain: a probability of .99.
CERTAIN = float(logit(0.99))
# So many labels are named in a sentence, and the others counted.
NAMED = 6


def why_frozen_in_training(Y: Labels, names: Sequence[str]) -> str:
    """Say which labels determine one another in training data, or nothing.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    names : sequence of n_labels str
        What the labels are called.

    Notes
    -----
    Two labels that are always equal or opposite are named as such. Otherwise the largest frozen
    group is: there is one, since the union of two is frozen too. It is what is left when labels
    that move are taken out until there are none; O(labels on) hashes and a sort each time.
    """
    count = Y.sum(axis=0, dtype=np.int64)
    varying = np.flatnonzero((count > 0) & (count < len(Y)))
    if len(varying) < 2:
        return ""
    pair = _linked_pair(Y[:, varying])
    if pair:
        one, other, how = pair
        two = _listed(varying[[one, other]], names)
        return f"labels {two} are always {how} in training"
    group = varying[_frozen(Y[:, varying])]
    return f"labels {_listed(group, names)} determine one another in training" if len(group) else ""


def why_frozen_in_model(base: Floats, couplings: Floats, Y: Labels, names: Sequence[str]) -> str:
    """Say which labels are certain of one another in all rows, or nothing.

    Parameters
    ----------
    base : ndarray of shape (n_samples, n_labels)
        Log-odds of each label when all others are off.
    couplings : ndarray of shape (n_labels, n_labels)
        ``[l, m]`` is what label ``m`` adds to the log-odds of label ``l``.
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    names : sequence of n_labels str
        What the labels are called.
    """
    odds = base + Y @ couplings.T
    for group in _candidates(couplings):
        inner = couplings[np.ix_(group, group)]
        Z = np.unique(Y[:, group], axis=0)
        others, own = odds[:, group] - Y[:, group] @ inner.T, Z @ inner.T
        on, off = others.min(axis=0) + own > CERTAIN, others.max(axis=0) + own < -CERTAIN
        # Two labelings of the group that keep themselves up, whatever the features.
        if np.count_nonzero(np.where(Z > 0, on, off).all(axis=1)) > 1:
            some = _listed(group, names)
            return f"labels {some} are certain of one another whatever the features"
    return ""


def _linked_pair(Y: Labels) -> tuple[int, int, str] | None:
    """Return two labels that are always equal, or always opposite."""
    count = Y.sum(axis=0, dtype=np.int64)
    both = (Y.T.astype(np.float64) @ Y).astype(np.int64)
    equal = np.triu((both == count) & (both == count[:, None]), 1)
    opposite = np.triu((both == 0) & (count + count[:, None] == len(Y)), 1)
    for pairs, how in ((equal, "equal"), (opposite, "opposite")):
        if pairs.any():
            one, other = np.argwhere(pairs)[0]
            return int(one), int(other), how
    return None


def _frozen(Y: Labels) -> Index:
    """Return the largest group of labels within which no two rows differ in one label alone."""
    # A labeling's hash is the exclusive or of its labels': to change a label is to add its own.
    code: NDArray[np.int64] = np.random.default_rng(0).integers(2**63 - 1, size=(Y.shape[1],))
    row, label = np.nonzero(Y)
    hashed = np.zeros(len(Y), dtype=np.int64)
    np.bitwise_xor.at(hashed, row, code[label])
    frozen = np.ones(Y.shape[1], dtype=bool)
    while frozen.any():
        moves = np.zeros_like(frozen)
        moves[label[np.isin(hashed[row] ^ code[label], hashed)]] = True
        if not moves.any():
            break
        frozen &= ~moves
        gone = moves[label]
        np.bitwise_xor.at(hashed, row[gone], code[label[gone]])
        row, label = row[~gone], label[~gone]
    return np.flatnonzero(frozen)


def _candidates(couplings: Floats) -> Iterator[Index]:
    """Yield groups of labels that turn one another from certainly off to certainly on, or back."""
    strong = np.abs(couplings) > 2.0 * CERTAIN
    strong &= strong.T
    yield from np.argwhere(np.triu(strong, 1))
    _, group = connected_components(strong, directed=False)
    for number in np.flatnonzero(np.bincount(group) > 2):
        yield np.flatnonzero(group == number)


def _listed(labels: Index, names: Sequence[str]) -> str:
    some = [names[label] for label in labels]
    if len(some) > NAMED:
        some = [*some[: NAMED - 1], f"{len(some) - NAMED + 1} more"]
    return f"{', '.join(some[:-1])} and {some[-1]}"
