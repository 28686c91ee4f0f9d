"""Explanations: numbers against enumeration, and sentences that say what the numbers say."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import logit
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from colabel import BinaryRelevance, ConditionalBernoulliMixture
from colabel.exceptions import IncompatibleError
from colabel.mixture import BernoulliMixture, Explanation, explain
from colabel.scores import Mixture
from oracles import all_labelings, mixture_probability, moments


class Stub:
    """A fitted classifier that says the same of every sample."""

    def __init__(self, weights, probabilities, *, nonempty=False, names=None):
        with np.errstate(divide="ignore"):
            self.table = Mixture([np.log(weights)], [logit(probabilities)])
        self._nonempty = nonempty
        if names is not None:
            self.label_names_in_ = np.array(names, dtype=object)

    def predict_joint(self, X):
        assert X.shape[0] == 1
        self.seen = X
        return self.table


# Near the case study of Section 2 of the paper: reflection alone .29, lake .64, water .69.
NAMES = ["clouds", "lake", "sky", "sunset", "water", "reflection"]
WEIGHTS = [0.25, 0.3, 0.15, 0.3]
PROBABILITIES = [
    [0.98, 0.05, 0.9, 0.1, 0.4, 0.02],
    [0.97, 0.95, 0.9, 0.93, 0.95, 0.9],
    [0.6, 0.5, 0.5, 0.2, 0.1, 0.02],
    [0.3, 0.9, 0.85, 0.9, 0.96, 0.03],
]


def random_stub(seed, **options):
    rng = np.random.default_rng(seed)
    K, L = rng.integers(1, 6), rng.integers(1, 7)
    return Stub(rng.dirichlet(np.ones(K)), rng.uniform(0.02, 0.98, size=(K, L)), **options)


@pytest.mark.parametrize("seed", range(60))
def test_numbers_equal_enumeration(seed):
    stub = random_stub(seed)
    story = explain(stub, [0.0])
    table = stub.table
    L = table.n_labels

    def probability(z):
        return mixture_probability(story.weights, story.probabilities, z)

    Z = all_labelings(L)
    p = np.array([probability(z) for z in Z])
    assert p.sum() == pytest.approx(1)
    assert story.mode_probability == pytest.approx(p.max())
    assert probability(story.mode) == pytest.approx(p.max())
    alone, together = moments(probability, L)
    np.testing.assert_allclose(story.marginals, alone, rtol=1e-9)
    sd = np.sqrt(alone * (1 - alone))
    rho = (together - np.outer(alone, alone)) / np.outer(sd, sd)
    off = ~np.eye(L, dtype=bool)
    np.testing.assert_allclose(story.correlations[off], rho[off], atol=1e-9)
    assert (np.diff(story.weights) <= 0).all()
    assert story.shares.sum() == pytest.approx(1)
    for k, weight in enumerate(story.weights):
        part = weight * mixture_probability([1.0], story.probabilities[k : k + 1], story.mode)
        assert story.shares[k] == pytest.approx(part / p.max())
    for label in range(L):
        other = story.mode.copy()
        other[label] ^= 1
        assert story.flipped[label] == pytest.approx(np.log(probability(other)))


@pytest.mark.parametrize("seed", range(60))
def test_a_reason_for_each_label_on_the_wrong_side_of_one_half_and_no_other(seed):
    story = explain(random_stub(seed), [0.0])
    for label, name in enumerate(story.names):
        said = [reason for reason in story.reasons if reason.startswith(f"{name} is ")]
        odd = (story.marginals[label] > 0.5) != bool(story.mode[label])
        assert len(said) == odd
        if odd:
            where = "unlikely alone" if story.mode[label] else "likely alone"
            assert where in said[0]
            assert f"({story.marginals[label]:.2f})" in said[0]
            assert f"{np.log(story.mode_probability):.2f} with" in said[0]
            assert f"{story.flipped[label]:.2f} with" in said[0]


def test_the_case_study_of_the_paper():
    story = explain(Stub(WEIGHTS, PROBABILITIES), [0.0], labels=NAMES)
    assert story.labels == tuple(NAMES)
    (reason,) = story.reasons
    assert reason.startswith("reflection is unlikely alone (0.29) but belongs to the set: log p = ")
    assert reason.endswith("It goes with sunset (+0.39), lake (+0.38), water (+0.33).")
    assert story.flipped[5] < np.log(story.mode_probability)
    text = str(story)
    assert text.startswith("most probable set: {clouds, lake, sky, sunset, water, reflection}, p =")
    assert "1 (0.30, 99% of the set): clouds 0.97, lake 0.95, water 0.95" in text
    assert reason in text


def test_a_likely_label_may_stay_out():
    """Two components share a label that the heaviest single set does not have."""
    story = explain(
        Stub([0.4, 0.3, 0.3], [[0.01, 0.99, 0.01], [0.99, 0.5, 0.5], [0.99, 0.5, 0.5]]), [0.0]
    )
    assert story.labels == ("label 1",)
    out = [r for r in story.reasons if "likely alone (0.60) but stays out of the set" in r]
    assert len(out) == 1
    assert out[0].startswith("label 0 is likely")
    assert "It goes with label 2 (+0." in out[0]
    assert "avoids label 1 (-0." in out[0]


def test_independent_labels_need_no_reasons():
    story = explain(Stub([1.0], [[0.9, 0.2, 0.6]]), [0.0])
    assert story.labels == ("label 0", "label 2")
    assert story.reasons == ()
    np.testing.assert_allclose(story.correlations, np.eye(3), atol=1e-12)


def test_no_correlations_are_named_where_none_is_strong():
    story = explain(Stub([1.0], [[0.4, 0.2]], nonempty=True), [0.0])
    assert story.labels == ("label 0",)
    assert story.reasons == (
        "label 0 is unlikely alone (0.40) but belongs to the set: log p = -1.14 with it, -0.73 "
        "without (the empty set, which is ruled out).",
    )
    assert explain(Stub([1.0], [[0.4, 0.2]]), [0.0]).labels == ()


def test_text_of_an_empty_set_and_of_improbable_labels():
    text = str(explain(Stub([1.0], [[0.01, 0.02]]), [0.0]))
    assert "most probable set: {}, p = 0.97" in text
    assert "labels alone: none" in text


@pytest.mark.parametrize("seed", range(60))
def test_influential_components_weigh_or_answer_for_the_set(seed):
    story = explain(random_stub(seed), [0.0])
    influence = [max(w, s) for w, s in zip(story.weights, story.shares, strict=True)]
    assert [*story.influential()] == [k for k, i in enumerate(influence) if i >= 0.05]
    for n in range(1, len(influence) + 1):
        kept = story.influential(n)
        assert [*kept] == sorted(kept)
        assert min(influence[k] for k in kept) >= max(
            (i for k, i in enumerate(influence) if k not in kept and i >= 0.05), default=0.0
        )
        assert len(kept) == min(n, sum(i >= 0.05 for i in influence))


def test_light_components_that_answer_for_the_set_are_named():
    """None of sixty components weighs a twentieth, and two of the lightest know the set."""
    weights = np.array([*np.full(58, 0.0168), 0.0128, 0.0128])
    probabilities = np.vstack([np.full((58, 8), 0.5), np.full((2, 8), 0.99)])
    story = explain(Stub(weights / weights.sum(), probabilities), [0.0])
    assert [*story.influential()] == [58, 59]
    assert "  59 (0.01, 43% of the set): label 0 0.99, " in str(story)


def test_components_that_are_all_alike_are_all_named():
    story = explain(Stub(np.full(40, 1 / 40), np.full((40, 2), 0.9)), [0.0])
    assert [*story.influential()] == [*range(40)]
    assert [*story.influential(3)] == [0, 1, 2]


def test_components_without_weight_are_kept_last():
    story = explain(Stub([0.0, 0.3, 0.7], [[0.5], [0.2], [0.9]]), [0.0])
    np.testing.assert_allclose(story.weights, [0.7, 0.3, 0.0])
    np.testing.assert_allclose(story.probabilities[:, 0], [0.9, 0.2, 0.5])
    assert "3 (" not in str(story)


def test_names_come_from_the_estimator_or_the_caller():
    stub = Stub(WEIGHTS, PROBABILITIES, names=NAMES)
    assert explain(stub, [0.0]).names == tuple(NAMES)
    assert explain(stub, [0.0], labels=range(6)).names == tuple("012345")
    with pytest.raises(ValueError, match="2 names for 6 labels"):
        explain(stub, [0.0], labels=["a", "b"])


@pytest.mark.parametrize(
    "x",
    [
        [1.0, 2.0],
        (1.0, 2.0),
        np.array([1.0, 2.0]),
        np.array([[1.0, 2.0]]),
        sparse.csr_array([[1.0, 2.0]]),
        sparse.csr_matrix([[1.0, 2.0]]),
        sparse.coo_array([1.0, 2.0]),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "b"]),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "b"]).iloc[0],
    ],
    ids=lambda x: type(x).__name__,
)
def test_one_sample_may_come_in_any_container(x):
    stub = Stub(WEIGHTS, PROBABILITIES)
    explain(stub, x)
    assert stub.seen.shape == (1, 2)
    if isinstance(x, pd.Series | pd.DataFrame):
        assert list(stub.seen.columns) == ["a", "b"]


def test_a_row_of_a_frame_reaches_a_real_estimator_with_its_names(toy):
    """No warning about feature names; the estimator's own table is refused in one sentence."""
    X, Y = toy
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BinaryRelevance().fit(frame, Y)
    with pytest.raises(IncompatibleError, match="of Mixture tables; that of BinaryRelevance is a"):
        explain(model, frame.iloc[0])


