"""Slow, obvious truths about mixtures of Bernoullis on labels alone."""

import math

import numpy as np


def log_sum_exp(values):
    top = max(values)
    return top + math.log(sum(math.exp(v - top) for v in values))


def log_joint(weights, means, y):
    """``log pi_k + sum_l log Ber(y_l; mu_kl)`` for each component."""
    return [
        math.log(pi) + sum(math.log(m if on else 1.0 - m) for m, on in zip(mu, y, strict=True))
        for pi, mu in zip(weights, means, strict=True)
    ]


def base_rates(Y, weight):
    return [
        (sum(w for w, y in zip(weight, Y, strict=True) if y[label]) + 0.5) / (sum(weight) + 1)
        for label in range(len(Y[0]))
    ]


def em_step(weights, means, Y, weight, smoothing):
    """One EM step row by row: the new weights and means, and the objective of the old ones."""
    rates = base_rates(Y, weight)
    K, L = len(weights), len(rates)
    rows, on, log_likelihood = [0.0] * K, [[0.0] * L for _ in range(K)], 0.0
    for y, w in zip(Y, weight, strict=True):
        joint = log_joint(weights, means, y)
        log_p = log_sum_exp(joint)
        log_likelihood += w * log_p
        for k in range(K):
            gamma = w * math.exp(joint[k] - log_p)
            rows[k] += gamma
            for label in range(L):
                on[k][label] += gamma * y[label]
    prior = sum(
        smoothing * (b * math.log(m) + (1 - b) * math.log(1 - m))
        for mu in means
        for b, m in zip(rates, mu, strict=True)
    )
    new_weights = [n / sum(rows) for n in rows]
    new_means = [
        [(on[k][label] + smoothing * rates[label]) / (rows[k] + smoothing) for label in range(L)]
        for k in range(K)
    ]
    return np.array(new_weights), np.array(new_means), (log_likelihood + prior) / sum(weight)
