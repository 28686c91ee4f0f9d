"""Score tables against enumeration."""

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

import instances
import oracles
from colabel.exceptions import IncompatibleError
from colabel.scores import Mixture, Modular, Pairwise, Support

DISTRIBUTIONS = {
    "modular": lambda seed, n_labels: instances.modular(seed, n_labels=n_labels, log_odds=True),
    "mixture": lambda seed, n_labels: instances.mixture(seed, n_labels=n_labels),
    "support": lambda seed, n_labels: instances.support(seed, n_labels=n_labels),
}
TABLES = {**DISTRIBUTIONS, "pairwise": lambda s, n_labels: instances.pairwise(s, n_labels=n_labels)}
every_table = pytest.mark.parametrize("name", TABLES)
every_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)


@every_table
def test_value_equals_value_all(name):
    for n_labels in range(1, 6):
        for seed in range(20):
            table = TABLES[name](seed, n_labels)
            Z = oracles.all_labelings(n_labels)
            everything = table.value_all(Z)
            assert everything.shape == (table.n_samples, 2**n_labels)
            for s, z in enumerate(Z):
                value = table.value(np.tile(z, (table.n_samples, 1)))
                np.testing.assert_allclose(value, everything[:, s], rtol=1e-10, atol=1e-10)


def test_pairwise_value_equals_the_sum_over_labels_and_pairs():
    for seed in range(30):
        table = instances.pairwise(seed, n_labels=4)
        for z in oracles.all_labelings(4):
            expected = [
                oracles.pairwise_score(u, table.edges, table.couplings, z) for u in table.unary
            ]
            np.testing.assert_allclose(table.value(np.tile(z, (8, 1))), expected, atol=1e-9)


def test_mixture_value_is_the_log_probability():
    for seed in range(1, 30, 3):
        table = instances.mixture(seed, n_labels=3)
        table = Mixture(table.log_weights, np.clip(table.logits, -5, 5))
        p, weights = expit(table.logits), np.exp(table.log_weights)
        for z in oracles.all_labelings(3):
            expected = [
                oracles.mixture_probability(w, q, z) for w, q in zip(weights, p, strict=True)
            ]
            value = table.log_prob(np.tile(z, (8, 1)))
            np.testing.assert_allclose(np.exp(value), expected, rtol=1e-9)


@every_distribution
def test_probabilities_sum_to_one_and_give_the_moments(name):
    for n_labels in range(1, 5):
        for seed in range(20):
            table = DISTRIBUTIONS[name](seed, n_labels)
            Z = oracles.all_labelings(n_labels)
            rows = [table.take(np.full(len(Z), i)) for i in range(table.n_samples)]
            p = np.array([np.exp(row.log_prob(Z)) for row in rows])
            np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
            np.testing.assert_allclose(table.marginals(), p @ Z, atol=1e-9)
            marginals, correlations = table.marginals(), table.correlations()
            for i in range(table.n_samples):
                both = np.einsum("s,sl,sm->lm", p[i], Z, Z)
                covariance = both - np.outer(marginals[i], marginals[i])
                sd = np.sqrt(marginals[i] * (1 - marginals[i]))
                close = np.outer(sd, sd) > 1e-6
                expected = np.where(close, covariance / np.where(close, np.outer(sd, sd), 1), 0)
                off = ~np.eye(n_labels, dtype=bool)
                np.testing.assert_allclose(
                    np.where(close & off, correlations[i], 0), expected * off, atol=1e-4
                )
                np.testing.assert_array_equal(np.diag(correlations[i]), 1.0)


@every_distribution
def test_samples_have_the_marginals_and_follow_the_seed(name):
    table = DISTRIBUTIONS[name](4, 3).take([0, 1, 2])
    draws = table.sample(20_000, random_state=0)
    assert draws.shape == (3, 20_000, 3)
    assert draws.dtype == np.int8
    np.testing.assert_allclose(draws.mean(axis=1), table.marginals(), atol=0.02)
    np.testing.assert_array_equal(draws, table.sample(20_000, random_state=0))
    both = np.einsum("ndl,ndm->nlm", draws.astype(float), draws.astype(float)) / 20_000
    m = table.marginals()
    sd = np.sqrt(m * (1 - m))
    expected = table.correlations() * sd[:, :, None] * sd[:, None, :] + m[:, :, None] * m[:, None]
    np.testing.assert_allclose(both, expected, atol=0.02)


def test_mixture_posterior_is_bayes_rule():
    table = instances.mixture(5, n_labels=3)
    Y = instances.labels(5, n_labels=3)
    log_evidence, resp = table.posterior(Y)
    np.testing.assert_allclose(resp.sum(axis=1), 1.0)
    for k in range(table.n_components):
        only = Mixture(np.zeros((8, 1)), table.logits[:, [k]])
        expected = np.exp(table.log_weights[:, k] + only.log_prob(Y) - log_evidence)
        np.testing.assert_allclose(resp[:, k], expected, rtol=1e-9)


