"""What every decoder is: a search for the best labeling of each row of a score table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from colabel._renamed import RenamedParameters
from colabel.exceptions import IncompatibleError
from colabel.results import Decoded
from colabel.roles import Loss
from colabel.scores import Mixture, Pairwise, ScoreTable, Support

__all__ = ["BaseDecoder", "binary_rows", "with_doubt"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]


class BaseDecoder(RenamedParameters, BaseEstimator, ABC):
    """Find a labeling of large ``objective`` for each sample, and bound the best there is.

    Subclasses state what they take and promise:

    ``accepts``
        Score tables that they decode.
    ``exact``
        Whether the value of ``decode`` is the optimum (where a limit, if there is one, is not
        reached: the bound tells). What ``decode_counts`` proves is said by its bound alone.
    ``needs_attractive``
        Whether couplings must not be negative.
    ``needs_distribution``
        Whether the table must hold probabilities.
    ``handles``
        Loss structures (see ``colabel.losses.BaseLoss``) that they can add before decoding.

    Of labelings with equal objective an exact ``decode`` returns one with the fewest labels,
    where its class does not say otherwise.
    """

    accepts: ClassVar[tuple[type[ScoreTable], ...]] = ()
    exact: ClassVar[bool] = False
    needs_attractive: ClassVar[bool] = False
    needs_distribution: ClassVar[bool] = False
    handles: ClassVar[tuple[str, ...]] = ("modular",)

    def decode(self, scores: ScoreTable, *, nonempty: bool = False) -> Decoded:
        """Decode every row of ``scores``.

        Parameters
        ----------
        scores : ScoreTable
            One of the tables in ``accepts``.
        nonempty : bool, default=False
            Leave the empty labeling out of the search.

        Returns
        -------
        Decoded
        """
        self._check(scores, nonempty)
        return self._decode(scores, nonempty)

    def objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        """Return what ``decode`` maximises, at the labeling ``Z[i]`` of each sample ``i``."""
        self._check(scores)
        return self._objective(scores, binary_rows(scores, Z, "Z"))

    def _objective(self, scores: ScoreTable, Z: Labels) -> Floats:
        """Value labelings that have been checked."""
        return scores.value(Z)

    def refusal(
        self,
        table: type[ScoreTable],
        loss: Loss | None = None,
        *,
        attractive: bool | None = None,
        distribution: bool | None = None,
    ) -> str:
        """Say why a kind of table cannot be decoded, in one sentence; empty where it can.

        Parameters
        ----------
        table : type
            What the model emits.
        loss : BaseLoss or None
            The loss that training adds to the table.
        attractive : bool or None
            Whether the model promises couplings without repulsion.
        distribution : bool or None
            Whether the model promises probabilities.

        Examples
        --------
        >>> from colabel.decoders import Threshold
        >>> from colabel.scores import Modular, Pairwise
        >>> Threshold().refusal(Modular), Threshold().refusal(Pairwise)
        ('', 'Threshold decodes Modular tables, not Pairwise')
        """
        name = type(self).__name__
        if not issubclass(table, self.accepts):
            known = " or ".join(accepted.__name__ for accepted in self.accepts)
            return f"{name} decodes {known} tables, not {table.__name__}"
        if self.needs_distribution and not distribution:
            return f"{name} needs probabilities, and there are scores only"
        if self.needs_attractive and issubclass(table, Pairwise) and not attractive:
            return f"{name} needs couplings without repulsion (none below zero)"
        if loss is None:
            return ""
        reason = self.cannot_add(loss)
        if not reason and loss.structure == "modular" and issubclass(table, Mixture | Support):
            reason = (
                f"a modular loss cannot be added to a {table.__name__} table, whose scores are not "
                "sums over labels"
            )
        return reason

    def cannot_add(self, loss: Loss) -> str:
        """Say why the loss cannot be added to a table, in one sentence; empty where it can."""
        if loss.structure in self.handles:
            return ""
        name, what = type(self).__name__, type(loss).__name__
        return f"{name} cannot add {what}, a loss of structure {loss.structure!r}"

    def decode_counts(
        self,
        scores: ScoreTable,
        Y: Labels,
        counts_table: Callable[[int, int], Floats],
        *,
        nonempty: bool = False,
    ) -> Decoded:
        """Maximise ``objective + loss(Y, Z)`` over ``Z`` for a loss that depends on counts.

        Parameters
        ----------
        scores : ScoreTable
        Y : ndarray of shape (n_samples, n_labels)
            True labelings.
        counts_table : callable
            ``CountsLoss.counts_table``.
        nonempty : bool, default=False
            Leave the empty labeling out of the search.
        """
        raise IncompatibleError(f"{type(self).__name__} cannot add a loss that depends on counts")

    @abstractmethod
    def _decode(self, scores: ScoreTable, nonempty: bool) -> Decoded:
        """Decode a table that has been checked."""

    def _check(self, scores: ScoreTable, nonempty: bool = False) -> None:
        # Couplings are looked at by the decoders that need them of one sign.
        reason = self.refusal(type(scores), attractive=True, distribution=scores.is_distribution)
        if reason:
            raise IncompatibleError(reason)
        if nonempty and scores.n_labels == 0:
            raise ValueError("a table without labels has no labeling but the empty one")


def with_doubt(scores: ScoreTable, best: Floats) -> Floats:
    """Bound the best expectation of a measure in [0, 1], given the best under the table.

    Where a ``Support`` is part of a larger distribution the bound holds for that one. It is not
    cut off at 1: an answer that is perfect for the part is not proved to be so for the whole.
    """
    return best + scores.doubt if isinstance(scores, Support) else best


def binary_rows(scores: ScoreTable, Y: ArrayLike, name: str) -> Labels:
    """Return a labeling for each sample as 0 and 1 (what is above 0 is on), or refuse its shape.

    Kernels read as many labels as the table has: every public method that takes labelings
    passes them through here.
    """
    given = np.asarray(Y)
    if given.shape != (scores.n_samples, scores.n_labels):
        raise ValueError(
            f"{name} must hold a labeling for each sample, shape "
            f"({scores.n_samples}, {scores.n_labels}); got {given.shape}"
        )
    return np.ascontiguousarray(given > 0).astype(np.int8)
