"""Conditionals of given rows, and what can be asked of them: paths, beams, modes, Gibbs samples.

Here log-odds are asked for one label at a time, which serves any classifier; ``LinearRows`` in
``_linear_rows.py`` knows that they are linear in the labels, and answers by kernels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_expit

from colabel._sklearn import n_rows, take_rows
from colabel.numerics.threads import in_threads
from colabel.reduction._binary_relevance import _score
from colabel.reduction._chain_draws import Draws, draws_by_steps

__all__ = ["Beam", "FittedRows", "Rows", "distinct", "join", "leading", "put_in_front"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]
Order = NDArray[np.intp]


class Beam(NamedTuple):
    """Labelings found by a search.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, width, n_labels), int8
        Most probable first.
    log_p : ndarray of shape (n_samples, width)
    rest : ndarray of shape (n_samples,)
        No other labeling has a larger log-probability.
    """

    labels: Labels
    log_p: Floats
    rest: Floats


class Rows(ABC):
    """Conditionals of some rows. ``order`` is a chain's: each label follows all it is given."""

    n_samples: int
    n_labels: int

    @abstractmethod
    def log_odds(self, label: int, Y: Labels) -> Floats:
        """Log-odds of ``label`` given labels ``Y``: (n_samples, n_labelings).

        ``Y`` is (n_labelings, n_labels), or each row's own (n_samples, n_labelings, n_labels); only
        the columns that ``label`` is given count.
        """

    @abstractmethod
    def take(self, rows: Any) -> Rows:
        """Return the conditionals of some of the rows."""

    def all_log_odds(self, Y: Labels) -> Floats:
        """Log-odds of every label given the others in ``Y`` (n_samples, n_labels)."""
        each = [self.log_odds(label, Y[:, None])[:, 0] for label in range(self.n_labels)]
        return np.stack(each, axis=1)

    def log_prob(self, Y: Labels) -> Floats:
        """Sum of ``log p(y_l | ...)``: the joint log-probability of a chain, by the chain rule."""
        odds = self.all_log_odds(Y)
        return np.asarray(log_expit(np.where(Y > 0, odds, -odds)).sum(axis=1))

    def log_prob_all(self, Z: Labels) -> Floats:
        """Return ``log_prob`` of each of ``Z`` (n_labelings, n_labels), of all rows."""
        total = np.zeros((self.n_samples, len(Z)))
        for label in range(self.n_labels):
            odds = self.log_odds(label, Z)
            total += log_expit(np.where(Z[:, label] > 0, odds, -odds))
        return total

    def path(self, order: Order, decide: Callable[[int, Floats], Any]) -> tuple[Labels, Floats]:
        """Decide label after label; return the labels and the log-odds each was decided by.

        ``decide(label, log_odds)`` says in which rows the label is on.
        """
        Y = np.zeros((self.n_samples, self.n_labels), dtype=np.int8)
        odds = np.empty(Y.shape)
        for label in order:
            odds[:, label] = self.log_odds(label, Y[:, None])[:, 0]
            Y[:, label] = decide(label, odds[:, label])
        return Y, odds

    def enumerate(self, order: Order) -> tuple[Labels, Floats]:
        """Return all labelings (2^n_labels, n_labels) and their log-probabilities."""
        Z = np.zeros((2**self.n_labels, self.n_labels), dtype=np.int8)
        log_p = np.zeros((self.n_samples, len(Z)))
        for t, label in enumerate(order):
            size = 2**t
            odds = self.log_odds(label, Z[:size])
            Z[size : 2 * size] = Z[:size]
            Z[size : 2 * size, label] = 1
            # log sigmoid(+-u) = min(+-u, 0) - log(1 + exp(-|u|)): one logarithm for both.
            shared = log_p[:, :size] - np.log1p(np.exp(-np.abs(odds)))
            np.add(shared, np.minimum(odds, 0.0), out=log_p[:, size : 2 * size])
            np.subtract(shared, np.maximum(odds, 0.0), out=log_p[:, :size])
        return Z, log_p

    def beam(self, order: Order, width: int) -> Beam:
        """Keep the ``width`` most probable beginnings at each step (Kumar et al. 2012)."""
        Y = np.zeros((self.n_samples, 1, self.n_labels), dtype=np.int8)
        log_p, rest = np.zeros((self.n_samples, 1)), np.full(self.n_samples, -np.inf)
        for label in order:
            odds = self.log_odds(label, Y)
            grown = np.repeat(Y, 2, axis=1)
            grown[:, 1::2, label] = 1
            values = np.stack([log_p + log_expit(-odds), log_p + log_expit(odds)], axis=2)
            values = values.reshape(self.n_samples, -1)
            # Falling, of equal ones those with fewer labels first.
            ranked = np.lexsort((grown.sum(axis=2), -values), axis=1)
            log_p = np.take_along_axis(values, ranked, axis=1)
            if log_p.shape[1] > width:
                rest = np.maximum(rest, log_p[:, width])
            log_p, ranked = log_p[:, :width], ranked[:, :width]
            Y = np.take_along_axis(grown, ranked[:, :, None], axis=1)
        return Beam(Y, log_p, rest)

    def mode(self, order: Order, found: Beam, max_nodes: int, *, nonempty: bool = False) -> Beam:
        """Find the most probable labeling of each row, which ``found`` may have missed.

        The beam is doubled until nothing that it drops can be better, or until more than
        ``max_nodes`` beginnings would be opened for a row.

        Parameters
        ----------
        order : ndarray of shape (n_labels,)
        found : Beam
            Of a width of two or more, if ``nonempty``.
        max_nodes : int
        nonempty : bool, default=False
            Search the most probable of the other labelings than the empty one.

        Returns
        -------
        Beam
            As wide as ``found``, with the labeling searched for in front (and the empty one listed
            too, if ``nonempty``); ``rest`` is above its log-probability only in rows whose search
            was cut short.
        """
        labels, log_p = leading(found, nonempty)
        bound = np.maximum(log_p, found.rest)
        width, left = found.log_p.shape[1], np.flatnonzero(bound > log_p)
        while len(left) and 2 * width * self.n_labels <= max_nodes:
            width *= 2
            wider = self.take(left).beam(order, width)
            labels[left], log_p[left] = leading(wider, nonempty)
            bound[left] = np.maximum(log_p[left], wider.rest)
            left = left[bound[left] > log_p[left]]
        return self.led_by(found, labels, log_p, bound, nonempty)

    def led_by(
        self, found: Beam, labels: Labels, log_p: Floats, bound: Floats, nonempty: bool
    ) -> Beam:
        """Put what ``mode`` has found in front of the beam that it began with."""
        if nonempty:  # the bound does not hold for the empty labeling, which is listed therefore
            none = np.zeros_like(labels)
            found = put_in_front(found, none, self.log_prob(none), np.full(len(none), np.inf))
        return put_in_front(found, labels, log_p, bound)

    def draws(self, order: Order, first_point: float, uniform: Floats) -> Draws:
        """Draw labelings, evenly spread over the distribution; see ``_chain_draws.py``."""
        return draws_by_steps(self, order, first_point, uniform)

    def gibbs(self, cuts: Floats, n_burn: int) -> tuple[Labels, Floats]:
        """Sample all labels in turn, each given all others; see ``_kernels/gibbs.py``.

        Returns the draws (n_samples, n_draws, n_labels) and the mean probabilities (n_samples,
        n_labels) with which the labels were drawn.
        """
        n_chains, n_sweeps = cuts.shape[0], cuts.shape[1] - 1
        Y = np.zeros((self.n_samples, n_chains, self.n_labels), dtype=np.int8)
        draws = np.empty((self.n_samples, n_chains, n_sweeps - n_burn, self.n_labels), np.int8)
        total = np.zeros((self.n_samples, self.n_labels))
        alone = np.zeros((self.n_samples, 1, self.n_labels), dtype=np.int8)
        for label in range(self.n_labels):
            Y[:, :, label] = self.log_odds(label, alone) > cuts[:, 0, label]
        for s in range(n_sweeps):
            for label in range(self.n_labels):
                odds = self.log_odds(label, Y)
                Y[:, :, label] = odds > cuts[:, s + 1, label]
                if s >= n_burn:
                    total[:, label] += np.exp(log_expit(odds)).sum(axis=1)
            if s >= n_burn:
                draws[:, :, s - n_burn] = Y
        n_draws = n_chains * (n_sweeps - n_burn)
        return draws.reshape(self.n_samples, n_draws, self.n_labels), total / n_draws


