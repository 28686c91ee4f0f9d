import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from colabel import metrics

Y = np.array([[1, 0, 1], [0, 0, 1]])
Z = np.array([[1, 1, 1], [0, 0, 0]])
SCORES = np.array([[0.9, 0.1, 0.4], [0.2, 0.2, 0.3]])
NAMES = ["sea", "sun", "sand"]
LABEL_MEASURES = [m.function for m in metrics.MEASURES.values() if m.needs == "labels"]
SCORE_MEASURES = [m.function for m in metrics.MEASURES.values() if m.needs == "scores"]

CONTAINERS = {
    "lists": lambda table: table.tolist(),
    "bool": lambda table: table.astype(bool),
    "float32": lambda table: table.astype(np.float32),
    "unsigned": lambda table: table.astype(np.uint8),
    "object": lambda table: table.astype(object),
    "fortran": lambda table: np.asfortranarray(table),
    "pandas": lambda table: pd.DataFrame(table, columns=NAMES),
    "pandas numbered": lambda table: pd.DataFrame(table),
    "pandas nullable": lambda table: pd.DataFrame(table, columns=NAMES).astype("Int64"),
    "pandas boolean": lambda table: pd.DataFrame(table, columns=NAMES).astype("boolean"),
    "polars": lambda table: pl.DataFrame(table, schema=NAMES),
    "arrow": lambda table: pl.DataFrame(table, schema=NAMES).to_arrow(),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_what_an_array_gives(container):
    wrap = CONTAINERS[container]
    for measure in LABEL_MEASURES:
        assert measure(wrap(Y), wrap(Z)) == measure(wrap(Y), Z) == measure(Y, Z)
    for measure in SCORE_MEASURES:
        assert measure(wrap(Y), SCORES) == measure(Y, SCORES)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_scores_may_be_a_data_frame(frame):
    for measure in SCORE_MEASURES:
        assert measure(Y, frame(SCORES)) == measure(frame(Y), frame(SCORES)) == measure(Y, SCORES)


@pytest.mark.parametrize(
    ("true", "predicted", "message"),
    [
        (Y, Z[:1], r"Y_true has shape \(2, 3\), but Y_pred has shape \(1, 3\)"),
        (Y, sparse.csr_array(Z[:, :2]), r"but Y_pred has shape \(2, 2\)"),
        (Y[0], Z[0], r"Y_true must be two-dimensional, .*not of shape \(3,\)"),
        (Y, 1, r"Y_pred must be two-dimensional, .*not of shape \(\)"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "Y_true has no samples"),
        (sparse.csr_array((0, 3)), np.zeros((0, 3)), "Y_true has no samples"),
        (np.zeros((3, 0)), np.zeros((3, 0)), "Y_true has no labels"),
        (Y, 2 * Z, "Y_pred must hold only 0 and 1, not 2"),
        (-Y, Z, "Y_true must hold only 0 and 1, not -1"),
        (Y, 0.5 * Z, "Y_pred must hold only 0 and 1, not 0.5"),
        (np.where(Y == 1, np.nan, 0), Z, "Y_true must hold only 0 and 1, not nan"),
        (Y, sparse.csr_array(3 * Z), "Y_pred must hold only 0 and 1, not 3"),
        (sparse.csr_array(np.where(Y == 1, np.nan, 0)), Z, "Y_true must hold only 0 and 1"),
        (Y.astype(str), Z, "Y_true must hold only 0 and 1"),
        (Y.astype(str).astype(object), Z, "Y_true must hold only 0 and 1"),
        (Y, np.full(Z.shape, None), "Y_pred must hold only 0 and 1"),
        (Y + 0j, Z, "Y_true must hold only 0 and 1"),
        ([[1, 0], [1]], Z, "Y_true has rows of different lengths"),
        (Y, [[{}, 0, 1]] * 2, "Y_pred must hold only 0 and 1"),
        (pd.DataFrame({"a": [1, None]}), [[1], [0]], "Y_true must hold only 0 and 1, not nan"),
        (pl.DataFrame({"a": [1, None]}), [[1], [0]], "Y_true must hold only 0 and 1, not nan"),
        (pd.DataFrame(Y, columns=list("aab")), Z, "a data frame has two columns of the same name"),
        (pl.DataFrame(Y).lazy(), Z, "LazyFrame is not a data frame in memory: collect it first"),
    ],
)
def test_wrong_labels_are_refused_in_one_sentence(true, predicted, message):
    for measure in LABEL_MEASURES:
        with pytest.raises(ValueError, match=message) as caught:
            measure(true, predicted)
        assert "\n" not in str(caught.value)


def test_duplicate_entries_of_a_sparse_matrix_are_added_before_they_are_judged():
    for twice in (
        sparse.coo_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 2)),
        sparse.csr_array(([1, 1], [1, 1], [0, 2]), shape=(1, 2)),
    ):
        with pytest.raises(ValueError, match="Y_true must hold only 0 and 1, not 2"):
            metrics.hamming_loss(twice, [[0, 1]])
    whole = sparse.csr_array(([1, 0], [1, 1], [0, 2]), shape=(1, 2))
    assert metrics.hamming_loss(whole, [[0, 1]]) == 0.0


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (SCORES[:1], r"Y has shape \(2, 3\), but scores has shape \(1, 3\)"),
        (SCORES[0], "scores must be two-dimensional"),
        (np.where(SCORES > 0.8, np.nan, SCORES), "scores must not contain NaN"),
        (sparse.csr_array(SCORES), "scores must be dense"),
        (SCORES.astype(str), "scores must be numbers"),
        (np.full(SCORES.shape, None), "scores must not contain NaN"),
        (pl.DataFrame(SCORES).lazy(), "collect it first"),
    ],
)
def test_wrong_scores_are_refused_in_one_sentence(scores, message):
    for measure in SCORE_MEASURES:
        with pytest.raises(ValueError, match=message):
            measure(Y, scores)
    with pytest.raises(ValueError, match=message):
        metrics.evaluate(Y, Z, scores)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"sample_weight has shape \(1,\), but there are 2 samples"),
        ([[1.0], [1.0]], r"sample_weight has shape \(2, 1\)"),
        ([1.0, -1.0], "sample_weight must be finite and not negative"),
        ([1.0, np.nan], "sample_weight must be finite and not negative"),
        ([1.0, np.inf], "sample_weight must be finite and not negative"),
        ([0.0, 0.0], "sample_weight is zero for every sample"),
        (["a", "b"], "sample_weight must be numbers"),
    ],
)
def test_wrong_weights_are_refused_in_one_sentence(weights, message):
    for measure, output in [(m, Z) for m in LABEL_MEASURES] + [(m, SCORES) for m in SCORE_MEASURES]:
        with pytest.raises(ValueError, match=message):
            measure(Y, output, sample_weight=weights)
    with pytest.raises(ValueError, match=message):
        metrics.evaluate(Y, Z, SCORES, sample_weight=weights)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_with_other_columns_are_refused(frame):
    true = frame(dict(zip(NAMES, Y.T, strict=True)))
    moved = true[["sun", "sea", "sand"]]
    message = "has column 'sea' where .* has 'sun': give both the same columns in the same order"
    with pytest.raises(ValueError, match=message):
        metrics.f1_score(true, moved)
    with pytest.raises(ValueError, match=message):
        metrics.lrap(true, moved)
    with pytest.raises(ValueError, match=message):
        metrics.evaluate(true, Z, moved)


def test_arrays_need_neither_a_data_frame_library_nor_a_compiler():
    code = (
        "import sys, colabel; known = set(sys.modules); from colabel.metrics import evaluate;"
        "evaluate([[1, 0]], [[1, 1]], [[0.5, 0.2]]);"
        "heavy = {'pandas', 'polars', 'narwhals', 'numba', 'sklearn'};"
        "sys.exit(bool(heavy & (set(sys.modules) - known)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
