"""How many numbers a code has."""

from __future__ import annotations

from numbers import Integral

from colabel._parameters import check_real, check_whole

__all__ = ["check_components", "n_codes"]


def check_components(n_components: int | float | None) -> None:
    """Refuse what is neither ``None``, a whole number, nor a share of the labels."""
    if n_components is None:
        return
    if isinstance(n_components, Integral):
        check_whole(n_components, "n_components", least=1)
    else:
        check_real(n_components, "n_components", above=0.0, most=1.0)


def n_codes(n_components: int | float | None, n_labels: int) -> int:
    """Return the number of codes asked for: at least one, at most one a label."""
    if n_components is None:
        return n_labels
    if isinstance(n_components, Integral):
        return min(int(n_components), n_labels)
    return max(1, round(float(n_components) * n_labels))
