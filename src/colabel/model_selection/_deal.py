"""Deal rows out to parts so that every part gets its share of every label.

Iterative stratification (Sechidis, Tsoumakas and Vlahavas 2011) with four changes. Rows come in
*units* that stay together, so that groups need no code of their own. Rows without any label count
as carrying one more label. A part takes no more rows than its size while another has room, so that
sizes are exact where units are single rows. And swaps of random pairs, kept where they lower the
chi-square statistic of the labels-by-parts table, repair what the greedy pass leaves uneven in the
frequent labels. ``benchmarks/stratification.py`` measures what the last two give.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import type_of_target

__all__ = ["deal"]

# Trials of swaps come in rounds, until fewer than one in ten thousand helps.
MAX_ROUNDS = 30
MIN_TRIALS = 20_000


def deal(
    Y: Any,
    groups: Any,
    sizes: np.ndarray,
    rng: np.random.RandomState | None,
    shares: np.ndarray | None = None,
) -> np.ndarray:
    """Return the part of each row.

    Parameters
    ----------
    Y : array-like, sparse matrix or DataFrame of shape (n_samples, n_labels), or 1-D classes
        The labels to balance.
    groups : array-like of shape (n_samples,) or None
        Rows of one group stay together.
    sizes : ndarray of shape (n_parts,), summing to n_samples
        Rows of each part: exact without groups, aimed at with groups.
    rng : RandomState or None
        With None, rows are dealt in their order and ties go to the first part.
    shares : int ndarray of shape (n_parts,), default=sizes
        Relative shares of the labels.

    Returns
    -------
    part : int64 ndarray of shape (n_samples,)
    """
    from colabel._kernels.stratify import place_units

    units, unit_of_row = _unit_table(label_table(Y), groups)
    n_parts, n_units = len(sizes), units.shape[0]
    if n_units < n_parts:
        what = "samples" if groups is None else "groups"
        raise ValueError(f"{n_units} {what} cannot fill {n_parts} parts; ask for fewer parts.")
    shares = np.asarray(sizes if shares is None else shares, dtype=np.int64)
    row_order, label_order = _orders(units, rng)
    units = _sorted_csr(units[row_order][:, label_order])
    by_label = units.tocsc()
    part = place_units(
        *_arrays(units),
        by_label.indptr.astype(np.int64),
        by_label.indices.astype(np.int64),
        shares,
        np.array(sizes, dtype=np.int64),
        np.zeros(n_units, np.int64) if rng is None else rng.randint(2**31 - 1, size=n_units),
    )
    trials = np.random.RandomState(0) if rng is None else rng
    expected = _expected_counts(units, shares, sizes)
    part = _even_out(units, part, expected, trials, allow_moves=groups is not None)
    dealt = np.empty(n_units, dtype=np.int64)
    dealt[row_order] = part
    return dealt[unit_of_row]


def label_table(Y: Any) -> sparse.csr_array:
    """Return labels as a CSR table of ones; the classes of a 1-D target become labels."""
    if not sparse.issparse(Y):
        Y = check_array(Y, ensure_2d=False, dtype=None, input_name="Y")
        if Y.ndim == 1:
            return _class_table(Y)
    values = Y.data if sparse.issparse(Y) else Y
    if Y.ndim != 2 or not np.isin(values, (0, 1)).all():
        raise ValueError("Y must be a table of 0 and 1, one column per label, or 1-D classes.")
    return sparse.csr_array(Y != 0, dtype=np.int64)


def _class_table(y: np.ndarray) -> sparse.csr_array:
    kind = type_of_target(y, input_name="Y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"A 1-D Y must hold classes; this one is {kind}.")
    classes, label = np.unique(y, return_inverse=True)
    rows = np.arange(len(y) + 1)
    return sparse.csr_array((np.ones(len(y), np.int64), label, rows), (len(y), len(classes)))


def _unit_table(labels: sparse.csr_array, groups: Any) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the units' counts and each row's unit.

    The columns are: rows, rows without labels where there are some, labels that occur.
    """
    n_samples = labels.shape[0]
    occurs = labels.sum(axis=0) > 0
    bare = np.diff(labels.indptr) == 0
    columns = [np.ones((n_samples, 1), np.int64)]
    if bare.any():
        columns.append(bare[:, None].astype(np.int64))
    table = sparse.csr_array(sparse.hstack([*columns, labels[:, np.flatnonzero(occurs)]]))
    rows = np.arange(n_samples)
    if groups is None:
        return table, rows
    try:
        unit_of_row = np.unique(column_or_1d(groups), return_inverse=True)[1]
    except TypeError:
        raise ValueError("groups must be of one kind, all numbers or all strings.") from None
    shape = (int(unit_of_row.max()) + 1, n_samples)
    members = sparse.csr_array((np.ones(n_samples, np.int64), (unit_of_row, rows)), shape)
    return sparse.csr_array(members @ table), unit_of_row


def _orders(
    units: sparse.csr_array, rng: np.random.RandomState | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of units (large ones first) and of labels; column 0 stays first."""
    n_units, n_columns = units.shape
    row_order = np.arange(n_units) if rng is None else rng.permutation(n_units)
    label_order = np.arange(1, n_columns) if rng is None else 1 + rng.permutation(n_columns - 1)
    sizes = units[:, [0]].toarray().ravel()[row_order]
    return row_order[np.argsort(-sizes, kind="stable")], np.r_[0, label_order]


def _expected_counts(units: sparse.csr_array, shares: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the counts of each label that each part should hold, of shape (n_labels, n_parts).

    They follow the sizes; but a label too rare for every part follows the shares, or else the
    folds that are larger by one row would draw all such labels.
    """
    totals = units.sum(axis=0)
    expected = np.outer(totals, sizes / np.sum(sizes))
    rare = totals < len(shares)
    expected[rare] = np.outer(totals[rare], shares / shares.sum())
    return expected


def _even_out(
    units: sparse.csr_array,
    part: np.ndarray,
    expected: np.ndarray,
    rng: np.random.RandomState,
    allow_moves: bool,
) -> np.ndarray:
    """Return ``part`` after rounds of swaps of random pairs; see the module's first lines."""
    from colabel._kernels.stratify import swap_units

    n_units, (n_labels, n_parts) = units.shape[0], expected.shape
    indptr, indices, counts = _arrays(units)
    cells = indices * n_parts + np.repeat(part, np.diff(indptr))
    found = np.bincount(cells, counts, n_labels * n_parts).reshape(n_labels, n_parts)
    surplus, weights = found - expected, 1.0 / expected
    n_places = n_units
    if allow_moves:
        # To move a unit is to swap it with one of as many units without rows, spread over parts.
        n_places = 2 * n_units
        indptr = np.r_[indptr, np.full(n_units, indptr[-1])]
        part = np.r_[part, np.arange(n_units) % n_parts]
    n_trials = max(MIN_TRIALS, n_units)
    for _ in range(MAX_ROUNDS):
        first, second = rng.randint(n_units, size=n_trials), rng.randint(n_places, size=n_trials)
        n_swaps = swap_units(indptr, indices, counts, part, surplus, weights, first, second)
        if n_swaps < n_trials / 10_000:
            break
    return part[:n_units]


def _sorted_csr(table: Any) -> sparse.csr_array:
    table = sparse.csr_array(table)
    table.sort_indices()
    return table


def _arrays(table: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the three arrays of a CSR table as the kernels want them."""
    indptr, indices, counts = table.indptr, table.indices, table.data
    return indptr.astype(np.int64), indices.astype(np.int64), counts.astype(np.int64)
