"""``colabel evaluate``: how good a model is on labelled data."""

from __future__ import annotations

import time

from colabel.cli._app import app
from colabel.cli._common import Json, ModelPath, print_json
from colabel.cli._data import Data, FileOptions, Labels, NFeatures, Xml, explain_missing
from colabel.cli._model import load_for_model, open_model


@app.command(epilog="Example: colabel evaluate model yeast:test")
def evaluate(
    model: ModelPath,
    data: Data,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
    as_json: Json = False,
) -> None:
    """Measure a model's predictions on labelled data."""
    from colabel import metrics
    from colabel.lab.cell import scores_of

    estimator, metadata = open_model(model)
    dataset = load_for_model(data, metadata, model, FileOptions(labels, xml, n_features))
    started = time.perf_counter()
    with explain_missing(dataset, data, metadata["method"]):
        prediction = estimator.predict(dataset.X)
        scores = scores_of(estimator, dataset.X, dataset.n_labels)
    seconds = time.perf_counter() - started
    measures = metrics.evaluate(
        dataset.Y,
        prediction,
        scores,
        facets=dataset.facets,
        label_names=dataset.label_names,
    )
    if as_json:
        print_json(
            {
                "data": data,
                "method": metadata["method"],
                "n_samples": dataset.n_samples,
                "measures": measures,
                "seconds": seconds,
            }
        )
    else:
        _show(f"{metadata['method']} on {data}, {dataset.n_samples} samples", measures)


def _show(title: str, measures: dict[str, float]) -> None:
    from rich.console import Console

    from colabel.cli._tables import arrow, plain_table, titled
    from colabel.cli._text import number, shown

    table = plain_table()
    table.add_column("measure")
    table.add_column("value", justify="right")
    for name, value in measures.items():
        table.add_row(shown(f"{name} {arrow(name)}"), number(value))
    Console().print(titled(title, table))
