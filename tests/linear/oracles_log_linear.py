"""The likelihood of log-linear models on labelings, spelt out."""

import math

import numpy as np


def unary_scores(W, b, x):
    return [
        sum(w * v for w, v in zip(row, x, strict=True)) + c for row, c in zip(W, b, strict=True)
    ]


def crf_score(unary, A, s):
    """``sum_l s_l u_l + sum_{l<m} A_lm s_l s_m``."""
    on = [label for label, value in enumerate(s) if value]
    pairs = sum(A[on[i]][on[j]] for i in range(len(on)) for j in range(i + 1, len(on)))
    return sum(unary[label] for label in on) + pairs


def crf_objective(X, code, labelings, parameters, variances, weight):
    """Penalised negative log-likelihood; ``parameters`` are W, b, A, ``variances`` of W and A."""
    W, b, A = parameters
    total = np.sum(np.square(W)) / (2 * variances[0])
    total += np.sum(np.square(np.triu(A, 1))) / (2 * variances[1])
    for x, c, w in zip(X, code, weight, strict=True):
        unary = unary_scores(W, b, x)
        scores = [crf_score(unary, A, s) for s in labelings]
        top = max(scores)
        evidence = top + math.log(sum(math.exp(score - top) for score in scores))
        total += w * (evidence - scores[c])
    return total


def numeric_gradient(function, point, step=1e-5):
    gradient = np.zeros(len(point))
    for i in range(len(point)):
        ahead, behind = point.copy(), point.copy()
        ahead[i] += step
        behind[i] -= step
        gradient[i] = (function(ahead) - function(behind)) / (2 * step)
    return gradient
