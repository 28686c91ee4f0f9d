"""The graph cut with a loss on counts added: value, bound and exactness against enumeration."""

import numba
import numpy as np
import pytest

from colabel.decoders._count_levels import Levels, Singled, count_form
from colabel.decoders.certificate import algorithm_3
from colabel.decoders.graph_cut import GraphCut
from colabel.exceptions import IncompatibleError
from colabel.losses import CountsLoss, FBeta, Jaccard, Subset
from colabel.scores import Pairwise
from decoders import oracles_cut as oracle


def augmented(scores, Y, loss, mode="certified", nonempty=False, **options):
    decoder = GraphCut(augmentation=mode, **options)
    return decoder.decode_counts(scores, Y, loss.counts_table, nonempty=nonempty)


def truth(seed, scores):
    rng = np.random.default_rng(seed)
    return (rng.random(scores.unary.shape) < (seed % 5) / 4).astype(np.int8)


def check(found, scores, Y, loss, nonempty=False):
    """Assert what always holds; return the shortfall and the rounding allowed."""
    Z, values = oracle.values(scores)
    total = values + oracle.losses(Y, Z, loss)
    best = (total[:, Z.any(axis=1)] if nonempty else total).max(axis=1)
    slack = 10 * oracle.tolerance(scores) + 1e-12
    assert not nonempty or found.labels.any(axis=1).all()
    np.testing.assert_allclose(
        found.value, scores.value(found.labels) + loss.value(Y, found.labels), rtol=1e-13
    )
    assert np.all(found.value <= best + slack)
    assert np.all(found.upper_bound >= best - slack)
    return best - found.value, slack


@pytest.mark.parametrize("regime", oracle.REGIMES)
def test_certified_f_equals_enumeration(regime):
    for seed in range(200):
        scores = oracle.problem(seed, regime, max_labels=8)
        Y = truth(seed, scores)
        found = augmented(scores, Y, FBeta())
        short, slack = check(found, scores, Y, FBeta())
        assert np.all(short <= slack)
        assert np.all(found.upper_bound - found.value <= 4 * slack)


@pytest.mark.parametrize("loss", [FBeta(2.0), FBeta(0.5), Jaccard(), Subset()], ids=str)
@pytest.mark.parametrize("nonempty", [False, True])
def test_certified_equals_enumeration_for_the_other_losses(loss, nonempty):
    for regime in oracle.REGIMES:
        for seed in range(25):
            scores = oracle.problem(seed, regime, max_labels=7)
            Y = truth(seed, scores)
            found = augmented(scores, Y, loss, nonempty=nonempty)
            short, slack = check(found, scores, Y, loss, nonempty)
            assert np.all(short <= slack)


@pytest.mark.parametrize("loss", [FBeta(), Jaccard(), Subset()], ids=str)
@pytest.mark.parametrize("mode", ["nested", "alg2"])
def test_other_modes_keep_value_and_bound_in_order(mode, loss):
    if mode == "alg2" and isinstance(loss, Jaccard):
        with pytest.raises(IncompatibleError, match="F-beta only"):
            augmented(
                oracle.problem(3, "normal"), truth(2, oracle.problem(3, "normal")), loss, mode
            )
        return
    exact = n = 0
    for regime in oracle.REGIMES:
        for seed in range(12):
            scores = oracle.problem(seed, regime, max_labels=7)
            Y = truth(seed, scores)
            for nonempty in (False, True):
                found = augmented(scores, Y, loss, mode, nonempty)
                short, slack = check(found, scores, Y, loss, nonempty)
                exact, n = exact + np.sum(short <= slack), n + len(short)
    assert exact > 0.9 * n
    assert not isinstance(loss, Subset) or exact == n


def algorithm_2(scores, y, beta=1.0):
    """Algorithm 2 as printed, smallest maximisers, cuts by enumeration; scores of one row."""
    k, V, n_true = 0, scores.n_labels, y.sum()
    while k <= V:
        cost = -(1 + beta**2) * y / (beta**2 * n_true + k)
        cut = oracle.smallest_maximisers(scores.plus_unary(cost[None]))[0]
        if cut.sum() > k:
            answer, k = cut, cut.sum()
        elif cut.sum() == k:
            answer, k = cut, k + 1
        else:
            k += 1
    return answer


def test_algorithm_2_is_the_published_one():
    shorter = 0
    for seed in range(120):
        scores = oracle.problem(seed, "normal", n_samples=4, max_labels=7)
        if scores.n_labels < 3:
            continue
        scores = Pairwise(0.4 * scores.unary, scores.edges, 0.3 * scores.couplings)
        Y = truth(1 + seed % 4, scores)
        Y[:, 0] = 1
        found = augmented(scores, Y, FBeta(), "alg2")
        for i in range(4):
            expected = algorithm_2(scores.take([i]), Y[i].astype(float))
            np.testing.assert_array_equal(found.labels[i], expected)
        shorter += np.sum(check(found, scores, Y, FBeta())[0] > 1e-9)
    assert shorter > 10


def test_nested_is_never_behind_algorithm_2():
    better = 0
    for seed in range(150):
        scores = oracle.problem(seed, "normal")
        scores = Pairwise(0.3 * scores.unary, scores.edges, 0.3 * scores.couplings)
        Y = truth(seed, scores)
        gain = augmented(scores, Y, FBeta(), "nested").value - (
            augmented(scores, Y, FBeta(), "alg2").value
        )
        assert np.all(gain >= -1e-12)
        better += np.sum(gain > 1e-9)
    assert better > 20


