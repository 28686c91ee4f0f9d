"""Log-linear models on finitely many labelings, by maximum likelihood with Gaussian priors.

``p(s | x)`` is proportional to ``exp(f_s . (W x + b) + g_s . theta)`` for the labelings ``s`` of a
fixed list. With ``f_s`` the labeling itself and ``g_s`` its pairs of labels this is a pairwise
conditional random field; with ``f_s`` a unit vector it is multinomial logistic regression.

The problem is convex. Both sides are turned first, so that the Hessian at the empirical
distribution of the labelings, which is close to a Kronecker product of the second moments of the
features and of the labels, becomes nearly the identity: limited-memory BFGS then takes few steps.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.linear.eigenbasis import Eigenbasis, eigenbasis
from colabel.linear.log_likelihood import Labelings, Likelihood, LogLinearFit
from colabel.linear.logistic import LinearFit

__all__ = ["fit_log_linear", "fit_multinomial", "label_pairs"]

Floats = NDArray[np.float64]

# Weight of the uniform distribution that is mixed in where second moments of labelings are taken.
SMOOTHING = 0.05
# Features a class from which on unit vectors are turned.
TURN_CLASSES = 4
# Shares of the largest eigenvalue that are rounding.
RANK = 1e-10


def fit_log_linear(
    X: Any,
    code: NDArray[np.int64],
    labelings: NDArray[Any],
    *,
    penalty: float = 1.0,
    pair_penalty: float = 0.25,
    weight: Floats | None = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> LogLinearFit:
    """Fit unary scores and couplings: ``score(s) = s . (W x + b) + sum_{l<m} A_lm s_l s_m``.

    Minimises ``-sum_n weight_n log p(labelings[code_n] | x_n) + penalty / 2 |W|^2 + pair_penalty /
    2 |A|^2``; the intercepts ``b`` are free.

    Parameters
    ----------
    X : array or sparse array of shape (n_samples, n_features)
    code : ndarray of shape (n_samples,), int64
        Row of ``labelings`` that each sample has.
    labelings : ndarray of shape (n_labelings, n_labels), in {0, 1}, rows distinct
        The labelings of positive probability. A label that varies among them varies among the
        samples too (else its intercept would be infinite).
    penalty, pair_penalty : float, positive
        Inverse variances of the priors.
    weight : ndarray of shape (n_samples,) or None
        Positive.
    max_iter : int
    tol : float
        Stop where the objective is this close to its optimum, relatively and by estimate.

    Returns
    -------
    LogLinearFit
        ``couplings`` are those of ``label_pairs(labelings)``.

    Notes
    -----
    An evaluation takes ``4 n_samples n_labels (min(n_samples, n_features) + n_labelings)`` flops
    and ``n_samples n_labelings`` exponentials, in blocks of samples. Exact up to ``tol``.
    """
    weight = np.ones(len(code)) if weight is None else weight
    counts = _smoothed(_counts(code, weight, len(labelings)))
    S = labelings.astype(np.float64)
    G, free = _pair_features(S), np.column_stack([np.ones(len(S)), S])
    features, spectrum, turn = _turned(S, counts)
    pairs = eigenbasis(G, counts, free, pair_penalty)
    listed = Labelings(features, spectrum, pairs)
    problem = Likelihood.build(X, code, weight, listed, penalty, pair_penalty)
    found = problem.solve(max_iter, tol)
    couplings = pairs.coefficients(found.couplings)
    # What the new coordinates leave to the labels' own scores.
    rest = G @ couplings - pairs.scores(found.couplings)
    root = np.sqrt(counts)
    unary = np.linalg.lstsq(root[:, None] * free, root * rest, rcond=RANK)[0][1:]
    intercept = turn @ found.intercept - unary
    return replace(found, coef=turn @ found.coef, intercept=intercept, couplings=couplings)


def fit_multinomial(
    X: Any,
    code: NDArray[np.int64],
    *,
    penalty: float = 1.0,
    weight: Floats | None = None,
    max_iter: int = 1000,
    tol: float = 1e-6,
) -> LinearFit:
    """Fit multinomial logistic regression to classes ``0 .. max(code)``, each with a sample.

    Minimises ``-sum_n weight_n log softmax(W x_n + b)_{code_n} + penalty / 2 |W|^2``; there is a
    row of ``W`` for every class.

    Parameters
    ----------
    X, code, penalty, weight, max_iter, tol
        As for ``fit_log_linear``.

    Returns
    -------
    LinearFit
    """
    weight = np.ones(len(code)) if weight is None else weight
    counts = _counts(code, weight, 0)
    share = counts / counts.sum()
    features, spectrum, turn = None, share * (1.0 - share), None
    # Turning unit vectors costs a product with them; many are nearly uncorrelated anyway.
    if TURN_CLASSES * len(counts) <= X.shape[1]:
        features, spectrum, turn = _turned(np.eye(len(counts)), counts)
    none = Eigenbasis(np.zeros((len(counts), 0)), np.zeros(0), np.zeros(0))
    listed = Labelings(features, spectrum, none)
    problem = Likelihood.build(X, code, weight, listed, penalty, 1.0)
    found = problem.solve(max_iter, tol)
    coef, intercept = found.coef, found.intercept
    if turn is not None:
        coef, intercept = turn @ coef, turn @ intercept
    # At the optimum the classes' scores sum to zero, as those of turned ones do.
    common = coef.mean(axis=0)
    value = found.history[-1:] - 0.5 * penalty * len(coef) * np.vdot(common, common)
    converged = np.array([found.converged])
    return LinearFit(coef - common, intercept - intercept.mean(), value, converged, found.n_iter)


def label_pairs(labelings: NDArray[Any]) -> NDArray[np.int64]:
    """Pairs of labels, lower one first, that are on together in some labeling: (n_pairs, 2)."""
    on = sparse.csr_array(labelings, dtype=np.float64)
    together = sparse.coo_array(sparse.triu(on.T @ on, k=1))
    pairs = np.stack([together.row, together.col], axis=1).astype(np.int64)
    return pairs[np.lexsort(pairs.T[::-1])]


def _counts(code: NDArray[np.int64], weight: Floats, n_labelings: int) -> Floats:
    return np.bincount(code, weight, minlength=n_labelings).astype(np.float64)


def _smoothed(counts: Floats) -> Floats:
    """Weight of each labeling, none of them zero."""
    return (counts + SMOOTHING * counts.sum() / len(counts)) / (1.0 + SMOOTHING)


def _pair_features(S: Floats) -> Any:
    """Mark the pairs of labels in each labeling: sparse, (n_labelings, n_pairs)."""
    edges = label_pairs(S)
    columns = sparse.csc_array(S)
    return sparse.csr_array(columns[:, edges[:, 0]].multiply(columns[:, edges[:, 1]]))


def _turned(S: Floats, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Turn labelings so that their second moments are diagonal; scores differ by a constant."""
    share = counts / counts.sum()
    centred = S - share @ S
    spectrum, turn = np.linalg.eigh((centred * share[:, None]).T @ centred)
    return centred @ turn, np.where(spectrum > RANK * spectrum[-1], spectrum, 0.0), turn