class FittedRows(Rows):
    """Conditionals given by classifiers; see ``FittedConditionals`` for the parameters."""

    def __init__(
        self, X: Any, estimators: list[Any], parents: Sequence[Order], constant: Floats
    ) -> None:
        self.X, self.estimators, self.parents, self.constant = X, estimators, parents, constant
        self.n_samples, self.n_labels = n_rows(X), len(estimators)

    def log_odds(self, label: int, Y: Labels) -> Floats:
        shape = (self.n_samples, Y.shape[-2])
        if self.estimators[label] is None:
            return np.full(shape, self.constant[label])
        given = np.broadcast_to(Y[..., self.parents[label]], (*shape, len(self.parents[label])))
        X = self.X
        if shape[1] > 1:
            X = take_rows(X, np.repeat(np.arange(shape[0]), shape[1]))
        scores = _score(self.estimators[label], join(X, given.reshape(len(given) * shape[1], -1)))
        return np.asarray(scores, dtype=np.float64).reshape(shape)

    def take(self, rows: Any) -> FittedRows:
        return FittedRows(take_rows(self.X, rows), self.estimators, self.parents, self.constant)


def join(X: Any, Y: Labels) -> Any:
    """Put labels beside features; sparse features stay sparse."""
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(Y, dtype=X.dtype)], format="csr")
    return np.hstack([X, Y])


