"""What kept files show: results label by label, label graphs, components of mixtures."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from colabel.exceptions import ColabelError
from colabel.lab.redo import cell_of
from colabel.lab.report.text import short
from colabel.lab.rows import Row
from colabel.lab.runs import Run
from colabel.persistence import load, read_metadata
from colabel.plot import components, label_prior, pyplot

__all__ = [
    "MAX_PICTURES",
    "LabelTable",
    "ModelPicture",
    "label_tables",
    "model_pictures",
    "svg_uri",
]

# A second or so each, and none is looked at twice beyond these.
MAX_PICTURES = 12
# What meta-estimators call the model that they have fitted.
INNER = ("best_estimator_", "estimator_")


@dataclass(frozen=True)
class LabelTable:
    """F1 of every label by every method on one dataset.

    Parameters
    ----------
    data : str
    label_names : sequence of str
    n_true : ndarray of shape (n_labels,)
        Test samples that have the label, over all folds and seeds.
    methods : sequence of str
    f1 : ndarray of shape (n_labels, n_methods)
        NaN where a label is neither true nor predicted.
    """

    data: str
    label_names: Sequence[str]
    n_true: np.ndarray
    methods: Sequence[str]
    f1: np.ndarray

    def best(self, label: int) -> float:
        """Return the best F1 of a label; NaN where it has none, or all are equal."""
        known = self.f1[label][~np.isnan(self.f1[label])]
        return float(known.max()) if len(known) and np.ptp(known) else float("nan")


def label_tables(run: Run) -> list[LabelTable]:
    """Return a table for each dataset of which predictions were kept."""
    counts: dict[str, dict[str, np.ndarray]] = {}
    names: dict[str, list[str]] = {}
    for row, files in run.kept():
        if "predictions" in files:
            data = run.where(row)
            names[data], tally = _count(files["predictions"])
            of_data = counts.setdefault(data, {})
            of_data[row.method] = of_data.get(row.method, 0) + tally
    return [_table(data, names[data], of_data) for data, of_data in counts.items()]


def _table(data: str, names: list[str], counts: dict[str, np.ndarray]) -> LabelTable:
    hits, true, predicted = np.stack([*counts.values()], axis=-1)
    either = true + predicted
    f1 = np.divide(2.0 * hits, either, out=np.full(either.shape, np.nan), where=either > 0)
    # A method that failed on some folds has fewer test samples than the others.
    return LabelTable(data, names, true.max(axis=1), [*counts], f1)


def _count(path: Path) -> tuple[list[str], np.ndarray]:
    """Return label names and, of shape (3, n_labels), how often each is hit, true, predicted."""
    try:
        with np.load(path, allow_pickle=False) as file:
            labels, truth = file["labels"].astype(bool), file["truth"].astype(bool)
            names = [str(name) for name in json.loads(str(file["label_names"]))]
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise ColabelError(f"{path} cannot be read: {error}") from error
    sums = [part.sum(axis=0) for part in (labels & truth, truth, labels)]
    return names, np.array(sums, dtype=np.int64)


@dataclass(frozen=True)
class ModelPicture:
    """A picture, as the address of an image, and its words."""

    caption: str
    uri: str


def model_pictures(run: Run) -> list[ModelPicture]:
    """Draw the first model of each method on each dataset, where there is something to draw."""
    drawn: list[ModelPicture] = []
    seen: set[tuple[str, str]] = set()
    for row, files in run.kept():
        here = run.where(row), row.method
        if here in seen or files.get("models", Path()).suffix != ".skops":
            continue
        seen.add(here)  # a method that has nothing to draw has nothing in the next fold either
        picture = _draw(run, row, files["models"])
        if picture is not None:
            drawn.append(picture)
        if len(drawn) == MAX_PICTURES:
            break
    return drawn


def svg_uri(content: bytes) -> str:
    """Return an SVG file as the address of an image, inside which no script of it can run."""
    return f"data:image/svg+xml;base64,{base64.b64encode(content).decode('ascii')}"


def _draw(run: Run, row: Row, path: Path) -> ModelPicture | None:
    try:
        model, names = load(path), read_metadata(path).get("label_names")
    except ColabelError:  # of another version, or of types that are not trusted
        return None
    where = f"{short(row.method)} on {short(run.where(row))}, seed {row.seed}, fold {row.fold}"
    while True:
        if np.any(getattr(model, "prior_", getattr(model, "couplings_", 0.0))):
            figure = label_prior(model, label_names=names)
            return ModelPicture(f"{where}: which labels attract and which repel", _as_uri(figure))
        if hasattr(model, "predict_joint"):
            with suppress(ColabelError):  # no mixture, or the data are not there
                figure = components(model, _telling_row(model, run, row), labels=names)
                words = "the components that speak for the labels of one test sample"
                return ModelPicture(f"{where}: {words}", _as_uri(figure))
        inner = next((getattr(model, name) for name in INNER if hasattr(model, name)), None)
        if inner is None:
            return None
        model = inner


def _telling_row(model: Any, run: Run, row: Row) -> Any:
    """Return a test sample whose labels were all found, the more the better."""
    test = cell_of(run, row).fold.test()
    truth = test.Y.toarray() if hasattr(test.Y, "toarray") else np.asarray(test.Y)
    right = (np.asarray(model.predict(test.X)) == truth).all(axis=1)
    best = int(np.argmax(np.where(right, truth.sum(axis=1), -1)))
    return test.X[[best]]


def _as_uri(figure: Any) -> str:
    plt = pyplot()
    file = io.BytesIO()
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": "colabel"}):
        figure.savefig(file, format="svg", metadata={"Date": None})
    plt.close(figure)
    return svg_uri(file.getvalue())