def test_what_cannot_be_explained_is_refused():
    stub = Stub(WEIGHTS, PROBABILITIES)
    with pytest.raises(ValueError, match="x has 3 rows"):
        explain(stub, np.zeros((3, 2)))
    with pytest.raises(IncompatibleError, match="LogisticRegression has no predict_joint"):
        explain(LogisticRegression(), [0.0])


def test_a_search_cut_short_is_said(monkeypatch):
    def decode(self, table, *, nonempty=False):
        found = real(self, table, nonempty=nonempty)
        return type(found)(found.labels, found.value, found.value + 1.0)

    from colabel.decoders import MixtureMode

    real = MixtureMode.decode
    monkeypatch.setattr(MixtureMode, "decode", decode)
    assert explain(Stub([1.0], [[0.9]]), [0.0]).reasons == (
        "The search was cut short: a more probable set may exist.",
    )


def test_explanations_are_frozen():
    story = explain(Stub([1.0], [[0.9]]), [0.0])
    assert isinstance(story, Explanation)
    with pytest.raises(AttributeError):
        story.mode_probability = 1.0


def test_a_density_of_labels_can_be_explained_through_its_table(toy):
    Y = toy[1]
    density = BernoulliMixture(3, random_state=0).fit(Y)

    class Unconditional:
        def predict_joint(self, X):
            return density.table(len(X))

    story = explain(Unconditional(), [0.0])
    np.testing.assert_allclose(story.weights, density.weights_)
    np.testing.assert_allclose(story.probabilities, density.means_)


def test_pipelines_and_searches_are_explained_by_what_they_end_in():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] > 0).astype(int)
    pipeline = make_pipeline(
        StandardScaler(), ConditionalBernoulliMixture(2, max_iter=2, random_state=0)
    )
    search = GridSearchCV(pipeline, {"conditionalbernoullimixture__max_iter": [2]}, cv=2).fit(X, Y)
    scaled, last = StandardScaler().fit(X), search.best_estimator_[-1]
    expected = explain(last, scaled.transform(X[:1]))
    for model in (search, search.best_estimator_):
        found = explain(model, X[0])
        np.testing.assert_array_equal(found.marginals, expected.marginals)
        assert str(found) == str(expected)


def test_a_target_of_classes_is_no_label_set():
    X, y = np.arange(20.0)[:, None], np.repeat(["no", "yes"], 10)
    clf = ConditionalBernoulliMixture(2, max_iter=1, random_state=0).fit(X, y)
    with pytest.raises(IncompatibleError, match="one class a row"):
        explain(clf, X[0])
