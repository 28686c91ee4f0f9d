"""``colabel predict``: labels for new data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from colabel.cli._app import app
from colabel.cli._common import Data, Labels, ModelPath, Xml, align, load_data, open_model


@app.command()
def predict(
    model: ModelPath,
    data: Data,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help=".csv, .svm or .npz")
    ],
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities, not labels.")] = False,
    labels: Labels = None,
    xml: Xml = None,
) -> None:
    """Predict labels and write them to a file, under the names of the labels."""
    if output.suffix not in (".csv", ".svm", ".npz"):
        raise typer.BadParameter(f"-o takes a file ending in .csv, .svm or .npz, not {output}")
    if proba and output.suffix == ".svm":
        raise typer.BadParameter("--proba needs a .csv or .npz file: LIBSVM holds labels only")
    estimator, metadata = open_model(model)
    dataset = align(load_data(data, labels, xml), metadata, model, labels_too=False)
    if proba and not hasattr(estimator, "predict_proba"):
        raise typer.BadParameter(f"{metadata.get('method', model)} has no probabilities")
    found = estimator.predict_proba(dataset.X) if proba else estimator.predict(dataset.X)
    _write(np.asarray(found), metadata["label_names"], output)
    typer.echo(f"predicted {len(found)} samples; {output}")


def _write(found: Any, names: list[str], output: Path) -> None:
    if output.suffix == ".npz":
        np.savez_compressed(output, Y=found, label_names=np.array(names))
    elif output.suffix == ".csv":
        _write_csv(found, names, output)
    else:
        lines = [",".join(str(label) for label in np.flatnonzero(row)) + "\n" for row in found]
        output.write_text("".join(lines), encoding="ascii")


def _write_csv(found: Any, names: list[str], output: Path) -> None:
    import csv

    with output.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(found.tolist())
