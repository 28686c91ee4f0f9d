"""The model in spins: the score of the paper, features and moments, signs."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from colabel.models import SpinPairwise
from colabel.scores import Modular, Pairwise
from learners.oracles_margin import joint_feature, labelings

SIGNS = ["any", "attractive", "repulsive", None]


def random_model(seed, max_labels=6):
    rng = np.random.default_rng(seed)
    d, V = int(rng.integers(0, 4)), int(rng.integers(1, max_labels + 1))
    constant = float(rng.choice([0.0, 1.0, 2.5]))
    return SpinPairwise(d, V, SIGNS[seed % 4], float(rng.uniform(0.2, 3.0)), constant), rng


@pytest.mark.parametrize("seed", range(30))
def test_sums_of_features_do_not_depend_on_how_rows_are_stored(seed):
    rng = np.random.default_rng(seed)
    model = SpinPairwise(5, 30, SIGNS[seed % 4], 1.0, 0.0)
    X = rng.normal(size=(9, 5)) * (rng.random((9, 5)) < 0.5)
    Z, weight = (rng.random((9, 30)) < 0.05).astype(np.int8), rng.uniform(size=9)
    for chosen in (Z, Z.astype(bool), 0.5 * Z):
        expected = model.feature_sum(X, chosen, weight)
        for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
            found = model.feature_sum(kind(X), chosen, weight)
            np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(60))
def test_score_is_that_of_the_paper_but_for_one_constant(seed):
    model, rng = random_model(seed)
    X, theta = rng.normal(size=(5, model.n_features)), rng.normal(size=model.size)
    theta = model.project(theta)
    table = model.scores(X, theta)
    assert isinstance(table, Pairwise if len(model.edges) else Modular)
    W, _ = model.split(theta)
    F = X @ W[:-1] + model.constant * W[-1]
    np.testing.assert_allclose(model.unary(X, theta), F, atol=1e-12)
    A, Z = model.prior(theta), labelings(model.n_labels)
    S = 2.0 * Z - 1.0
    paper = 0.5 * (F @ S.T - np.einsum("zi,ij,zj->z", S, A, S))
    # What {0, 1} leaves out: half of 1'(W'x + b) - 1'A1.
    constant = 0.5 * (F.sum(axis=1) + A.sum())
    np.testing.assert_allclose(table.value_all(Z) - constant[:, None], paper, atol=1e-11)


@pytest.mark.parametrize("seed", range(60))
def test_score_is_linear_in_the_feature(seed):
    model, rng = random_model(seed)
    X, Z = rng.normal(size=(7, model.n_features)), rng.integers(0, 2, (7, model.n_labels))
    theta, weight = rng.normal(size=model.size), rng.random(7)
    phi = joint_feature(model, X, Z)
    assert phi.shape == (7, model.size)
    np.testing.assert_allclose(phi @ theta, model.scores(X, theta).value(Z), atol=1e-11)
    expected = weight @ phi
    np.testing.assert_allclose(model.feature_sum(X, Z, weight), expected, atol=1e-12)
    sparse_sum = model.feature_sum(sparse.csr_array(X), Z.astype(np.int8), weight)
    np.testing.assert_allclose(sparse_sum, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_moments_of_a_distribution_give_its_mean_feature(seed):
    """Each sample has a distribution over all labelings; its moments are all that counts."""
    model, rng = random_model(seed, 4)
    X, every = rng.normal(size=(6, model.n_features)), labelings(model.n_labels)
    P = rng.dirichlet(np.full(len(every), 0.3), size=6)
    weight = rng.random(6)
    expected = np.zeros(model.size)
    for x, p, w in zip(X, P, weight, strict=True):
        rows = np.repeat(x[None], len(every), axis=0)
        expected += w * p @ joint_feature(model, rows, every)
    first = weight[:, None] * (P @ every)
    second = np.einsum("n,nz,zi,zj->ij", weight, P, every, every)
    found = model.feature_of_moments(X, first, second)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("sign", SIGNS)
def test_projection_gives_the_prior_its_sign(sign):
    model, rng = SpinPairwise(2, 5, sign, 0.7, 1.0), np.random.default_rng(0)
    theta = rng.normal(size=model.size)
    kept = theta.copy()
    near = model.project(theta)
    np.testing.assert_array_equal(theta, kept)
    np.testing.assert_array_equal(near[: model.n_unary], theta[: model.n_unary])
    A = model.prior(near)
    np.testing.assert_array_equal(A, A.T)
    assert not np.diag(A).any()
    assert sign not in ("attractive", None) or A.max() <= 0.0
    assert sign not in ("repulsive", None) or A.min() >= 0.0
    if sign == "any":
        np.testing.assert_array_equal(near, theta)
    if sign in ("attractive", "repulsive"):
        assert np.any(A)
        # The nearest: no parameters of the right sign are nearer.
        for _ in range(200):
            other = model.project(near + rng.normal(size=model.size))
            assert np.linalg.norm(near - theta) <= np.linalg.norm(other - theta) + 1e-12


@pytest.mark.parametrize(
    ("sign", "scale"), [("any", 0.5), ("repulsive", 0.5), ("attractive", -0.5)]
)
def test_the_prior_is_a_multiple_of_the_pair_parameters(sign, scale):
    model = SpinPairwise(1, 3, sign, 0.5, 1.0)
    theta = np.arange(1.0, model.size + 1.0)
    W, pairs = model.split(theta)
    np.testing.assert_array_equal(W, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    np.testing.assert_array_equal(pairs, [7.0, 8.0, 9.0])
    W[0, 0] = -1.0
    assert theta[0] == -1.0  # views
    assert model.edges.tolist() == [list(pair) for pair in combinations(range(3), 2)]
    expected = scale * np.array([[0.0, 7.0, 8.0], [7.0, 0.0, 9.0], [8.0, 9.0, 0.0]])
    np.testing.assert_allclose(model.prior(theta), expected)
    assert model.n_free == (model.size if sign == "any" else model.n_unary)


def test_one_ridge_serves_labels_and_prior():
    """With ``kappa^2 = penalty / (2 lambda_a)`` the penalty on pairs is ``lambda_a / 2 |A|^2``."""
    penalty, lambda_a = 0.3, 1.7
    model = SpinPairwise(2, 4, "any", float(np.sqrt(penalty / (2.0 * lambda_a))))
    theta = np.random.default_rng(1).normal(size=model.size)
    _, pairs = model.split(theta)
    A = model.prior(theta)
    assert penalty / 2 * pairs @ pairs == pytest.approx(lambda_a / 2 * np.sum(A**2))


def test_a_positive_entry_repels_and_a_negative_one_attracts():
    for sign, alike in (("repulsive", False), ("attractive", True)):
        model = SpinPairwise(0, 2, sign, 1.0)
        theta = np.array([0.0, 0.0, 1.0])
        value = dict(
            zip(
                map(tuple, labelings(2).tolist()),
                model.scores(np.zeros((1, 0)), theta).value_all(labelings(2))[0],
                strict=True,
            )
        )
        same, differ = (value[0, 0], value[1, 1]), (value[0, 1], value[1, 0])
        assert same[0] == same[1]
        assert differ[0] == differ[1]
        assert (same[0] > differ[0]) == alike


def test_without_a_prior_or_with_one_label_there_are_no_pairs():
    for model in (SpinPairwise(2, 4, None, 1.0), SpinPairwise(2, 1, "any", 1.0)):
        assert model.edges.shape == (0, 2)
        assert model.size == model.n_unary == model.n_free == 3 * model.n_labels
        theta = np.ones(model.size)
        assert not model.prior(theta).any()
        assert isinstance(model.scores(np.ones((1, 2)), theta), Modular)
