"""Generators: exact truths against slow sums, and the drawn labels against the truth."""

from itertools import product

import numpy as np
import pytest

from colabel.datasets import make_bernoulli_mixture, make_facets, make_pairwise
from colabel.datasets.generators import BernoulliMixtureTruth, FacetsTruth, PairwiseTruth
from colabel.datasets.generators._common import draw_rows, labelings, row_blocks


def sigmoid(t):
    return 1 / (1 + np.exp(-t))


def slow_mixture_probability(truth, x, y):
    gate = np.exp(truth.gate @ x + truth.gate_bias)
    total = 0.0
    for k, weight in enumerate(gate / gate.sum()):
        on = sigmoid(truth.experts[k] @ x + truth.expert_bias[k])
        total += weight * np.prod(np.where(y, on, 1 - on))
    return total


def slow_pairwise_score(truth, x, y):
    score = sum(y[i] * (truth.weights[i] @ x + truth.bias[i]) for i in range(len(y)))
    return score + sum(
        c * y[i] * y[j] for (i, j), c in zip(truth.edges, truth.couplings, strict=True)
    )


def accuracy(Y, Z):
    return (Y == Z).all(axis=1).mean()


MAKERS = {
    "mixture": lambda **options: make_bernoulli_mixture(60, target="sample", **options),
    "mixture-noisy": lambda **options: make_bernoulli_mixture(60, noise=1.0, **options),
    "pairwise": lambda **options: make_pairwise(60, n_labels=4, **options),
    "pairwise-gibbs": lambda **options: make_pairwise(60, n_labels=16, burn_in=3, **options),
    "facets": lambda **options: make_facets(60, **options),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_seed_fixes_the_data_and_generated_data_unpack(make):
    X, Y = make(random_state=3)
    same = make(random_state=np.random.default_rng(3))
    other = make(random_state=4)
    np.testing.assert_array_equal(X, same.X)
    np.testing.assert_array_equal(Y, same.Y)
    assert not np.array_equal(X, other.X)
    assert Y.dtype == np.int8
    assert set(np.unique(Y)) <= {0, 1}
    legacy = [make(random_state=np.random.RandomState(5)) for _ in range(2)]
    np.testing.assert_array_equal(legacy[0].Y, legacy[1].Y)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_as_dataset_keeps_data_and_groups(make):
    data = make(random_state=0)
    dataset = data.as_dataset("mine")
    assert dataset.name == "mine"
    assert dataset.X is data.X
    assert dataset.Y is data.Y
    assert dataset.facets == getattr(data, "facets", None)


def test_labelings_are_all_distinct_and_numbered_by_their_bits():
    Z = labelings(5)
    assert Z.shape == (32, 5)
    np.testing.assert_array_equal(Z @ (1 << np.arange(5)), np.arange(32))


def test_row_blocks_cover_every_row_once():
    blocks = list(row_blocks(10, 1 << 20))
    assert len(blocks) == 5
    assert np.concatenate([np.arange(10)[block] for block in blocks]).tolist() == list(range(10))
    assert len(list(row_blocks(3, 1 << 40))) == 3


def test_draw_rows_follows_the_table_and_never_draws_an_impossible_column():
    table = np.tile([0.0, 0.2, 0.0, 0.8, 0.0], (20000, 1))
    drawn = np.bincount(draw_rows(table, np.random.default_rng(0)), minlength=5) / len(table)
    assert drawn[[0, 2, 4]].sum() == 0
    assert abs(drawn[1] - 0.2) < 4 * np.sqrt(0.2 * 0.8 / len(table))


# Mixture


@pytest.mark.parametrize("seed", range(4))
def test_mixture_table_equals_the_slow_sum_and_sums_to_one(seed):
    data = make_bernoulli_mixture(5, 3, 4, 1 + seed, target="sample", random_state=seed)
    table = np.exp(data.truth.log_prob(data.X))
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    for x, row in zip(data.X, table, strict=True):
        slow = [slow_mixture_probability(data.truth, x, y) for y in data.truth.labelings]
        np.testing.assert_allclose(row, slow, rtol=1e-9)


def test_mixture_argmax_labels_are_the_exact_modes():
    data = make_bernoulli_mixture(40, target="argmax", random_state=1)
    for x, y in zip(data.X, data.Y, strict=True):
        slow = [slow_mixture_probability(data.truth, x, z) for z in data.truth.labelings]
        assert slow_mixture_probability(data.truth, x, y) == pytest.approx(max(slow), rel=1e-9)
    assert (data.optimal_accuracy, data.optimal_accuracy_error) == (1.0, 0.0)
    assert accuracy(data.Y, data.truth.mode(data.X)[0]) == 1


def test_mixture_optimal_accuracy_of_samples_is_the_mean_of_the_largest_probability():
    data = make_bernoulli_mixture(30, target="sample", random_state=2)
    slow = [
        max(slow_mixture_probability(data.truth, x, y) for y in data.truth.labelings)
        for x in data.X
    ]
    assert data.optimal_accuracy == pytest.approx(np.mean(slow), rel=1e-9)


@pytest.mark.parametrize("noise", [0.0, 2.0])
def test_mixture_modes_reach_the_bound_on_drawn_samples_and_marginals_do_not_pass_it(noise):
    data = make_bernoulli_mixture(20000, target="sample", noise=noise, random_state=0)
    error = 4 * 0.5 / np.sqrt(len(data.Y))
    modes, probability = data.truth.mode(data.X)
    assert probability.mean() == pytest.approx(data.optimal_accuracy)
    assert abs(accuracy(data.Y, modes) - data.optimal_accuracy) < error
    table = np.exp(data.truth.log_prob(data.X))
    marginals = table @ data.truth.labelings
    assert accuracy(data.Y, marginals > 0.5) < data.optimal_accuracy + error
    np.testing.assert_allclose(data.Y.mean(axis=0), marginals.mean(axis=0), atol=error)


def test_mixture_with_equal_components_has_independent_labels():
    data = make_bernoulli_mixture(20, target="sample", common=1.0, random_state=0)
    table = np.exp(data.truth.log_prob(data.X))
    Z = data.truth.labelings
    marginals = table @ Z
    product_of_marginals = np.where(Z, marginals[:, None], 1 - marginals[:, None]).prod(axis=2)
    np.testing.assert_allclose(table, product_of_marginals, atol=1e-12)
    dependent = make_bernoulli_mixture(20, target="sample", common=0.0, random_state=0)
    table = np.exp(dependent.truth.log_prob(dependent.X))
    marginals = table @ Z
    product_of_marginals = np.where(Z, marginals[:, None], 1 - marginals[:, None]).prod(axis=2)
    assert abs(table - product_of_marginals).max() > 0.05


@pytest.mark.parametrize("noise", [0.5, 1.5, 3.0])
def test_mixture_noise_average_equals_a_long_simulation(noise):
    data = make_bernoulli_mixture(3, target="sample", noise=noise, random_state=7)
    table = np.exp(data.truth.log_prob(data.X))
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-9)
    rng = np.random.default_rng(0)
    n_draws = 20000
    gate, logits = data.truth.scores(data.X)
    total = np.zeros_like(table)
    for _ in range(n_draws // 100):
        g = gate[:, None] + noise * rng.standard_normal((len(gate), 100, gate.shape[1]))
        e = logits[:, None] + noise * rng.standard_normal((len(gate), 100, *logits.shape[1:]))
        weights = np.exp(g - g.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        on = sigmoid(e)[:, :, :, None, :]
        each = np.where(data.truth.labelings, on, 1 - on).prod(axis=4)
        total += np.einsum("ndk,ndks->ns", weights, each)
    np.testing.assert_allclose(table, total / n_draws, atol=4 * 0.35 / np.sqrt(n_draws))


def test_mixture_noise_quadrature_of_one_bernoulli_is_accurate():
    truth = BernoulliMixtureTruth(
        np.zeros((1, 1)), np.zeros(1), np.ones((1, 1, 1)), np.zeros((1, 1)), noise=3.0
    )
    X = np.linspace(-8, 8, 9)[:, None]
    nodes = np.linspace(-12, 12, 200001)
    density = np.exp(-(nodes**2) / 2)
    slow = [(sigmoid(x + 3.0 * nodes) * density).sum() / density.sum() for x in X[:, 0]]
    np.testing.assert_allclose(np.exp(truth.log_prob(X))[:, 1], slow, atol=1e-6)


def test_mixture_gate_quadrature_is_within_its_stated_error():
    rng = np.random.default_rng(0)
    gate = 3 * rng.standard_normal((50, 3))
    truth = BernoulliMixtureTruth(
        np.eye(3), np.zeros(3), np.zeros((3, 1, 3)), np.zeros((3, 1)), noise=1.5
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights = weights / weights.sum()
    slow = np.zeros_like(gate)
    for (a, wa), (b, wb), (c, wc) in product(zip(nodes, weights, strict=True), repeat=3):
        if wa * wb * wc > 1e-14:
            e = np.exp(gate + 1.5 * np.array([a, b, c]))
            slow += wa * wb * wc * e / e.sum(axis=1, keepdims=True)
    assert abs(np.exp(truth._mean_gate(gate)) - slow).max() < 2e-3
    assert abs(np.exp(truth._mean_gate(gate)) - slow).mean() < 3e-4


def test_mixture_noisy_argmax_bound_is_reached_by_no_predictor_but_nearly_by_the_truth():
    data = make_bernoulli_mixture(20000, target="argmax", noise=1.3, random_state=0)
    assert 0 < data.optimal_accuracy_error < 0.01
    error = 4 * np.hypot(data.optimal_accuracy_error, 0.5 / np.sqrt(len(data.Y)))
    truth = accuracy(data.Y, data.truth.mode(data.X, averaged=False)[0])
    assert data.optimal_accuracy - 0.03 < truth < data.optimal_accuracy + error


def test_mixture_noisy_argmax_bound_agrees_with_a_known_closed_form():
    # One component, one label, constant score t: the noisy mode is "on" with probability
    # Phi(t / noise), so the bound is the larger of that and its complement.
    from scipy.special import ndtr

    from colabel.datasets.generators._mixture import _noisy_mode_bound

    truth = BernoulliMixtureTruth(
        np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1, 1)), np.full((1, 1), 0.7), noise=1.0
    )
    bound, error = _noisy_mode_bound(truth, np.zeros((2000, 1)), np.random.default_rng(0))
    assert abs(bound - ndtr(0.7)) < 4 * max(error, 0.5 / np.sqrt(2000 * 200))


def test_mixture_extreme_scores_stay_finite():
    for noise in (0.0, 2.0):
        data = make_bernoulli_mixture(50, target="sample", scale=500.0, noise=noise, random_state=0)
        table = np.exp(data.truth.log_prob(data.X))
        assert np.isfinite(table).all()
        np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-6)


