"""A model and the data it is used on: the same columns, whatever their order."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from colabel.cli._data import FileOptions, is_registered, load_data
from colabel.cli._words import list_names, with_known_words
from colabel.exceptions import DataFormatError, DatasetNotFoundError, ModelFileError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

__all__ = ["is_svmlight", "load_for_model", "open_model"]


def open_model(path: Path) -> tuple[Any, dict[str, Any]]:
    """Load a model file and what ``fit`` noted beside the model."""
    from colabel.persistence import load, read_metadata

    if not path.exists():
        raise DatasetNotFoundError(f"there is no model file {path}; colabel fit makes one")
    if not path.is_file():  # opening a pipe would wait for ever
        raise ModelFileError(f"{path} cannot be read: it is no regular file")
    metadata = read_metadata(path)
    estimator = load(path)
    if not hasattr(estimator, "predict"):
        raise ModelFileError(f"{path} holds no model but a {type(estimator).__name__}")
    _check_notes(path, metadata)
    metadata.setdefault("method", type(estimator).__name__)
    return estimator, metadata


def _check_notes(path: Path, metadata: dict[str, Any]) -> None:
    for key in ("label_names", "feature_names"):
        names = metadata.setdefault(key, None)
        if names is not None and not _is_names(names):
            raise ModelFileError(f"{path} is damaged: {key} is not a list of names")
    for key, kind in (("labels", str), ("xml", str), ("zero_based", bool)):
        if not isinstance(metadata.setdefault(key, None), kind | None):
            raise ModelFileError(f"{path} is damaged: {key} is no {kind.__name__}")


def is_svmlight(name: str) -> bool:
    """Return whether DATA is a LIBSVM file."""
    return _format(name) == "svmlight"


def _format(name: str) -> str | None:
    """Return the format of a file; None for a registered dataset."""
    from colabel.datasets import format_of

    return None if is_registered(name) else format_of(name)


def load_for_model(
    name: str,
    metadata: dict[str, Any],
    model: Path,
    options: FileOptions,
    *,
    labels_too: bool = True,
) -> Dataset:
    """Load DATA with its columns in the order the model knows, by name.

    Prediction needs the features only, evaluation the labels too. Where the call does not say
    which columns are labels, those of the model are, or those that were chosen to fit it.
    """
    known = metadata["label_names"]
    data = _load(name, metadata, model, options, labels_too)
    Y, label_names = data.Y, data.label_names
    if labels_too and known is not None:
        Y = _arrange("label", data.Y, label_names, known, model, data.source)
        label_names = tuple(known)
        unknown = sorted(set(data.label_names) - set(known))
        if unknown:
            raise ModelFileError(f"{model} does not know {list_names('label', unknown)} of {name}")
    features = metadata["feature_names"]
    if features is None:
        return replace(data, Y=Y, label_names=label_names)
    if _names_columns(name):
        data = with_known_words(data, features, model)
    X = _arrange("feature", data.X, data.feature_names, features, model, data.source)
    return replace(data, X=X, Y=Y, feature_names=tuple(features), label_names=label_names)


def _load(
    name: str, metadata: dict[str, Any], model: Path, options: FileOptions, labels_too: bool
) -> Dataset:
    from colabel.datasets import load

    if is_svmlight(name):
        return _load_numbered(name, metadata, model, options)
    if options.given() or not _names_columns(name):
        return load_data(name, options)
    if not labels_too and metadata["feature_names"] is not None:
        return load(name, labels=[])
    known = metadata["label_names"]
    xml = None if metadata["xml"] is None else Path(metadata["xml"])
    chosen = FileOptions(metadata["labels"], xml)
    if known is None or (not chosen.given() and _format(name) == "arff"):
        return load_data(name, options)
    try:
        return load(name, labels=known)
    except DataFormatError as error:
        if not chosen.given() or error.kind != "unknown label":
            raise
        refusal = error
    # A label of words is called column=word, and the choice that was made names the column.
    with suppress(ValueError, OSError, typer.BadParameter):
        data = load_data(name, chosen)
        if set(known) <= set(data.label_names):
            return data
    raise refusal


def _load_numbered(
    name: str, metadata: dict[str, Any], model: Path, options: FileOptions
) -> Dataset:
    """Load a LIBSVM file whose features count from where those of the training file did."""
    try:
        return load_data(name, options, zero_based=metadata["zero_based"])
    except DataFormatError as error:
        if error.kind != "zero based":
            raise
        raise ModelFileError(
            f"{name} counts features from 0, the data {model} was fitted on from 1"
        ) from error


def _names_columns(name: str) -> bool:
    """Return whether DATA is a file whose label columns can be chosen among all its columns."""
    return _format(name) in ("csv", "arff")


def _is_names(names: Any) -> bool:
    return isinstance(names, list) and all(isinstance(name, str) for name in names)


def _arrange(
    what: str, A: Any, given: tuple[str, ...], known: list[str], model: Path, source: str
) -> Any:
    """Return the columns of ``A`` in the known order."""
    if list(given) == known:
        return A
    for names, owner in ((given, source), (known, str(model))):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ModelFileError(
                f"{owner} has two {what}s called {twice!r}: columns are matched by name; rename one"
            )
    place = {name: i for i, name in enumerate(given)}
    missing = [name for name in known if name not in place]
    if missing and is_svmlight(source) and known[: len(given)] == list(given):
        return _widen(A, len(known))
    if missing:
        raise ModelFileError(
            f"{model} was fitted on data with {list_names(what, missing)}, which this data does "
            f"not have ({len(given)} {what}s here, {len(known)} there)"
        )
    return A[:, [place[name] for name in known]]


def _widen(A: Any, width: int) -> Any:
    """Add empty columns: svmlight text does not say how wide it is."""
    import numpy as np
    from scipy import sparse

    if sparse.issparse(A):
        return sparse.csr_array((A.data, A.indices, A.indptr), shape=(A.shape[0], width))
    return np.pad(A, ((0, 0), (0, width - A.shape[1])))
