import numpy as np
import pytest
from scipy import sparse

from colabel import metrics
from metrics import oracles_metrics as oracle
from metrics.instances_metrics import problem

MEASURES = {
    "precision": metrics.propensity_scored_precision_at_k,
    "ndcg": metrics.propensity_scored_ndcg_at_k,
}


@pytest.mark.parametrize("k", [1, 2, 3, 9])
@pytest.mark.parametrize("kind", MEASURES)
def test_propensity_scored_measures_equal_the_plain_definition(kind, k):
    for seed in range(40):
        Y, _, scores, weights = problem(seed)
        propensity = np.random.default_rng(seed).uniform(0.05, 1.0, Y.shape[1])
        ours = MEASURES[kind](Y, scores, propensity, k, sample_weight=weights)
        truth = oracle.propensity_scored(
            kind, Y.tolist(), scores.tolist(), propensity.tolist(), k, weights
        )
        assert ours == pytest.approx(truth, abs=1e-12)


def test_labels_always_recorded_leave_the_plain_measures():
    for seed in range(40):
        Y, _, scores, weights = problem(seed)
        certain, options = np.ones(Y.shape[1]), {"sample_weight": weights}
        for kind, plain in (("precision", metrics.precision_at_k), ("ndcg", metrics.ndcg_at_k)):
            ours = MEASURES[kind](Y, scores, certain, 2, normalize=False, **options)
            assert ours == pytest.approx(plain(Y, scores, 2, **options), abs=1e-12)


def test_the_best_ranking_has_value_one_and_finding_a_rare_label_is_worth_more():
    Y, propensity = np.array([[1, 1, 0], [0, 1, 1]]), np.array([0.9, 0.5, 0.1])
    for measure in MEASURES.values():
        assert measure(Y, Y / propensity, propensity, 2) == pytest.approx(1.0)
        rare, common = [[0, 0, 0], [0, 1, 2]], [[0, 0, 0], [0, 2, 1]]
        assert measure(Y, rare, propensity, 1) > measure(Y, common, propensity, 1)


def test_no_true_label_anywhere_gives_zero():
    for measure in MEASURES.values():
        assert measure([[0, 0]], [[0.1, 0.2]], [0.5, 0.5], 1) == 0.0


def test_propensities_follow_the_formula_of_jain_et_al():
    Y = np.zeros((1000, 3), dtype=int)
    Y[:10, 0], Y[:500, 1] = 1, 1
    c = (np.log(1000) - 1) * 2.5**0.55
    truth = [1 / (1 + c * np.exp(-0.55 * np.log(n + 1.5))) for n in (10, 500, 0)]
    assert metrics.propensities(Y) == pytest.approx(truth)
    assert metrics.propensities(sparse.csr_matrix(Y)) == pytest.approx(truth)
    c = (np.log(1000) - 1) * 1.4**0.5
    wikipedia = [1 / (1 + c * (n + 0.4) ** -0.5) for n in (10, 500, 0)]
    assert metrics.propensities(Y, a=0.5, b=0.4) == pytest.approx(wikipedia)


def test_propensities_of_a_handful_of_samples_are_still_probabilities():
    for n_samples in (1, 2, 3, 4):
        values = metrics.propensities(np.ones((n_samples, 2)))
        assert (values > 0).all()
        assert (values <= 1).all()


@pytest.mark.parametrize(
    ("propensity", "message"),
    [
        ([0.5], r"propensity has shape \(1,\), but there are 2 labels"),
        ([0.5, 0.0], "propensity must lie above 0 and not above 1"),
        ([0.5, 1.5], "propensity must lie above 0 and not above 1"),
        ([0.5, np.nan], "propensity must lie above 0 and not above 1"),
    ],
)
def test_wrong_propensities_are_refused(propensity, message):
    for measure in MEASURES.values():
        with pytest.raises(ValueError, match=message):
            measure([[1, 0]], [[0.1, 0.2]], propensity, 1)


@pytest.mark.parametrize("constants", [{"a": -1.0}, {"b": 0.0}, {"a": np.nan}, {"b": np.inf}])
def test_wrong_constants_are_refused(constants):
    with pytest.raises(ValueError, match="propensities need a >= 0 and b > 0"):
        metrics.propensities([[1, 0]], **constants)