def test_mixture_survives_where_plain_probabilities_underflow():
    table = Mixture(np.log([[0.5, 0.5]]), np.full((1, 2, 400), -8.0))
    log_evidence, resp = table.posterior(np.ones((1, 400)))
    assert np.isfinite(log_evidence).all()
    np.testing.assert_allclose(resp, 0.5)


def test_one_component_is_a_product_of_bernoullis():
    modular = instances.modular(4, log_odds=True)
    mixture = Mixture(np.zeros((8, 1)), modular.unary[:, None, :])
    Y = instances.labels(4)
    np.testing.assert_allclose(mixture.log_prob(Y), modular.log_prob(Y))
    np.testing.assert_allclose(mixture.marginals(), modular.marginals())


def test_weights_are_normalised_and_may_be_zero():
    table = Mixture([[np.log(2.0), -np.inf]], np.zeros((1, 2, 2)))
    np.testing.assert_array_equal(table.log_weights, [[0.0, -np.inf]])
    assert table.sample(5, random_state=0).shape == (1, 5, 2)


def test_labelings_outside_the_support_have_probability_zero():
    table = Support([[1, 0], [1, 1]], [[0.0, 0.0]])
    np.testing.assert_array_equal(table.log_prob([[0, 0]]), [-np.inf])
    np.testing.assert_allclose(np.exp(table.log_prob([[1, 1]])), [0.5])


@pytest.mark.parametrize(
    "table",
    [
        instances.modular(0),
        instances.pairwise(0),
        instances.support(1, distribution=False),
    ],
    ids=lambda table: type(table).__name__,
)
def test_scores_that_are_no_probabilities_refuse_to_act_as_such(table):
    assert not table.is_distribution
    Y = np.zeros((table.n_samples, table.n_labels), dtype=np.int8)
    for ask in (
        lambda: table.marginals(),
        lambda: table.log_prob(Y),
        lambda: table.sample(2),
        lambda: table.correlations(),
    ):
        with pytest.raises(IncompatibleError, match="not probabilities"):
            ask()


def test_arrays_are_float64_contiguous_and_labelings_int8():
    table = Pairwise(np.zeros((2, 3), dtype=np.float32).T.copy().T, [], [])
    assert table.unary.dtype == np.float64
    assert table.unary.flags.c_contiguous
    assert table.edges.shape == (0, 2)
    assert table.edges.dtype == np.int64
    assert Support([[True, False]], [[0.0]]).labelings.dtype == np.int8


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1, 0.3])
def test_pairwise_values_of_few_and_of_many_labels(share):
    for seed in range(30):
        rng = np.random.default_rng((seed, int(100 * share)))
        n, V = int(rng.integers(30, 60)), int(rng.integers(2, 30))
        i, j = np.triu_indices(V, 1)
        table = Pairwise(rng.normal(size=(n, V)), np.stack([i, j], axis=1), rng.normal(size=len(i)))
        # Labels may be soft, or negative.
        Z = rng.normal(size=(n, V)) * (rng.random((n, V)) < share)
        pairs = 0.5 * np.einsum("ni,ij,nj->n", Z, table.dense(), Z)
        np.testing.assert_allclose(
            table.value(Z), (table.unary * Z).sum(axis=1) + pairs, atol=1e-12
        )


def test_pairwise_reads_and_writes_dense_couplings():
    for seed in range(20):
        table = instances.pairwise(seed, n_labels=5)
        again = Pairwise.from_dense(table.unary, table.dense())
        Z = oracles.all_labelings(5)
        np.testing.assert_allclose(again.value_all(Z), table.value_all(Z))
    assert instances.pairwise(4, attractive=True).attractive
    assert Pairwise([[0.0, 0.0]], [[1, 0]], [-1.0]).attractive is False