def test_mixture_smallest_sizes():
    data = make_bernoulli_mixture(1, 1, 1, 1, noise=1.0, random_state=0)
    assert data.Y.shape == (1, 1)
    assert 0.5 <= data.optimal_accuracy <= 1


# Pairwise


@pytest.mark.parametrize("couplings", ["attractive", "repulsive", "mixed"])
def test_pairwise_probabilities_equal_the_slow_sum(couplings):
    data = make_pairwise(4, 3, 5, couplings=couplings, density=0.7, random_state=1)
    table = data.truth.probabilities(data.X)
    np.testing.assert_allclose(table.sum(axis=1), 1, rtol=1e-12)
    for x, row in zip(data.X, table, strict=True):
        slow = np.exp([slow_pairwise_score(data.truth, x, y) for y in labelings(5)])
        np.testing.assert_allclose(row, slow / slow.sum(), rtol=1e-9)
    assert data.optimal_accuracy == pytest.approx(table.max(axis=1).mean())


def test_pairwise_couplings_have_the_signs_sizes_and_number_asked_for():
    for kind, signs in (("attractive", {1}), ("repulsive", {-1}), ("mixed", {-1, 1})):
        truth = make_pairwise(
            2, n_labels=9, couplings=kind, density=0.5, strength=2.0, random_state=0
        ).truth
        assert set(np.sign(truth.couplings)) == signs
        assert ((abs(truth.couplings) >= 1) & (abs(truth.couplings) <= 3)).all()
        assert len(truth.edges) == 18
        assert (truth.edges[:, 0] < truth.edges[:, 1]).all()
        assert len({tuple(edge) for edge in truth.edges}) == 18
        matrix = truth.coupling_matrix
        np.testing.assert_array_equal(matrix, matrix.T)
        assert np.trace(abs(matrix)) == 0
        np.testing.assert_allclose(truth.bias, -matrix.sum(axis=1) / 2)


