"""``colabel predict``: labels for new data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colabel.cli._app import app
from colabel.cli._common import ModelPath, check_file
from colabel.cli._data import Data, FileOptions, Labels, NFeatures, Xml, explain_missing
from colabel.cli._model import load_for_model, open_model
from colabel.exceptions import ModelFileError

if TYPE_CHECKING:
    from colabel.datasets import Dataset

SUFFIXES = (".csv", ".svm", ".npz")


@app.command(epilog="Example: colabel predict model yeast:test -o predicted.csv")
def predict(
    model: ModelPath,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help=".csv: a column for each label; .npz: arrays Y (or proba) and label_names; "
            ".svm: DATA with the predicted labels.",
        ),
    ],
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities, not labels.")] = False,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
) -> None:
    """Predict labels and write them to a file, under the names of the labels."""
    suffix = output.suffix.lower()
    if suffix not in SUFFIXES:
        raise typer.BadParameter(f"-o takes a file ending in .csv, .svm or .npz, not {output}")
    if proba and suffix == ".svm":
        raise typer.BadParameter("--proba needs a .csv or .npz file: LIBSVM text holds labels only")
    check_file(output, data, model, xml)
    estimator, metadata = open_model(model)
    if proba and not hasattr(estimator, "predict_proba"):
        raise typer.BadParameter(f"{metadata['method']} has no probabilities")
    options = FileOptions(labels, xml, n_features)
    dataset = load_for_model(data, metadata, model, options, labels_too=False)
    with explain_missing(dataset, data, metadata["method"]):
        found = estimator.predict_proba(dataset.X) if proba else estimator.predict(dataset.X)
    names = _label_names(metadata["label_names"], found, model)
    try:
        _write(found, names, dataset, output)
    except OSError as error:  # blame the file that was asked for, not the draft beside it
        raise OSError(error.errno, error.strerror, str(output)) from error
    typer.echo(f"predicted {dataset.n_samples} samples of {data} with {model}; {output}")


def _label_names(known: list[str] | None, found: Any, model: Path) -> list[str]:
    """Return the names of the predicted columns; numbers where the model was saved without."""
    if found.ndim != 2:
        raise ModelFileError(f"{model} predicts one class for each sample, not label sets")
    if known is None:
        return [f"label_{i}" for i in range(found.shape[1])]
    if len(known) != found.shape[1]:
        raise ModelFileError(f"{model} is damaged: {len(known)} names, {found.shape[1]} labels")
    return known


def _write(found: Any, names: list[str], dataset: Dataset, output: Path) -> None:
    """Write the file whole or not at all."""
    from colabel.files import atomic

    suffix = output.suffix.lower()
    if suffix == ".svm":
        _write_svm(found, names, dataset, output)
        return
    dense = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    with atomic(output) as file:
        (_write_npz if suffix == ".npz" else _write_csv)(dense, names, file)


def _write_npz(found: np.ndarray, names: list[str], file: IO[bytes]) -> None:
    key = "proba" if found.dtype.kind == "f" else "Y"
    arrays: dict[str, Any] = {key: found, "label_names": np.array(names, np.str_)}
    np.savez_compressed(file, **arrays)


def _write_csv(found: np.ndarray, names: list[str], file: IO[bytes]) -> None:
    import csv
    import io

    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(found.tolist())
    text.detach()  # flushes, and leaves the file open


def _write_svm(found: Any, names: list[str], dataset: Dataset, output: Path) -> None:
    """Write features too: readers skip the blank line that a row without labels would be."""
    from colabel.datasets import write

    write(replace(dataset, Y=found, label_names=tuple(names)), output)