def test_plus_unary_adds_costs():
    Y, cost = instances.labels(1), np.random.default_rng(0).normal(size=(8, 4))
    for table in (instances.modular(1, log_odds=True), instances.pairwise(1)):
        moved = table.plus_unary(cost)
        np.testing.assert_allclose(moved.value(Y), table.value(Y) + np.sum(cost * Y, axis=1))
        assert not moved.is_distribution


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda: Modular([[0.0, np.nan]]), r"unary must be finite; entry \(0, 1\) is nan"),
        (lambda: Modular([[np.inf]]), "must be finite"),
        (lambda: Modular([0.0]), "2 axes, not 1"),
        (lambda: Mixture([[np.nan]], [[[0.0]]]), "log_weights must be finite"),
        (lambda: Mixture([[0.0, 0.0]], np.zeros((1, 3, 2))), "do not fit"),
        (lambda: Mixture([[-np.inf]], [[[0.0]]]), "all -inf"),
        (lambda: Support([[0, 1]], [[0.0, 1.0]]), "do not fit"),
        (lambda: Support([[0, 1], [0, 1]], [[0.0, 1.0]]), "must differ"),
        (lambda: Support([[0, 1]], [[-np.inf]], distribution=False), "must be finite"),
        (lambda: Pairwise([[0.0, 0.0]], [[0, 1]], []), "1 edges but 0 couplings"),
        (lambda: Pairwise([[0.0, 0.0]], [[0, 2]], [1.0]), "outside 0..1"),
        (lambda: Pairwise([[0.0, 0.0]], [[1, 1]], [1.0]), "two different labels"),
        (lambda: Pairwise.from_dense([[0.0, 0.0]], [[0, 1], [2, 0]]), "symmetric"),
        (lambda: Pairwise.from_dense([[0.0, 0.0]], [[1, 0], [0, 0]]), "zero diagonal"),
    ],
)
def test_bad_tables_are_refused_with_a_reason(build, reason):
    with pytest.raises(ValueError, match=reason):
        build()


@every_table
def test_take_keeps_rows(name):
    table = TABLES[name](4, 3)
    Z = oracles.all_labelings(3)
    taken = table.take([2, 0]).value_all(Z)
    np.testing.assert_allclose(taken, table.value_all(Z)[[2, 0]], atol=1e-12)
    assert table.take(slice(1, 3)).n_samples == 2
    assert table.is_distribution == (name != "pairwise")


def test_label_scores_are_unaries_or_log_odds_of_marginals():
    modular = instances.modular(4, log_odds=True)
    np.testing.assert_array_equal(modular.label_scores(), modular.unary)
    for table in (instances.mixture(4), instances.support(4)):
        p = expit(table.label_scores())
        np.testing.assert_allclose(p, table.marginals(), atol=1e-12)


def test_labelings_other_than_0_and_1_are_refused():
    with pytest.raises(ValueError, match="0 and 1 only"):
        Support([[2, 0], [0, 1]], [[0.0, 0.0]])
    with pytest.raises(ValueError, match="0 and 1 only"):
        Support([[0.5, 0], [0, 1]], [[0.0, 0.0]])


def test_edges_given_twice_add_up():
    assert Pairwise([[0.0, 0.0]], [[0, 1], [1, 0]], [2.0, -1.0]).attractive
    assert not Pairwise([[0.0, 0.0]], [[0, 1], [1, 0]], [1.0, -2.0]).attractive


@pytest.mark.parametrize("n_edges", [3, 40, 400])
def test_pair_values_are_the_same_by_edges_and_by_matrix(n_edges):
    rng = np.random.default_rng(n_edges)
    edges = rng.integers(0, 30, (2 * n_edges, 2))
    edges = edges[edges[:, 0] != edges[:, 1]][:n_edges]
    table = Pairwise(rng.normal(size=(7, 30)), edges, rng.normal(size=len(edges)))
    Z = rng.integers(0, 2, (7, 30))
    slow = [
        row @ z
        + sum(c * z[i] * z[j] for (i, j), c in zip(table.edges, table.couplings, strict=True))
        for row, z in zip(table.unary, Z, strict=True)
    ]
    np.testing.assert_allclose(table.value(Z), slow, atol=1e-12)


@every_distribution
def test_log_probabilities_are_those_of_labelings_of_0_and_1(name):
    table = DISTRIBUTIONS[name](1, 3)
    Y = table.sample(1, random_state=0)[:, 0]
    expected = table.log_prob(Y)
    for same in (Y.astype(float), Y.astype(bool), Y.tolist(), sparse.csr_array(Y)):
        np.testing.assert_array_equal(table.log_prob(same), expected)
    for wrong in (2 * Y, Y - 1, Y + 0.5, sparse.csr_array(2 * Y)):
        with pytest.raises(ValueError, match="Y must hold 0 and 1 only"):
            table.log_prob(wrong)
    for wrong in (Y[:1], Y[:, :2], np.column_stack([Y, Y])):
        with pytest.raises(ValueError, match="a labeling for each sample"):
            table.log_prob(wrong)
    with pytest.raises(ValueError, match="Y must be finite"):
        table.log_prob(np.full(Y.shape, np.nan))


def test_fields_are_what_a_label_adds():
    table = instances.pairwise(0, n_labels=5)
    Z = np.random.default_rng(0).integers(0, 2, table.unary.shape)
    for label in range(5):
        on, off = Z.copy(), Z.copy()
        on[:, label], off[:, label] = 1, 0
        gain = table.value(on) - table.value(off)
        np.testing.assert_allclose(table.fields(Z)[:, label], gain, atol=1e-12)
