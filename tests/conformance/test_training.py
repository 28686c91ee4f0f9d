"""Any model, loss, oracle and learner that fit together train; the others are refused at the door.

Parts are found in their registries: a new one is tested by being there. Truth is a generic solver
with a constraint for each labeling of each sample.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from colabel.decoders import DECODERS, BaseDecoder, Spectral
from colabel.exceptions import IncompatibleError, UnknownNameError
from colabel.learners import LEARNERS, BaseLearner
from colabel.losses import LOSSES, BaseLoss, CountsLoss, FBeta
from colabel.models import MODELS, BaseModelSpec
from colabel.oracles import ORACLES, BaseOracle, DecoderOracle
from colabel.oracles.base import same_stages
from colabel.results import Decoded
from colabel.structured import Parts, StructuredSVC
from learners.oracles_margin import joint_feature, slow_minimum, slow_risk
from oracles import all_labelings


class Tversky(CountsLoss):
    """A loss of counts that no graph cut can add."""

    def of_counts(self, n_true, hits, false):
        below = hits + 0.3 * false + 0.9 * (n_true - hits)
        return np.where(below > 0, 1 - hits / np.where(below > 0, below, 1), 0.0)


class Weighted(BaseLoss):
    """A sum over labels that does not depend on counts alone."""

    structure = "modular"

    def value(self, Y, Z):
        weight = 1.0 + np.arange(np.shape(Y)[1])
        return np.abs(np.asarray(Y) - Z) @ weight / weight.sum()

    def as_modular(self, Y):
        weight = 1.0 + np.arange(np.shape(Y)[1])
        weight /= weight.sum()
        return Y @ weight, (1 - 2 * np.asarray(Y)) * weight


EVERY_LOSS = {name: cls() for name, cls in LOSSES.items()}
EVERY_LOSS |= {"fbeta": FBeta(2.0), "tversky": Tversky(), "weighted": Weighted()}
EVERY_ORACLE = [*ORACLES, "exhaustive", "weak"]
# More signs of a prior than its default.
SPECS = {name: cls() for name, cls in MODELS.items()}
SPECS |= {
    f"quadratic, {sign}": MODELS["quadratic"](sign=sign) for sign in ("attractive", "repulsive")
}
FAST = {
    "optimal": {"tol": 1e-5, "max_iter": 5000},
    "dual": {"tol": 1e-5, "max_iter": 5000},
    "bmrm": {"tol": 1e-5},
    "lbfgs": {"tol": 1e-5},
}
# Stochastic learners: many short steps, fewer where each is a relaxation and bounds alone count.
SLOW = {
    "averaged": {"max_iter": 200, "learning_rate": 0.03, "batch_size": 8},
    "subgradient": {"max_iter": 500, "exponent": 1.0, "average": True},
}
FEW = {"averaged": {"max_iter": 20}, "subgradient": {"max_iter": 60}}
EXACT = ("certified", "mincut", "exhaustive")


def learner_of(name):
    return LEARNERS[name]().set_params(**{**FAST, **SLOW}.get(name, {}))


class Weak(DecoderOracle):
    """An oracle that is often wrong and never proves anything, with true bounds."""

    def __init__(self):
        self.decoder = Spectral()

    def refusal(self, model, loss):
        return ""

    def _stages(self, model, loss, rough):
        class Rounded(Spectral):
            def _decode(self, scores, nonempty):
                labels = (scores.unary > 0).astype(np.int8)
                found = super()._decode(scores, nonempty)
                return Decoded(labels, scores.value(labels), found.upper_bound)

        return same_stages(Rounded())

    def stages(self, model, loss, *, rough=False):
        if not len(model.pair_scale):
            return ORACLES["certified"]().stages(model, loss, rough=rough)
        return self._stages(model, loss, rough)


def oracle_of(name):
    if name == "weak":
        return Weak()
    return ORACLES[name]() if name in ORACLES else DecoderOracle(DECODERS[name]())


def rows(seed=0, n=6, d=2, V=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = (X @ rng.normal(size=(d, V)) + rng.normal(size=(n, V)) > 0).astype(np.int8)
    Y[0] = 1
    return sparse.csr_array(X), Y, rng.integers(1, 4, n).astype(float)


def join(model, loss, oracle, learner, alpha=0.3, seed=0):
    machine = learner_of(learner)
    if oracle not in EXACT:
        machine.set_params(**FEW.get(learner, {}))
    parts = Parts.of(SPECS[model], EVERY_LOSS[loss], oracle_of(oracle), machine)
    return parts.join(*rows(seed), alpha, 0)


@cache
def least_objective(model, loss):
    problem, _ = join(model, loss, "exhaustive", "bmrm")
    return slow_minimum(problem)[0]


MATRIX = [*product(SPECS, EVERY_LOSS, EVERY_ORACLE)]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("model", "loss", "oracle"), MATRIX, ids=lambda part: str(part))
def test_what_fits_trains_and_what_does_not_is_refused_in_a_sentence(model, loss, oracle, learner):
    if meaningless(model, loss, oracle, learner):
        with pytest.raises(IncompatibleError) as refused:
            join(model, loss, oracle, learner)
        assert "\n" not in str(refused.value)
        return
    problem, machine = join(model, loss, oracle, learner)
    found = machine.solve(problem, machine.start(problem))
    np.testing.assert_array_equal(found.coef, problem.model.project(found.coef))
    value = problem.ridge(found.coef) + slow_risk(problem, found.coef)
    bound = found.lower.max() + found.gap
    least = least_objective(model, loss)
    # What is stated is true: the objective is below its bound, and not further from the optimum.
    assert value <= bound + 1e-8
    if not problem.oracles.learning.relaxes:
        assert found.lower.max() <= least + 1e-8
    if oracle in EXACT and learner in FAST:
        assert found.converged
        assert value == pytest.approx(least, rel=1e-4, abs=1e-6)
    if oracle in EXACT and learner in SLOW:
        assert value <= 1.2 * least + 1e-6


def meaningless(model, loss, oracle, learner):
    """Whether the parts have no meaning together."""
    spec = SPECS[model]
    relaxes = spec.has_pairs and oracle in ("sdp", "spectral")
    return (
        (oracle == "mincut" and not (spec.attractive and loss != "tversky"))
        or (
            oracle == "algorithm2" and not (spec.attractive and isinstance(EVERY_LOSS[loss], FBeta))
        )
        or (learner == "dual" and relaxes)
        or (learner == "dual" and model.startswith("quadratic") and loss == "weighted")
    )


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("seed", range(10))
def test_scores_are_parameters_times_features(name, seed):
    X, Y, weight = rows(seed, V=4)
    model, penalty = SPECS[name].build(X, Y, weight, alpha=0.1)
    assert penalty > 0.0
    rng = np.random.default_rng(seed)
    theta = model.project(rng.normal(size=model.size))
    every = all_labelings(4)
    table = model.scores(X, theta)
    assert isinstance(table, model.emits)
    assert SPECS[name].has_pairs or not len(model.pair_scale)
    assert model.size == model.n_unary + len(model.pair_scale)
    if SPECS[name].attractive and SPECS[name].has_pairs:
        assert table.attractive
    values = table.value_all(every)
    for n, i in [(0, 3), (1, 9), (2, 15), (5, 0)]:
        alone = model.feature_sum(X[[n]], every[[i]], np.ones(1))
        none = model.feature_sum(X[[n]], every[[0]], np.ones(1))
        expected = values[n, i] - values[n, 0]
        assert (alone - none) @ theta == pytest.approx(expected, abs=1e-9)
        moments = every[[i]].astype(float), np.outer(every[i], every[i]).astype(float)
        np.testing.assert_allclose(model.feature_of_moments(X[[n]], *moments), alone, atol=1e-12)
    truth = model.feature_sum(X, Y, weight)
    slow = weight @ joint_feature(model, X.toarray(), Y)
    np.testing.assert_allclose(truth, slow, atol=1e-9)


@pytest.mark.parametrize("name", SPECS)
def test_signs_are_those_stated(name):
    X, Y, weight = rows(1, V=4)
    model, _ = SPECS[name].build(X, Y, weight, alpha=0.1)
    theta = np.random.default_rng(0).normal(size=model.size)
    nearest = model.project(theta)
    np.testing.assert_array_equal(nearest[: model.n_free], theta[: model.n_free])
    np.testing.assert_array_equal(nearest[model.n_free :], np.maximum(theta[model.n_free :], 0.0))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_is_reproducible_reports_and_can_be_cloned(learner):
    made = learner_of(learner)
    assert clone(made).get_params() == made.get_params()
    told = []
    found = [
        machine.solve(problem, None, lambda *row: told.append(row))
        for problem, machine in (join("independent", "f1", "certified", learner) for _ in range(2))
    ]
    np.testing.assert_array_equal(found[0].coef, found[1].coef)
    assert told
    assert all(len(row) == 3 for row in told)
    n = len(found[0].history)
    assert n == len(found[0].lower) == len(found[0].certified)
    assert np.all(np.diff(found[0].lower) >= 0.0)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_learner_goes_on_from_its_state(learner):
    problem, machine = join("submodular", "f1", "certified", learner)
    first = machine.solve(problem)
    again = machine.solve(problem, first.state)
    assert again.lower.max() <= first.lower.max() + first.gap + 1e-9
    assert first.lower.max() <= again.lower.max() + again.gap + 1e-9


@pytest.mark.parametrize(
    ("part", "known", "base"),
    [
        ("model", MODELS, BaseModelSpec),
        ("loss", LOSSES, BaseLoss),
        ("oracle", ORACLES, BaseOracle),
        ("learner", LEARNERS, BaseLearner),
        ("decoder", DECODERS, BaseDecoder),
    ],
)
def test_a_part_is_an_object_or_a_name(part, known, base):
    X, Y, _ = rows()
    assert all(issubclass(cls, base) for cls in known.values())
    with pytest.raises(UnknownNameError, match=f"{part} must be"):
        StructuredSVC(**{part: "nonsense"}).fit(X, Y)
    with pytest.raises(UnknownNameError, match=f"{part} must be"):
        StructuredSVC(**{part: 3}).fit(X, Y)


def test_parts_are_copied():
    mine = MODELS["submodular"](pairs=3), FBeta(2.0), ORACLES["certified"](7), LEARNERS["bmrm"](0.1)
    parts = Parts.of(*mine, tol=0.5, limit=3)
    for given, kept in zip(
        mine, (parts.model, parts.loss, parts.oracle, parts.learner), strict=True
    ):
        assert kept is not given
        assert kept.get_params() == given.get_params()
    named = Parts.of("submodular", "f1", "certified", "bmrm", tol=0.5, limit=3)
    assert (named.oracle.limit, named.learner.tol) == (3, 0.5)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", ["tol", "max_iter"])
@pytest.mark.parametrize("value", [0, -1, "x"])
def test_bad_settings_of_a_learner_get_one_clear_sentence(learner, name, value):
    made = LEARNERS[learner]()
    if name not in made.get_params():
        assert (learner, name) == ("averaged", "tol")
        return
    X, Y, _ = rows()
    with pytest.raises(ValueError, match=f"{name} must be"):
        StructuredSVC("independent", learner=made.set_params(**{name: value})).fit(X, Y)


@pytest.mark.parametrize("oracle", ["certified", "mean_field", "spectral"])
def test_rows_without_pairs_train(oracle):
    X = np.random.default_rng(0).normal(size=(6, 2))
    for Y in (np.eye(6, 3, dtype=int), np.ones((6, 1), dtype=int)):
        made = DECODERS[oracle]() if oracle in DECODERS else oracle
        machine = StructuredSVC("submodular", "hamming", "bmrm", made, alpha=0.1).fit(X, Y)
        assert machine.predict(X).shape == Y.shape