def distinct(draws: Labels) -> tuple[Labels, NDArray[np.int64]]:
    """Return the distinct labelings of each row's draws, and how often each was drawn.

    Shapes (n_samples, n_distinct, n_labels) and (n_samples, n_distinct), with the largest number
    of any row; others are filled up with counts of zero. ``draws`` (n_samples, n_draws, n_labels)
    is used up.
    """
    from colabel._kernels.gibbs import tally

    counts = np.zeros(draws.shape[:2], dtype=np.int64)
    sizes = np.zeros(len(draws), dtype=np.int64)
    in_threads(lambda rows: tally(draws[rows], counts[rows], sizes[rows]), len(draws))
    most = int(sizes.max(initial=1))
    return draws[:, :most], counts[:, :most]


def leading(found: Beam, nonempty: bool) -> tuple[Labels, Floats]:
    """Return the first labeling of each beam (that is not empty), and its log-probability."""
    place = np.argmax(found.labels.any(axis=2), axis=1) if nonempty else 0
    rows = np.arange(len(found.labels))
    return found.labels[rows, place], found.log_p[rows, place]


def put_in_front(found: Beam, labels: Labels, log_p: Floats, bound: Floats) -> Beam:
    """Put a labeling that a beam has missed in place of its last one, in front.

    ``bound`` holds for all labelings: for those left out, too.
    """
    beam, values, rest = found.labels.copy(), found.log_p.copy(), found.rest
    new = np.flatnonzero(~(beam == labels[:, None]).all(axis=2).any(axis=1))
    rest = rest.copy()
    rest[new] = np.maximum(rest[new], values[new, -1])
    beam[new, 1:], values[new, 1:] = beam[new, :-1], values[new, :-1]
    beam[new, 0], values[new, 0] = labels[new], log_p[new]
    return Beam(beam, values, np.minimum(rest, bound))
