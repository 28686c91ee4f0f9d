"""Statistics of comparisons, against published numbers and against two other libraries."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from colabel.lab.statistics import (
    average_ranks,
    bayesian_signed_rank,
    corrected_t_test,
    critical_difference,
    friedman,
    holm,
    mean_sd,
    nemenyi,
    wilcoxon_holm,
)

# Table 6 of Demšar (2006): AUC of C4.5 with its parameters m and cf chosen or not, 14 datasets.
# Two values of the 13th row are printed equal and ranked 2 and 3: a digit is added to the first.
C45 = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# Table 5 (a) of Demšar (2006): q of the Nemenyi test for 2 to 10 methods.
Q_05 = (1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164)
Q_10 = (1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920)


def tables(n_tables=60):
    """Yield tables of values, a third of them with many ties."""
    rng = np.random.default_rng(9)
    for number in range(n_tables):
        shape = rng.integers(3, 25), rng.integers(3, 9)
        table = rng.normal(size=shape) + rng.normal(size=shape[1])
        yield np.round(table) if number % 3 == 0 else table


def test_the_worked_example_of_demsar():
    found = friedman(C45)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.statistic == pytest.approx(9.28, abs=0.005)
    assert found.f_statistic == pytest.approx(3.69, abs=0.005)
    assert found.f_p_value < 0.05 < stats.f.sf(2.84, 3, 39)  # its critical value is 2.85
    assert nemenyi(C45).critical_difference == pytest.approx(1.25, abs=0.005)
    at_10 = nemenyi(C45, alpha=0.1)
    assert at_10.critical_difference == pytest.approx(1.12, abs=0.005)
    # "the difference between the best and the two worst": at 0.10, C4.5 is worse than +m, +m+cf.
    assert at_10.groups == ((3, 1, 2), (2, 0))


def test_the_signed_ranks_of_demsar():
    found = wilcoxon_holm(C45[:, :2])  # Table 2: R+ is 93, R- is 12
    assert found.statistics == [12.0]
    assert found.p_values[0] < 0.05
    assert found.wins == [3.0]


@pytest.mark.parametrize(("alpha", "table"), [(0.05, Q_05), (0.10, Q_10)])
def test_critical_values_are_those_printed(alpha, table):
    for k, q in enumerate(table, start=2):
        scale = np.sqrt(k * (k + 1) / 6)
        assert critical_difference(k, 1, alpha) / scale == pytest.approx(q, abs=0.0011)


def test_friedman_is_scipys_where_ties_are_corrected():
    for table in tables():
        found = friedman(table, correct_ties=True)
        theirs = stats.friedmanchisquare(*table.T)
        assert found.statistic == pytest.approx(theirs.statistic)
        assert found.p_value == pytest.approx(theirs.pvalue)
        assert friedman(table).statistic <= found.statistic + 1e-12


def test_nemenyi_is_that_of_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    for table in list(tables())[:20]:
        theirs = posthocs.posthoc_nemenyi_friedman(table).to_numpy()
        found = nemenyi(table)
        np.testing.assert_allclose(found.p_values, theirs, atol=1e-6)
        apart = np.abs(found.ranks[:, None] - found.ranks) >= found.critical_difference
        np.testing.assert_array_equal(apart, found.p_values <= 0.05 + 1e-9)


def test_wilcoxon_with_holm_is_that_of_scikit_posthocs():
    posthocs = pytest.importorskip("scikit_posthocs")
    for table in list(tables())[1:20:3]:
        found = wilcoxon_holm(table)
        theirs = posthocs.posthoc_wilcoxon(table.T.tolist(), p_adjust="holm").to_numpy()
        expected = [theirs[i, j] for i, j in found.pairs]
        np.testing.assert_allclose(found.adjusted, expected)
        np.testing.assert_array_equal(found.significant, found.adjusted <= 0.05)


def test_signed_ranks_are_exact_with_ties_and_zeros():
    """Against all signs, one after another."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        d = rng.integers(-3, 4, size=rng.integers(2, 9)).astype(float)
        ranks = stats.rankdata(np.abs(d))
        zeros = ranks[d == 0].sum() / 2
        signs = np.array([*product([0, 1], repeat=int((d != 0).sum()))])
        sums = signs @ ranks[d != 0] + zeros
        smaller = np.minimum(sums, ranks.sum() - sums)
        found = wilcoxon_holm(np.column_stack([d, np.zeros(len(d))]))
        here = min(ranks[d > 0].sum(), ranks[d < 0].sum()) + zeros
        assert found.statistics == [here]
        assert found.p_values[0] == pytest.approx(np.mean(smaller <= here))


