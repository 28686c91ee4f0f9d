"""A distribution over the classes of several facets whose couplings form a tree.

    log p(c) = sum_s t_s u_s(c_s) + sum over edges (s, r) of theta_sr(c_s, c_r) - log Z

with ``u`` the log-probabilities of separate classifiers. On a tree the best combination, all
marginals and the normaliser are found exactly, by messages from the leaves to the root and back:
O(sum of products of the sizes of joined facets) per sample. Two facets are joined by one edge, and
the tree is all there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning

from colabel.messages import warn_user

__all__ = ["TreeCoupling", "fit_coupling", "spanning_tree"]

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
# A child and its parent; children come before their parents.
Edge = tuple[int, int]
# Iterations of L-BFGS.
MAX_ITER = 500


@dataclass(frozen=True, eq=False)
class TreeCoupling:
    """The model.

    Parameters
    ----------
    edges : list of (int, int)
        A child and its parent; a facet is the child of one edge at most, and an edge comes after
        those of which its child is the parent.
    temperatures : ndarray of shape (n_facets,)
    couplings : list of ndarray of shape (n_classes of the child, n_classes of the parent)
    """

    edges: list[Edge]
    temperatures: Floats
    couplings: list[Floats] = field(default_factory=list)

    @property
    def root(self) -> int:
        """The facet that is no child."""
        return self.edges[-1][1] if self.edges else 0

    def decode(self, log_p: Sequence[Floats]) -> Codes:
        """Return the most probable combination of each sample: (n_samples, n_facets)."""
        beliefs = self._unary(log_p)
        for (child, parent), theta in zip(self.edges, self.couplings, strict=True):
            beliefs[parent] += np.max(beliefs[child][:, :, None] + theta, axis=1)
        codes = np.zeros((len(log_p[0]), len(log_p)), dtype=np.intp)
        codes[:, self.root] = np.argmax(beliefs[self.root], axis=1)
        for (child, parent), theta in zip(self.edges[::-1], self.couplings[::-1], strict=True):
            given = beliefs[child] + theta.T[codes[:, parent]]
            codes[:, child] = np.argmax(given, axis=1)
        return codes

    def score(self, log_p: Sequence[Floats], combinations: Codes) -> Floats:
        """Return scores, not normalised, of combinations: (n_samples, n_combinations)."""
        unary = self._unary(log_p)
        total = sum(part[:, combinations[:, s]] for s, part in enumerate(unary))
        for (child, parent), theta in zip(self.edges, self.couplings, strict=True):
            total = total + theta[combinations[:, child], combinations[:, parent]]
        return np.asarray(total)

    def marginals(self, log_p: Sequence[Floats]) -> tuple[Floats, list[Floats], list[Floats]]:
        """Return ``log Z`` (n_samples,), log-marginals of facets, and marginals of joined pairs."""
        beliefs = self._unary(log_p)
        messages = []
        for (child, parent), theta in zip(self.edges, self.couplings, strict=True):
            messages.append(logsumexp(beliefs[child][:, :, None] + theta, axis=1))
            beliefs[parent] += messages[-1]
        log_z = logsumexp(beliefs[self.root], axis=1)
        pairs: list[Floats] = [np.empty(0)] * len(self.edges)
        for e in range(len(self.edges) - 1, -1, -1):
            (child, parent), theta = self.edges[e], self.couplings[e]
            above = beliefs[parent] - messages[e]
            joint = beliefs[child][:, :, None] + theta + above[:, None, :]
            pairs[e] = np.exp(joint - log_z[:, None, None])
            beliefs[child] += logsumexp(theta + above[:, None, :], axis=2)
        return log_z, [part - log_z[:, None] for part in beliefs], pairs

    def _unary(self, log_p: Sequence[Floats]) -> list[Floats]:
        return [t * part for t, part in zip(self.temperatures, log_p, strict=True)]


def fit_coupling(
    log_p: Sequence[Floats], codes: Codes, weight: Floats, edges: list[Edge], penalty: float
) -> TreeCoupling:
    """Choose temperatures and couplings by penalised maximum likelihood.

    Minimises ``-sum_i weight_i log p(codes_i) + penalty / 2 (|theta|^2 + |t - 1|^2)``, convex, by
    L-BFGS.

    Parameters
    ----------
    log_p : sequence of ndarray of shape (n_samples, n_classes)
        Finite log-probabilities of each facet, of rows that their classifiers have not seen.
    codes : ndarray of shape (n_samples, n_facets)
    weight : ndarray of shape (n_samples,), positive
    edges : list of (int, int)
    penalty : float, positive
    """
    n, n_facets = codes.shape
    shapes = [(log_p[s].shape[1], log_p[r].shape[1]) for s, r in edges]
    ends = np.cumsum([n_facets, *(a * b for a, b in shapes)])
    seen = [part[np.arange(n), codes[:, s]] for s, part in enumerate(log_p)]
    pairs_seen = zip(edges, shapes, strict=True)
    counts = [_count(codes[:, [s, r]], weight, shape) for (s, r), shape in pairs_seen]
    centre = np.concatenate([np.ones(n_facets), np.zeros(ends[-1] - n_facets)])

    def model(z: Floats) -> TreeCoupling:
        parts = np.split(z[n_facets:], ends[1:-1] - n_facets) if edges else []
        thetas = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        return TreeCoupling(edges, z[:n_facets], thetas)

    def objective(z: Floats) -> tuple[float, Floats]:
        now = model(z)
        log_z, own, pairs = now.marginals(log_p)
        value = weight @ log_z - sum(t * (weight @ part) for t, part in zip(z, seen, strict=False))
        value -= sum(np.sum(a * b) for a, b in zip(now.couplings, counts, strict=True))
        means = (np.einsum("nc,nc->n", np.exp(p), u) for p, u in zip(own, log_p, strict=True))
        slopes = [weight @ (mean - s) for mean, s in zip(means, seen, strict=True)]
        steps = [
            (np.tensordot(weight, p, axes=1) - c).ravel()
            for p, c in zip(pairs, counts, strict=True)
        ]
        gradient = np.concatenate([slopes, *steps]) + penalty * (z - centre)
        return float(value + 0.5 * penalty * np.sum((z - centre) ** 2)), gradient

    limit = {"maxiter": MAX_ITER}
    found = minimize(objective, centre, jac=True, method="L-BFGS-B", options=limit)
    if found.status == 1:  # a step too small to matter, status 2, is as good as the end
        warn_user(
            f"the coupling has not converged in {MAX_ITER} iterations; a larger penalty helps",
            ConvergenceWarning,
        )
    return model(found.x)


def spanning_tree(codes: Codes, sizes: Sequence[int], weight: Floats) -> list[Edge]:
    """Join the facets by the tree of most mutual information (Chow and Liu 1968), leaves first."""
    n_facets = codes.shape[1]
    inside, edges = [0], []

    def information(s: int, r: int) -> float:
        return _information(codes[:, [s, r]], weight, (sizes[s], sizes[r]))

    gain = {(s, 0): information(s, 0) for s in range(1, n_facets)}
    while len(inside) < n_facets:
        s, r = max(gain, key=lambda edge: (gain[edge], -edge[0], -edge[1]))
        edges.append((s, r))
        inside.append(s)
        gain = {edge: value for edge, value in gain.items() if edge[0] != s}
        for other in set(range(n_facets)).difference(inside):
            gain[other, s] = information(other, s)
    return edges[::-1]


def _count(codes: Codes, weight: Floats, shape: tuple[int, int]) -> Floats:
    table = np.zeros(shape)
    np.add.at(table, (codes[:, 0], codes[:, 1]), weight)
    return table


def _information(codes: Codes, weight: Floats, shape: tuple[int, int]) -> float:
    p = _count(codes, weight, shape) / weight.sum()
    apart = p.sum(axis=1, keepdims=True) * p.sum(axis=0, keepdims=True)
    seen = p > 0
    return float(np.sum(p[seen] * np.log(p[seen] / apart[seen])))
