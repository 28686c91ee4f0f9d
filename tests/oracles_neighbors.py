"""Slow, obvious truths about neighbours: loops over rows, neighbours and labels."""

import numpy as np


def nearest(queries, points, k, leave_own_out=False):
    """Sort all points by distance, those at the same distance by index."""
    index, distance = [], []
    for i, query in enumerate(queries):
        found = []
        for j, point in enumerate(points):
            if not (leave_own_out and i == j):
                found.append(
                    (
                        float(
                            np.sqrt(sum((a - b) ** 2 for a, b in zip(query, point, strict=True)))
                        ),
                        j,
                    )
                )
        found = sorted(found)[:k]
        index.append([j for _, j in found])
        distance.append([d for d, _ in found])
    return np.array(index).reshape(len(queries), -1), np.array(distance)


def weights(distance, kind):
    """Weigh one query's neighbours; None of them is to be left without weight by rounding."""
    k, total = len(distance), sum(distance)
    if kind == "uniform" or k == 1:
        return [1.0 / k] * k
    if kind == "mild":
        return [(1.0 - (d / total if total else 1.0 / k)) / (k - 1) for d in distance]
    zeros = [float(d == 0) for d in distance]
    raw = zeros if any(zeros) else [1.0 / d for d in distance]
    return [r / sum(raw) for r in raw]


def margin(z, own, other, Q):
    """``|z - y_j|_Q^2 - |z - y_i|_Q^2``."""
    return (z - other) @ Q @ (z - other) - (z - own) @ Q @ (z - own)


def metric_objective(Z, Y, near, C, Q):
    """Eq. (5) of Liu and Tsang (2015), pair by pair."""
    total = 0.0
    for i, z in enumerate(Z):
        slack = []
        for j in near[i]:
            delta = sum(abs(a - b) for a, b in zip(Y[i], Y[j], strict=True))
            slack.append(max(0.0, delta - margin(z, Y[i], Y[j], Q)))
        total += max(slack) ** 2
    return 0.5 * np.trace(Q) + C / len(Z) * total


def metric_gradient(Z, Y, near, C, Q):
    """The gradient of the loss alone, one outer product for each violated pair."""
    gradient = np.zeros_like(Q)
    for i, z in enumerate(Z):
        pairs = []
        for j in near[i]:
            delta = np.abs(Y[i] - Y[j]).sum()
            slack = max(0.0, delta - margin(z, Y[i], Y[j], Q))
            own, other = z - Y[i], z - Y[j]
            pairs.append((slack, slack * (np.outer(own, own) - np.outer(other, other))))
        gradient += max(pairs, key=lambda pair: pair[0])[1]
    return 2.0 * C / len(Z) * gradient


def ml_knn(X, Y, queries, k, s):
    """The pseudocode of Zhang and Zhou (2007), Figure 1, label by label: labels and P(on)."""
    n, n_labels = Y.shape
    train, _ = nearest(X, X, k, leave_own_out=True)
    test, _ = nearest(queries, X, k)
    labels, probability = np.zeros((2, len(queries), n_labels))
    for label in range(n_labels):
        prior = (s + Y[:, label].sum()) / (2 * s + n)
        c, c_not = [0] * (k + 1), [0] * (k + 1)
        for i in range(n):
            delta = int(sum(Y[a, label] for a in train[i]))
            if Y[i, label]:
                c[delta] += 1
            else:
                c_not[delta] += 1
        for t in range(len(queries)):
            count = int(sum(Y[a, label] for a in test[t]))
            on = prior * (s + c[count]) / (s * (k + 1) + sum(c))
            off = (1 - prior) * (s + c_not[count]) / (s * (k + 1) + sum(c_not))
            labels[t, label] = on > off
            probability[t, label] = on / (on + off)
    return labels.astype(int), probability
