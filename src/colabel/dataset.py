"""One small frozen container for multi-label data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from colabel._old_keywords import takes_old_keywords, warn_of_old_name

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features, labels and their names.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), float64
        Dense or sparse as the source was.
    Y : ndarray or csr_array of shape (n_samples, n_labels), int8, in {0, 1}
        Dense, unless that would waste memory (see the guide to file formats); then sparse.
    feature_names, label_names : tuple of str
        In column order.
    name : str
        Registered name or file stem.
    split : str
        ``"all"``, ``"train"`` or ``"test"``.
    source : str
        Citation or path.
    facets : mapping of str to tuple of str, or None
        For data with facets: the name of each, and the names of its labels, of which exactly one
        is on.
    """

    X: Any
    Y: Any
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    name: str = "data"
    split: str = "all"
    source: str = ""
    facets: Mapping[str, tuple[str, ...]] | None = None

    @property
    def label_sets(self) -> Mapping[str, tuple[str, ...]] | None:
        """Old name of ``facets``."""
        warn_of_old_name("label_sets", "facets")
        return self.facets

    def __post_init__(self) -> None:
        if self.X.shape[0] != self.Y.shape[0]:
            raise ValueError(f"X has {self.X.shape[0]} rows, Y has {self.Y.shape[0]}")
        for what, names, width in (
            ("feature", self.feature_names, self.X.shape[1]),
            ("label", self.label_names, self.Y.shape[1]),
        ):
            if len(names) != width:
                raise ValueError(f"{len(names)} {what} names for {width} columns")

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of label columns."""
        return int(self.Y.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether ``X`` is sparse."""
        return bool(sparse.issparse(self.X))

    def take(self, rows: Any, split: str | None = None) -> Dataset:
        """Return the dataset of the given rows (indices, mask or slice)."""
        return Dataset(
            self.X[rows],
            self.Y[rows],
            self.feature_names,
            self.label_names,
            self.name,
            self.split if split is None else split,
            self.source,
            self.facets,
        )

    def statistics(self) -> dict[str, float | int]:
        """Return counts, label cardinality and density, and the number of distinct labelings."""
        n, n_labels = self.Y.shape
        n_on = int(self.Y.sum(dtype=np.int64))
        cardinality = n_on / n if n else 0.0
        return {
            "n_samples": int(n),
            "n_features": self.n_features,
            "n_labels": int(n_labels),
            "cardinality": cardinality,
            "density": cardinality / n_labels if n_labels else 0.0,
            "n_labelsets": _count_distinct_rows(self.Y),
        }

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return (
            f"Dataset({self.name!r}, split={self.split!r}, {self.n_samples} samples, "
            f"{self.n_features} {kind} features, {self.n_labels} labels)"
        )


setattr(Dataset, "__init__", takes_old_keywords(label_sets="facets")(Dataset.__init__))  # noqa: B010


def _count_distinct_rows(Y: Any) -> int:
    if sparse.issparse(Y):
        rows = sparse.csr_array(Y)
        rows.sort_indices()
        bounds = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
        return len({rows.indices[a:b].tobytes() for a, b in bounds})
    packed = np.packbits(np.asarray(Y, dtype=bool), axis=1)
    return len({row.tobytes() for row in packed})
