"""Coupled facets: messages on a tree against enumeration, and what the coupling learns."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.special import log_softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import oracles_facets as oracles
from colabel.datasets import make_facets
from colabel.facets import CoupledSets, IndependentDecomposition, OnePerSetClassifier
from colabel.facets import _coupling as coupling
from colabel.facets._coupling import TreeCoupling, fit_coupling, spanning_tree
from colabel.mixture import ConditionalBernoulliMixture
from colabel.reduction import BinaryRelevance, LabelPowerset

TREES = [[], [(1, 0)], [(2, 1), (1, 0)], [(2, 0), (1, 0)], [(3, 1), (2, 1), (1, 0)]]


def problem(seed, edges, n=6):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=len(edges) + 1)
    log_p = [log_softmax(rng.normal(size=(n, size)) * 2, axis=1) for size in sizes]
    if seed % 3 == 0:
        log_p = [np.round(part) for part in log_p]  # ties
    thetas = [np.round(rng.normal(size=(sizes[s], sizes[r])), seed % 2) for s, r in edges]
    return log_p, TreeCoupling(edges, rng.random(len(sizes)) + 0.5, thetas)


@pytest.mark.parametrize("edges", TREES, ids=str)
def test_messages_equal_enumeration(edges):
    for seed in range(40):
        log_p, model = problem(seed, edges)
        codes = model.decode(log_p)
        log_z, own, pairs = model.marginals(log_p)
        for i in range(6):
            rows = [part[i] for part in log_p]
            p, z = oracles.coupled(rows, model.temperatures, edges, model.couplings)
            assert p[tuple(codes[i])] == pytest.approx(max(p.values()), rel=1e-12)
            assert log_z[i] == pytest.approx(z, abs=1e-10)
            for s, part in enumerate(own):
                for c in range(part.shape[1]):
                    total = sum(q for combination, q in p.items() if combination[s] == c)
                    assert np.exp(part[i, c]) == pytest.approx(total, abs=1e-10)
            for (s, r), part in zip(edges, pairs, strict=True):
                for a, b in np.ndindex(part.shape[1:]):
                    total = sum(q for k, q in p.items() if (k[s], k[r]) == (a, b))
                    assert part[i, a, b] == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("edges", TREES, ids=str)
def test_the_gradient_is_that_of_the_objective(edges, monkeypatch):
    log_p, _ = problem(1, edges, n=30)
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, part.shape[1], 30) for part in log_p])
    seen = {}

    def keep(objective, start, **options):
        seen.update(objective=objective, size=len(start))
        return type("Result", (), {"x": start, "status": 0})()

    monkeypatch.setattr(coupling, "minimize", keep)
    fit_coupling(log_p, codes, rng.random(30) + 0.1, edges, 0.7)
    for _ in range(5):
        z = rng.normal(size=seen["size"])
        value, slope = (lambda z: seen["objective"](z)[0]), (lambda z: seen["objective"](z)[1])
        assert check_grad(value, slope, z) < 1e-4 * (1 + np.abs(slope(z)).max())


def test_the_tree_joins_the_facets_that_know_most_of_one_another():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 500)
    b = np.where(rng.random(500) < 0.9, a, rng.integers(0, 3, 500))
    c = np.where(rng.random(500) < 0.8, b, rng.integers(0, 3, 500))
    d = rng.integers(0, 2, 500)
    edges = spanning_tree(np.column_stack([c, a, d, b]), (3, 3, 2, 3), np.ones(500))
    joined = {frozenset(edge) for edge in edges}
    assert {frozenset({1, 3}), frozenset({0, 3})} <= joined
    assert len(edges) == 3
    for place, (_, parent) in enumerate(edges):  # a set has heard of its children when it speaks
        assert all(child != parent for child, _ in edges[:place])
    assert spanning_tree(d[:, None], (2,), np.ones(500)) == []


@pytest.mark.parametrize("edges", TREES, ids=str)
def test_a_weight_is_so_many_rows(edges):
    for seed in range(20):
        log_p, _ = problem(seed, edges, n=25)
        rng = np.random.default_rng(seed)
        codes = np.column_stack([rng.integers(0, part.shape[1], 25) for part in log_p])
        times = rng.integers(1, 4, size=25)
        sizes = [part.shape[1] for part in log_p]
        many, all_codes = (
            [np.repeat(part, times, axis=0) for part in log_p],
            np.repeat(codes, times, axis=0),
        )
        ones = np.ones(times.sum())
        assert spanning_tree(codes, sizes, times / 2) == spanning_tree(all_codes, sizes, ones)
        a = fit_coupling(log_p, codes, times.astype(float), edges, 0.5)
        b = fit_coupling(many, all_codes, ones, edges, 0.5)
        np.testing.assert_allclose(a.temperatures, b.temperatures, atol=1e-3)
        for mine, other in zip(a.couplings, b.couplings, strict=True):
            np.testing.assert_allclose(mine, other, atol=1e-3)


def test_dependence_is_learned_and_used():
    gains = []
    for seed in range(4):
        data = make_facets(1500, 6, (4, 4), dependence=0.8, random_state=seed)
        X, Y = data.X, data.classes + 10
        coupled = CoupledSets(random_state=0).fit(X[:500], Y[:500])
        alone = IndependentDecomposition().fit(X[:500], Y[:500])
        gains.append(coupled.score(X[500:], Y[500:]) - alone.score(X[500:], Y[500:]))
        assert np.abs(coupled.coupling_.couplings[0]).max() > 0.5
    assert np.mean(gains) > 0.02


def test_independent_facets_lose_nothing():
    gains = []
    for seed in range(5):
        data = make_facets(1500, 6, (3, 3), dependence=0.0, random_state=seed)
        X, Y = data.X, data.classes + 10
        coupled = CoupledSets(random_state=0).fit(X[:500], Y[:500])
        alone = IndependentDecomposition().fit(X[:500], Y[:500])
        gains.append(coupled.score(X[500:], Y[500:]) - alone.score(X[500:], Y[500:]))
    assert np.mean(gains) > -0.01


def test_many_facets_cost_no_more_than_their_pairs():
    data = make_facets(300, 5, (2,) * 11, dependence=0.8, random_state=0)
    model = CoupledSets(LogisticRegression(), random_state=0).fit(data.X, data.classes + 10)
    assert len(model.coupling_.edges) == 10
    p = model.predict_joint(data.X[:3])
    best = p.labelings[np.argmax(p.scores, axis=1)]
    np.testing.assert_array_equal(model.predict(data.X[:3]), best[:, 1::2] + 10)
    many = np.hstack([data.classes, 1 - data.classes]) + 10  # 4 million combinations
    assert CoupledSets(random_state=0, n_folds=2).fit(data.X, many).predict(data.X).shape == (
        300,
        22,
    )


@pytest.mark.parametrize(
    "estimator",
    [
        BinaryRelevance(),
        LabelPowerset(),
        ConditionalBernoulliMixture(3, max_iter=3, random_state=0),
    ],
    ids=["Modular", "Support", "Mixture"],
)
def test_the_adapter_finds_the_best_combination_of_any_table(estimator):
    data = make_facets(150, 4, (3, 2), dependence=0.7, random_state=1)
    Y = data.classes + 10
    model = OnePerSetClassifier(estimator).fit(data.X, Y)
    found = model.predict(data.X)
    table = model.estimator_.predict_joint(data.X)
    hot = np.array([[*np.eye(3)[a], *np.eye(2)[b]] for a in range(3) for b in range(2)])
    values = table.value_all(hot)
    chosen = (found[:, 0] - 10) * 2 + found[:, 1] - 10
    np.testing.assert_allclose(values[np.arange(150), chosen], values.max(axis=1))


def test_the_arg_max_of_each_set_is_the_rule_of_the_paper():
    data = make_facets(150, 4, (3, 2), dependence=0.7, random_state=2)
    model = OnePerSetClassifier(LabelPowerset(), rule="argmax").fit(data.X, data.classes + 10)
    scores = model.estimator_.decision_function(data.X)
    expected = np.column_stack([scores[:, :3].argmax(axis=1), scores[:, 3:].argmax(axis=1)])
    np.testing.assert_array_equal(model.predict(data.X), expected + 10)


def test_an_estimator_without_a_table_is_decided_by_its_scores():
    from sklearn.multioutput import MultiOutputClassifier

    data = make_facets(150, 4, (3, 2), random_state=3)
    model = OnePerSetClassifier(MultiOutputClassifier(LogisticRegression()))
    same = OnePerSetClassifier(BinaryRelevance(LogisticRegression()))
    Y = data.classes + 10
    np.testing.assert_array_equal(
        model.fit(data.X, Y).predict(data.X), same.fit(data.X, Y).predict(data.X)
    )


def rare(seed, n):
    """Return two facets, independent given the features; the first has classes seen once."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    scores = X @ rng.normal(size=(6, 25)) * 2 - 2.0 * np.log(1 + np.arange(25))
    first = np.argmax(scores + rng.gumbel(size=(n, 25)), axis=1)
    second = X @ rng.normal(size=6) + rng.normal(size=n) > 0
    return X, np.column_stack([first, second]) + 10


