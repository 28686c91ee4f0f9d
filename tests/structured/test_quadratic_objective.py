"""The objective of QuadraticPriorSVC: what is reported is true, proved, and in the right order."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from colabel.decoders import Exhaustive, Mixing, Spectral
from colabel.learners import AveragedDescent, CuttingPlane, SubgradientDescent
from colabel.losses import Hamming
from colabel.models import QuadraticPrior
from colabel.numerics.distinct_rows import distinct_rows
from colabel.oracles import Certified
from colabel.oracles.certified import ROUGH_NODES
from colabel.structured import Parts, QuadraticPriorSVC, SubmodularSVC
from structured.quadratic_data import SIGNS, fitted, make, objective, relaxed_objective


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "hamming"},
        {"loss": "jaccard"},
        {"loss": "subset"},
        {"loss": "f2"},
        {"sign": "attractive"},
        {"sign": "repulsive"},
        {"sign": None},
        {"sign": None, "loss": "hamming"},
        {"coupling_alpha": 0.1, "fit_intercept": False},
        {"coupling_alpha": 3.0, "intercept_scaling": 2.0, "loss": "hamming"},
        {"learner": "bmrm"},
        {"sign": "attractive", "oracle": "mincut", "loss": "hamming"},
    ],
    ids=str,
)
def test_the_objective_reported_is_the_exact_one(options):
    X, Y = make()
    model = fitted(X, Y, **options)
    assert objective(model, X, Y) == pytest.approx(model.objective_, rel=1e-9)
    assert 0.0 <= model.gap_ <= 1e-3 * model.objective_
    assert model.lower_bounds_.max() <= model.objective_
    assert len(model.history_) == len(model.lower_bounds_) == len(model.certified_)
    A = model.prior_
    np.testing.assert_array_equal(A, A.T)
    assert not np.diag(A).any()
    assert model.sign != "attractive" or A.max() <= 0.0
    assert model.sign != "repulsive" or A.min() >= 0.0
    assert A.any() == (model.sign is not None)


@pytest.mark.parametrize("loss", ["hamming", "f1"])
@pytest.mark.parametrize("sign", SIGNS)
def test_relaxed_objectives_are_above_the_exact_one_and_proved(sign, loss):
    X, Y = make(n=20)
    options = {"sign": sign, "loss": loss, "tol": 1e-2}
    exact = fitted(X, Y, **options)
    optimum = exact.objective_ - exact.gap_
    for oracle, decoder in (("spectral", Spectral()), ("sdp", Mixing(tol=1e-10))):
        model = fitted(X, Y, oracle=oracle, **options)
        value, bound = relaxed_objective(model, X, Y, decoder)
        assert model.objective_ >= value - 1e-9
        assert model.objective_ == pytest.approx(bound, rel=1e-4)
        assert model.objective_ >= objective(model, X, Y) - 1e-9
        assert model.objective_ >= optimum - 1e-9
        assert model.gap_ <= 1e-2 * model.objective_
        assert np.isnan(model.certified_).all()


def test_spectral_is_above_sdp_is_above_exact():
    """Hamming loss: each set of moments holds the next one, so minima are in the same order."""
    X, Y = make(n=25)
    exact, sdp, spectral = (
        fitted(X, Y, oracle=name, loss="hamming", alpha=0.02)
        for name in ("certified", "sdp", "spectral")
    )
    assert exact.lower_bounds_.max() <= sdp.objective_
    assert sdp.lower_bounds_.max() <= spectral.objective_
    assert spectral.lower_bounds_.max() > sdp.objective_  # the sphere is not tight


@pytest.mark.parametrize("loss", ["hamming", "f1"])
def test_attraction_by_cuts_is_exact(loss):
    """Cuts and lists of all labelings reach the same objective, each within its gap."""
    X, Y = make(V=5)
    cut = fitted(X, Y, sign="attractive", oracle="mincut", loss=loss)
    assert cut.certified_[-1] == pytest.approx(1.0)
    assert objective(cut, X, Y) == pytest.approx(cut.objective_, rel=1e-9)
    # What a learner with enumeration finds: no lower, and its bound no higher.
    sure = enumerated(cut, X, Y)
    assert sure.lower.max() <= cut.objective_
    assert cut.lower_bounds_.max() <= sure.history.min()


def enumerated(model, X, Y):
    """Solve the problem of a model with all labelings listed, by cutting planes."""
    spec = QuadraticPrior(
        sign=model.sign,
        coupling_alpha=model.coupling_alpha,
        fit_intercept=model.fit_intercept,
        intercept_scaling=model.intercept_scaling,
    )
    rows = distinct_rows(sparse.csr_array(X), Y.astype(np.int8), None)
    parts = Parts.of(spec, model.loss, Exhaustive(), CuttingPlane(1e-4))
    problem, learner = parts.join(*rows, model.alpha, 0)
    return learner.solve(problem)


@pytest.mark.parametrize("loss", ["hamming", "f1"])
@pytest.mark.parametrize("sign", SIGNS)
def test_exact_inference_reaches_the_optimum_of_enumeration(sign, loss):
    X, Y = make(seed=1, V=4)
    model = fitted(X, Y, sign=sign, loss=loss, tol=1e-4)
    sure = enumerated(model, X, Y)
    assert sure.lower.max() <= model.objective_
    assert model.lower_bounds_.max() <= sure.history.min()
    assert model.objective_ == pytest.approx(sure.history.min(), rel=3e-4)


def test_without_a_prior_labels_are_learned_one_by_one():
    """The Hamming loss of V labels is the mean of their own: coefficients are V times smaller."""
    X, Y = make(V=3)
    options = {"sign": None, "loss": "hamming", "tol": 1e-7, "max_iter": 20000}
    together = fitted(X, Y, 0.06, **options)
    assert not together.prior_.any()
    for label, column in enumerate(Y.T):
        alone = fitted(X, column[:, None], 0.02, **options)
        np.testing.assert_allclose(3.0 * together.coef_[label], alone.coef_[0], atol=0.01)
        assert 3.0 * together.intercept_[label] == pytest.approx(alone.intercept_[0], abs=0.01)


def test_without_a_prior_the_f1_machine_is_reverse_multi_label_learning():
    X, Y = make()
    ours = fitted(X, Y, 0.06, sign=None, tol=1e-6, max_iter=10000)
    # There the unit is that of rows with the constant feature: twice as large.
    theirs = SubmodularSVC(0.03, couplings=None, tol=1e-6, max_iter=10000, random_state=0).fit(X, Y)
    assert ours.objective_ == pytest.approx(theirs.objective_, rel=1e-5)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.01)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("oracle", ["certified", "spectral", "sdp"])
def test_a_heavy_penalty_on_the_prior_leaves_none(oracle):
    X, Y = make(n=20, V=3)
    options = {"loss": "hamming", "tol": 1e-3}
    none = fitted(X, Y, sign=None, **options)
    heavy = fitted(X, Y, coupling_alpha=1e6, oracle=oracle, **options)
    assert np.abs(heavy.prior_).max() < 1e-5
    assert heavy.objective_ >= none.objective_ - none.gap_ - 1e-4
    if oracle == "certified":
        assert heavy.objective_ == pytest.approx(none.objective_, rel=3e-3)


def test_a_prior_lowers_the_objective():
    X, Y = make(n=80)
    found = {sign: fitted(X, Y, sign=sign, coupling_alpha=0.1) for sign in (*SIGNS, None)}
    for sign in SIGNS:
        assert found[sign].objective_ < found[None].objective_ - found[None].gap_
        assert found["any"].objective_ - found["any"].gap_ <= found[sign].objective_
    A = found["any"].prior_
    assert A[0, 1] < 0.0  # they go together
    assert A[-1, -2] > 0.0  # they exclude one another


@pytest.mark.parametrize(("oracle", "sign"), [("certified", "any"), ("spectral", "repulsive")])
def test_other_learners_bound_the_same_optimum(oracle, sign):
    X, Y = make(n=25)
    options = {"oracle": oracle, "sign": sign, "loss": "hamming", "alpha": 0.2}
    usual = fitted(X, Y, **options)
    planes = fitted(X, Y, learner="bmrm", **options)
    assert planes.objective_ == pytest.approx(usual.objective_, rel=2e-3)
    descent = QuadraticPriorSVC(learner="subgradient", max_iter=600, random_state=0, **options)
    with pytest.warns(ConvergenceWarning, match='use learner="optimal"'):
        descent.fit(X, Y)
    assert descent.n_iter_ == 600
    for model in (usual, planes, descent):
        for other in (usual, planes, descent):
            assert model.lower_bounds_.max() <= other.objective_ + 1e-9
    # The published steps are slow, yet on their way from what ridge regression gives.
    assert descent.objective_ < 3.0 * usual.objective_
    assert descent.history_[-1] < descent.history_[0]


@pytest.mark.parametrize("oracle", ["certified", "spectral"])
def test_a_learner_may_be_given_with_steps_of_its_own(oracle):
    X, Y = make(n=30)
    options = {"oracle": oracle, "alpha": 0.05}
    usual = fitted(X, Y, **options)
    long = AveragedDescent(200, learning_rate=0.02, batch_size=10)
    short = AveragedDescent(3, learning_rate=1.0, batch_size=10)
    near, far = (fitted(X, Y, learner=learner, **options) for learner in (long, short))
    assert near.n_iter_ == 200
    assert usual.objective_ - usual.gap_ <= near.objective_ <= 1.05 * usual.objective_
    assert far.objective_ > near.objective_
    np.testing.assert_array_equal(fitted(X, Y, learner=short, **options).coef_, far.coef_)
    descent = SubgradientDescent(40, step_w=0.3, average=True)
    with pytest.warns(ConvergenceWarning, match="stopped after 40 steps"):
        assert fitted(X, Y, learner=descent, **options).n_iter_ == 40


def test_published_descent_starts_from_ridge_regression():
    X, Y = make(n=20)
    model = QuadraticPriorSVC(0.05, learner="subgradient", max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, Y)
    m2 = np.mean(np.sum(X**2, axis=1))
    rows = np.column_stack([X, np.full(20, np.sqrt(m2))])
    gram = rows.T @ rows / 20 + 0.05 * m2 * np.eye(4)
    W = np.linalg.solve(gram, rows.T @ (2.0 * Y - 1.0) / 20)
    # One step moves the coefficients by its length times the largest feature, and the shrinkage.
    (longest,) = SubgradientDescent(1).step_sizes(0.05 * m2)[:, 0]
    reach = longest * (np.abs(rows).max() + 0.05 * m2 * np.abs(W).max())
    assert np.abs(model.coef_ - W[:-1].T).max() <= reach
    assert np.corrcoef(model.coef_.ravel(), W[:-1].T.ravel())[0, 1] > 0.9


def test_more_labels_than_can_be_listed():
    """With F1, repulsion and many labels no oracle is exact; the gap is honest all the same."""
    X, Y = make(n=12, V=18)
    # Steps, and an ascent whose planes flips have found.
    for learner, most in (("averaged", 30), ("optimal", 100)):
        model = QuadraticPriorSVC(0.3, learner=learner, tol=0.5, max_iter=most, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, Y)
        exact = objective(model, X, Y)
        assert exact - 1e-9 <= model.objective_ <= exact + model.gap_
        assert model.lower_bounds_.max() <= exact
        assert exact < 1.0, "below that of no parameters"


@pytest.mark.parametrize("oracle", ["certified", "spectral", "sdp"])
@pytest.mark.parametrize("alpha", [1e-2, 1e3])
def test_the_mean_of_steps_is_judged_honestly(oracle, alpha):
    X, Y = make(n=30, V=4)
    model = QuadraticPriorSVC(alpha, oracle=oracle, max_iter=10, random_state=0)
    model.fit(X, Y)
    assert model.objective_ >= objective(model, X, Y) - 1e-9
    # That of no parameters: the largest loss, and more where losses are relaxed.
    assert model.objective_ <= (1.5 if oracle == "spectral" else 1.01)
    assert 0.0 <= model.gap_ <= model.objective_
    assert model.n_iter_ == 10
    scaled = QuadraticPriorSVC(**model.get_params()).fit(1024.0 * X, Y)
    assert scaled.objective_ == pytest.approx(model.objective_, rel=1e-6)


def test_steps_are_found_without_a_proof_and_the_end_has_one():
    X, Y = make(V=6)
    rows = sparse.csr_array(X), Y.astype(np.int8), np.ones(len(X))
    spins, _ = QuadraticPrior().build(*rows, alpha=0.06)
    for rough in (True, False):
        stages = Certified(50).stages(spins, Hamming(), rough=rough)
        assert stages.quick is stages.learning
        last, steps = stages.proof.decoder, stages.learning.decoder
        assert (last.max_nodes, last.relax) == (50, True)
        assert (steps.max_nodes, steps.relax) == ((ROUGH_NODES, False) if rough else (50, True))
    mean = QuadraticPriorSVC(0.06, loss="hamming", random_state=0).fit(X, Y)
    assert mean.objective_ == pytest.approx(objective(mean, X, Y), rel=1e-9)
    assert mean.history_[-1] == pytest.approx(mean.objective_, rel=1e-12)
    assert mean.certified_[-1] == pytest.approx(1.0)


def test_few_nodes_still_learn():
    X, Y = make(V=6)
    usual = QuadraticPriorSVC(0.06, loss="hamming", random_state=0).fit(X, Y)
    for limit in (0, 1):
        few = QuadraticPriorSVC(0.06, loss="hamming", limit=limit, random_state=0).fit(X, Y)
        assert objective(few, X, Y) == pytest.approx(objective(usual, X, Y), rel=0.05)
