"""Branch and bound equals enumeration, certifies, and stops when told."""

import numpy as np
import pytest

import oracles
from colabel.decoders._tolerance import Tolerance, lowest_unit
from colabel.decoders.branch_and_bound import BranchAndBound
from colabel.decoders.tree_search import Budget, search
from colabel.losses import Hamming
from colabel.oracles import loss_augmented
from colabel.scores import Pairwise
from decoders import oracles_relaxations as slow

every_regime = pytest.mark.parametrize("regime", slow.REGIMES)


def size_of(scores):
    return np.abs(scores.unary).sum(axis=1) + np.abs(scores.couplings).sum()


@every_regime
@pytest.mark.parametrize("nonempty", [False, True])
def test_value_equals_enumeration_and_is_certified(regime, nonempty):
    total = 0
    for scores in slow.tables(regime, max_labels=12):
        found = BranchAndBound().decode(scores, nonempty=nonempty)
        best, size = slow.optimum(scores, nonempty=nonempty), size_of(scores)
        assert not nonempty or found.labels.any(axis=1).all()
        assert np.all(np.abs(found.value - scores.value(found.labels)) <= 1e-15 * size)
        assert np.all(np.abs(found.value - best) <= 1e-12 * size)
        np.testing.assert_array_equal(found.upper_bound, found.value)
        total += len(best)
    assert total >= 2000


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("regime", ["mixed", "repulsive", "ties", "equal unaries", "uniform"])
def test_twelve_labels_equal_enumeration(regime, nonempty):
    for seed in range(10):
        scores = slow.table(regime, np.random.default_rng(seed), 10, 12)
        found = BranchAndBound().decode(scores, nonempty=nonempty)
        best = slow.optimum(scores, nonempty=nonempty)
        assert np.all(np.abs(found.value - best) <= 1e-12 * size_of(scores))
        assert found.certified.all()


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("regime", ["ties", "uniform"])
def test_ties_go_to_the_fewest_labels(regime, nonempty):
    ties = 0
    for scores in slow.tables(regime, 60, 20):
        found = BranchAndBound().decode(scores, nonempty=nonempty)
        Z = oracles.all_labelings(scores.n_labels)
        Z = Z[Z.any(axis=1)] if nonempty else Z
        values = scores.value_all(Z)
        equal = values >= values.max(axis=1)[:, None] - 1e-14 * size_of(scores)[:, None]
        fewest = np.where(equal, Z.sum(axis=1), 99).min(axis=1)
        ties += np.sum(equal.sum(axis=1) > 1)
        np.testing.assert_array_equal(found.labels.sum(axis=1), fewest)
    assert ties > 50


@pytest.mark.parametrize("regime", ["mixed", "repulsive", "attractive", "ties", "uniform"])
@pytest.mark.parametrize("n_labels", [25, 40])
def test_tables_of_forty_labels_are_certified(regime, n_labels):
    scores = slow.table(regime, np.random.default_rng(n_labels), 3, n_labels)
    found = BranchAndBound().decode(scores)
    assert found.certified.all()
    # No flip and no swap of the answer is better.
    for i in range(3):
        flips = np.tile(found.labels[i], (n_labels, 1)) ^ np.eye(n_labels, dtype=np.int8)
        pairs = np.concatenate([flips[j] ^ np.eye(n_labels, dtype=np.int8) for j in range(5)])
        others = scores.take(np.full(len(flips) + len(pairs), i)).value(np.vstack([flips, pairs]))
        assert others.max() <= found.value[i] + 1e-9


def test_components_are_searched_apart():
    # Sixty hard little problems joined in one table would be hopeless as a single tree.
    rng = np.random.default_rng(0)
    block = slow.table("ties", rng, 1, 6).dense()
    C = np.kron(np.eye(20), block)
    unary = rng.integers(-2, 3, (4, 120)).astype(float)
    found = BranchAndBound(max_nodes=500).decode(Pairwise.from_dense(unary, C))
    assert found.certified.all()
    parts = [Pairwise.from_dense(unary[:, 6 * b : 6 * b + 6], block) for b in range(20)]
    np.testing.assert_allclose(found.value, np.sum([slow.optimum(p) for p in parts], axis=0))


@pytest.mark.parametrize("nonempty", [False, True])
@pytest.mark.parametrize("max_nodes", [1, 2, 5])
def test_a_node_limit_leaves_value_and_bound_around_the_optimum(max_nodes, nonempty):
    open_ = 0
    for regime in ("mixed", "repulsive", "attractive", "ties", "uniform", "disconnected"):
        for scores in slow.tables(regime, 20, 10, 10):
            found = BranchAndBound(max_nodes=max_nodes).decode(scores, nonempty=nonempty)
            best, size = slow.optimum(scores, nonempty=nonempty), size_of(scores)
            assert not nonempty or found.labels.any(axis=1).all()
            assert np.all(np.abs(found.value - scores.value(found.labels)) <= 1e-15 * size)
            assert np.all(found.value <= best + 1e-12 * size)
            assert np.all(found.upper_bound >= best - 1e-12 * size)
            open_ += np.sum(~found.certified)
    assert open_ > 0


