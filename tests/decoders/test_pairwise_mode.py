"""The decoder that chooses among decoders."""

import numpy as np
import pytest

from colabel.decoders import BranchAndBound, Exhaustive, GraphCut, Mixing, PairwiseMode
from colabel.scores import Pairwise


def table(n_labels, sign, seed=0):
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.normal(size=(n_labels, n_labels)), 1)
    matrix = np.abs(matrix) if sign > 0 else matrix
    return Pairwise.from_dense(rng.normal(size=(4, n_labels)), matrix + matrix.T)


def test_couplings_and_size_choose_the_decoder():
    assert isinstance(PairwiseMode().choose(table(60, +1)), GraphCut)
    assert isinstance(PairwiseMode().choose(table(8, -1)), BranchAndBound)
    assert isinstance(PairwiseMode().choose(table(60, -1)), Mixing)
    assert isinstance(PairwiseMode(max_labels=5).choose(table(8, -1)), Mixing)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("sign", [+1, -1])
@pytest.mark.parametrize("nonempty", [False, True])
def test_few_labels_are_decoded_exactly(seed, sign, nonempty):
    scores = table(7, sign, seed)
    found = PairwiseMode().decode(scores, nonempty=nonempty)
    best = Exhaustive().decode(scores, nonempty=nonempty)
    np.testing.assert_allclose(found.value, best.value)
    assert found.certified.all()
