"""What shares prove is what enumeration says; they prove nearly all that can be proved."""

import numpy as np
import pytest

from colabel._kernels import cut_shares
from colabel._kernels.cut_shares import CHARGE, MARGIN, POTENTIAL, empty_shares, prepare_shares
from colabel.decoders._label_graph import label_graph
from colabel.scores import Pairwise
from decoders import oracles_cut as oracle
from kernels.outside import outside

proved = outside(cut_shares.proved)


def shares_of(scores, typical):
    shares = empty_shares(label_graph(scores, dense=True))
    prepare_shares(typical, shares)
    return shares


def closure(scores):
    """Labels that come on one by one."""
    C, on = scores.dense(), np.zeros(scores.unary.shape, bool)
    for _ in range(scores.n_labels + 1):
        on = scores.unary + on @ C > 0
    return on


def prove(scores, typical=None):
    """Labels, and for which rows they are proved."""
    shares = shares_of(scores, np.median(scores.unary, axis=0) if typical is None else typical)
    labels, queue = np.empty(scores.unary.shape, np.int8), np.empty(scores.n_labels, np.int64)
    rows = zip(scores.unary, labels, strict=True)
    return labels, np.array([proved(unary, shares, queue, row) for unary, row in rows])


@pytest.mark.parametrize("regime", oracle.REGIMES)
def test_what_is_proved_is_the_smallest_maximiser(regime):
    n_proved = 0
    for seed in range(150):
        scores = oracle.problem(seed, regime, max_labels=8)
        typical = [None, np.zeros(scores.n_labels), scores.unary[0]][seed % 3]
        labels, holds = prove(scores, typical)
        _, values = oracle.values(scores)
        reached, slack = scores.value(labels), oracle.tolerance(scores)
        assert np.all((reached >= values.max(axis=1) - slack)[holds])
        if np.array_equal(scores.couplings, np.rint(scores.couplings)):
            np.testing.assert_array_equal(labels[holds], oracle.smallest_maximisers(scores)[holds])
        n_proved += holds.sum()
    assert n_proved > 150


def test_a_tie_is_never_proved():
    """Half of the coupling is what both labels lack: the pair adds nothing, and no less."""
    for lack in (1.0, 1.0 - 1e-12):
        tied = Pairwise([[-lack, -lack]], [[0, 1]], [2.0])
        assert not prove(tied)[1][0]
    assert prove(Pairwise([[-1.001, -1.001]], [[0, 1]], [2.0]))[1][0]


def problem_with_room(seed, room):
    """Shares are drawn at random; labels lack what they are charged, and ``room`` times more."""
    rng = np.random.default_rng(seed)
    V = int(rng.integers(20, 60))
    C = np.triu(rng.exponential(1.0, (V, V)) * (rng.random((V, V)) < 0.7), 1)
    split = rng.uniform(0.2, 0.8, (6, V, V))
    charges = (split * C).sum(axis=2) + ((1.0 - split) * C).sum(axis=1)
    i, j = np.nonzero(C)
    return Pairwise(-room * charges, np.stack([i, j], axis=1), C[i, j])


@pytest.mark.parametrize("seed", range(40))
def test_labels_with_some_room_are_all_proved_off(seed):
    labels, holds = prove(problem_with_room(seed, 1.05))
    assert holds.all()
    assert not labels.any()


@pytest.mark.parametrize("seed", range(40))
def test_too_little_room_is_never_proved(seed):
    """All labels together add more than nothing, though none does by itself."""
    scores = problem_with_room(seed, 0.99)
    assert np.all(scores.unary.sum(axis=1) + scores.couplings.sum() > 0)
    labels, holds = prove(scores)
    assert not holds.any()
    np.testing.assert_array_equal(labels, closure(scores))


@pytest.mark.parametrize("seed", range(40))
def test_labels_that_come_on_one_by_one(seed):
    """Some labels are on; what others gain by them is taken off their unaries."""
    rng, scores = np.random.default_rng(seed), problem_with_room(seed, 1.05)
    on = rng.random(scores.unary.shape) < 0.15
    unary = np.where(on, rng.exponential(1.0, on.shape), scores.unary - on @ scores.dense())
    labels, holds = prove(Pairwise(unary, scores.edges, scores.couplings))
    assert holds.all()
    np.testing.assert_array_equal(labels, on)


