"""``colabel info``: what a dataset looks like."""

from __future__ import annotations

from typing import Any

import numpy as np

from colabel.cli._app import app
from colabel.cli._common import Json, print_json
from colabel.cli._data import Data, FileOptions, Labels, NFeatures, Xml, load_data


@app.command(epilog="Example: colabel info birds.csv --labels sings,swims")
def info(
    data: Data,
    labels: Labels = None,
    xml: Xml = None,
    n_features: NFeatures = None,
    as_json: Json = False,
) -> None:
    """Show statistics, label frequencies, and how strongly labels depend on one another."""
    from colabel.datasets import label_dependence

    dataset = load_data(data, FileOptions(labels, xml, n_features))
    count = np.asarray(dataset.Y.sum(axis=0)).ravel()
    facts: dict[str, Any] = {
        "name": dataset.name,
        "split": dataset.split,
        **dataset.statistics(),
        "sparse": dataset.is_sparse,
        "labels": [
            {"name": name, "count": int(on), "frequency": on / max(1, dataset.n_samples)}
            for name, on in zip(dataset.label_names, count, strict=True)
        ],
        "dependence": label_dependence(dataset.Y, dataset.label_names),
        "source": dataset.source,
    }
    if as_json:
        print_json(facts)
    else:
        _show(facts)


def _show(facts: dict[str, Any], most: int = 20) -> None:
    from rich.console import Console

    from colabel.cli._tables import plain_table, titled
    from colabel.cli._text import shown

    console = Console()
    console.print(
        shown(
            f"{facts['name']} ({facts['split']}): {facts['n_samples']} samples, "
            f"{facts['n_features']} {'sparse' if facts['sparse'] else 'dense'} features, "
            f"{facts['n_labels']} labels, {facts['n_labelsets']} distinct label sets, "
            f"{facts['cardinality']:.3f} labels per sample (density {facts['density']:.4f})"
        )
    )
    shares = plain_table()
    shares.add_column("label", overflow="fold")
    shares.add_column("count", justify="right")
    shares.add_column("share", justify="right")
    for label in sorted(facts["labels"], key=lambda label: -label["count"])[:most]:
        shares.add_row(shown(label["name"]), str(label["count"]), f"{label['frequency']:.4f}")
    console.print()
    console.print(titled("most frequent labels", shares))
    pairs = plain_table()
    pairs.add_column("label", overflow="fold")
    pairs.add_column("label", overflow="fold")
    pairs.add_column("φ", justify="right")
    pairs.add_column("together", justify="right")
    dependence = facts["dependence"]
    for pair in dependence["pairs"][: most // 2]:
        first, second = map(shown, pair["labels"])
        pairs.add_row(first, second, f"{pair['phi']:+.3f}", str(pair["together"]))
    if dependence["pairs"]:
        console.print()
        console.print(titled("most dependent pairs", pairs))
    console.print(f"\nmean |φ| over label pairs: {dependence['mean_abs_phi']:.4f}")
