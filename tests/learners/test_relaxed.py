"""The relaxed risk: its gradient by differences, bounds between one another, slow truths."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from colabel.decoders import Exhaustive, GraphCut, Mixing, Spectral
from colabel.learners import MarginProblem
from colabel.losses import FBeta, Hamming
from colabel.oracles.base import DecoderStage, RelaxationStage
from colabel.roles import Stages
from decoders import oracles_relaxations as slow
from learners.oracles_margin import slow_risk, spin_problem

SIGNS = ["any", "attractive", "repulsive"]
LOSSES = [Hamming(), FBeta()]
TIGHT = Mixing(tol=1e-11, max_iter=5000)


def with_oracle(problem, oracle):
    """Return the same problem with another oracle, relaxed if that relaxes."""
    stage = DecoderStage(oracle)
    stages = Stages(stage, stage, stage)
    if isinstance(oracle, Spectral | Mixing):
        rough = RelaxationStage(oracle, certify=False)
        stages = Stages(rough, rough, RelaxationStage(oracle, certify=True))
    data = problem.X, problem.Y, problem.share, problem.penalty
    return MarginProblem(problem.model, problem.loss, stages, *data)


def proved(problem, theta):
    """Ask the oracle that proves its bounds."""
    return problem.violations(theta, problem.oracles.proof)


def random_theta(problem, seed):
    rng = np.random.default_rng([seed, 7])
    return problem.model.project(rng.normal(size=problem.model.size)), rng


def slopes(function, theta, direction, h):
    """Return one-sided differences of a convex function: they enclose its derivatives."""
    back, here, forth = (function(theta + step * direction)[0] for step in (-h, 0.0, h))
    return (here - back) / h, (forth - here) / h


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    ("oracle", "h", "error", "n_seeds"),
    [
        (Exhaustive(), 1e-6, 1e-8, 10),
        (GraphCut("certified"), 1e-6, 1e-8, 10),
        (Spectral(), 1e-5, 1e-6, 10),
        (TIGHT, 1e-3, 2e-3, 2),
    ],
    ids=["exact", "mincut", "spectral", "sdp"],
)
def test_subgradients_are_those_of_finite_differences(oracle, h, error, n_seeds, loss):
    """``error``: what the oracle's own tolerance may do to a difference of this width."""
    widths = []
    for seed in range(n_seeds):
        for sign in ["attractive"] if isinstance(oracle, GraphCut) else SIGNS:
            problem = with_oracle(spin_problem(seed, V=4, sign=sign, loss=loss), oracle)
            theta, rng = random_theta(problem, seed)
            way, n = rng.normal(size=theta.size), seed % problem.n_samples
            way /= np.linalg.norm(way)
            theta[problem.model.n_free :] += 0.1  # a step back keeps the sign
            for function in (problem.evaluate, partial(problem.sample_subgradient, rows=n)):
                back, forth = slopes(function, theta, way, h)
                assert back - error <= function(theta)[1] @ way <= forth + error
                widths.append(forth - back)
    # Few of these points are kinks: the differences leave no room.
    assert np.mean(np.array(widths) <= 10.0 * h + error) >= 0.9


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("oracle", [Spectral(), TIGHT], ids=["spectral", "sdp"])
def test_a_gradient_is_a_plane_below_the_strongly_convex_objective(oracle, loss):
    for seed in range(4):
        problem = with_oracle(spin_problem(seed, V=5, loss=loss), oracle)
        theta, rng = random_theta(problem, seed)
        value, slope, _ = problem.evaluate(theta)
        for size in (0.01, 0.3, 3.0):
            step = size * rng.normal(size=theta.size)
            plane = value + slope @ step + problem.ridge(step)
            assert problem.evaluate(theta + step)[0] >= plane - 1e-6


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    ("V", "sign"), [(2, "any"), (4, "repulsive"), (5, "attractive"), (7, "any")]
)
def test_relaxed_risks_bound_the_exact_one(V, sign, loss):
    """For the Hamming loss the sphere bounds the semidefinite relaxation; for F1 it need not."""
    for seed in range(3):
        exact = spin_problem(seed, n=4, V=V, sign=sign, loss=loss)
        for theta in (np.zeros(exact.model.size), random_theta(exact, seed)[0]):
            risk = slow_risk(exact, theta)
            sphere, sdp = (
                proved(with_oracle(exact, oracle), theta) for oracle in (Spectral(), Mixing())
            )
            assert sphere.upper >= sphere.risk >= risk - 1e-9
            assert sdp.upper >= risk - 1e-9
            assert sdp.upper >= sdp.risk >= risk - 1e-5
            assert isinstance(loss, FBeta) or sdp.risk <= sphere.risk + 1e-9


