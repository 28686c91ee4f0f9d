import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import precision_recall_fscore_support

from colabel.metrics import MEASURES, evaluate, evaluate_labels, facet_accuracy
from metrics.instances_metrics import problem

SET_NAMES = [
    "subset_accuracy",
    "hamming_loss",
    "example_f1",
    "micro_f1",
    "macro_f1",
    "example_jaccard",
]
RANKING_NAMES = [
    "precision_at_1",
    "precision_at_3",
    "precision_at_5",
    "ndcg_at_5",
    "ranking_loss",
    "coverage",
    "one_error",
    "lrap",
]


@pytest.mark.parametrize("n_labels", [None, 1, 9])
def test_the_table_holds_what_the_measures_give_one_by_one(n_labels):
    for seed in range(150):
        Y, Z, scores, weights = problem(seed, n_labels)
        table = evaluate(Y, Z, scores, sample_weight=weights)
        assert list(table) == SET_NAMES + RANKING_NAMES
        for name, value in table.items():
            output = Z if name in SET_NAMES else scores
            alone = MEASURES[name].function(Y, output, sample_weight=weights)
            assert value == pytest.approx(alone, abs=1e-14), name


def test_without_scores_there_are_no_ranking_measures():
    assert list(evaluate([[1, 0]], [[1, 0]])) == SET_NAMES


def test_sparse_labels_and_data_frames_give_the_same_table():
    for seed in range(30):
        Y, Z, scores, weights = problem(seed)
        table = evaluate(Y, Z, scores, sample_weight=weights)
        for build in (sparse.csr_matrix, sparse.coo_array, pd.DataFrame):
            assert evaluate(build(Y), build(Z), scores, sample_weight=weights) == pytest.approx(
                table, abs=1e-14
            )


def test_values_are_plain_floats_that_json_takes():
    Y, Z, scores, _ = problem(0)
    table = evaluate(Y, Z, scores)
    assert all(type(value) is float for value in table.values())
    assert json.loads(json.dumps(table)) == table


def test_facets_add_their_accuracies():
    Y, Z = [[1, 0, 1, 0], [0, 1, 1, 0]], [[1, 0, 0, 1], [0, 1, 1, 0]]
    names, facets = ["a", "b", "c", "d"], [["a", "b"], ["c", "d"]]
    table = evaluate(Y, Z, facets=facets, label_names=names)
    accuracies = facet_accuracy(Y, Z, facets, label_names=names)
    assert list(table) == SET_NAMES + list(accuracies)
    assert {name: table[name] for name in accuracies} == accuracies
    frames = (pd.DataFrame(part, columns=names) for part in (Y, Z))
    assert evaluate(*frames, facets=facets) == table
    with pytest.raises(ValueError, match="facets names 'a', which is not one of the 4 labels"):
        evaluate(Y, Z, facets=facets)
    with pytest.raises(ValueError, match="facets must give each facet's labels"):
        evaluate(Y, Z, facets=["first", "second"])


def test_wrong_arguments_are_named_as_the_caller_named_them():
    with pytest.raises(ValueError, match=r"Y has shape \(1, 2\), but prediction has shape"):
        evaluate([[1, 0]], [[1, 0, 1]])
    with pytest.raises(ValueError, match="prediction must hold only 0 and 1"):
        evaluate_labels([[1, 0]], [[1, 2]])


def test_the_table_of_labels_equals_scikit_learn():
    for seed in range(60):
        Y, Z, _, weights = problem(seed)
        for undefined in (0.0, 1.0, np.nan):
            options = {"sample_weight": weights, "zero_division": undefined}
            table = evaluate_labels(Y, Z, **options)
            truth = precision_recall_fscore_support(Y, Z, average=None, **options)
            columns = ("precision", "recall", "f1", "support")
            for name, values in zip(columns, truth, strict=True):
                np.testing.assert_allclose(table[name], values, rtol=1e-12, err_msg=name)
            times = 1 if weights is None else weights[:, None]
            np.testing.assert_allclose(table["predicted"], (Z * times).sum(axis=0), rtol=1e-12)


def test_the_table_of_labels_has_their_names():
    Y = pd.DataFrame({"sea": [1, 0], "sun": [0, 0]})
    assert evaluate_labels(Y, Y)["label"].tolist() == ["sea", "sun"]
    assert evaluate_labels(Y, Y, label_names=["a", "b"])["label"].tolist() == ["a", "b"]
    assert evaluate_labels(Y.to_numpy(), Y)["label"].tolist() == ["0", "1"]
    with pytest.raises(ValueError, match="1 label names for 2 labels"):
        evaluate_labels(Y, Y, label_names=["a"])
