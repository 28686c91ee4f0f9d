"""Finite distributions whose labelings differ between samples: the shared kernels, row by row.

The labels on in labeling ``s`` of sample ``i`` are ``members[starts[j]:starts[j + 1]]`` with
``j = i S + s`` and ``S`` labelings a sample.
"""

from colabel._kernels import kernel, plain_kernel
from colabel._kernels.expected_f import support_counts
from colabel._kernels.expected_jaccard import climb_support

__all__ = ["row_climbs", "row_counts"]


@plain_kernel
def row_counts(starts, members, log_p, tables, sizes, tops):
    """Fill the tables of ``support_counts`` for each sample from its own labelings.

    Parameters
    ----------
    starts, members : int64 arrays of shape (n S + 1,) and (n_on,)
    log_p : float64 array of shape (n, S)
    tables, sizes, tops
        As in ``mixture_counts``; filled.
    """
    n_labelings = log_p.shape[1]
    for i in range(log_p.shape[0]):
        own, row = starts[i * n_labelings : (i + 1) * n_labelings + 1], slice(i, i + 1)
        support_counts(own, members, log_p[row], tables[row], sizes[row], tops[row])


@kernel
def row_climbs(starts, members, log_p, nonempty, labels, values):
    """Climb as ``climb_support`` does, each sample by its own labelings.

    Parameters
    ----------
    starts, members, log_p
        As in `row_counts`.
    nonempty : bool
    labels : int8 array of shape (n, L)
    values : float64 array of shape (n,)
        Starts and their expected Jaccard indices; changed in place.
    """
    n_labelings = log_p.shape[1]
    for i in range(log_p.shape[0]):
        own, row = starts[i * n_labelings : (i + 1) * n_labelings + 1], slice(i, i + 1)
        climb_support(own, members, log_p[row], nonempty, labels[row], values[row])
