"""Columns of words: new rows seldom have every word, and may have new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from colabel.messages import warn_user

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = ["list_names", "with_known_words"]


def with_known_words(data: Dataset, known: Sequence[str], model: Path) -> Dataset:
    """Add the features ``column=word`` of words the model knows and the data does not have.

    They are 0, or NaN in rows where the word is missing. Words that only the data has are named
    in one warning.
    """
    given = data.feature_names
    heads = _heads(data, known)
    new = [name for name in given if name.startswith(heads) and name not in set(known)]
    if new:
        words = list_names("word", new)
        warn_user(f"{model} does not know {words} of {data.source}; ignored")
    lacking = [name for name in known if name.startswith(heads) and name not in set(given)]
    if not lacking:
        return data
    columns = [_empty(data, next(h for h in heads if name.startswith(h))) for name in lacking]
    X = _beside(data.X, np.column_stack(columns))
    return replace(data, X=X, feature_names=(*given, *lacking))


def _heads(data: Dataset, known: Sequence[str]) -> tuple[str, ...]:
    """Return ``column=`` for each column that holds words, here as in training."""
    from colabel.datasets import load

    if not any("=" in name for name in known):
        return ()
    columns = load(data.source, labels=[], one_hot=False).feature_names
    own = {*data.feature_names, *data.label_names}
    heads = [f"{column}=" for column in columns if column not in own]
    return tuple(h for h in heads if all(any(n.startswith(h) for n in s) for s in (own, known)))


def _empty(data: Dataset, head: str) -> np.ndarray:
    """Return the column of a word that does not occur: 0, or NaN where the row has no word."""
    sibling = next(i for i, name in enumerate(data.feature_names) if name.startswith(head))
    there = data.X[:, [sibling]]
    there = there.toarray() if hasattr(there, "toarray") else there
    return np.where(np.isnan(there[:, 0]), np.nan, 0.0)


def _beside(X: Any, block: np.ndarray) -> Any:
    from scipy import sparse

    if sparse.issparse(X):
        return sparse.csr_array(sparse.hstack([X, sparse.csr_array(block)], format="csr"))
    return np.hstack([X, block])


def list_names(what: str, names: list[str]) -> str:
    """Return the first name, and how many others there are."""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"the {what} {names[0]!r}{more}"
