"""What a run may keep besides measures: predictions and models, a file of each for every cell.

``predictions/KEY.npz`` has ``labels`` and ``truth`` (n_test, n_labels), ``scores`` where the method
has them, and ``label_names`` as JSON. ``models/KEY.skops`` is read by ``colabel.load``; a model
that cannot be saved leaves ``models/KEY.txt``, which says why. ``kept.csv`` names the files of each
row.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from colabel.datasets import Dataset
from colabel.exceptions import ColabelError, UnknownNameError
from colabel.lab.files import write_whole

__all__ = ["KINDS", "Kept", "check_kinds", "pack"]

KINDS = ("predictions", "models")


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return what is to be kept, or say what there is."""
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError(f"{kind!r} cannot be kept: there is {', '.join(KINDS)}")
    return tuple(dict.fromkeys(kinds))


def pack(
    keep: Sequence[str], estimator: Any, prediction: Any, scores: Any, test: Dataset
) -> dict[str, bytes]:
    """Return the files of a cell, by kind and suffix."""
    files = {}
    if "predictions" in keep:
        files["predictions.npz"] = _pack_predictions(prediction, scores, test)
    if "models" in keep:
        suffix, content = _pack_model(estimator, test)
        files[f"models{suffix}"] = content
    return files


class Kept:
    """The files of a run.

    Parameters
    ----------
    folder : path-like
        Where the folders of kinds are.
    kinds : sequence of str
        What this run keeps.
    """

    def __init__(self, folder: str | os.PathLike[str], kinds: Sequence[str]) -> None:
        self.folder, self.kinds = Path(folder), check_kinds(kinds)
        self._there: dict[str, dict[str, str]] = {kind: {} for kind in KINDS}
        for kind in KINDS:
            place = self.folder / kind
            if kind in self.kinds:
                place.mkdir(parents=True, exist_ok=True)
            if place.is_dir():
                names = (path.name for path in place.iterdir() if path.suffix != ".part")
                self._there[kind] = {name.partition(".")[0]: name for name in names}

    def has(self, key: str) -> bool:
        """Return whether all that this run keeps of a cell is there."""
        return all(self._name(kind, key) is not None for kind in self.kinds)

    def write(self, key: str, files: dict[str, bytes]) -> None:
        """Keep the files of a cell."""
        for name, content in files.items():
            kind, _, suffix = name.partition(".")
            write_whole(self.folder / kind / f"{key}.{suffix}", content)
            self._there[kind][key] = f"{key}.{suffix}"

    def paths(self, key: str, seen_from: Path) -> dict[str, str]:
        """Return the files of a cell by kind, as seen from a folder."""
        here = Path(os.path.relpath(self.folder, seen_from))
        names = {kind: self._name(kind, key) for kind in KINDS}
        return {kind: (here / kind / name).as_posix() for kind, name in names.items() if name}

    def _name(self, kind: str, key: str) -> str | None:
        """Return the file of a cell, which another process may have written since we began."""
        if key not in self._there[kind]:
            found = (self.folder / kind).glob(f"{key}.*")
            names = [path.name for path in found if path.suffix != ".part"]
            if not names:
                return None
            self._there[kind][key] = names[0]
        return self._there[kind][key]


def _pack_predictions(prediction: Any, scores: Any, test: Dataset) -> bytes:
    arrays = {
        "labels": _dense(prediction).astype(np.uint8),
        "truth": _dense(test.Y).astype(np.uint8),
        "label_names": np.array(json.dumps(list(test.label_names))),
    }
    if scores is not None:
        arrays["scores"] = np.asarray(scores, dtype=np.float64)
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def _pack_model(estimator: Any, test: Dataset) -> tuple[str, bytes]:
    from colabel.persistence import save

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        try:
            save(estimator, path, metadata={"label_names": list(test.label_names)})
        except ColabelError as error:
            return ".txt", f"{error}\n".encode()
        return ".skops", path.read_bytes()


def _dense(labels: Any) -> np.ndarray:
    return labels.toarray() if sparse.issparse(labels) else np.asarray(labels)
