"""Slow, obvious truths. Nothing of colabel is used here but its score tables."""

import numpy as np


def all_labelings(n_labels):
    places = np.arange(n_labels)[::-1]
    return (np.arange(2**n_labels)[:, None] >> places & 1).astype(np.int8)


def best_value(objective, n_labels, *, nonempty=False):
    """Largest objective over all labelings of one sample; ``objective(z) -> float``."""
    return max(objective(z) for z in all_labelings(n_labels) if z.any() or not nonempty)


def modular_score(unary, z):
    return sum(u for u, on in zip(unary, z, strict=True) if on)


def pairwise_score(unary, edges, couplings, z):
    pairs = sum(c for (i, j), c in zip(edges, couplings, strict=True) if z[i] and z[j])
    return modular_score(unary, z) + pairs


def mixture_probability(weights, probabilities, z):
    """``sum_k pi_k prod_l p_kl^{z_l} (1 - p_kl)^{1 - z_l}`` for one sample."""
    total = 0.0
    for weight, p in zip(weights, probabilities, strict=True):
        factor = weight
        for q, on in zip(p, z, strict=True):
            factor *= q if on else 1.0 - q
        total += factor
    return total


def moments(probability, n_labels):
    """Marginals and ``P(y_l = y_m = 1)`` of a distribution over labelings, by enumeration."""
    Z = all_labelings(n_labels).astype(float)
    p = np.array([probability(z) for z in Z])
    return p @ Z, np.einsum("s,sl,sm->lm", p, Z, Z)


def sets(y):
    return {label for label, on in enumerate(y) if on}


def hamming(y, z):
    return len(sets(y) ^ sets(z)) / len(y)


def subset(y, z):
    return float(sets(y) != sets(z))


def jaccard(y, z):
    union = sets(y) | sets(z)
    return 1 - len(sets(y) & sets(z)) / len(union) if union else 0.0


def f_score(y, z, beta=1.0, empty=1.0):
    """F-beta of two sets, ``empty`` where both are."""
    true, found, hits = len(sets(y)), len(sets(z)), len(sets(y) & sets(z))
    if true + found == 0:
        return empty
    if hits == 0:
        return 0.0
    precision, recall = hits / found, hits / true
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def fbeta(y, z, beta=1.0):
    return 1.0 - f_score(y, z, beta)


def measure(name, Y, Z, beta=1.0):
    """A measure of whole predictions, each sample and label by itself."""
    rows = list(zip(Y, Z, strict=True))
    if name == "example_f1":
        return np.mean([f_score(y, z, beta) for y, z in rows])
    if name == "example_jaccard":
        return np.mean([1 - jaccard(y, z) for y, z in rows])
    if name == "subset_accuracy":
        return np.mean([1 - subset(y, z) for y, z in rows])
    if name == "hamming_loss":
        return np.mean([hamming(y, z) for y, z in rows])
    if name == "macro_f1":
        columns = zip(np.transpose(Y), np.transpose(Z), strict=True)
        return np.mean([f_score(y, z, beta, empty=0.0) for y, z in columns])
    if name == "micro_f1":
        return f_score(np.ravel(Y), np.ravel(Z), beta, empty=0.0)
    raise KeyError(name)
