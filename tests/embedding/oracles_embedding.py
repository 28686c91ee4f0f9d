"""Slow, obvious truths about output codes. Nothing of colabel is used here."""

import numpy as np
from scipy.optimize import minimize


def centred(A):
    return A - A.mean(axis=0)


def ridge(X, T, alpha):
    """Weights and intercepts of ``|X W + 1 b' - T|^2 + alpha |W|^2``, by stacked least squares."""
    d = X.shape[1]
    rows = np.vstack([centred(X), np.sqrt(alpha) * np.eye(d)])
    targets = np.vstack([centred(T), np.zeros((d, T.shape[1]))])
    W = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return W, T.mean(axis=0) - X.mean(axis=0) @ W


def principal_codes(Y, n_codes):
    """Directions of the singular value decomposition, and the error that they leave."""
    Z = centred(Y)
    V = np.linalg.svd(Z, full_matrices=True)[2][:n_codes].T
    return V, np.sum((Z - Z @ V @ V.T) ** 2)


def conditional_loss(V, X, Y, alpha):
    """Objective of CPLST at ``V``, the regression being the best for it."""
    Z = centred(Y)
    W, _ = ridge(X, Z @ V, alpha)
    miss = centred(X) @ W - Z @ V
    return np.sum((Z - Z @ V @ V.T) ** 2) + np.sum(miss**2) + alpha * np.sum(W**2)


def mean_field_objective(unary, couplings, means):
    """Expected score and entropy of independent labels, for one row."""
    p = np.clip(means, 1e-300, 1.0)
    r = np.clip(1.0 - means, 1e-300, 1.0)
    entropy = -np.sum(means * np.log(p) + (1.0 - means) * np.log(r))
    return unary @ means + 0.5 * means @ couplings @ means + entropy


def box_maximum(linear, Q):
    """``max linear'y - y'Qy`` over the unit box, by a general solver from several points."""
    q, best = len(linear), -np.inf
    for start in (np.zeros(q), np.ones(q), np.full(q, 0.5)):
        found = minimize(
            lambda y: y @ Q @ y - linear @ y,
            start,
            jac=lambda y: 2.0 * Q @ y - linear,
            bounds=[(0.0, 1.0)] * q,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 2000},
        )
        best = max(best, -found.fun)
    return best


def margin_loss(Q, Y, Z, C):
    """Objective of maximum margin output coding, and a subgradient: row by row."""
    n, q = Y.shape
    value, gradient = 0.5 * np.trace(Q), 0.5 * np.eye(q)
    for y, z in zip(Y, Z, strict=True):
        sign = 1.0 - 2.0 * y
        found = minimize(
            lambda u, z=z, sign=sign: (u - z) @ Q @ (u - z) - sign @ u,
            1.0 - y,
            jac=lambda u, z=z, sign=sign: 2.0 * Q @ (u - z) - sign,
            bounds=[(0.0, 1.0)] * q,
            method="L-BFGS-B",
        )
        u = found.x
        xi = np.abs(y - u).sum() + (y - z) @ Q @ (y - z) - (u - z) @ Q @ (u - z)
        value += C / n * xi
        gradient = gradient + C / n * (np.outer(y - z, y - z) - np.outer(u - z, u - z))
    return value, gradient


def margin_minimum(Y, Z, C, steps):
    """Smallest objective that projected subgradients find."""
    Q, best = np.eye(Y.shape[1]), np.inf
    for k in range(steps):
        value, gradient = margin_loss(Q, Y, Z, C)
        best = min(best, value)
        size = 0.5 * np.linalg.norm(Q) / np.sqrt(k + 1.0)
        values, U = np.linalg.eigh(Q - size * gradient / np.linalg.norm(gradient))
        Q = (U * np.maximum(values, 0.0)) @ U.T
    return best
