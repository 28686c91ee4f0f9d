"""What floating point can tell apart in a pairwise table, and what a label costs in a tie.

Scores are sums of up to n_labels^2 numbers. Where these are all multiples of one unit, sums are
exact. Elsewhere two labelings whose scores differ by less than the rounding of such a sum cannot
be told apart; a price per label of that order lets the fewest labels win. Where a label has no
number that stands out of the rounding, which takes a table of very different numbers, the rounding
is part of the gap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from colabel.decoders.base import Floats

__all__ = ["Tolerance", "lowest_unit"]

EPS = float(np.finfo(np.float64).eps)
# A rounding of this share of a label's own numbers says nothing about the label.
PLAIN = 1e-9
# Labels whose largest numbers differ by this factor are better looked at apart.
WIDE = 1e3
# Units below this share of the largest number are none: few sums would be equal.
COARSE = 1e-6


@dataclass(frozen=True, eq=False)
class Tolerance:
    """Rounding, price of a label, and what to make of them, for each row of a table.

    Parameters
    ----------
    rounding : ndarray of shape (n_rows,)
        A search with prices, complete, may have missed this much. 0 where sums are exact.
    price : ndarray of shape (n_rows,)
        What a label costs.
    plain : ndarray of shape (n_rows,), bool
        Whether the rounding is negligible for every label.
    wide : ndarray of shape (n_rows,), bool
        Whether it is not, because a few numbers are much larger than the others.
    """

    rounding: Floats
    price: Floats
    plain: NDArray[np.bool_]
    wide: NDArray[np.bool_]

    @classmethod
    def of(cls, unary: Floats, matrix: Floats) -> Tolerance:
        """Look at tables with shared couplings (dense, zero diagonal)."""
        n_labels, pairs = unary.shape[1], np.abs(matrix)
        # sum_l |u_l| + sum_{l<m} |C_lm|
        size = np.abs(unary).sum(axis=1) + 0.5 * pairs.sum()
        own = np.maximum(np.abs(unary), pairs.max(axis=1, initial=0.0))
        unit = lowest_unit(unary, matrix)
        # Two parts for the prices, which miss ties only, and one for the sums.
        rounding = np.where(unit > 0.0, 0.0, 3.0 * EPS * n_labels * size)
        price = np.where(unit > 0.0, unit / (2.0 * n_labels + 2.0), 2.0 * EPS * size)
        smallest = np.where(own > 0.0, own, np.inf).min(axis=1, initial=np.inf)
        plain = rounding <= PLAIN * smallest
        wide = ~plain & (own.max(axis=1, initial=0.0) > WIDE * smallest)
        return cls(rounding, price, plain, wide)

    def take(self, rows: NDArray[np.int64]) -> Tolerance:
        """Return that of some rows."""
        return Tolerance(self.rounding[rows], self.price[rows], self.plain[rows], self.wide[rows])

    @property
    def doubt(self) -> Floats:
        """What a complete search leaves between value and bound."""
        return np.where(self.plain, 0.0, self.rounding)


def lowest_unit(unary: Floats, matrix: Floats) -> Floats:
    """Return the power of two of which all numbers of a row are multiples; 0 if it is tiny."""
    shared = _lowest_bit(matrix).min(initial=np.inf)
    unit = np.minimum(_lowest_bit(unary).min(axis=1, initial=np.inf), shared)
    largest = np.maximum(np.abs(unary).max(axis=1, initial=0.0), np.abs(matrix).max(initial=0.0))
    return np.where((unit < np.inf) & (unit >= COARSE * largest), unit, 0.0)


def _lowest_bit(numbers: Floats) -> Floats:
    """Return the value of the last bit set in each number, infinity for zeros."""
    mantissa, exponent = np.frexp(numbers)
    bits = np.ldexp(np.abs(mantissa), 53).astype(np.int64)
    low = np.ldexp((bits & -bits).astype(np.float64), exponent - 53)
    return np.where(numbers == 0, np.inf, low)