def test_classes_that_a_fold_never_saw_do_not_make_classifiers_look_wrong():
    X, Y = rare(0, 200)
    assert np.sum(np.unique(Y[:, 0], return_counts=True)[1] == 1) > 0
    often = np.isin(Y[:, 0], [c for c in set(Y[:, 0]) if np.sum(Y[:, 0] == c) > 5])
    with_rare, without = (
        CoupledSets(random_state=0).fit(X[rows], Y[rows]).coupling_.temperatures[0]
        for rows in (np.ones(200, dtype=bool), often)
    )
    assert with_rare == pytest.approx(without, rel=0.25)


def test_rows_that_are_each_of_their_own_class_fit():
    X = np.arange(8.0).reshape(4, 2)
    Y = np.array([["a", "p"], ["b", "q"], ["c", "r"], ["d", "s"]])
    model = CoupledSets(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(model.coupling_.temperatures, 1.0)
    assert np.all(np.isfinite(model.predict_proba(X)[0]))


@pytest.mark.parametrize("estimator", [LabelPowerset(), BinaryRelevance()], ids=["lp", "br"])
def test_the_adapter_predicts_the_best_of_its_own_joint_distribution(estimator):
    data = make_facets(150, 3, (3, 3), dependence=0.8, random_state=0)
    model = OnePerSetClassifier(estimator).fit(data.X, data.classes + 10)
    table = model.predict_joint(data.X)
    best = table.labelings[np.argmax(table.scores, axis=1)]
    found = model.predict(data.X) - 10
    p = np.exp(table.scores - table.scores.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True) @ table.labelings
    for s, part in enumerate(model.predict_proba(data.X)):
        np.testing.assert_array_equal(np.argmax(best[:, 3 * s : 3 * s + 3], axis=1), found[:, s])
        np.testing.assert_allclose(part, p[:, 3 * s : 3 * s + 3], atol=1e-9)


def test_a_coupling_that_has_not_converged_says_so(monkeypatch):
    monkeypatch.setattr(coupling, "MAX_ITER", 1)
    log_p, _ = problem(1, [(1, 0)], n=30)
    codes = np.column_stack([np.argmax(part, axis=1) for part in log_p])
    with pytest.warns(ConvergenceWarning, match="not converged"):
        fit_coupling(log_p, codes, np.ones(30), [(1, 0)], 0.1)
