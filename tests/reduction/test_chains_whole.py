"""The distribution of a chain as a whole: all labelings listed, or draws that stand for them."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import oracles
from colabel.datasets import load
from colabel.decoders import ExpectedF, ExpectedJaccard, Marginal
from colabel.metrics import f1_score
from colabel.reduction._probabilistic_chain import ProbabilisticClassifierChain
from colabel.scores import Support

Z = oracles.all_labelings(13)
DRAWN = "colabel.reduction._probabilistic_chain.LISTED"


@pytest.fixture(scope="module")
def data():
    """Thirteen labels, one more than a search enumerates; some rows are near certain."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    Y = np.zeros((300, 13), dtype=int)
    weight = rng.normal(size=(4, 13))
    for label in range(13):
        u = X @ weight[:, label] + 2.0 * Y[:, max(label - 1, 0)] - 1.5 * Y[:, max(label - 3, 0)]
        Y[:, label] = u - 0.5 + 0.3 * rng.logistic(size=300) > 0
    return X, Y


@pytest.fixture(scope="module")
def rows(data):
    """Rows of doubt, and rows far away, of which the chain is sure."""
    return np.concatenate([data[0][:10], 40.0 * data[0][10:16]])


@pytest.fixture(scope="module")
def chain(data):
    return ProbabilisticClassifierChain(random_state=0, order=np.roll(np.arange(13), 5)).fit(*data)


@pytest.fixture(scope="module")
def p(chain, rows):
    """Probabilities of all labelings, by the chain rule."""
    every = chain.joint_log_prob(np.repeat(rows, len(Z), axis=0), np.tile(Z, (len(rows), 1)))
    return np.exp(every.reshape(len(rows), len(Z)))


def measures(Y, Z):
    """F1 and Jaccard index of every labeling of ``Z`` against all of ``Y``."""
    hits = Z.astype(float) @ Y.T
    sizes = Z.sum(axis=1)[:, None] + Y.sum(axis=1)
    f = np.where(sizes > 0, 2 * hits / np.maximum(sizes, 1), 1.0)
    return f, np.where(sizes > 0, hits / np.maximum(sizes - hits, 1), 1.0)


@pytest.fixture(scope="module")
def optimum(p):
    """The largest expectations by enumeration."""
    best = {"f1": np.full(len(p), -np.inf), "jaccard": np.full(len(p), -np.inf)}
    for part in np.array_split(Z, 32):
        for name, measure in zip(best, measures(Z, part), strict=True):
            best[name] = np.maximum(best[name], (p @ measure.T).max(axis=1))
    marginals = p @ Z
    best["hamming"] = np.maximum(marginals, 1 - marginals).mean(axis=1)
    return best


def expectation(target, p, labels):
    if target == "hamming":
        marginals = p @ Z
        return np.where(labels > 0, marginals, 1 - marginals).mean(axis=1)
    every = [measures(Z, z[None])[target == "jaccard"][0] for z in labels]
    return np.einsum("ns,ns->n", p, every)


TARGETS = ("f1", "jaccard", "hamming")


def test_all_labelings_of_thirteen_labels_are_listed(chain, rows, p):
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    for search in ("auto", "beam", "exact"):
        table = chain.set_params(search=search).predict_joint(rows)
        assert table.rest is None
        np.testing.assert_allclose(np.exp(table.value_all(Z)), p, atol=1e-10)
        np.testing.assert_allclose(chain.predict_proba(rows), p @ Z, atol=1e-10)
    chain.set_params(search="auto")
    labelings, log_p = chain.predict_top_m(rows, 40)  # more than the beam holds
    assert labelings.shape == (16, 40, 13)
    np.testing.assert_allclose(np.exp(log_p), -np.sort(-p, axis=1)[:, :40], atol=1e-10)