def test_algorithm_3_is_never_wrong():
    proved = n = 0
    for seed in range(150):
        scores = oracle.problem(seed, "normal", max_labels=7)
        scores = Pairwise(4.0 * scores.unary, scores.edges, scores.couplings)
        Y = truth(seed, scores)
        found = augmented(scores, Y, FBeta(), "alg2")
        short, slack = check(found, scores, Y, FBeta())
        sure = algorithm_3(scores, Y, found.labels, FBeta().counts_table)
        assert np.all(short[sure] <= slack[sure])
        proved, n = proved + sure.sum(), n + len(sure)
    assert 0.2 * n < proved < 0.95 * n
    scores = Pairwise(np.zeros((1, 5)), [[0, 1]], [1.0])
    Y = np.array([[1, 1, 0, 0, 0]])
    with pytest.raises(IncompatibleError, match="F-beta"):
        algorithm_3(scores, Y, Y, Jaccard().counts_table)


def test_counter_example_of_the_errata():
    scores = Pairwise([[5.0, -0.32, -0.5, -0.5]], [[2, 3]], [0.51])
    Y = np.array([[1, 0, 0, 0]], dtype=np.int8)
    found = augmented(scores, Y, FBeta())
    np.testing.assert_allclose(found.value, 5.0133, atol=5e-5)
    np.testing.assert_array_equal(found.labels, [[1, 1, 0, 0]])
    assert found.certified.all()


def test_a_limit_on_cuts_leaves_a_true_bound():
    opened = 0
    for seed in range(100):
        scores = oracle.problem(seed, "normal")
        scores = Pairwise(0.3 * scores.unary, scores.edges, 0.3 * scores.couplings)
        Y = truth(seed, scores)
        for limit in (0, 3, 8):
            found = augmented(scores, Y, FBeta(), max_cuts=limit)
            check(found, scores, Y, FBeta())
            opened += np.sum(~found.certified)
    assert opened > 50


def test_results_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    i, j = np.triu_indices(25, 1)
    kept = rng.random(len(i)) < 0.2
    scores = Pairwise(
        0.3 * rng.normal(-0.5, 1.0, (300, 25)), np.stack([i, j], 1)[kept], np.full(kept.sum(), 0.05)
    )
    Y = (rng.random((300, 25)) < 0.15).astype(np.int8)
    threads = numba.get_num_threads()
    whole = augmented(scores, Y, FBeta())
    try:
        numba.set_num_threads(1)
        one = augmented(scores, Y, FBeta())
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(whole.labels, one.labels)
    np.testing.assert_array_equal(whole.upper_bound, one.upper_bound)
    assert whole.certified.all()


class Squared(CountsLoss):
    """Affine in the hits neither by size nor by false alarms."""

    def of_counts(self, n_true, hits, false):
        return ((n_true - hits) ** 2 + false**2) / 100.0


def test_other_losses_and_modes_are_refused():
    scores = Pairwise(np.zeros((2, 6)), [[0, 1]], [1.0])
    Y = np.array([[1, 1, 1, 0, 0, 0]] * 2, dtype=np.int8)
    with pytest.raises(IncompatibleError, match="affine in the hits"):
        augmented(scores, Y, Squared())
    with pytest.raises(ValueError, match="one of alg2, nested, certified"):
        augmented(scores, Y, FBeta(), "best")
    with pytest.raises(IncompatibleError, match="repulsion"):
        augmented(Pairwise(np.zeros((1, 2)), [[0, 1]], [-1.0]), [[1, 0]], FBeta())


def test_the_form_of_a_table_is_read_off_its_numbers():
    for V in range(1, 8):
        for n_true in range(V + 1):
            assert isinstance(count_form(Subset().counts_table(n_true, V)), Singled)
            for loss in (FBeta(), FBeta(2.0), Jaccard()):
                table = loss.counts_table(n_true, V)
                form = count_form(table)
                if isinstance(form, Singled):
                    assert n_true == 0 or V == 1
                    continue
                assert isinstance(form, Levels)
                for hits, false in np.ndindex(table.shape):
                    k = hits + false if form.counts_all else false
                    assert form.least[k] <= hits <= form.most[k]
                    np.testing.assert_allclose(
                        form.alpha[k] + form.beta[k] * hits, table[hits, false]
                    )
                assert np.all(np.diff(form.beta) >= -1e-12)


def test_slopes_without_hits_are_those_of_f_beta():
    for n_true, V in [(2, 6), (1, 4), (3, 5)]:
        form = count_form(FBeta(2.0).counts_table(n_true, V))
        np.testing.assert_allclose(form.beta, -5.0 / (4.0 * n_true + np.arange(V + 1)))
        np.testing.assert_allclose(form.alpha, 1.0)


def test_no_rows():
    scores = Pairwise(np.zeros((0, 3)), [[0, 1]], [1.0])
    found = augmented(scores, np.zeros((0, 3), dtype=np.int8), FBeta())
    assert found.labels.shape == (0, 3)
    assert found.value.shape == (0,)


def test_a_label_ruled_out_by_a_huge_score_leaves_the_others_exact():
    for seed in range(60):
        scores = oracle.problem(seed, "normal", 2, 7)
        unary = np.column_stack([scores.unary, np.full(2, -1e13)])
        wide = Pairwise(unary, scores.edges, scores.couplings)
        Y = np.random.default_rng(seed).integers(0, 2, size=unary.shape)
        Y[:, -1] = 0
        found = GraphCut().decode_counts(wide, Y, FBeta().counts_table)
        best = GraphCut().decode_counts(scores, Y[:, :-1], FBeta().counts_table)
        np.testing.assert_allclose(found.value, best.value, atol=1e-9)
        assert not found.labels[:, -1].any()