def test_a_generous_time_limit_changes_nothing():
    for regime in ("mixed", "ties"):
        for scores in slow.tables(regime, 10, 5):
            free, timed = BranchAndBound(), BranchAndBound(time_limit=60.0)
            np.testing.assert_allclose(timed.decode(scores).value, free.decode(scores).value)
            assert timed.decode(scores, nonempty=True).certified.all()


def test_a_limit_of_no_time_still_returns_labels_and_a_bound():
    scores = slow.table("repulsive", np.random.default_rng(2), 4, 9)
    found = BranchAndBound(time_limit=0.0).decode(scores)
    best = slow.optimum(scores)
    assert np.all(found.value <= best + 1e-12)
    assert np.all(found.upper_bound >= best - 1e-12)


def test_loss_is_added_and_certified():
    rng = np.random.default_rng(6)
    scores, Y = slow.table("mixed", rng, 20, 6), (rng.random((20, 6)) < 0.4).astype(np.int8)
    found = loss_augmented(BranchAndBound(), Hamming(), scores, Y)
    Z = oracles.all_labelings(6)
    added = np.stack([Hamming().value(Y, np.tile(z, (20, 1))) for z in Z], axis=1)
    np.testing.assert_allclose(found.value, slow.optimum(scores, loss=added))
    assert found.certified.all()


def test_batch_equals_row_by_row_and_no_rows_are_fine():
    scores = slow.table("mixed", np.random.default_rng(3), 8, 11)
    whole = BranchAndBound().decode(scores)
    for i in range(8):
        row = BranchAndBound().decode(scores.take([i]))
        np.testing.assert_array_equal(row.labels[0], whole.labels[i])
    for nonempty in (False, True):
        none = BranchAndBound().decode(scores.take(slice(0, 0)), nonempty=nonempty)
        assert none.labels.shape == (0, 11)


def test_unit_is_the_common_power_of_two():
    unary = np.array([[1.0, -2.0], [0.5, 3.0], [0.1, 0.2], [0.0, 0.0], [4.0, 0.0]])
    pairs = np.array([[0.0, 2.0], [2.0, 0.0]])
    np.testing.assert_array_equal(lowest_unit(unary, pairs)[:2], [1.0, 0.5])
    units = lowest_unit(unary, np.zeros((2, 2)))
    assert units[2] == 0.0
    assert units[3] == 0.0
    assert units[4] == 4.0


def find(unary, C, floor):
    price, nodes = Tolerance.of(unary, C).price, np.full(len(unary), 1000)
    return search(unary, C, price, Budget.of(None, relax=True), nodes, floor=floor), price


def test_nothing_above_the_floor_is_said_so():
    scores = slow.table("mixed", np.random.default_rng(5), 6, 5)
    C, best = scores.dense(), slow.optimum(scores)
    above, _ = find(scores.unary, C, best + 0.5)
    assert np.all(above.labels == -1)
    np.testing.assert_array_equal(above.value, best + 0.5)
    assert above.closed.all()
    below, _ = find(scores.unary, C, best - 0.5)
    np.testing.assert_allclose(scores.value(below.labels), best)


def test_a_floor_between_two_units_hides_nothing():
    # All scores are multiples of 4; 4 is above 3 though by less than a unit.
    unary, C = np.array([[4.0, -4.0, 4.0]]), np.zeros((3, 3))
    C[0, 2] = C[2, 0] = -4.0
    for floor in (3.0, -1.0, 4.0 - 1e-15, 5.0):
        found, price = find(unary, C, np.array([floor]))
        passed = 4.0 - price[0] > floor
        assert (found.labels[0, 0] >= 0) == passed
        assert found.closed.all()
        assert found.labels.sum() == (1 if passed else -3)


def test_nonempty_with_couplings_coarser_than_the_unaries():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        C = np.triu(4.0 * rng.integers(-2, 3, (6, 6)), 1)
        scores = Pairwise.from_dense(-rng.integers(1, 9, (10, 6)).astype(float), C + C.T)
        found = BranchAndBound().decode(scores, nonempty=True)
        np.testing.assert_array_equal(found.value, slow.optimum(scores, nonempty=True))
        np.testing.assert_array_equal(found.upper_bound, found.value)
