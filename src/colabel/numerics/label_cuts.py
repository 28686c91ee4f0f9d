"""Where to cut a ranking of labels: a threshold that depends on the scores, by least squares.

Rankers give scores that order the labels of a sample and say nothing about where the relevant ones
end. Elisseeff and Weston (2001) learn that: for each training sample the cut with the fewest wrong
labels is known, and a linear function of the scores is fitted to it. Where that function also sees
the scores in falling order, it can say "between the first and the second".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CutRule", "best_cuts", "fit_cut_rule"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

# Penalty on the coefficients of ranked scores, in units of the features' mean variance, a row.
RIDGE = 1e-2
# Singular values below this share of the largest are rounding, where scores depend on each other.
RCOND = 1e-10


class CutRule(NamedTuple):
    """A threshold ``t = coef . features(f) + intercept``; labels of scores ``f`` above it are on.

    Features are the scores and, where there are twice as many coefficients, the scores in falling
    order.
    """

    coef: Floats
    intercept: float

    def cuts(self, scores: Floats) -> Floats:
        """Return the threshold of each sample: (n_samples,)."""
        return _features(scores, len(self.coef) > scores.shape[1]) @ self.coef + self.intercept


def best_cuts(scores: Floats, Y: Labels, beyond: float) -> Floats:
    """Return for each sample the cut with the fewest wrong labels.

    A label that is on is wrong if its score is at most the cut, one that is off if its score is at
    least the cut. Among equally good cuts the middle of the widest gap between two scores is
    taken, and of equally wide ones the lowest.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    beyond : float
        How far below all scores, or above them, a cut is that leaves none on a side.

    Returns
    -------
    ndarray of shape (n_samples,)

    Notes
    -----
    O(L log L) a sample. Exact.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.5, 0.1]])
    >>> best_cuts(scores, np.array([[1, 0, 0]]), beyond=0.1).round(2)
    array([0.7])
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    on = np.take_along_axis(np.asarray(Y, dtype=np.int64), order, axis=1)
    # A cut at place p has the p lowest scores below it.
    on_below = np.pad(np.cumsum(on, axis=1), ((0, 0), (1, 0)))
    off_above = np.pad(np.cumsum((1 - on)[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))
    wrong = (on_below + off_above).astype(np.float64)
    gaps = np.pad(np.diff(ranked, axis=1), ((0, 0), (1, 1)), constant_values=2.0 * beyond)
    wrong[gaps <= 0.0] = np.inf  # no cut parts equal scores
    best = wrong == wrong.min(axis=1, keepdims=True)
    place = np.argmax(np.where(best, gaps, -1.0), axis=1)
    padded = np.pad(ranked, ((0, 0), (1, 1)))
    padded[:, 0] = ranked[:, 0] - 2.0 * beyond
    padded[:, -1] = ranked[:, -1] + 2.0 * beyond
    rows = np.arange(len(scores))
    return 0.5 * (padded[rows, place] + padded[rows, place + 1])


def fit_cut_rule(
    scores: Floats, Y: Labels, weight: Floats, *, beyond: float, ranked: bool
) -> CutRule:
    """Fit a threshold to the best cuts by weighted least squares.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
    Y : ndarray of shape (n_samples, n_labels), in {0, 1}
    weight : ndarray of shape (n_samples,)
    beyond : float
        See ``best_cuts``.
    ranked : bool
        Whether the scores in falling order are features too, with a small penalty.

    Returns
    -------
    CutRule
        With a single label there is no order to cut, and the threshold is 0.

    Notes
    -----
    O(n L^2). The coefficients of least norm, where several are equally good.
    """
    if scores.shape[1] == 1:
        return CutRule(np.zeros(1), 0.0)
    features, cuts = _features(scores, ranked), best_cuts(scores, Y, beyond)
    share = weight / weight.sum()
    middle, level = share @ features, share @ cuts
    root = np.sqrt(share)[:, None]
    design, target = root * (features - middle), root[:, 0] * (cuts - level)
    if ranked:
        size = design.shape[1]
        floor = np.sqrt(RIDGE * np.sum(design**2) / size) * np.eye(size)
        design, target = np.vstack([design, floor]), np.append(target, np.zeros(size))
    coef, *_ = np.linalg.lstsq(design, target, rcond=RCOND)
    return CutRule(coef, float(level - middle @ coef))


def _features(scores: Floats, ranked: bool) -> Floats:
    return np.hstack([scores, -np.sort(-scores, axis=1)]) if ranked else scores
