"""Run folders written by hand, with names that attack the reader."""

import csv
import io
import json

import numpy as np

from colabel.lab.rows import WHERE
from colabel.lab.run_folder import COLUMNS
from colabel.metrics import MEASURE_NAMES

HOSTILE = (
    "<script>window.ran = 1</script>",
    "\"'><img src=x onerror='window.ran = 2'>",
    "</title></style></textarea><svg onload='window.ran = 3'>",
    "a long name, " + 10_000 * "x",
    "שלום עולם \u202eturned",
    "{{ 7 * 7 }} `|*_[a](javascript:window.ran=4) \\ $x$ 100% & #1 ~ ^",
)
LOSSES = {"hamming_loss", "ranking_loss", "coverage", "one_error"}
SCORES = ("precision_at", "ndcg", "ranking", "coverage", "one_error", "lrap")


def write_run(
    folder,
    data=("d0", "d1", "d2", "d3"),
    methods=("best", "middle", "worst"),
    seeds=(0, 1),
    *,
    split="holdout:0.3",
    failed=None,
    no_scores=(),
    left_out=(),
    **about,
):
    """Write a run in which methods are better the earlier they come, and take longer.

    ``failed`` has reasons by (data, method); ``left_out`` pairs that were never run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    rows = []
    for d, name in enumerate(data):
        for seed in seeds:
            for m, method in enumerate(methods):
                if (name, method) in left_out:
                    continue
                row = dict.fromkeys(COLUMNS, "")
                row |= {"data": name, "split": split, "fold": 0, "seed": seed, "method": method}
                row |= {"parameters": json.dumps({"C": m + 1}) if m else "{}"}
                row["status"] = (failed or {}).get((name, method), "ok")
                if row["status"] == "ok":
                    row |= {"fit_seconds": 10.0 / (m + 1), "predict_seconds": 0.01}
                    row |= {"peak_memory_mb": 200.0 + m}
                    row |= _measures(
                        0.9 - 0.1 * m - 0.05 * d + 0.001 * rng.normal(), method, no_scores
                    )
                rows.append(row)
    _write(folder / "results.csv", (*COLUMNS, *MEASURE_NAMES), rows)
    versions = {"colabel": "0.1.0", "python": "3.11.7"}
    known = {"data": list(data), "methods": list(methods), "seeds": list(seeds)}
    known |= {"n_cells": len(rows), "started": "2026-01-02T03:04:05", "versions": versions}
    (folder / "run.json").write_text(json.dumps({**known, **about}), encoding="utf-8")
    return folder


def write_predictions(folder, label_names, methods, data="d0", split="holdout:0.3", seeds=(0, 1)):
    """Keep predictions beside a run: the first method is always right, others less and less."""
    rng = np.random.default_rng(1)
    (folder / "predictions").mkdir()
    rows = []
    for seed in seeds:
        truth = rng.integers(0, 2, size=(40, len(label_names)))
        for m, method in enumerate(methods):
            wrong = rng.random(truth.shape) < 0.2 * m
            path = folder / "predictions" / f"{seed}-{m}.npz"
            names = np.array(json.dumps(list(label_names)))
            np.savez(path, labels=truth ^ wrong, truth=truth, label_names=names)
            row = dict(zip(WHERE, (data, split, 0, seed, method), strict=True))
            rows.append({**row, "predictions": f"predictions/{path.name}"})
    _write(folder / "kept.csv", (*WHERE, "key", "predictions", "models"), rows)


def _measures(value, method, no_scores):
    shown = {}
    for name in MEASURE_NAMES:
        if method in no_scores and name.startswith(SCORES):
            continue
        shown[name] = 1.0 - value if name in LOSSES else value
    return shown


def _write(path, columns, rows):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
