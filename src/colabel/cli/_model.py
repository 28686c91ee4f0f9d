"""A model and the data it is used on: the same columns, whatever their order."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from colabel.cli._common import load_data
from colabel.exceptions import DatasetNotFoundError, ModelFileError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = ["load_for_model", "open_model"]

_CSV = re.compile(r"\.(csv|tsv)(\.gz)?$", re.IGNORECASE)
_SVMLIGHT = re.compile(r"\.(svm|libsvm|svmlight|txt)(\.gz)?$", re.IGNORECASE)


def open_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Load a model file and what ``fit`` noted beside the model."""
    from colabel.persistence import load, read_metadata

    if not path.exists():
        raise DatasetNotFoundError(f"there is no model file {path}; colabel fit makes one")
    metadata = read_metadata(path)
    estimator = load(path)
    if not hasattr(estimator, "predict"):
        raise ModelFileError(f"{path} holds no model but a {type(estimator).__name__}")
    for key in ("label_names", "feature_names"):
        names = metadata.setdefault(key, None)
        if names is not None and not _is_names(names):
            raise ModelFileError(f"{path} is damaged: {key} is not a list of names")
    metadata.setdefault("method", type(estimator).__name__)
    return estimator, metadata


def load_for_model(
    name: str,
    metadata: dict[str, Any],
    model: Path,
    labels: str | None,
    xml: Path | None,
    *,
    labels_too: bool = True,
) -> Dataset:
    """Load DATA with its columns in the order the model knows, by name.

    Prediction needs the features only, evaluation the labels too. The labels of a CSV file are
    those of the model unless the call says otherwise; for prediction it needs none.
    """
    from colabel.datasets import load

    known = metadata["label_names"]
    if labels is None and _CSV.search(name) and known is not None:
        data = load(name, labels=known if labels_too or metadata["feature_names"] is None else [])
    else:
        data = load_data(name, labels, xml)
    Y, label_names = data.Y, data.label_names
    if labels_too and known is not None:
        Y = _arrange("label", data.Y, label_names, known, model, data.source)
        label_names = tuple(known)
        unknown = sorted(set(data.label_names) - set(known))
        if unknown:
            raise ModelFileError(f"{model} does not know {_list('label', unknown)} of {name}")
    X, feature_names = data.X, data.feature_names
    if metadata["feature_names"] is not None:
        feature_names = tuple(metadata["feature_names"])
        X = _arrange("feature", X, data.feature_names, list(feature_names), model, data.source)
    return replace(data, X=X, Y=Y, feature_names=feature_names, label_names=label_names)


def _is_names(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _arrange(
    what: str, A: Any, given: tuple[str, ...], known: list[str], model: Path, source: str
) -> Any:
    """Put the columns of ``A`` into the known order."""
    if list(given) == known:
        return A
    place = {name: i for i, name in enumerate(given)}
    missing = [name for name in known if name not in place]
    if missing and _SVMLIGHT.search(source) and known[: len(given)] == list(given):
        return _widen(A, len(known))
    if missing:
        raise ModelFileError(
            f"{model} was fitted on data with {_list(what, missing)}, which this data does not "
            f"have ({len(given)} {what}s here, {len(known)} there)"
        )
    return A[:, [place[name] for name in known]]


def _widen(A: Any, width: int) -> Any:
    """Add empty columns: svmlight text does not say how wide it is."""
    import numpy as np
    from scipy import sparse

    if sparse.issparse(A):
        return sparse.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], width))
    return np.pad(A, ((0, 0), (0, width - A.shape[1])))


def _list(what: str, names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"the {what} {names[0]!r}{more}"