@pytest.mark.parametrize("seed", range(20))
def test_nearly_all_labels_come_on_one_by_one(seed):
    """Labels that are off have few couplings left, or none but rounding."""
    rng, scores = np.random.default_rng(seed), problem_with_room(seed, 1.05)
    on = rng.random(scores.unary.shape) < 0.95
    on[0], on[1, 1:] = True, True
    on[1, 0] = False
    unary = np.where(on, rng.exponential(1.0, on.shape), scores.unary - on @ scores.dense())
    labels, holds = prove(Pairwise(unary, scores.edges, scores.couplings))
    assert holds.all()
    np.testing.assert_array_equal(labels, on)


def lacking(scores, on):
    """The sums that refuse a proof, term by term: does what is off lack less than it couples?"""
    C, low = scores.dense(), scores.unary + on @ scores.dense()
    room = np.zeros(len(on))
    for n, off in enumerate(on == 0):
        for i in np.flatnonzero(off):
            rest = sum(C[i, j] for j in np.flatnonzero(off))
            room[n] += min(-low[n, i], rest) - rest / 2
    return room < -1e-6 * max(1.0, C.sum())


@pytest.mark.parametrize("regime", oracle.REGIMES)
def test_rows_are_refused_only_where_more_labels_come_on(regime):
    """Where the sums refuse a proof, enumeration finds better labelings than the closure."""
    for seed in range(60):
        scores = oracle.problem(seed, regime, max_labels=8)
        on = closure(scores)
        _, values = oracle.values(scores)
        refused = lacking(scores, on.astype(np.int8))
        better = values.max(axis=1) > scores.value(on) + oracle.tolerance(scores)
        assert better[refused].all()
        assert not prove(scores)[1][refused].any()


def test_a_group_that_comes_on_together_is_refused_before_any_share():
    """The potentials of the row before are not even replaced."""
    V = 30
    i, j = np.triu_indices(V, 1)
    together = Pairwise(np.full((1, V), -0.4 * (V - 1)), np.stack([i, j], axis=1), np.ones(i.size))
    shares = shares_of(together, np.full(V, -0.6 * (V - 1)))
    labels, queue = np.empty(V, np.int8), np.empty(V, np.int64)
    assert proved(1.5 * together.unary[0], shares, queue, labels)
    shares[2][POTENTIAL] = 7.0
    assert not proved(together.unary[0], shares, queue, labels)
    assert np.all(shares[2][POTENTIAL] == 7.0)


@pytest.mark.parametrize("seed", range(30))
def test_charges_share_out_every_coupling(seed):
    scores = problem_with_room(seed, 1.1)
    couplings, charges, vectors = shares_of(scores, scores.unary[0])
    np.testing.assert_allclose(charges + charges.T, couplings, rtol=1e-14)
    assert np.all(charges >= 0)
    expected = charges.sum(axis=1) + vectors[MARGIN]
    np.testing.assert_allclose(vectors[CHARGE], expected, rtol=1e-12)
    # A typical row is charged in proportion to what its labels lack, far better than by halves.
    lack = np.minimum(-scores.unary[0] * 2.0**-60 * label_graph(scores, True)[5], couplings.sum(1))
    wanted = lack * charges.sum() / lack.sum()
    off = np.abs(charges.sum(axis=1) - wanted).sum()
    assert off < 0.1 * np.abs(couplings.sum(axis=1) / 2 - wanted).sum()


def test_infinite_and_huge_scores_force_labels():
    unary = np.array([[np.inf, -np.inf, -1e300, -5.0], [-np.inf, 1e300, -0.5, -9.0]])
    scores = Pairwise(np.zeros((2, 4)), [[0, 1], [1, 2], [0, 3], [2, 3]], [1.0, 1.0, 2.0, 0.2])
    shares = shares_of(scores, np.full(4, -1.0))
    labels, queue = np.empty(4, np.int8), np.empty(4, np.int64)
    for row, expected in zip(unary, [[1, 0, 0, 0], [0, 1, 1, 0]], strict=True):
        assert proved(row, shares, queue, labels)
        np.testing.assert_array_equal(labels, expected)