def test_pairwise_labels_follow_the_exact_distribution():
    data = make_pairwise(40000, 2, 3, density=1.0, couplings="mixed", random_state=0)
    drawn = np.bincount(data.Y @ (1 << np.arange(3)), minlength=8) / len(data.Y)
    expected = data.truth.probabilities(data.X).mean(axis=0)
    assert (abs(drawn - expected) < 4.5 * np.sqrt(expected / len(data.Y))).all()
    modes = labelings(3)[data.truth.probabilities(data.X).argmax(axis=1)]
    assert abs(accuracy(data.Y, modes) - data.optimal_accuracy) < 4 * 0.5 / np.sqrt(len(data.Y))


def test_pairwise_gibbs_agrees_with_enumeration():
    from colabel.datasets.generators._pairwise import _gibbs

    data = make_pairwise(30000, 2, 4, density=1.0, couplings="mixed", random_state=3)
    Y = _gibbs(data.truth, data.X, 60, np.random.default_rng(0))
    drawn = np.bincount(Y @ (1 << np.arange(4)), minlength=16) / len(Y)
    expected = data.truth.probabilities(data.X).mean(axis=0)
    assert (abs(drawn - expected) < 4.5 * np.sqrt(expected / len(Y))).all()


def test_pairwise_attraction_and_repulsion_show_in_the_covariances():
    for kind, sign in (("attractive", 1), ("repulsive", -1)):
        data = make_pairwise(
            4000, 2, 16, couplings=kind, density=0.1, strength=3.0, scale=0.1, random_state=0
        )
        assert not data.exact
        assert data.optimal_accuracy is None
        covariance = np.cov(data.Y.T)
        assert (sign * covariance[tuple(data.truth.edges.T)] > 0.02).all()


