"""Slow, obvious truths about penalised logistic regressions, in plain NumPy."""

import numpy as np


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=float)


def objective(X, y, w, b, *, penalty=1.0, l1=0.0, weight=None, center=0.0):
    """Loss and penalty of one binary regression."""
    s = dense(X) @ w + b
    loss = np.logaddexp(0.0, s) - y * s
    loss = loss.sum() if weight is None else weight @ loss
    return loss + 0.5 * penalty * np.sum((w - center) ** 2) + l1 * np.abs(w - center).sum()


def softmax_objective(X, T, W, b, *, penalty=1.0, l1=0.0, weight=None):
    s = dense(X) @ W.T + b
    loss = np.logaddexp.reduce(s, axis=1) - (T * s).sum(axis=1)
    loss = loss.sum() if weight is None else weight @ loss
    return loss + 0.5 * penalty * np.sum(W**2) + l1 * np.abs(W).sum()


def newton(X, y, *, penalty=1.0, weight=None, center=0.0, free=None, steps=200):
    """Optimum of one ridge regression by damped Newton steps: objective, coefficients, intercept.

    Coefficients outside ``free`` are zero. Features are centred, which only moves the intercept.
    """
    X = dense(X)
    mean, X = X.mean(axis=0), X - X.mean(axis=0)
    n, d = X.shape
    weight = np.ones(n) if weight is None else weight
    center = np.zeros(d) + center
    free = np.ones(d, dtype=bool) if free is None else free
    used, A = X[:, free], np.column_stack([X[:, free], np.ones(n)])
    ridge, prior = np.append(np.full(free.sum(), penalty), 0.0), np.append(center[free], 0.0)

    def value(z):
        shown = {"penalty": penalty, "weight": weight, "center": center[free]}
        return objective(used, y, z[:-1], z[-1], **shown)

    z = prior.copy()
    for _ in range(steps):
        p = np.exp(-np.logaddexp(0.0, -(A @ z)))
        gradient = A.T @ (weight * (p - y)) + ridge * (z - prior)
        hessian = (A.T * (weight * p * (1 - p))) @ A + np.diag(ridge)
        move = -np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        step = 1.0
        while value(z + step * move) > value(z) + 1e-4 * step * (gradient @ move) and step > 1e-10:
            step *= 0.5
        z = z + step * move
        if -gradient @ move < 1e-13 * max(value(z), 1e-300):
            break
    w = np.zeros(d)
    w[free] = z[:-1]
    return value(z), w, z[-1] - mean @ w


def worst_slope(X, y, w, b, *, penalty, l1, weight=None):
    """Largest component of the least subgradient of an elastic net at a point."""
    X = dense(X)
    weight = np.ones(len(X)) if weight is None else weight
    residual = weight * (np.exp(-np.logaddexp(0.0, -(X @ w + b))) - y)
    gradient = X.T @ residual + penalty * w
    held = np.maximum(np.abs(gradient) - l1, 0.0)
    slope = np.where(w == 0.0, held, np.abs(gradient + l1 * np.sign(w)))
    return max(slope.max(initial=0.0), abs(residual.sum()))
