"""``colabel evaluate``: how good a model is on labelled data."""

from __future__ import annotations

import time

from colabel.cli._app import app
from colabel.cli._common import (
    Data,
    Json,
    Labels,
    ModelPath,
    Xml,
    align,
    load_data,
    number,
    open_model,
    print_json,
)


@app.command()
def evaluate(
    model: ModelPath, data: Data, labels: Labels = None, xml: Xml = None, as_json: Json = False
) -> None:
    """Measure a model's predictions on labelled data."""
    from colabel import metrics
    from colabel.lab.cell import label_scores

    estimator, metadata = open_model(model)
    dataset = align(load_data(data, labels, xml), metadata, model)
    started = time.perf_counter()
    prediction = estimator.predict(dataset.X)
    scores = label_scores(estimator, dataset.X)
    seconds = time.perf_counter() - started
    measures = metrics.evaluate(
        dataset.Y,
        prediction,
        scores,
        label_sets=dataset.label_sets,
        label_names=dataset.label_names,
    )
    if as_json:
        print_json(
            {
                "data": data,
                "method": metadata.get("method"),
                "n_samples": dataset.n_samples,
                "measures": measures,
                "seconds": seconds,
            }
        )
        return

    from rich.console import Console
    from rich.table import Table

    table = Table("measure", "value", title=f"{metadata.get('method')} on {data}")
    for name, value in measures.items():
        table.add_row(name, number(value))
    Console().print(table)
