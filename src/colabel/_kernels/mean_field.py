"""Mean field of pairwise tables: independent labels as near as can be to the coupled ones.

    max over means m in [0, 1]^V of  sum_l u_l m_l + sum_{l<k} C_lk m_l m_k + sum_l H(m_l)

with the entropy ``H`` of a coin. Given the others, the best mean of a label is the logistic
function of its field ``u_l + sum_k C_lk m_k``: taking labels in turn, the objective never falls.
"""

import numpy as np

from colabel._kernels import plain_kernel

__all__ = ["mean_field_rows"]


@plain_kernel
def mean_field_rows(matrix, order, means, fields, tol, max_sweeps, sweeps):
    """Take the labels of each row in turn until no mean moves by more than ``tol``.

    Parameters
    ----------
    matrix : float64 array of shape (V, V)
        Couplings, symmetric with a zero diagonal.
    order : int64 array of shape (n_rows, V)
        Order in which the labels of each row are taken.
    means : float64 array of shape (n_rows, V)
        Where to start; the solution is written here.
    fields : float64 array of shape (n_rows, V)
        Fields at ``means``, kept up to date.
    tol : float
        Smaller moves are not made.
    max_sweeps : int
    sweeps : int64 array of shape (n_rows,)
        Sweeps made, written here; ``max_sweeps + 1`` where means were still moving.

    Notes
    -----
    O(V) for each mean that moves, and O(V) a sweep. A local maximum.
    """
    V = matrix.shape[0]
    for i in range(means.shape[0]):
        mean, field = means[i], fields[i]
        sweeps[i] = max_sweeps + 1
        for sweep in range(max_sweeps):
            moved = False
            for k in range(V):
                label = order[i, k]
                size = np.exp(-abs(field[label]))
                best = (1.0 if field[label] >= 0.0 else size) / (1.0 + size)
                change = best - mean[label]
                if abs(change) > tol:
                    moved = True
                    mean[label] = best
                    for m in range(V):
                        field[m] += change * matrix[label, m]
            if not moved:
                sweeps[i] = sweep + 1
                break
