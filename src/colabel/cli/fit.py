"""``colabel fit``: learn a model and keep it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from colabel.cli._app import app
from colabel.cli._common import check_file, parse_params
from colabel.cli._data import (
    Data,
    FileOptions,
    Labels,
    NFeatures,
    Xml,
    explain_missing,
    load_training_data,
)
from colabel.cli._model import is_svmlight

if TYPE_CHECKING:
    from colabel.datasets import Dataset

Method = Annotated[str, typer.Option("-m", "--method", metavar="NAME", help="See colabel methods.")]
Params = Annotated[
    list[str],
    typer.Option(
        "-p", "--param", metavar="KEY=VALUE", help="A parameter of the method; repeat it for more."
    ),
]


@app.command(epilog="Example: colabel fit yeast:train -m br -p C=0.5 -o model")
def fit(
    data: Data,
    method: Method,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="MODEL", help="Model file.")],
    param: Params = [],  # noqa: B006 - typer reads it
    seed: Annotated[int, typer.Option(help="Fixes what is random.")] = 0,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
) -> None:
    """Fit a method to data and save the model."""
    from colabel.lab.methods import make

    params = parse_params(param)
    estimator = make(method, params, seed)
    check_file(output, data, xml)
    dataset = load_training_data(data, FileOptions(labels, xml, n_features))
    notes = {"method": method, "parameters": params, "seed": seed, "data": data, "labels": labels}
    seconds = fit_and_save(estimator, dataset, output, xml, notes)
    typer.echo(
        f"fitted {method} to {dataset.n_samples} samples of {data} in {seconds:.1f} s; "
        f"model in {output}"
    )


def fit_and_save(
    estimator: Any, dataset: Dataset, output: Path, xml: Path | None, notes: dict[str, Any]
) -> float:
    """Fit an estimator, keep it with ``notes`` on how it was made; return the seconds of fitting.

    ``notes`` have ``method``, ``parameters``, ``seed``, ``data`` and ``labels``, as in the call.
    """
    from colabel.lab.methods import with_facets
    from colabel.persistence import save

    estimator = with_facets(estimator, dataset)
    data = notes["data"]
    started = time.perf_counter()
    with explain_missing(dataset, data, notes["method"]):
        estimator.fit(dataset.X, dataset.Y)
    seconds = time.perf_counter() - started
    metadata = {
        **notes,
        "xml": None if xml is None else str(xml.absolute()),
        "zero_based": _is_zero_based(dataset) if is_svmlight(data) else None,
        "label_names": list(dataset.label_names),
        "feature_names": list(dataset.feature_names),
        "fit_seconds": seconds,
    }
    save(estimator, output, metadata=metadata)
    return seconds


def _is_zero_based(dataset: Dataset) -> bool:
    """Return whether a LIBSVM file was taken to count features from 0, by reading it so."""
    from colabel.datasets import load

    counted_from_0 = load(dataset.source, zero_based=True, n_features=dataset.n_features + 1).X
    return np.array_equal(counted_from_0.indices, dataset.X.indices)