@pytest.mark.parametrize("target", TARGETS)
def test_answers_from_all_labelings_are_the_best_and_certificates_true(
    chain, rows, p, optimum, target
):
    found = chain.decode(rows, target)
    here = expectation(target, p, found.labels)
    np.testing.assert_allclose(found.value, here, atol=1e-9)
    assert (found.upper_bound >= optimum[target] - 1e-9).all()
    sure = found.certified if target == "jaccard" else np.ones(16, dtype=bool)
    assert (found.certified == sure).all()
    np.testing.assert_allclose(here[sure], optimum[target][sure], atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("n_draws", [1, 20, 256])
def test_answers_from_draws_bound_the_optimum_and_certify_what_is_true(
    chain, rows, p, optimum, target, n_draws, monkeypatch
):
    monkeypatch.setattr(DRAWN, 1)
    chain.set_params(n_draws=n_draws)
    table = chain.predict_joint(rows)
    assert table.rest is not None
    found = chain.decode(rows, target)
    assert (found.upper_bound >= optimum[target] - 1e-9).all()
    sure, here = found.certified, expectation(target, p, found.labels)
    np.testing.assert_allclose(here[sure], optimum[target][sure], atol=1e-8)
    assert not sure[:10].all()
    if target != "jaccard":
        assert sure[10:].any()
    if n_draws == 256:
        assert (optimum[target] - here).max() < 0.005
        np.testing.assert_allclose(found.value, here, atol=0.03)
        np.testing.assert_allclose(chain.predict_proba(rows), p @ Z, atol=0.05)
    chain.set_params(n_draws=256)


def test_a_beam_alone_is_off_by_far_more_than_draws(chain, rows, p, optimum):
    beam = chain._found(chain.conditionals_.at(rows))
    table = Support(beam.labels, beam.log_p, rest=beam.rest)
    assert np.abs(table.marginals() - p @ Z)[:10].max() > 0.1
    for target, decoder in zip(TARGETS, (ExpectedF(), ExpectedJaccard(), Marginal()), strict=True):
        found = decoder.decode(table)
        assert (found.upper_bound >= optimum[target] - 1e-9).all()
        assert not found.certified[:10].all()


def test_draws_keep_the_labelings_of_the_search_and_all_log_probabilities(
    chain, rows, p, monkeypatch
):
    monkeypatch.setattr(DRAWN, 1)
    table, beam = chain.predict_joint(rows), chain._found(chain.conditionals_.at(rows))
    for s in range(15):
        np.testing.assert_allclose(table.log_prob(beam.labels[:, s]), beam.log_p[:, s])
    mode, wide = chain.decode(rows, "subset"), table.scores.max(axis=1)
    assert (wide >= mode.value).all()
    there = np.isfinite(table.scores)
    place = table.labelings.astype(int) @ (1 << np.arange(13)[::-1])
    expected = np.log(np.take_along_axis(p, place, axis=1)[there])
    np.testing.assert_allclose(table.scores[there], expected, atol=1e-8)
    out = p.copy()
    np.put_along_axis(out, place, 0.0, axis=1)
    assert (out.max(axis=1) <= np.exp(table.rest) + 1e-12).all()
    again = table.take([4, 2])
    np.testing.assert_array_equal(again.marginals(), table.marginals()[[4, 2]])
    np.testing.assert_array_equal(again.log_p, table.log_p[[4, 2]])


def test_draws_repeat_themselves_and_do_not_depend_on_neighbours(data, rows, monkeypatch):
    monkeypatch.setattr(DRAWN, 1)
    one, same, other = (
        ProbabilisticClassifierChain(random_state=seed).fit(*data) for seed in (0, 0, 1)
    )
    whole = one.predict_proba(rows)
    np.testing.assert_array_equal(one.predict_proba(rows), whole)
    np.testing.assert_array_equal(same.predict_proba(rows), whole)
    assert (other.predict_proba(rows) != whole).any()
    monkeypatch.setattr("colabel.base.BLOCK_BYTES", 200_000)
    np.testing.assert_allclose(one.predict_proba(rows), whole, rtol=1e-9)


def test_draws_of_any_classifier_stand_for_all_labelings(data):
    X, Y = data
    inner = LogisticRegression(solver="liblinear", tol=1e-8)
    chain = ProbabilisticClassifierChain(inner, n_draws=64, random_state=0).fit(X, Y[:, :7])
    drawn = chain.predict_joint(X[:20])
    assert drawn.rest is not None
    listed = chain.set_params(n_draws=128).predict_joint(X[:20])
    assert listed.rest is None
    np.testing.assert_allclose(drawn.marginals(), listed.marginals(), atol=0.05)
    chain.set_params(n_draws=64)
    best = chain.decode(X[:20], "f1")
    values = ExpectedF().objective(listed, best.labels)
    exact = ExpectedF().decode(listed)
    assert (exact.value - values).max() < 0.02
    assert (best.upper_bound >= exact.value - 1e-9).all()


@pytest.mark.parametrize("width", [1, 2, 15])
def test_exact_search_proves_the_best_labeling_that_is_not_empty(width):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    Y = (X @ rng.normal(size=(4, 13)) + 1.5 * rng.logistic(size=(120, 13)) > 2.5).astype(int)
    chain = ProbabilisticClassifierChain(search="exact", width=width, empty="forbid").fit(X, Y)
    table = chain.predict_joint(X)
    every = table.value_all(Z)
    assert (every.argmax(axis=1) == 0).sum() > 10
    found = chain.decode(X)
    assert found.labels.any(axis=1).all()
    assert found.certified.all()
    np.testing.assert_allclose(found.value, every[:, 1:].max(axis=1), atol=1e-10)
    np.testing.assert_allclose(chain.joint_log_prob(X, found.labels), found.value, atol=1e-10)


def test_f1_on_yeast_is_that_of_all_labelings(real_data, monkeypatch):
    train, test = load("yeast:train"), load("yeast:test")
    chain = ProbabilisticClassifierChain(random_state=0).fit(train.X, train.Y)
    X, Y = test.X[:300], test.Y[:300]
    exact = f1_score(Y, chain.decode(X, "f1").labels)
    assert exact > 0.64
    monkeypatch.setattr(DRAWN, 1)
    assert abs(f1_score(Y, chain.decode(X, "f1").labels) - exact) < 0.005
