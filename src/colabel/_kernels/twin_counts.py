"""Best numbers of labels to take from classes of twins, by trying all of them.

Twins are labels with the same couplings to all others. Which of them are on matters to no other
label, so the best ``k`` of a class are those with the highest unary scores, and a labeling is a
number for each class:

    max  sum_c (prefix_c[k_c] + W_cc k_c (k_c - 1) / 2) + sum_{c<d} W_cd k_c k_d.
"""

import numpy as np

from colabel._kernels import kernel

__all__ = ["best_counts"]


@kernel
def best_counts(prefix, starts, W, nonempty, counts, value):
    """Try all numbers for each row.

    Parameters
    ----------
    prefix : float64 array of shape (n_rows, V + n_classes)
        Sums of the 0, 1, 2, ... highest unary scores of each class, class after class.
    starts : int64 array of shape (n_classes + 1,)
        Where the sums of each class begin.
    W : float64 array of shape (n_classes, n_classes)
        Couplings between classes, and within them on the diagonal.
    nonempty : bool
        Leave out no labels at all.
    counts : int64 array of shape (n_rows, n_classes)
        The best numbers, written here; of equal ones the first in lexical order.
    value : float64 array of shape (n_rows,)
        Their scores, written here.

    Notes
    -----
    O(n_classes) for each combination of numbers, of which there are the product of the class sizes
    plus one. Exact, up to rounding.
    """
    K = starts.size - 1
    k, field, base = np.zeros(K, np.int64), np.zeros((K + 1, K)), np.zeros(K + 1)
    for i in range(prefix.shape[0]):
        for c in range(K):
            k[c] = 0
        value[i] = -np.inf
        depth, total = 0, 0
        while depth >= 0:
            n = k[depth]
            if n == starts[depth + 1] - starts[depth]:
                # The class is done: back to the one before it.
                k[depth] = 0
                total -= n
                depth -= 1
                if depth >= 0:
                    k[depth] += 1
                    total += 1
                continue
            pairs = 0.5 * n * (n - 1)
            gain = prefix[i, starts[depth] + n] + n * field[depth, depth] + W[depth, depth] * pairs
            base[depth + 1] = base[depth] + gain
            if depth < K - 1:
                for c in range(depth + 1, K):
                    field[depth + 1, c] = field[depth, c] + n * W[depth, c]
                depth += 1
                continue
            if base[K] > value[i] and (total > 0 or not nonempty):
                value[i] = base[K]
                for c in range(K):
                    counts[i, c] = k[c]
            k[depth] += 1
            total += 1