def test_ten_labels():
    for loss in LOSSES:
        exact = spin_problem(1, n=3, V=10, loss=loss)
        theta, _ = random_theta(exact, 1)
        risk = slow_risk(exact, theta)
        for oracle in (Spectral(), Mixing()):
            found = proved(with_oracle(exact, oracle), theta)
            assert found.upper >= risk - 1e-9
            assert found.risk >= risk - 1e-5
            assert found.risk <= 20.0 * (1.0 + risk)


def test_for_f1_neither_relaxation_is_always_the_tighter_one():
    """A number of labels on binds ``1'u`` in both, and ``1'U1`` too on the sphere, not in the SDP.

    So the two are not ordered, unlike for the Hamming loss, where the SDP's set is the smaller one.
    """
    exact = spin_problem(3, n=3, V=5, loss=FBeta())
    theta, _ = random_theta(exact, 3)
    sphere, sdp = (with_oracle(exact, o).evaluate(theta)[0] for o in (Spectral(), TIGHT))
    assert sdp < sphere - 0.1
    # Without true labels any number but none costs 1. Labels attract one another and score little:
    # the SDP takes one label by mixing none with all of them.
    exact.model, exact.Y[:] = replace(exact.model, constant=1.0), 0
    W, pairs = exact.model.split(theta)
    W[:-1], W[-1], pairs[:] = 0.0, -0.5, -0.5
    sphere, sdp = (with_oracle(exact, o).evaluate(theta)[0] for o in (Spectral(), TIGHT))
    assert sphere < sdp - 0.1


@pytest.mark.parametrize("seed", range(5))
def test_risks_are_those_of_slow_relaxations(seed):
    exact = spin_problem(seed, n=3, V=4, loss=Hamming())
    theta, _ = random_theta(exact, seed)
    offset, cost = exact.loss.as_modular(exact.Y)
    table = exact.model.scores(exact.X, theta).plus_unary(cost)
    constant, b, M = slow.spin_form(table)
    rows = list(zip(constant + offset, b, strict=True))
    sphere = exact.share @ [c + slow.sphere_maximum(v, M, 4.0) for c, v in rows]
    sdp = exact.share @ [c + slow.semidefinite_maximum(v, 8.0 * M) for c, v in rows]
    truth = exact.truth @ theta
    found = [with_oracle(exact, oracle).evaluate(theta)[2].risk for oracle in (Spectral(), TIGHT)]
    np.testing.assert_allclose(found, [sphere - truth, sdp - truth], atol=1e-4)
    assert found[0] == pytest.approx(sphere - truth, abs=1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("oracle", [Spectral(), Mixing()], ids=["spectral", "sdp"])
def test_hinges_of_samples_add_up_to_the_risk(oracle, loss):
    problem = with_oracle(spin_problem(4, V=5, loss=loss), oracle)
    theta, _ = random_theta(problem, 4)
    value, slope, found = problem.evaluate(theta)
    assert value == problem.ridge(theta) + found.risk
    assert found.upper == found.risk  # not asked to prove it
    assert np.isnan(found.certified)
    parts = [problem.sample_subgradient(theta, n) for n in range(problem.n_samples)]
    hinges, slopes = zip(*parts, strict=True)
    assert np.mean(hinges) == pytest.approx(found.risk, abs=1e-9)
    np.testing.assert_allclose(np.mean(slopes, axis=0) + problem.penalty * theta, slope, atol=1e-9)
    assert min(hinges) >= -1e-9
    some = np.array([4, 0, 2])
    hinge, part = problem.sample_subgradient(theta, some)
    assert hinge == pytest.approx(np.mean([hinges[n] for n in some]), abs=1e-9)
    np.testing.assert_allclose(part, np.mean([slopes[n] for n in some], axis=0), atol=1e-9)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    for oracle in (Spectral(), Mixing()):
        problem = with_oracle(spin_problem(5, n=7, V=4), oracle)
        theta, _ = random_theta(problem, 5)
        value, slope, _ = problem.evaluate(theta)
        with monkeypatch.context() as patch:
            patch.setattr("colabel.learners.margin.RELAXED_CELLS", 20)
            again, part, _ = problem.evaluate(theta)
        assert again == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(part, slope, atol=1e-9)