def test_pairwise_without_couplings_is_logistic_regression():
    for options in ({"density": 0.0}, {"strength": 0.0}):
        data = make_pairwise(50, 3, 4, random_state=0, **options)
        marginals = data.truth.probabilities(data.X) @ labelings(4)
        np.testing.assert_allclose(marginals, sigmoid(data.X @ data.truth.weights.T), rtol=1e-9)


def test_pairwise_one_label_and_too_many_labels_for_the_table():
    assert make_pairwise(10, n_labels=1, density=1.0, random_state=0).Y.shape == (10, 1)
    big = make_pairwise(3, n_labels=15, burn_in=1, random_state=0)
    with pytest.raises(ValueError, match="n_labels must be at most 14"):
        big.truth.probabilities(big.X)


# Facets


@pytest.mark.parametrize("sizes", [(5, 2), (3, 4, 2), (2, 3, 2, 3)])
def test_label_set_probabilities_equal_the_slow_product(sizes):
    data = make_facets(4, 3, sizes, dependence=0.6, random_state=2)
    np.testing.assert_allclose(data.probabilities.sum(axis=1), 1, rtol=1e-12)
    truth = data.truth
    assert truth.facet_sizes == sizes
    for x, row in zip(data.X, data.probabilities, strict=True):
        own = [np.exp(w @ x + b) for w, b in zip(truth.weights, truth.bias, strict=True)]
        own = [p / p.sum() for p in own]
        for number, combination in enumerate(product(*(range(size) for size in sizes))):
            slow = own[0][combination[0]]
            for s in range(1, len(sizes)):
                tied = truth.follows[s - 1][combination[0]] == combination[s]
                slow *= 0.4 * own[s][combination[s]] + 0.6 * tied
            assert row[number] == pytest.approx(slow, rel=1e-9)


