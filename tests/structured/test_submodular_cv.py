"""SubmodularSVCCV: chooses as folds fitted one by one would, and is a scikit-learn citizen."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel.losses import FBeta
from colabel.structured import SubmodularSVC, SubmodularSVCCV
from colabel.structured._submodular_cv import _has_turned
from structured.test_submodular import make

GRID = [0.3, 0.1, 0.03]


@parametrize_with_checks(
    [SubmodularSVCCV([0.1], coupling_scales=[1.0], cv=2, tune_shift=True, tol=1e-2)]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_losses_are_those_of_folds_fitted_one_by_one():
    X, Y = make(n=60)
    cv, grid, scales = KFold(2), [0.3, 0.1], [0.5, 2.0]
    search = SubmodularSVCCV(
        grid, coupling_scales=scales, cv=cv, search_tol=1e-6, search_max_iter=5000, random_state=0
    ).fit(X, Y)
    assert search.cv_losses_.shape == (2, 2, 2)
    for c, a, k in np.ndindex(2, 2, 2):
        train, test = list(cv.split(X))[k]
        plain = SubmodularSVC(grid[a], coupling_scale=scales[c], tol=1e-6, max_iter=5000)
        found = plain.fit(X[train], Y[train]).predict(X[test])
        loss = FBeta().value(Y[test], found).mean()
        assert search.cv_losses_[c, a, k] == pytest.approx(loss, abs=0.01)
    c, a = np.unravel_index(np.argmin(search.cv_losses_.mean(axis=2)), (2, 2))
    assert (search.coupling_scale_, search.alpha_) == (scales[c], grid[a])
    refit = SubmodularSVC(grid[a], coupling_scale=scales[c], random_state=0).fit(X, Y)
    np.testing.assert_array_equal(search.coef_, refit.coef_)


def test_threads_do_not_change_the_result():
    X, Y = make()
    one, two = (
        SubmodularSVCCV(GRID, coupling_scales=[1.0], cv=3, n_jobs=n, random_state=0).fit(X, Y)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.cv_losses_, two.cv_losses_)
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize("couplings", ["cooccurrence", None])
def test_a_tuned_shift_is_no_worse_on_the_held_out_rows(couplings):
    X, Y = make(n=120)
    search = SubmodularSVCCV(
        [0.3], couplings=couplings, coupling_scales=[1.0], cv=3, tune_shift=True, random_state=0
    ).fit(X, Y)
    plain = SubmodularSVC(0.3, couplings=couplings, random_state=0).fit(X, Y)
    np.testing.assert_allclose(
        search.predict_joint(X).unary, plain.predict_joint(X).unary + search.shift_
    )
    without = clone(search).set_params(tune_shift=False).fit(X, Y)
    assert search.cv_loss_ <= without.cv_loss_


def test_penalty_and_shift_are_chosen_together():
    """Each penalty is judged with the shift that suits it."""
    X, Y = make(n=120, V=4)
    options = {"couplings": None, "cv": 3, "random_state": 0, "tune_shift": True}
    search = SubmodularSVCCV(GRID, **options).fit(X, Y)
    alone = [SubmodularSVCCV([alpha], **options).fit(X, Y) for alpha in GRID]
    # Starting from another penalty changes a fit within its gap.
    np.testing.assert_allclose(
        search.cv_losses_[0].mean(axis=1), [one.cv_loss_ for one in alone], atol=0.02
    )
    assert search.cv_loss_ == np.nanmin(search.cv_losses_.mean(axis=2))
    assert search.alpha_ == GRID[np.nanargmin(search.cv_losses_[0].mean(axis=1))]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_default_grid_falls_and_a_path_ends_when_it_has_turned():
    X, Y = make(n=40)
    search = SubmodularSVCCV(couplings=None, cv=2, max_iter=40, random_state=0)
    search.fit(X, Y)
    np.testing.assert_allclose(search.alphas_[[0, -1]], [1e-1, 1e-5])
    losses = np.array([[0.5, 0.6], [0.3, 0.4], [0.4, 0.5], [0.41, 0.51]])
    assert _has_turned(losses)
    assert not _has_turned(losses[:3])
    assert not _has_turned(losses[::-1])
    assert _has_turned(losses[:, :1])


def test_what_comes_after_the_end_of_a_path_is_not_fitted(monkeypatch):
    module = "colabel.structured._submodular_cv._has_turned"
    monkeypatch.setattr(module, lambda losses: len(losses) == 2)
    search = SubmodularSVCCV(GRID, couplings=None, cv=2, random_state=0).fit(*make(n=40))
    np.testing.assert_array_equal(np.isnan(search.cv_losses_[0]).all(axis=1), [0, 0, 1])
    assert search.alpha_ in GRID[:2]


def test_sample_weights_enter_training_and_choice():
    X, Y = make(n=60)
    weight = (np.arange(60) < 40).astype(float)
    a = SubmodularSVCCV(GRID, couplings=None, cv=KFold(3), random_state=0)
    a.fit(X, Y, sample_weight=weight)
    assert a.cv_losses_.shape[2] == 2  # the third fold would have nothing to judge by
    rows = SubmodularSVCCV(GRID, couplings=None, cv=KFold(2), random_state=0).fit(X[:40], Y[:40])
    assert rows.cv_losses_.shape == a.cv_losses_.shape
    uneven = np.where(np.arange(60) < 20, 5.0, 1.0)
    b = SubmodularSVCCV(GRID, couplings=None, cv=KFold(3), random_state=0)
    b.fit(X, Y, sample_weight=uneven)
    losses = np.average(b.cv_losses_[0], axis=1, weights=[100, 20, 20])
    assert b.cv_loss_ == pytest.approx(np.nanmin(losses))
    with pytest.raises(ValueError, match="no weight"):
        SubmodularSVCCV(GRID, cv=KFold(2)).fit(X[:40], Y[:40], sample_weight=np.repeat([0, 1], 20))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"alphas": []}, "alphas must be a list of positive"),
        ({"alphas": [0.0]}, "alphas must be a list of positive"),
        ({"coupling_scales": [-1.0]}, "coupling_scales must be a list of positive"),
        ({"search_tol": 0}, "search_tol must be a positive"),
        ({"search_max_iter": 0}, "search_max_iter must be a whole number"),
    ],
    ids=str,
)
def test_bad_parameters_get_one_clear_sentence(options, reason):
    with pytest.raises(ValueError, match=reason):
        SubmodularSVCCV(**options).fit(*make(n=20))


def test_one_sample_is_too_few():
    with pytest.raises(ValueError, match="at least 2 samples"):
        SubmodularSVCCV().fit([[1.0]], [[0, 1]])


def test_folds_are_judged_by_what_predict_would_say():
    X, _ = make(n=60)
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3], axis=1)]
    cv = KFold(2)
    search = SubmodularSVCCV([0.1], coupling_scales=[1.0], cv=cv, search_tol=1e-3, random_state=0)
    search.fit(X, y)
    for k, (train, test) in enumerate(cv.split(X)):
        plain = SubmodularSVC(0.1, random_state=0).fit(X[train], y[train])
        # One class a row: F is 1 where it is right, and 0 elsewhere.
        wrong = np.mean(plain.predict(X[test]) != y[test])
        assert search.cv_losses_[0, 0, k] == pytest.approx(wrong, abs=0.04)
        assert search.cv_losses_[0, 0, k] * len(test) == pytest.approx(
            round(search.cv_losses_[0, 0, k] * len(test))
        )
