"""The first step of every cut: labels that their own scores decide."""

import numpy as np

from colabel._kernels import bare_kernel

__all__ = ["start"]


@bare_kernel
def start(unary, graph, low, high, labels):
    """Fix what a label's own score decides (-1 elsewhere); return the number left open.

    A positive unary turns a label on in every maximiser; one that all its couplings together
    cannot outweigh keeps it out of the smallest maximiser.
    """
    n_open = 0
    for i in range(labels.size):
        x = unary[i] * graph.scale[i]
        low[i] = high[i] = 0
        if unary[i] > 0.0:
            labels[i] = 1
        elif x <= -4e18:
            labels[i] = 0
        else:
            low[i] = np.int64(np.rint(x))
            high[i] = low[i] + graph.sums[i]
            labels[i] = 0 if high[i] <= 0 else -1
            n_open += high[i] > 0
    return n_open