def test_label_set_indicators_and_classes_say_the_same():
    data = make_facets(200, facet_sizes=(4, 3, 2), random_state=0)
    assert [len(names) for names in data.facets.values()] == [4, 3, 2]
    groups = np.split(data.Y, [4, 7], axis=1)
    for s, group in enumerate(groups):
        np.testing.assert_array_equal(group.sum(axis=1), 1)
        np.testing.assert_array_equal(group.argmax(axis=1), data.classes[:, s])


def conditional_mutual_information(data):
    joint = data.probabilities.reshape(-1, *data.truth.facet_sizes)
    product_of_facets = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    ratio = np.where(joint > 0, joint / np.where(joint > 0, product_of_facets, 1), 1)
    return (joint * np.log(ratio)).sum(axis=(1, 2))


def test_facets_dependence_grows_from_independent_to_deterministic():
    information = []
    for dependence in (0.0, 0.3, 0.7, 1.0):
        data = make_facets(50, dependence=dependence, random_state=0)
        information.append(conditional_mutual_information(data).mean())
        if dependence == 1:
            np.testing.assert_array_equal(
                data.classes[:, 1], data.truth.follows[0][data.classes[:, 0]]
            )
            assert ((data.probabilities > 0).sum(axis=1) == 5).all()
    assert abs(information[0]) < 1e-12
    assert (np.diff(information) > 0.01).all()


def test_facets_frequencies_and_bayes_accuracies_match_the_draws():
    data = make_facets(40000, facet_sizes=(3, 2), random_state=1)
    n = len(data.Y)
    combination = data.classes @ [2, 1]
    drawn = np.bincount(combination, minlength=6) / n
    expected = data.probabilities.mean(axis=0)
    assert (abs(drawn - expected) < 4.5 * np.sqrt(expected / n)).all()
    error = 4 * 0.5 / np.sqrt(n)
    best = data.probabilities.argmax(axis=1)
    assert abs((best == combination).mean() - data.optimal_accuracy) < error
    joint = data.probabilities.reshape(-1, 3, 2)
    for s, marginal in enumerate((joint.sum(axis=2), joint.sum(axis=1))):
        hits = (marginal.argmax(axis=1) == data.classes[:, s]).mean()
        assert abs(hits - data.facet_accuracies[s]) < error
        assert (best == combination).mean() <= data.facet_accuracies[s] + error


def test_every_class_of_a_smaller_set_goes_with_some_class_of_the_first():
    truth = make_facets(2, facet_sizes=(7, 3, 2), random_state=0).truth
    assert [len(set(following)) for following in truth.follows] == [3, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_bernoulli_mixture(target="mean"), "target must be 'argmax' or 'sample'"),
        (lambda: make_bernoulli_mixture(n_labels=13), "n_labels must be at most 12"),
        (lambda: make_bernoulli_mixture(noise=-1), "noise must be a number of at least 0"),
        (
            lambda: make_bernoulli_mixture(common=1.5),
            "common must be a number of at least 0 and at most 1",
        ),
        (lambda: make_bernoulli_mixture(n_samples=0), "n_samples must be a whole number"),
        (lambda: make_bernoulli_mixture(n_features=2.5), "n_features must be a whole number"),
        (lambda: make_pairwise(couplings="strong"), "couplings must be one of attractive"),
        (lambda: make_pairwise(density=2), "density must be a number of at least 0 and at"),
        (lambda: make_pairwise(strength=float("nan")), "strength must be a number of at least 0"),
        (lambda: make_pairwise(n_labels=True), "n_labels must be a whole number"),
        (lambda: make_facets(facet_sizes=(3,)), "at least two facets"),
        (lambda: make_facets(facet_sizes=(3, 1)), "a facet size must be a whole number of at"),
        (lambda: make_facets(facet_sizes=(100, 100)), "more than 4096 combinations"),
        (
            lambda: make_facets(dependence=-0.1),
            "dependence must be a number of at least 0 and at most 1",
        ),
    ],
)
def test_bad_calls_get_one_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_truths_are_frozen():
    for truth in (
        make_bernoulli_mixture(2, random_state=0).truth,
        make_pairwise(2, random_state=0).truth,
        make_facets(2, random_state=0).truth,
    ):
        assert isinstance(truth, BernoulliMixtureTruth | PairwiseTruth | FacetsTruth)
        with pytest.raises(AttributeError):
            truth.bias = 0
