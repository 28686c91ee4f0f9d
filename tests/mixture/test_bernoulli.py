"""BernoulliMixture: EM against loops, a density that sums to one, planted mixtures found again."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from colabel import load, save
from colabel.datasets import load as load_data
from colabel.decoders import Exhaustive, ExpectedF, MixtureMode
from colabel.mixture import BernoulliMixture
from colabel.mixture._bernoulli_em import (
    LabelRows,
    Mixtures,
    Prior,
    Sums,
    distinct_rows,
    e_step,
    posterior,
    random_start,
    run_em,
    spread_start,
)
from mixture.oracles_bernoulli import em_step, log_joint, log_sum_exp
from oracles import all_labelings


@parametrize_with_checks([BernoulliMixture(n_components=3, n_init=3, binarize=0.0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def random_labels(seed):
    """Label matrices of all sorts: one row, one label, constant labels, repeated rows."""
    rng = np.random.default_rng(seed)
    n, n_labels = rng.integers(1, 30), rng.integers(1, 6)
    rates = rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], size=n_labels)
    Y = (rng.random((n, n_labels)) < rates).astype(np.int8)
    return Y[rng.integers(n, size=n)]


def random_mixture(rng, n_components, n_labels):
    weights = rng.dirichlet(np.ones(n_components))
    return weights, rng.uniform(0.02, 0.98, size=(n_components, n_labels))


def as_mixtures(weights, means):
    log_empty = np.log1p(-means).sum(axis=1)
    return Mixtures(np.log(weights)[None], logit(means)[None], log_empty[None])


# One step


@pytest.mark.parametrize("seed", range(120))
def test_a_step_equals_the_loops(seed):
    rng = np.random.default_rng(seed)
    Y = random_labels(seed)
    weight = rng.integers(1, 4, size=len(Y)) if seed % 3 else rng.uniform(0.1, 2, size=len(Y))
    smoothing = 10.0 ** rng.integers(-6, 2)
    weights, means = random_mixture(rng, rng.integers(1, 5), Y.shape[1])
    rows, _ = distinct_rows(sparse.csr_array(Y) if seed % 2 else Y, weight.astype(float))
    prior = Prior(rows.base_rates, smoothing)
    old = as_mixtures(weights, means)
    log_likelihood, sums = e_step(rows, old)
    new = prior.m_step(sums)
    slow_weights, slow_means, objective = em_step(weights, means, Y, weight, smoothing)
    np.testing.assert_allclose(np.exp(new.log_weights[0]), slow_weights, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(expit(new.logits[0]), slow_means, rtol=1e-7)
    np.testing.assert_allclose(new.log_empty[0], np.log1p(-slow_means).sum(axis=1), atol=1e-12)
    ours = (log_likelihood[0] + prior.log_density(old)[0]) / weight.sum()
    assert ours == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_restarts_side_by_side_equal_restarts_one_by_one(seed):
    Y = random_labels(seed)
    rows, _ = distinct_rows(Y)
    prior = Prior(rows.base_rates, 1e-2)
    starts = spread_start(rows, prior.base_rates, (4, 3), np.random.RandomState(seed))
    together = run_em(rows, starts, prior, 50, 1e-5)
    assert len(together) == 4
    for r, ours in enumerate(together):
        alone = Sums(starts.rows[r : r + 1], starts.on[r : r + 1])
        (theirs,) = run_em(rows, alone, prior, 50, 1e-5)
        assert len(ours.history) == len(theirs.history)
        assert ours.converged == theirs.converged
        np.testing.assert_allclose(ours.history, theirs.history, rtol=1e-9)
        np.testing.assert_allclose(ours.logits, theirs.logits, atol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_the_objective_never_falls(seed):
    Y = random_labels(seed)
    rows, _ = distinct_rows(Y)
    prior = Prior(rows.base_rates, 10.0 ** (seed % 7 - 4))
    start = random_start if seed % 2 else lambda r, *rest: spread_start(r, r.base_rates, *rest)
    sums = start(rows, (3, 1 + seed % 5), np.random.RandomState(seed))
    for fitted in run_em(rows, sums, prior, 60, 0.0):
        assert np.diff(fitted.history).min(initial=0) >= -1e-12
        assert np.isfinite(fitted.history).all()


def test_the_end_of_a_full_run_is_stationary():
    """A further M step moves nothing: the gradient of the objective is zero."""
    Y = load_data("yeast:train").Y[:300]
    model = BernoulliMixture(4, tol=1e-13, max_iter=5000, random_state=0).fit(Y)
    weights, means, objective = em_step(model.weights_, model.means_, Y, np.ones(300), 1e-2)
    np.testing.assert_allclose(weights, model.weights_, atol=1e-5)
    np.testing.assert_allclose(means, model.means_, atol=1e-5)
    assert objective == pytest.approx(model.lower_bound_, rel=1e-9)


# The density


@pytest.mark.parametrize("seed", range(30))
def test_probabilities_sum_to_one_and_equal_the_loops(seed):
    Y = random_labels(seed)
    model = BernoulliMixture(1 + seed % 6, n_init=2, random_state=seed).fit(Y)
    Z = all_labelings(Y.shape[1])
    assert np.exp(model.score_samples(Z)).sum() == pytest.approx(1.0, rel=1e-12)
    joint = [log_joint(model.weights_, model.means_, z) for z in Z]
    slow = np.array([log_sum_exp(row) for row in joint])
    np.testing.assert_allclose(model.score_samples(Z), slow, rtol=1e-6)
    np.testing.assert_allclose(
        model.responsibilities(Z), np.exp(joint - slow[:, None]), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(model.table().value_all(Z)[0], model.score_samples(Z), rtol=1e-9)
    assert model.score(Y) == pytest.approx(model.score_samples(Y).mean())


def test_one_component_is_the_product_of_smoothed_rates():
    Y = random_labels(7)
    model = BernoulliMixture(1, smoothing=3.0).fit(Y)
    rates = (Y.sum(axis=0) + 0.5) / (len(Y) + 1)
    means = (Y.sum(axis=0) + 3.0 * rates) / (len(Y) + 3.0)
    np.testing.assert_allclose(model.means_[0], means, rtol=1e-12)
    assert model.n_iter_ == 3  # from the start, at the optimum, no gain
    assert model.converged_


def test_as_many_components_as_label_sets_reproduce_their_frequencies():
    Y = load_data("yeast:train").Y[:200, :4]
    sets, counts = np.unique(Y, axis=0, return_counts=True)
    model = BernoulliMixture(len(sets), tol=1e-9, max_iter=3000, smoothing=1e-6, random_state=0)
    model.fit(Y)
    np.testing.assert_allclose(np.exp(model.score_samples(sets)), counts / 200, atol=1e-3)


def test_everything_stays_in_log_space():
    """Many labels: the product of their probabilities underflows, its logarithm does not."""
    rng = np.random.default_rng(0)
    Y = (rng.random((40, 3000)) < 0.5).astype(np.int8)
    model = BernoulliMixture(3, random_state=0).fit(Y)
    other = (rng.random((5, 3000)) < 0.5).astype(np.int8)
    log_p = model.score_samples(other)
    assert (log_p < -750).all()
    assert np.isfinite(log_p).all()
    np.testing.assert_allclose(model.responsibilities(other).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(log_p, model.table(5).log_prob(other), rtol=1e-9)


def test_planted_mixtures_are_found_up_to_the_order_of_components():
    weights = np.array([0.5, 0.3, 0.2])
    means = np.array(
        [[0.9, 0.9, 0.1, 0.1, 0.5], [0.1, 0.1, 0.9, 0.8, 0.1], [0.1, 0.9, 0.9, 0.1, 0.9]]
    )
    rng = np.random.default_rng(0)
    k = rng.choice(3, size=20000, p=weights)
    Y = (rng.random((20000, 5)) < means[k]).astype(np.int8)
    model = BernoulliMixture(3, tol=1e-8, max_iter=2000, random_state=0).fit(Y)
    errors = [abs(model.means_[list(order)] - means).max() for order in permutations(range(3))]
    assert min(errors) < 0.04
    np.testing.assert_allclose(model.weights_, weights, atol=0.02)
    assert (
        model.score(Y)
        > np.mean([log_sum_exp(log_joint(weights, means, y)) for y in Y[:2000]]) - 0.05
    )


def test_no_samples_are_refused():
    model = BernoulliMixture(2, random_state=0).fit(random_labels(1))
    with pytest.raises(ValueError, match="n_samples must be a whole number of at least 1"):
        model.sample(0)


def test_samples_follow_the_density():
    Y = load_data("yeast:train").Y[:, :3]
    model = BernoulliMixture(4, random_state=0).fit(Y)
    drawn = model.sample(40000, random_state=0)
    assert drawn.shape == (40000, 3)
    assert drawn.dtype == np.int8
    np.testing.assert_array_equal(drawn, model.sample(40000, random_state=0))
    counts = np.bincount(drawn @ [4, 2, 1], minlength=8) / 40000
    expected = np.exp(model.score_samples(all_labelings(3)))
    assert (abs(counts - expected) < 4.5 * np.sqrt(expected / 40000)).all()


def test_decoders_apply_to_the_table():
    Y = load_data("yeast:train").Y[:, :6]
    table = BernoulliMixture(5, random_state=0).fit(Y).table(3)
    assert (table.n_samples, table.n_components, table.n_labels) == (3, 5, 6)
    best = MixtureMode().decode(table)
    np.testing.assert_allclose(best.value, Exhaustive().decode(table).value, rtol=1e-9)
    assert ExpectedF().decode(table).labels.shape == (3, 6)
    np.testing.assert_allclose(table.marginals()[0], Y.mean(axis=0), atol=1e-3)


# Estimator


def test_containers_and_dtypes_give_the_same_fit():
    Y = load_data("yeast:train").Y[:150]
    names = [f"gene {label}" for label in range(14)]
    plain = BernoulliMixture(4, random_state=0).fit(Y)
    for other in (
        Y.astype(bool),
        Y.astype(float),
        Y.tolist(),
        np.asfortranarray(Y),
        sparse.csr_matrix(Y),
        sparse.csc_array(Y),
        sparse.coo_array(Y),
        pd.DataFrame(Y, columns=names),
        pl.DataFrame(Y, schema=names),
    ):
        model = BernoulliMixture(4, random_state=0).fit(other)
        np.testing.assert_array_equal(model.logits_, plain.logits_)
        np.testing.assert_array_equal(model.score_samples(other), plain.score_samples(Y))
        if isinstance(other, pd.DataFrame):
            assert list(model.feature_names_in_) == names


def test_stored_zeros_and_duplicates_are_tidied_in_a_copy():
    Y = sparse.csr_array(
        (np.array([1, 0, 1, 1]), np.array([0, 1, 1, 2]), np.array([0, 2, 3, 4])), shape=(3, 3)
    )
    kept = Y.copy()
    np.testing.assert_array_equal(
        BernoulliMixture(2, random_state=0).fit(Y).logits_,
        BernoulliMixture(2, random_state=0).fit(Y.toarray()).logits_,
    )
    np.testing.assert_array_equal(Y.data, kept.data)


@pytest.mark.parametrize("init", ["spread", "random"])
def test_weights_count_rows(init):
    Y = load_data("yeast:train").Y[:80]
    weight = np.random.default_rng(0).integers(0, 4, size=80)
    weighted = BernoulliMixture(5, init=init, random_state=0).fit(Y, sample_weight=weight)
    repeated = BernoulliMixture(5, init=init, random_state=0).fit(np.repeat(Y, weight, axis=0))
    np.testing.assert_array_equal(weighted.logits_, repeated.logits_)
    np.testing.assert_array_equal(weighted.weights_, repeated.weights_)
    shuffled = BernoulliMixture(5, init=init, random_state=0).fit(
        Y[::-1], sample_weight=weight[::-1]
    )
    np.testing.assert_array_equal(weighted.logits_, shuffled.logits_)


@pytest.mark.parametrize("weight", [1e6, 1e9, 1e12])
def test_huge_weights_and_a_label_that_is_always_on(weight):
    Y = random_labels(3)
    Y[:, 0] = 1
    model = BernoulliMixture(3, n_init=2, random_state=0)
    usual = model.fit(Y, sample_weight=np.full(len(Y), 1e5)).score(Y)
    model.fit(Y, sample_weight=np.full(len(Y), weight))
    assert np.isfinite(model.logits_).all()
    assert model.score(Y) == pytest.approx(usual, rel=1e-4)


def test_a_fit_that_fails_loses_nothing():
    Y = random_labels(3)
    model = BernoulliMixture(3, random_state=0).fit(Y)
    before = model.score_samples(Y)
    with pytest.raises(ValueError, match="whole number"):
        model.set_params(n_init=0).fit(Y[:, :1])
    np.testing.assert_array_equal(model.score_samples(Y), before)
    with pytest.raises(ValueError, match="only 0 and 1"):
        model.set_params(n_init=1).fit(Y[:, :1] + 2)
    np.testing.assert_array_equal(model.score_samples(Y), before)


def test_tiny_total_weight_keeps_a_component():
    Y = random_labels(3)
    model = BernoulliMixture(3, random_state=0).fit(Y, sample_weight=np.full(len(Y), 1e-9))
    assert 1 <= model.n_components_ <= 3
    assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    "Y",
    [
        np.zeros((5, 3), dtype=int),
        np.ones((5, 3), dtype=int),
        np.array([[0, 1, 0]]),
        np.array([[0], [1], [1]]),
        np.array([[1]]),
        np.eye(6, dtype=int),
    ],
    ids=["empty sets", "all on", "one row", "one label", "one cell", "all different"],
)
@pytest.mark.parametrize("init", ["spread", "random"])
def test_degenerate_data_is_normal_data(Y, init):
    model = BernoulliMixture(8, init=init, random_state=0).fit(Y)
    assert model.n_components_ == len(model.weights_) <= 8
    assert model.weights_.sum() == pytest.approx(1.0)
    assert np.isfinite(model.logits_).all()
    assert np.isfinite(model.score_samples(1 - Y)).all()
    assert ((model.means_ > 0) & (model.means_ < 1)).all()
    assert np.exp(model.score_samples(Y[:1]))[0] > 0.1


@pytest.mark.filterwarnings("ignore:EM did not converge")
def test_dead_components_are_dropped_and_cost_no_likelihood():
    Y = load_data("yeast:train").Y[:100, :5]
    rows, _ = distinct_rows(Y)
    n_dropped = 0
    for seed in range(5):
        options = {"smoothing": 1.0, "tol": 0.0, "max_iter": 1500}
        model = BernoulliMixture(20, n_init=1, init="random", random_state=seed, **options).fit(Y)
        n_dropped += 20 - model.n_components_
        assert model.weights_.min() * 100 >= 0.01
        assert (np.diff(model.weights_) <= 0).all()
        starts = random_start(rows, (1, 20), np.random.RandomState(seed))
        (whole,) = run_em(rows, starts, Prior(rows.base_rates, 1.0), 1500, 0.0)
        weights = np.maximum(whole.weights, 1e-300)  # of a component that has none left
        kept = posterior(rows, weights, whole.logits)[0] @ rows.counts / 100
        assert model.score(Y) >= kept - 20 * 0.011 / 100
    assert n_dropped > 0


def test_not_converging_warns():
    Y = load_data("yeast:train").Y
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        model = BernoulliMixture(10, max_iter=3, random_state=0).fit(Y)
    assert not model.converged_
    assert model.n_iter_ == 3
    assert model.history_.shape == (3,)


def test_the_best_start_is_kept():
    Y = load_data("yeast:train").Y[:400]
    many = BernoulliMixture(12, n_init=10, random_state=0).fit(Y)
    rows, _ = distinct_rows(Y)
    prior = Prior(rows.base_rates, 1e-2)
    starts = spread_start(rows, prior.base_rates, (10, 12), np.random.RandomState(0))
    ends = [fit.history[-1] for fit in run_em(rows, starts, prior, 200, 1e-4)]
    assert many.lower_bound_ == max(ends)
    assert max(ends) > np.mean(ends) + 1e-3


def test_the_seed_fixes_the_result_and_refitting_forgets():
    Y = load_data("yeast:train").Y[:200]
    first = BernoulliMixture(5, random_state=3).fit(Y)
    again = clone(first).fit(Y[:, :4]).fit(Y)
    np.testing.assert_array_equal(first.logits_, again.logits_)
    other = BernoulliMixture(5, random_state=4).fit(Y)
    assert not np.array_equal(first.logits_, other.logits_)


def test_held_out_likelihood_chooses_the_number_of_components():
    Y = load_data("yeast:train").Y
    search = GridSearchCV(
        BernoulliMixture(n_init=2, random_state=0), {"n_components": [1, 15]}, cv=3
    ).fit(Y)
    assert search.best_params_ == {"n_components": 15}


def test_a_saved_model_answers_the_same(tmp_path):
    Y = load_data("yeast:train").Y[:100]
    model = BernoulliMixture(3, random_state=0).fit(Y)
    save(model, tmp_path / "labels.skops")
    again = load(tmp_path / "labels.skops")
    np.testing.assert_array_equal(again.score_samples(Y), model.score_samples(Y))


@pytest.mark.parametrize(
    ("options", "Y", "message"),
    [
        ({}, [[0, 2], [1, 0]], "row 0, column 1 holds 2"),
        ({}, [[0.0, 1.0], [0.5, 0.0]], "row 1, column 0 holds 0.5"),
        ({}, sparse.csr_array([[0, 0], [1, 0], [0, 3]]), "row 2, column 1 holds 3"),
        ({}, [[0.0, np.nan]], "NaN"),
        ({}, [0, 1, 1], "2D array"),
        ({}, np.zeros((3, 0)), "0 feature"),
        ({}, np.ma.masked_equal([[0, 1], [1, 1]], 1), "masked in places"),
        ({"n_components": 0}, [[1]], "n_components must be a whole number of at least 1"),
        ({"n_components": 2.5}, [[1]], "n_components must be a whole number"),
        ({"n_init": 0}, [[1]], "n_init must be"),
        ({"max_iter": 0}, [[1]], "max_iter must be"),
        ({"tol": -1.0}, [[1]], "tol must be"),
        ({"tol": "small"}, [[1]], "tol must be"),
        ({"smoothing": 0}, [[1]], "smoothing must be a positive number"),
        ({"smoothing": 1e-320}, [[1]], "smoothing must be a number of at least 1e-100"),
        ({"smoothing": np.nan}, [[1]], "smoothing must be a positive number"),
        ({"init": "k-means"}, [[1]], "init must be 'spread' or 'random'"),
    ],
)
def test_bad_input_gets_one_clear_sentence(options, Y, message):
    with pytest.raises(ValueError, match=message):
        BernoulliMixture(**options).fit(Y)


def test_binarize_cuts_numbers_and_other_widths_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 3))
    model = BernoulliMixture(2, binarize=0.3, random_state=0).fit(X)
    plain = BernoulliMixture(2, random_state=0).fit((X > 0.3).astype(int))
    np.testing.assert_array_equal(model.logits_, plain.logits_)
    with pytest.raises(ValueError, match="3 features"):
        model.score_samples(X[:, :2])
    with pytest.raises(NotFittedError):
        BernoulliMixture().table()


# Distinct rows


@pytest.mark.parametrize("seed", range(30))
def test_distinct_rows_are_those_of_numpy(seed, monkeypatch):
    monkeypatch.setattr("colabel.numerics.distinct_labelings.BLOCK_ENTRIES", 16)
    rng = np.random.default_rng(seed)
    n, n_labels = rng.integers(1, 40), rng.integers(1, 20)
    Y = (rng.random((n, n_labels)) < rng.choice([0.02, 0.3])).astype(np.int8)
    weight = rng.uniform(size=n)
    rows, place = distinct_rows(sparse.csr_array(Y) if seed % 2 else Y, weight)
    sets, where = np.unique(Y, axis=0, return_inverse=True)
    np.testing.assert_array_equal(rows.labelings.toarray(), sets)
    chosen = rng.integers(len(sets), size=5)
    np.testing.assert_array_equal(rows.take(chosen), sets[chosen])
    np.testing.assert_array_equal(place, where.ravel())
    np.testing.assert_allclose(rows.counts, np.bincount(where.ravel(), weight))
    np.testing.assert_array_equal(distinct_rows(Y)[0].counts, np.bincount(where.ravel()))


# Starts


def test_spread_starts_take_every_labeling_before_one_twice():
    rows, _ = distinct_rows(np.repeat(np.eye(7, dtype=int), 3, axis=0))
    starts = spread_start(rows, rows.base_rates, (5, 7), np.random.RandomState(0))
    assert starts.rows.sum(axis=1) == pytest.approx(21)
    for on in starts.on:
        assert set(on.argmax(axis=1)) == set(range(7))
    more = spread_start(rows, rows.base_rates, (2, 12), np.random.RandomState(0))
    for on in more.on:
        assert set(on.argmax(axis=1)) == set(range(7))
        assert len(np.unique(on, axis=0)) == 12


def test_spread_starts_follow_counts_and_distances():
    Y = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 0]])
    rows = LabelRows(sparse.csr_array(Y, dtype=float), np.array([6.0, 3.0, 1.0]))
    starts = spread_start(rows, np.full(4, 0.5), (20000, 2), np.random.RandomState(0))
    first = (starts.on / starts.rows[:, :, None] > 0.5) @ [8, 4, 2, 1]
    code = np.array([0, 1, 14])
    for labeling, share in zip(code, [0.6, 0.3, 0.1], strict=True):
        assert abs((first[:, 0] == labeling).mean() - share) < 4.5 * np.sqrt(share / 20000)
    given = first[first[:, 0] == 0, 1]  # then 3 rows at distance 1, 1 row at distance 3
    assert abs((given == 1).mean() - 0.5) < 4.5 * 0.5 / np.sqrt(len(given))


@pytest.mark.parametrize("cells", [1, 1 << 16])
def test_random_starts_share_every_row_out(cells, monkeypatch):
    monkeypatch.setattr("colabel.mixture._bernoulli_em.BLOCK_CELLS", cells)
    rows, _ = distinct_rows(random_labels(5))
    n, on = random_start(rows, (3, 4), np.random.RandomState(0))
    np.testing.assert_allclose(n.sum(axis=1), rows.counts.sum())
    np.testing.assert_allclose(on.sum(axis=1), np.tile(rows.counts @ rows.labelings, (3, 1)))
    assert (on <= n[:, :, None] + 1e-12).all()


# Real data


def test_scene_is_fitted_nearly_to_the_entropy_of_its_label_sets(real_data):
    Y = load_data("scene:train").Y
    model = BernoulliMixture(20, random_state=0).fit(Y)
    _, counts = np.unique(Y, axis=0, return_counts=True)
    share = counts / len(Y)
    entropy = -(share * np.log(share)).sum()
    assert -entropy - 0.005 < model.score(Y) <= -entropy
