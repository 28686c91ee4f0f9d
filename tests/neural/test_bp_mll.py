"""BP-MLL: the loss of label pairs, its gradient, training, stopping and the threshold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.metrics import ranking_loss, subset_accuracy
from colabel.neural import BPMLL
from colabel.neural._pair_network import Network, Schedule, misordered, train

QUICK = {"hidden": 16, "learning_rate": 0.02, "patience": 1, "n_models": 2, "random_state": 0}


@parametrize_with_checks([BPMLL(**QUICK)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def data(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0.3, X[:, 2] > 0.5, X[:, 0] < -0.5])
    return X, Y.astype(int)


def test_training_lowers_the_loss():
    X, Y = data()
    network = Network((4, 10, 4), np.random.RandomState(0))
    schedule = Schedule("adam", 1e-2, 0.0, 16, 15)
    shift, rng = np.zeros(4), np.random.RandomState(0)
    losses = list(train(network, X, Y, np.ones(200), shift, schedule, rng))
    assert len(losses) == 15
    assert losses[-1] < 0.6 * losses[0]


def test_the_published_way_is_within_reach():
    X, Y = data()
    published = BPMLL(
        0.5,
        solver="sgd",
        learning_rate=0.05,
        batch_size=1,
        max_iter=8,
        alpha=0.0,
        n_models=1,
        validation_fraction=None,
        threshold_inputs="scores",
        scale=False,
        random_state=0,
    ).fit(X[:120], Y[:120])
    assert published.n_iter_ == 8
    assert published.weights_[0][0].shape == (4, 2)
    assert len(published.validation_[0]) == 0
    assert published.threshold_coef_.shape == (4,)
    assert ranking_loss(Y[120:], published.decision_function(X[120:])) < 0.1


def test_networks_stop_when_rows_held_out_rank_no_better():
    X, Y = data()
    noisy = np.where(np.random.default_rng(1).random(Y.shape) < 0.3, 1 - Y, Y)
    options = {"learning_rate": 0.03, "alpha": 0.0, "patience": 3, "n_models": 2}
    model = BPMLL(30, random_state=0, **options).fit(X, noisy)
    for losses, found in zip(model.history_, model.validation_, strict=True):
        assert len(losses) == len(found) < 100
        assert len(found) == 1 + np.argmin(found) + 3
    assert model.n_iter_ == max(map(len, model.history_))


def test_every_row_is_held_out_once_by_five_networks():
    splits = BPMLL()._splits(53, np.random.RandomState(0))
    held_out = np.concatenate([out for _, out in splits])
    assert all(not set(kept) & set(out) for kept, out in splits)
    assert len(set(held_out)) == 53
    assert all(len(out) == 11 for _, out in splits)
    assert [
        len(out) for _, out in BPMLL(validation_fraction=None)._splits(7, np.random.RandomState(0))
    ] == ([0] * 5)


def test_rows_without_pairs_are_held_against_zero():
    outputs = np.array([[0.5, -0.5], [0.5, -0.5], [0.2, 0.1]])
    Y = np.array([[0, 0], [1, 1], [1, 0]], dtype=np.int8)
    assert misordered(outputs, Y, np.ones(3)) == pytest.approx((0.5 + 0.5 + 0.0) / 3)
    assert misordered(outputs, Y, np.array([2.0, 1.0, 1.0])) == pytest.approx(1.5 / 4)
    assert misordered(outputs[:2], Y[:2], np.ones(2)) == pytest.approx(0.5)


def test_dense_and_sparse_rows_train_alike():
    X, Y = data(80)
    X[X < 0.3] = 0.0
    # Standardised dense rows are trained on in single precision.
    for scale, atol in ((False, 1e-8), (True, 1e-3)):
        options = {**QUICK, "scale": scale, "validation_fraction": None, "max_iter": 10}
        dense, rows = (BPMLL(**options).fit(Z, Y) for Z in (X, sparse.csr_array(X)))
        scores = dense.decision_function(X), rows.decision_function(X)
        np.testing.assert_allclose(*scores, atol=atol)


def test_networks_that_still_get_better_are_told_of():
    X, Y = data()
    with pytest.warns(ConvergenceWarning, match="2 of 2 networks .* last 3 of 3 epochs") as told:
        model = BPMLL(max_iter=3, patience=5, n_models=2, random_state=0).fit(X, Y)
    assert model.n_iter_ == 3
    assert told[0].filename == __file__
    BPMLL(max_iter=3, n_models=2, validation_fraction=None).fit(X, Y)  # nothing to wait for


def test_the_seed_fixes_the_result():
    X, Y = data(80)
    scores = [
        BPMLL(**{**QUICK, "random_state": s}).fit(X, Y).decision_function(X) for s in (1, 1, 2)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("Y", [np.zeros((12, 3)), np.ones((12, 3)), np.eye(12, 3), np.eye(12)])
def test_degenerate_labels_are_learned(Y):
    X = np.random.default_rng(0).normal(size=(12, 2))
    for features in (X, sparse.csr_array(X), np.ones((12, 1))):
        model = BPMLL(**QUICK).fit(features, Y.astype(int))
        assert np.isfinite(model.decision_function(features)).all()
        if np.ptp(Y) == 0:
            assert np.mean(model.predict(features) == Y) > 0.9


def test_labels_of_few_rows_are_learned():
    X, Y = data(300)
    model = BPMLL(random_state=0, learning_rate=1e-2, patience=5, n_models=2)
    assert subset_accuracy(Y[200:], model.fit(X[:200], Y[:200]).predict(X[200:])) > 0.6


def test_what_cannot_be_right_is_refused():
    X, Y = data(20)
    for options, reason in (
        ({"hidden": 0}, "hidden must be a whole number"),
        ({"hidden": 0.0}, "hidden must be a positive number"),
        ({"solver": "newton"}, "solver must be 'adam' or 'sgd'"),
        ({"learning_rate": 0.0}, "learning_rate must be a positive number"),
        ({"alpha": -1.0}, "alpha must be a number of at least 0"),
        ({"batch_size": 0}, "batch_size must be a whole number"),
        ({"n_models": 0}, "n_models must be a whole number"),
        ({"patience": 0}, "patience must be a whole number"),
        ({"validation_fraction": 1.0}, "validation_fraction must be a number above 0 and below 1"),
        ({"threshold_inputs": "x"}, "threshold_inputs must be 'ranked' or 'scores'"),
        ({"scale": 2}, "scale must be True or False"),
    ):
        with pytest.raises(ValueError, match=reason):
            BPMLL(**options).fit(X, Y)


def test_a_whole_number_of_numpy_is_a_number_of_units():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = BPMLL(np.int64(8), max_iter=1, n_models=1, validation_fraction=None).fit(
        X, (X > 0).astype(int)
    )
    assert model.weights_[0][1].shape == (8,)