def test_signed_ranks_are_scipys_without_ties():
    rng = np.random.default_rng(2)
    for n in (5, 14, 30, 50):
        d = rng.normal(size=n) + 0.3
        found = wilcoxon_holm(np.column_stack([d, np.zeros(n)]))
        theirs = stats.wilcoxon(d, method="exact")
        assert found.statistics == [theirs.statistic]
        assert found.p_values[0] == pytest.approx(theirs.pvalue)


def test_holm_steps_down_from_the_smallest():
    rng = np.random.default_rng(0)
    for _ in range(100):
        p = np.round(rng.random(rng.integers(1, 12)) ** 3, 2)
        m = len(p)
        # Rejected at level a: those before the first sorted p above a / (m - rank).
        for level in (0.01, 0.05, 0.3):
            sorted_p = np.sort(p)
            kept = sorted_p * (m - np.arange(m)) > level + 1e-12
            n_rejected = int(np.argmax(kept)) if kept.any() else m
            assert (holm(p) <= level + 1e-12).sum() == n_rejected


@pytest.mark.parametrize("rope", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("seed", range(4))
def test_the_bayesian_signed_rank_test_is_that_of_baycomp(rope, seed):
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(seed)
    one, other = np.round(rng.random((2, 5 + 4 * seed)), 2 - seed % 2)
    if rope and seed == 3:
        other = one + np.where(np.arange(len(one)) % 2, rope, -rope / 2)  # on the border
    found = bayesian_signed_rank(one, other, rope=rope, n_samples=2000, random_state=seed)
    theirs = baycomp.SignedRankTest.sample(one, other, rope, nsamples=2000, random_state=seed)
    # Differences at the very border may round to either side of it.
    if seed != 3:
        np.testing.assert_allclose(found.sample, theirs, atol=1e-12)
    counts = np.bincount(np.argmax(theirs, axis=1), minlength=3) / 2000
    ours = found.p_first, found.p_equal, found.p_second
    assert sum(ours) == pytest.approx(1.0)
    if seed != 3:
        np.testing.assert_allclose(ours, counts, atol=1e-3)


def test_the_posterior_of_one_dataset_has_a_closed_form():
    """With one difference beyond the rope, the share of its side is w² (+ 2 w (1 - w))."""
    near, far = 0.015, 0.5  # sums with the prior's zero: below twice the rope, and above
    for difference, least in ((near, np.sqrt(0.5)), (far, 1 - np.sqrt(0.5))):
        found = bayesian_signed_rank([0.0], [difference], rope=0.01, n_samples=200_000)
        exact = stats.beta(1.0, 0.5).sf(least)
        assert found.p_second == pytest.approx(exact, abs=0.005)
        assert found.p_first == 0.0


@pytest.mark.parametrize("runs", [1, 3, 10])
def test_the_corrected_t_test_is_the_posterior_of_baycomp(runs):
    baycomp = pytest.importorskip("baycomp")
    rng = np.random.default_rng(runs)
    for k in (2, 5, 10):
        one, other = rng.random((2, runs * k))
        found = corrected_t_test(one, other, 1 / k)
        mean, variance, degrees = baycomp.CorrelatedTTest.compute_statistics(one, other, runs)
        assert found.difference == pytest.approx(mean)
        assert found.error == pytest.approx(np.sqrt(variance))
        assert found.degrees_of_freedom == degrees
        _, right = baycomp.CorrelatedTTest.probs(one, other, runs=runs)
        assert found.p_value / 2 == pytest.approx(min(right, 1 - right))
        low, high = found.interval(1 - found.p_value)
        assert min(abs(low), abs(high)) == pytest.approx(0.0, abs=1e-9)


def test_the_correction_keeps_the_level_that_a_plain_test_does_not():
    """Values that share most of their noise, as folds do: rho is the share tested."""
    rng = np.random.default_rng(3)
    n, rho, times = 20, 0.1, 600
    shared = np.sqrt(rho) * rng.normal(size=(times, 1))
    noise = shared + np.sqrt(1 - rho) * rng.normal(size=(times, n))
    ours = np.mean([corrected_t_test(np.zeros(n), row, rho).p_value <= 0.05 for row in noise])
    plain = np.mean([stats.ttest_1samp(row, 0).pvalue <= 0.05 for row in noise])
    assert ours <= 0.07
    assert plain > 0.2


def test_losses_are_ranked_the_other_way():
    for table in list(tables())[:6]:
        ranks = average_ranks(table, greater_is_better=False)
        np.testing.assert_allclose(ranks, average_ranks(-table))
        np.testing.assert_allclose(ranks, nemenyi(-table).ranks)
        losses = wilcoxon_holm(table, greater_is_better=False)
        np.testing.assert_array_equal(losses.wins, wilcoxon_holm(-table).wins)
    one, other = table[:, 0], table[:, 1]
    loss = bayesian_signed_rank(one, other, greater_is_better=False, n_samples=500)
    score = bayesian_signed_rank(-one, -other, n_samples=500)
    assert loss.p_first == score.p_first


def test_methods_that_are_all_equal_do_not_differ():
    same = np.full((5, 3), 0.7)
    assert friedman(same).statistic == 0.0
    assert friedman(same, correct_ties=True).p_value == 1.0
    assert friedman(same).f_p_value == 1.0
    assert nemenyi(same).groups == ((0, 1, 2),)
    np.testing.assert_array_equal(nemenyi(same).p_values, 1.0)
    np.testing.assert_array_equal(wilcoxon_holm(same).adjusted, 1.0)
    assert corrected_t_test(same[:, 0], same[:, 1], 0.2).p_value == 1.0
    assert bayesian_signed_rank(same[:, 0], same[:, 1], n_samples=99).p_equal == 1.0
    fair = bayesian_signed_rank(same[:, 0], same[:, 1], rope=0.0, n_samples=99)
    assert fair.p_first == fair.p_second == 0.5


def test_the_same_order_everywhere_is_as_clear_as_can_be():
    table = np.tile([0.9, 0.8, 0.7], (6, 1))
    found = friedman(table)
    assert found.statistic == pytest.approx(12.0)
    assert found.f_statistic == np.inf
    assert found.f_p_value == 0.0
    always = corrected_t_test([0.5, 0.5], [0.6, 0.6], 0.1)
    assert (always.statistic, always.p_value) == (np.inf, 0.0)


def test_groups_cover_neighbours_and_none_lies_in_another():
    for table in tables():
        found = nemenyi(table)
        ranks = found.ranks
        for group in found.groups:
            assert ranks[list(group)].max() - ranks[list(group)].min() < found.critical_difference
            others = [set(other) for other in found.groups if other != group]
            assert not any(set(group) <= other for other in others)
        for i in range(len(ranks)):
            for j in range(i):
                is_near = abs(ranks[i] - ranks[j]) < found.critical_difference
                assert is_near == any(i in group and j in group for group in found.groups)


def test_means_and_deviations():
    found = mean_sd([1.0, 2.0, 3.0, 4.0])
    assert (found.mean, found.n) == (2.5, 4)
    assert found.sd == pytest.approx(np.sqrt(5 / 3))
    assert str(mean_sd([0.5])) == "0.500"


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: friedman([1.0, 2.0]), "a row a dataset and a column a method"),
        (lambda: friedman([[1.0, 2.0]]), "at least 2 datasets and 2 methods"),
        (lambda: nemenyi([[1.0, 2.0], [np.nan, 1.0]]), "dataset 1 and method 0 is missing"),
        (lambda: nemenyi([[1.0, 2.0], [3.0, 1.0]], alpha=5), "alpha must lie between 0 and 1"),
        (lambda: critical_difference(1, 5), "at least 2 methods"),
        (lambda: mean_sd([]), "at least 1 value on one axis"),
        (lambda: mean_sd([1.0, np.inf]), "value 1 is missing"),
        (lambda: corrected_t_test([1.0], [2.0], 0.1), "at least 2 values"),
        (lambda: corrected_t_test([1.0, 2.0], [2.0, 3.0], 1.0), "test_share must lie between"),
        (lambda: corrected_t_test([1.0, 2.0], [2.0, 3.0, 4.0], 0.1), "as many values"),
        (lambda: bayesian_signed_rank([1.0], [2.0], rope=-1), "rope must not be below zero"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
