"""Pictures of models, where they were kept: label graphs and components of mixtures."""

from __future__ import annotations

import base64
import io
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from colabel.exceptions import ColabelError
from colabel.lab.redo import cell_of
from colabel.lab.report.text import short
from colabel.lab.rows import Row
from colabel.lab.runs import Run
from colabel.persistence import load, read_metadata
from colabel.plot import components, label_prior, pyplot

__all__ = ["MAX_PICTURES", "ModelPicture", "model_pictures", "svg_uri"]

# A second or so each, and none is looked at twice beyond these.
MAX_PICTURES = 12
# What meta-estimators call the model that they have fitted.
INNER = ("best_estimator_", "estimator_")


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
