"""Distinct labelings and how often each occurs: all that a model of labels alone looks at.

Label matrices repeat themselves (1211 rows of the scene data are 14 labelings), so a step of EM
over distinct labelings, weighted by their counts, costs a fraction of one over rows and gives the
same result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from colabel.learners.label_sets import first_of_each

__all__ = ["LabelRows", "distinct_rows"]

Floats = NDArray[np.float64]

# Below this share of ones a sparse product is the faster one (measured for 50 to 1000 labels).
SPARSE_DENSITY = 0.05
# Cells of a block's table of likelihoods: half a megabyte, which a core's own cache holds.
BLOCK_CELLS = 1 << 16


@dataclass(frozen=True, eq=False)
class LabelRows:
    """Distinct labelings with counts.

    Parameters
    ----------
    labelings : ndarray or csr_array of shape (n_distinct, n_labels), float64, in {0, 1}
        In lexicographic order.
    counts : ndarray of shape (n_distinct,)
        Total weight of the rows that have each labeling.
    """

    labelings: Any
    counts: Floats

    @property
    def base_rates(self) -> Floats:
        """Share of the weight that has each label on, kept off 0 and 1 by half a row each."""
        return (self.counts @ self.labelings + 0.5) / (self.counts.sum() + 1.0)

    def blocks(self, width: int) -> list[LabelRows]:
        """Cut into blocks whose tables with ``width`` columns fit a cache.

        A block has at least as many labelings as there are labels: adding up what it finds costs
        as much as ``n_labels`` rows do.
        """
        slices = _slices(len(self.counts), max(BLOCK_CELLS // width, self.labelings.shape[1]))
        return [LabelRows(self.labelings[r], self.counts[r]) for r in slices]


def distinct_rows(Y: Any, weight: Floats | None = None) -> tuple[LabelRows, NDArray[np.int64]]:
    """Return the distinct rows of ``Y`` and the place of each row among them.

    Parameters
    ----------
    Y : ndarray or csr_array of shape (n_samples, n_labels), in {0, 1}
    weight : ndarray of shape (n_samples,) or None
        Weight of each row, one where None. Counts may be zero.

    Returns
    -------
    rows : LabelRows
    place : ndarray of shape (n_samples,)
        ``rows.labelings[place]`` is ``Y``.

    Notes
    -----
    O(n_samples n_labels) to pack eight labels in a byte, and a sort of the packed rows.
    """
    first, place = first_of_each(Y)
    counts = np.bincount(place, weight, minlength=len(first)).astype(np.float64)
    return LabelRows(_for_products(Y[first]), counts), place


def _for_products(labelings: Any) -> Any:
    """Return labelings as float64, dense or CSR, whichever multiplies faster."""
    is_sparse = sparse.issparse(labelings)
    n_on = labelings.nnz if is_sparse else np.count_nonzero(labelings)
    if n_on < SPARSE_DENSITY * labelings.shape[0] * labelings.shape[1]:
        return sparse.csr_array(labelings, dtype=np.float64)
    return (labelings.toarray() if is_sparse else labelings).astype(np.float64)


def _slices(n_rows: int, step: int) -> Iterator[slice]:
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))
