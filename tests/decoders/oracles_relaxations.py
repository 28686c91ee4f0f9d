"""Tables by regime, their optima by enumeration, and relaxations solved by slow means."""

from functools import cache

import numpy as np
from scipy.optimize import minimize_scalar

import oracles
from colabel.scores import Pairwise

REGIMES = (
    "mixed",
    "repulsive",
    "attractive",
    "ties",
    "no couplings",
    "disconnected",
    "one label",
    "equal unaries",
    "tiny",
    "huge",
    "uniform",
)
# Numbers of very different sizes in one table: enumeration in double precision is no oracle then.
SCALES = "scales"


def tables(regime, n_tables=100, n_samples=20, max_labels=8):
    """Yield ``n_tables`` tables of ``n_samples`` problems with 1 to ``max_labels`` labels."""
    for seed in range(n_tables):
        rng = np.random.default_rng([(*REGIMES, SCALES).index(regime), seed])
        n_labels = 1 if regime == "one label" else 1 + seed % max_labels
        yield table(regime, rng, n_samples, n_labels)


def table(regime, rng, n_samples, n_labels):
    unary, C = rng.normal(size=(n_samples, n_labels)), rng.normal(size=(n_labels, n_labels))
    if regime in ("repulsive", "attractive"):
        C = np.abs(C) * (1 if regime == "attractive" else -1)
        unary -= 0.5 * C.mean() * n_labels
    if regime == "ties":
        unary = rng.integers(-2, 3, unary.shape).astype(float)
        C = rng.integers(-1, 2, C.shape).astype(float)
    if regime == "no couplings":
        C[:] = 0.0
    if regime == "disconnected":
        part = rng.integers(0, 3, n_labels)
        C[part[:, None] != part] = 0.0
    if regime == "equal unaries":
        unary[:] = rng.normal()
    if regime == "uniform":
        unary[:], C[:] = rng.integers(-1, 4), rng.integers(-2, 2)
    if regime == SCALES:
        label, pair = 10.0 ** rng.integers(-8, 9, n_labels), 10.0 ** rng.integers(-8, 9, C.shape)
        chosen = rng.random(n_labels) < 0.3
        unary[:, chosen] *= label[chosen]
        C *= np.where(rng.random(C.shape) < 0.1, pair, 1.0) * (rng.random(C.shape) < 0.7)
    scale = {"tiny": 1e-8, "huge": 1e8}.get(regime, 1.0)
    C = np.triu(C, 1)
    return Pairwise.from_dense(scale * unary, scale * (C + C.T))


labelings = cache(oracles.all_labelings)


def optimum(scores, *, nonempty=False, loss=None):
    """Best of ``score + loss`` of each row; ``loss`` is (n_samples, 2 ** n_labels) or None."""
    Z = labelings(scores.n_labels)
    values = scores.value_all(Z) + (0.0 if loss is None else loss)
    return values[:, Z.any(axis=1)].max(axis=1) if nonempty else values.max(axis=1)


def spin_form(scores):
    """Constant, b and M with ``score = constant + b's + s'Ms``, read off by differences."""
    V, Z = scores.n_labels, oracles.all_labelings(scores.n_labels).astype(float)
    S = 2 * Z - 1
    columns = [np.ones(len(S)), *S.T] + [S[:, i] * S[:, j] for i in range(V) for j in range(i)]
    fit = np.linalg.lstsq(np.stack(columns, axis=1), scores.value_all(Z).T, rcond=None)[0].T
    M = np.zeros((V, V))
    M[np.tril_indices(V, -1)] = 0.5 * fit[0, V + 1 :]
    return fit[:, 0], fit[:, 1 : V + 1], M + M.T


def sphere_maximum(b, M, radius2):
    """``max b's + s'Ms`` over ``|s|^2 = radius2`` by minimising the dual on a fine scale."""
    d, Q = np.linalg.eigh(-M)
    c = Q.T @ b

    def dual(log_t):
        t = np.exp(log_t)
        return np.sum(c * c / (4 * (d - d[0] + t))) + (t - d[0]) * radius2

    scale = np.log(np.abs(M).max() + np.abs(b).max() + 1e-300)
    grid = np.linspace(scale - 40, scale + 8, 400)
    best = grid[np.argmin([dual(g) for g in grid])]
    found = minimize_scalar(dual, bounds=(best - 0.2, best + 0.2), method="bounded")
    return min(found.fun, dual(best))


def semidefinite_maximum(linear, matrix, beta=None, eps=1e-7):
    """``max b'u + <matrix / 8, U>`` over semidefinite moments, by SCS; ``1'u = beta`` if given."""
    import scs
    from scipy import sparse

    m = len(linear) + 1
    M = np.zeros((m, m))
    M[0, 1:] = M[1:, 0] = 0.5 * linear
    M[1:, 1:] = 0.125 * matrix
    column, row = np.triu_indices(m)  # the lower triangle, column by column
    weight = np.where(row == column, 1.0, np.sqrt(2.0))
    diagonal = np.flatnonzero(row == column)
    equal = sparse.csc_matrix((np.ones(m), (np.arange(m), diagonal)), (m, len(row)))
    right = np.ones(m)
    if beta is not None:
        size = sparse.csc_matrix(((column == 0) & (row > 0)) / np.sqrt(2.0))
        equal, right = sparse.vstack([equal, size]), np.append(right, beta)
    data = {
        "A": sparse.vstack([equal, -sparse.eye(len(row))]).tocsc(),
        "b": np.concatenate([right, np.zeros(len(row))]),
        "c": -M[row, column] * weight,
    }
    solver = scs.SCS(
        data, {"z": len(right), "s": [m]}, eps_abs=eps, eps_rel=eps, max_iters=100000, verbose=False
    )
    return -solver.solve()["info"]["pobj"]
