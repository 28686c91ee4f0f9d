import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as sk

from colabel import metrics
from colabel.metrics import _inputs
from metrics import oracles_metrics as oracle
from metrics.instances_metrics import problem

SEEDS = range(200)
SCIKIT_LEARN = {
    "ranking_loss": sk.label_ranking_loss,
    "coverage": sk.coverage_error,
    "lrap": sk.label_ranking_average_precision_score,
}
ORACLES = {
    "ranking_loss": oracle.ranking_loss,
    "coverage": oracle.coverage,
    "lrap": oracle.lrap,
    "one_error": lambda y, s: 1 - oracle.expected(lambda r: oracle.precision_of(r, 1), y, s),
    "precision_at_3": lambda y, s: oracle.expected(lambda r: oracle.precision_of(r, 3), y, s),
    "ndcg_at_3": lambda y, s: oracle.ndcg(y, s, 3),
}


def assert_equal(ours, theirs, message=""):
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12, err_msg=message)


@pytest.mark.parametrize("name", SCIKIT_LEARN)
def test_rankings_equal_scikit_learn(name):
    measure, theirs = getattr(metrics, name), SCIKIT_LEARN[name]
    for seed in SEEDS:
        Y, _, scores, weights = problem(seed)
        ours = measure(Y, scores, sample_weight=weights)
        assert_equal(ours, theirs(Y, scores, sample_weight=weights), str(seed))


@pytest.mark.parametrize("k", [1, 2, 3, 5, 50])
def test_ndcg_equals_scikit_learn(k):
    for seed in SEEDS:
        Y, _, scores, weights = problem(seed)
        ours = metrics.ndcg_at_k(Y, scores, k, sample_weight=weights)
        assert_equal(ours, sk.ndcg_score(Y, scores, k=k, sample_weight=weights), str(seed))


@pytest.mark.parametrize("n_labels", [None, 1])
@pytest.mark.parametrize("name", ORACLES)
def test_rankings_equal_the_mean_over_all_ways_to_break_ties(name, n_labels):
    measure = metrics.get_measure(name).function
    for seed in range(60):
        Y, _, scores, weights = problem(seed, n_labels)
        rows = [ORACLES[name](y, s) for y, s in zip(Y.tolist(), scores.tolist(), strict=True)]
        ours = measure(Y, scores, sample_weight=weights)
        assert_equal(ours, oracle.mean(rows, weights), str(seed))


def test_coverage_from_zero_is_one_less_where_there_is_a_true_label():
    Y, scores = [[1, 0, 1], [0, 0, 0]], [[3.0, 2.0, 1.0]] * 2
    assert metrics.coverage(Y, scores) == 1.5
    assert metrics.coverage(Y, scores, start=0) == 1.0
    with pytest.raises(ValueError, match="start must be 0 or 1, not 2"):
        metrics.coverage(Y, scores, start=2)


def test_a_place_past_the_last_label_is_the_last_label():
    for seed in range(50):
        Y, _, scores, _ = problem(seed)
        n_labels = Y.shape[1]
        for measure in (metrics.precision_at_k, metrics.ndcg_at_k):
            assert measure(Y, scores, n_labels + 7) == measure(Y, scores, n_labels)
        assert_equal(metrics.precision_at_k(Y, scores, n_labels), Y.mean())


def test_a_tie_at_the_cut_is_counted_in_proportion():
    assert metrics.precision_at_k([[1, 0, 0, 0]], [[1, 1, 1, 0]], 1) == pytest.approx(1 / 3)
    assert metrics.one_error([[1, 0, 0, 0]], [[1, 1, 1, 0]]) == pytest.approx(2 / 3)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), data=st.data())
def test_neither_the_order_of_rows_nor_of_labels_matters(seed, data):
    Y, _, scores, weights = problem(seed)
    rows = data.draw(st.permutations(range(Y.shape[0])))
    columns = data.draw(st.permutations(range(Y.shape[1])))
    weights = np.ones(len(Y)) if weights is None else weights
    for measure in metrics.MEASURES.values():
        if measure.needs == "scores":
            before = measure.function(Y, scores, sample_weight=weights)
            moved = Y[rows][:, columns], scores[rows][:, columns]
            assert_equal(measure.function(*moved, sample_weight=weights[rows]), before)


def test_only_the_order_of_the_scores_matters():
    for seed in range(50):
        Y, _, scores, _ = problem(seed)
        for name in ("ranking_loss", "coverage", "lrap", "one_error"):
            measure = getattr(metrics, name)
            assert_equal(measure(Y, np.exp(scores) - 7), measure(Y, scores))
            assert_equal(measure(Y, scores.astype(np.float32)), measure(Y, scores))


def test_infinite_and_whole_number_scores_are_scores():
    scores = [[np.inf, 0.0, -np.inf], [-np.inf, np.inf, np.inf]]
    finite = np.array([[2, 1, 0], [0, 1, 1]])
    Y = [[1, 0, 1], [0, 1, 0]]
    for measure in metrics.MEASURES.values():
        if measure.needs == "scores":
            assert measure.function(Y, scores) == measure.function(Y, finite)


def test_blocks_of_rows_do_not_change_the_result(monkeypatch):
    rng = np.random.default_rng(0)
    Y, scores = rng.random((53, 4)) < 0.4, rng.integers(0, 4, (53, 4)) / 2
    whole = {name: metrics.get_measure(name).function(Y, scores) for name in ORACLES}
    for cells in (1, 12, 53):
        monkeypatch.setattr(_inputs, "BLOCK_CELLS", cells)
        for name, value in whole.items():
            assert metrics.get_measure(name).function(Y, scores) == value


def test_sparse_labels_give_what_dense_ones_give():
    for seed in range(30):
        Y, _, scores, weights = problem(seed)
        for name in ORACLES:
            measure = metrics.get_measure(name).function
            ours = measure(sparse.csc_array(Y), scores, sample_weight=weights)
            assert ours == measure(Y, scores, sample_weight=weights)


def test_memory_stays_small_beside_the_scores():
    rng = np.random.default_rng(0)
    scores = rng.random((10_000, 1_000), dtype=np.float32)  # 40 MB
    Y = sparse.csr_array(scores > 0.997)
    tracemalloc.start()
    metrics.lrap(Y, scores)
    metrics.ndcg_at_k(Y, scores, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.4 * scores.nbytes


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", None])
def test_a_place_that_is_no_whole_number_is_refused(k):
    with pytest.raises(ValueError, match="k must be a whole number of at least 1, not"):
        metrics.precision_at_k([[1, 0]], [[0.1, 0.2]], k)
