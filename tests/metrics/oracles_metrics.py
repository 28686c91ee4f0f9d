"""Slow, obvious truths about the measures: plain loops over plain lists."""

from itertools import pairwise, permutations
from math import log2


def mean(values, weights=None):
    weights = [1.0] * len(values) if weights is None else list(weights)
    return sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)


def example_ratio(kind, true, predicted, beta=1.0):
    """One sample's ratio under the papers' convention: both sets empty counts 1, one empty 0."""
    T = {label for label, on in enumerate(true) if on}
    P = {label for label, on in enumerate(predicted) if on}
    if not T and not P:
        return 1.0
    if not T or not P:
        return 0.0
    precision, recall = len(T & P) / len(P), len(T & P) / len(T)
    if kind == "precision":
        return precision
    if kind == "recall":
        return recall
    if kind == "jaccard":
        return len(T & P) / len(T | P)
    if precision + recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def rankings(scores):
    """Every order of the labels that the scores allow, ties broken in all ways."""
    labels = range(len(scores))
    return [
        order
        for order in permutations(labels)
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]


def expected(value, gains, scores):
    """Mean of ``value(gains in ranked order)`` over all ways to break the ties."""
    return mean([value([gains[label] for label in order]) for order in rankings(scores)])


def precision_of(ranked, k):
    top = ranked[:k]
    return sum(top) / len(top)


def dcg_of(ranked, k):
    return sum(gain / log2(place + 1) for place, gain in enumerate(ranked[:k], start=1))


def ndcg(true, scores, k):
    best = dcg_of(sorted(true, reverse=True), k)
    return expected(lambda ranked: dcg_of(ranked, k), true, scores) / best if best else 0.0


def ranking_loss(true, scores):
    on = [s for s, t in zip(scores, true, strict=True) if t]
    off = [s for s, t in zip(scores, true, strict=True) if not t]
    pairs = [(a, b) for a in on for b in off]
    return sum(b >= a for a, b in pairs) / len(pairs) if pairs else 0.0


def coverage(true, scores):
    on = [s for s, t in zip(scores, true, strict=True) if t]
    return sum(s >= min(on) for s in scores) if on else 0


def lrap(true, scores):
    on = [s for s, t in zip(scores, true, strict=True) if t]
    if not on:
        return 1.0
    return mean([sum(s >= a for s in on) / sum(s >= a for s in scores) for a in on])


def propensity_scored(kind, Y, scores, propensity, k, weights=None):
    """Ratio of what was reached to what the best ranking reaches, each averaged over samples."""
    reached, best = [], []
    for true, row in zip(Y, scores, strict=True):
        gains = [t / p for t, p in zip(true, propensity, strict=True)]
        ideal = sorted(gains, reverse=True)
        if kind == "precision":
            reached.append(expected(lambda ranked: precision_of(ranked, k), gains, row))
            best.append(precision_of(ideal, k))
        else:
            unit = dcg_of(sorted(true, reverse=True), k) or 1.0
            reached.append(expected(lambda ranked: dcg_of(ranked, k), gains, row) / unit)
            best.append(dcg_of(ideal, k) / unit)
    ideal = mean(best, weights)
    return mean(reached, weights) / ideal if ideal else 0.0
