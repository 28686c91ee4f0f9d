"""Slow, obvious truths about facets. Nothing of colabel is used here."""

from itertools import pairwise, product
from math import exp, log

import numpy as np


def one_per_set(n_labels, sets):
    """All labelings with one label of each set."""
    labelings = (np.array(z, dtype=np.int8) for z in product((0, 1), repeat=n_labels))
    fine = [z for z in labelings if all(z[list(members)].sum() == 1 for members in sets)]
    return np.array(fine)


def beside(X, classes, known):
    """Features with a 0-1 column for each class of another set."""
    return np.array(
        [[*x, *(float(c == k) for k in known)] for x, c in zip(X, classes, strict=True)]
    )


def dsml(X, ya, yb, fit, rounds, B, draws, inputs="predicted"):
    """Algorithm 1 of Liu et al. (2018) for two sets, ``b`` the smaller, errors corrected.

    ``fit(X, y)`` trains a model, ``draws[t]`` holds the rows drawn for a and b. Returns a function
    that predicts the classes of a row, the weights of the models, and their errors.
    """
    m, A, Bc = len(X), sorted(set(ya)), sorted(set(yb))
    wa, wb = [1 / m] * m, [1 / m] * m
    models, weights, errors = [], [], []
    for t in range(rounds):
        rows_a, rows_b = draws(t, wa, wb)
        raw = fit(X[rows_b], yb[rows_b])
        a = fit(beside(X[rows_a], raw.predict(X[rows_a]), Bc), ya[rows_a])
        given = raw.predict(X[rows_b]) if inputs == "predicted" else yb[rows_b]
        pseudo = a.predict(beside(X[rows_b], given, Bc))
        b = fit(beside(X[rows_b], pseudo, A), yb[rows_b])
        found_a = a.predict(beside(X[rows_a], raw.predict(X[rows_a]), Bc))
        found_b = b.predict(beside(X[rows_b], pseudo, A))
        ea = sum(f != y for f, y in zip(found_a, ya[rows_a], strict=True)) / m
        eb = sum(f != y for f, y in zip(found_b, yb[rows_b], strict=True)) / m
        if t > 0 and (ea > (len(A) - 1) / len(A) or eb > (len(Bc) - 1) / len(Bc)):
            break
        alpha_a, alpha_b = weight(ea, len(A)), weight(eb, len(Bc))
        models.append((raw, a, b))
        weights.append((alpha_a, alpha_b))
        errors.append((ea, eb))
        now_a = a.predict(beside(X, raw.predict(X), Bc))
        now_b = b.predict(beside(X, now_a, A))
        for i in range(m):
            wrong_a, wrong_b = now_a[i] != ya[i], now_b[i] != yb[i]
            wa[i] *= exp(alpha_a * wrong_a) * B**wrong_b
            wb[i] *= exp(alpha_b * wrong_b) * B**wrong_a
        wa, wb = [w / sum(wa) for w in wa], [w / sum(wb) for w in wb]

    def predict(x):
        votes_a, votes_b = dict.fromkeys(A, 0.0), dict.fromkeys(Bc, 0.0)
        for (raw, a, b), (alpha_a, alpha_b) in zip(models, weights, strict=True):
            first = a.predict(beside(x[None], raw.predict(x[None]), Bc))
            votes_a[first[0]] += alpha_a
            votes_b[b.predict(beside(x[None], first, A))[0]] += alpha_b
        return max(A, key=votes_a.get), max(Bc, key=votes_b.get)

    return predict, np.array(weights), np.array(errors)


def weight(error, n_classes):
    error = min(max(error, 1e-9), 1 - 1e-9)
    return (log((1 - error) / error) + log(n_classes - 1)) / n_classes


def coupled(unary, temperatures, edges, couplings):
    """Probability of every combination of one sample, by enumeration."""
    sizes = [len(u) for u in unary]
    scores = {}
    for c in product(*map(range, sizes)):
        total = sum(t * u[k] for t, u, k in zip(temperatures, unary, c, strict=True))
        total += sum(theta[c[s], c[r]] for (s, r), theta in zip(edges, couplings, strict=True))
        scores[c] = exp(total)
    z = sum(scores.values())
    return {c: p / z for c, p in scores.items()}, log(z)


def pairwise_exponential(outputs, y):
    """The loss of BP-MLL for one sample, pair by pair (Zhang and Zhou 2006, Eq. 7)."""
    on, off = np.flatnonzero(y), np.flatnonzero(np.asarray(y) == 0)
    if not len(on) or not len(off):
        return 0.0
    total = sum(exp(-(outputs[k] - outputs[m])) for k in on for m in off)
    return total / (len(on) * len(off))


def best_cut(scores, y):
    """Fewest wrong labels that a threshold can leave, over all places between the scores."""
    order = sorted(set(scores))
    places = [order[0] - 1, *((a + b) / 2 for a, b in pairwise(order)), order[-1] + 1]
    return min(sum((s > t) != bool(on) for s, on in zip(scores, y, strict=True)) for t in places)
