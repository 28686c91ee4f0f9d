"""``colabel fit``: learn a model and keep it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from colabel.cli._app import app
from colabel.cli._common import Data, Labels, Xml, check_file, load_data, parse_params

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
) -> None:
    """Fit a method to data and save the model."""
    from colabel.lab.methods import make
    from colabel.persistence import save

    params = parse_params(param)
    estimator = make(method, params, seed)
    check_file(output)
    dataset = load_data(data, labels, xml)
    started = time.perf_counter()
    estimator.fit(dataset.X, dataset.Y)
    seconds = time.perf_counter() - started
    metadata = {
        "method": method,
        "parameters": params,
        "seed": seed,
        "data": data,
        "label_names": list(dataset.label_names),
        "feature_names": list(dataset.feature_names),
        "fit_seconds": seconds,
    }
    save(estimator, output, metadata=metadata)
    typer.echo(
        f"fitted {method} to {dataset.n_samples} samples of {data} in {seconds:.1f} s; "
        f"model in {output}"
    )
