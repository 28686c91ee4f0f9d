"""Every loss keeps its role's contract."""

import numpy as np
import pytest
from sklearn.base import clone

import oracles
from colabel.exceptions import UnknownNameError
from colabel.losses import LOSSES, BaseLoss, FBeta, make_loss

TRUTH = {
    "hamming": oracles.hamming,
    "subset": oracles.subset,
    "jaccard": oracles.jaccard,
    "f1": oracles.fbeta,
    "fbeta": oracles.fbeta,
}
CASES = [*((name, cls(), TRUTH[name]) for name, cls in LOSSES.items())]
CASES.append(("f2", FBeta(beta=2.0), lambda y, z: oracles.fbeta(y, z, beta=2.0)))
CASES.append(("f0.5", FBeta(beta=0.5), lambda y, z: oracles.fbeta(y, z, beta=0.5)))
every_loss = pytest.mark.parametrize(("name", "loss", "truth"), CASES, ids=[c[0] for c in CASES])


def every_pair(n_labels):
    Z = oracles.all_labelings(n_labels)
    return np.repeat(Z, len(Z), axis=0), np.tile(Z, (len(Z), 1))


def test_every_exported_loss_has_a_truth():
    assert set(LOSSES) == set(TRUTH)
    assert all(issubclass(cls, BaseLoss) for cls in LOSSES.values())


@every_loss
@pytest.mark.parametrize("n_labels", range(1, 6))
def test_value_equals_the_definition_on_all_pairs_of_labelings(name, loss, truth, n_labels):
    Y, Z = every_pair(n_labels)
    expected = [truth(y, z) for y, z in zip(Y, Z, strict=True)]
    np.testing.assert_allclose(loss.value(Y, Z), expected, atol=1e-14)


@every_loss
def test_value_is_zero_at_equality_and_in_the_unit_interval(name, loss, truth):
    Y, Z = every_pair(5)
    value = loss.value(Y, Z)
    assert np.all((value >= 0) & (value <= 1))
    np.testing.assert_array_equal(value[(Y == Z).all(axis=1)], 0.0)


@every_loss
@pytest.mark.parametrize("n_labels", range(1, 6))
def test_declared_structure_equals_value(name, loss, truth, n_labels):
    Y, Z = every_pair(n_labels)
    if loss.structure == "modular":
        offset, cost = loss.as_modular(Y)
        declared = offset + np.sum(cost * Z, axis=1)
    else:
        n_true = Y.sum(axis=1)
        hits, false = (Y & Z).sum(axis=1), ((1 - Y) & Z).sum(axis=1)
        tables = {int(t): loss.counts_table(int(t), n_labels) for t in np.unique(n_true)}
        assert all(table.shape == (t + 1, n_labels - t + 1) for t, table in tables.items())
        declared = [tables[t][h, f] for t, h, f in zip(n_true, hits, false, strict=True)]
    np.testing.assert_allclose(declared, loss.value(Y, Z), atol=1e-14)


@every_loss
def test_loss_can_be_cloned_and_shown(name, loss, truth):
    copy = clone(loss)
    assert copy is not loss
    assert copy.get_params() == loss.get_params()
    assert repr(copy) == repr(loss)


def test_losses_are_made_by_name_or_copied():
    assert make_loss("f1").beta == 1.0
    mine = FBeta(2.0)
    assert make_loss(mine) is not mine
    assert make_loss(mine).beta == 2.0
    with pytest.raises(UnknownNameError, match="one of hamming"):
        make_loss("f-7")
    with pytest.raises(TypeError, match="abstract"):
        BaseLoss()
