"""One place that says whether components fit together, before any work is done."""

from __future__ import annotations

from colabel.decoders.base import BaseDecoder
from colabel.exceptions import IncompatibleError
from colabel.roles import Loss
from colabel.scores import Mixture, Pairwise, ScoreTable, Support

__all__ = ["check_compatible"]


def check_compatible(
    table: type[ScoreTable] | ScoreTable,
    decoder: BaseDecoder,
    loss: Loss | None = None,
    *,
    attractive: bool | None = None,
    distribution: bool | None = None,
) -> None:
    """Raise ``IncompatibleError`` unless ``decoder`` can decode ``table`` with ``loss`` added.

    Parameters
    ----------
    table : ScoreTable or its class
        What the model emits.
    decoder : BaseDecoder
    loss : BaseLoss or None
        The loss that training adds to the table.
    attractive : bool or None
        Whether the model promises couplings without repulsion; read off a ``Pairwise`` table
        where one is given.
    distribution : bool or None
        Whether the model promises probabilities; read off a table where one is given.

    Examples
    --------
    >>> from colabel.decoders import Threshold
    >>> from colabel.scores import Modular
    >>> check_compatible(Modular, Threshold())
    """
    kind = table if isinstance(table, type) else type(table)
    name = type(decoder).__name__
    if not issubclass(kind, decoder.accepts):
        known = " or ".join(accepted.__name__ for accepted in decoder.accepts)
        raise IncompatibleError(f"{name} decodes {known} tables, not {kind.__name__}")
    if isinstance(table, Pairwise):
        attractive = table.attractive
    if isinstance(table, ScoreTable):
        distribution = table.is_distribution
    if decoder.needs_distribution and not distribution:
        raise IncompatibleError(f"{name} needs probabilities, and this model has scores only")
    if decoder.needs_attractive and issubclass(kind, Pairwise) and not attractive:
        raise IncompatibleError(f"{name} needs couplings without repulsion (none below zero)")
    if loss is None:
        return
    reason = decoder.cannot_add(loss)
    if reason:
        raise IncompatibleError(reason)
    if loss.structure == "modular" and issubclass(kind, Mixture | Support):
        raise IncompatibleError(
            f"a modular loss cannot be added to a {kind.__name__} table, whose scores are not "
            "sums over labels"
        )
