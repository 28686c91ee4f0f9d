"""How strongly labels depend on one another."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["label_dependence"]

# Pairs of more labels than this (the most frequent ones) are not looked at.
MAX_LABELS = 4000


def label_dependence(Y: Any, label_names: tuple[str, ...], n_pairs: int = 20) -> dict[str, Any]:
    """Correlate every two labels.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n_samples, n_labels), in {0, 1}
    label_names : tuple of str
    n_pairs : int
        How many of the most dependent pairs to name.

    Returns
    -------
    dict
        ``mean_abs_phi``, the mean of ``|phi|`` (Pearson correlation of two binary variables) over
        pairs of labels that vary, and ``pairs``, the largest: ``labels``, ``phi``, ``together``.
    """
    labels = sparse.csc_array(Y).astype(np.float64)
    kept = np.sort(np.argsort(-np.asarray(labels.sum(axis=0)), kind="stable")[:MAX_LABELS])
    labels, label_names = labels[:, kept], tuple(label_names[i] for i in kept)
    n, n_labels = labels.shape
    together = (labels.T @ labels).toarray()
    on = np.diag(together).copy()
    sd = np.sqrt(on * (n - on))
    scale = np.outer(sd, sd)
    varies = scale > 0
    phi = np.where(varies, (n * together - np.outer(on, on)) / np.where(varies, scale, 1.0), 0.0)
    i, j = np.triu_indices(n_labels, 1)
    known = varies[i, j]
    i, j = i[known], j[known]
    strength = np.abs(phi[i, j])
    top = np.argsort(-strength, kind="stable")[:n_pairs]
    return {
        "mean_abs_phi": float(strength.mean()) if len(strength) else 0.0,
        "pairs": [
            {
                "labels": [label_names[i[p]], label_names[j[p]]],
                "phi": float(phi[i[p], j[p]]),
                "together": int(together[i[p], j[p]]),
            }
            for p in top
        ],
    }
