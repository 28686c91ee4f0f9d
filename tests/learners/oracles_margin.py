"""Slow truths about structured support vector machines: all labelings, a generic convex solver."""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from colabel.decoders import Exhaustive
from colabel.learners import MarginProblem
from colabel.losses import FBeta
from colabel.models import LinearPairwise, SpinPairwise, frequent_pairs
from colabel.oracles import Certified, DecoderOracle
from oracles import all_labelings as labelings


def random_problem(seed, n=6, d=2, V=3, pairs=True, loss=None, penalty=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    Y = (X @ rng.normal(size=(d, V)) + rng.normal(size=(n, V)) > 0).astype(np.int8)
    if seed % 3 == 0:
        Y[0] = 0
    weight = rng.integers(1, 4, n).astype(float)
    edges, C = frequent_pairs(Y, 1.0 if pairs else 0, weight)
    model = LinearPairwise(d, V, edges, C * rng.uniform(0.3, 3.0), float(rng.choice([0.0, 1.0])))
    penalty = 10.0 ** rng.uniform(-2, 0) if penalty is None else penalty
    loss = FBeta() if loss is None else loss
    oracles = Certified(20_000).stages(model, loss)
    return MarginProblem(model, loss, oracles, sparse.csr_array(X), Y, weight, penalty)


def spin_problem(seed, n=6, d=2, V=3, sign="any", loss=None, penalty=None):
    """Return a problem with a quadratic prior; constraints are found by listing all labelings."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.8)
    Y = (X @ rng.normal(size=(d, V)) + rng.normal(size=(n, V)) > 0).astype(np.int8)
    weight = rng.integers(1, 4, n).astype(float)
    constant, kappa = float(rng.choice([0.0, 1.0])), 10.0 ** rng.uniform(-0.5, 0.3)
    model = SpinPairwise(d, V, sign, kappa, constant)
    penalty = 10.0 ** rng.uniform(-2, 0) if penalty is None else penalty
    loss = FBeta() if loss is None else loss
    oracles = DecoderOracle(Exhaustive()).stages(model, loss)
    return MarginProblem(model, loss, oracles, sparse.csr_array(X), Y, weight, penalty)


def joint_feature(model, X, Z):
    """Return ``phi(x_n, z_n)`` row by row: features times labels, then pairs that are on."""
    X = np.column_stack([X, np.full(len(X), model.constant)])
    first, second = Z[:, model.edges[:, 0]], Z[:, model.edges[:, 1]]
    if isinstance(model, SpinPairwise):
        pairs = 2.0 * model.scale * (first != second)
    else:
        pairs = model.strength * (first * second)
    unary = X[:, :, None] * Z[:, None, :]
    return np.column_stack([unary.reshape(len(X), -1), pairs])


def slow_rows(problem):
    """Feature differences and losses of all labelings of all samples: [(A, loss)]."""
    X, out = problem.X.toarray(), []
    every = labelings(problem.model.n_labels)
    for x, y in zip(X, problem.Y, strict=True):
        rows = np.repeat(x[None], len(every), axis=0)
        own = joint_feature(problem.model, x[None], y[None])
        loss = problem.loss.value(np.repeat(y[None], len(every), axis=0), every)
        out.append((joint_feature(problem.model, rows, every) - own, loss))
    return out


def slow_risk(problem, theta):
    parts = [np.max(A @ theta + loss) for A, loss in slow_rows(problem)]
    return float(problem.share @ parts)


def slow_minimum(problem):
    """Minimise with one slack a sample and a constraint a labeling, by a generic solver."""
    rows, size, n = slow_rows(problem), problem.model.size, problem.n_samples
    n_free = problem.model.n_free
    A = np.vstack([np.column_stack([-a, np.tile(np.eye(n)[i], (len(a), 1))])
                   for i, (a, _) in enumerate(rows)])  # fmt: skip
    b = np.concatenate([loss for _, loss in rows])
    start = np.concatenate([np.zeros(size), np.ones(n)])
    found = minimize(
        lambda v: 0.5 * problem.penalty * v[:size] @ v[:size] + problem.share @ v[size:],
        start,
        jac=lambda v: np.concatenate([problem.penalty * v[:size], problem.share]),
        constraints=[{"type": "ineq", "fun": lambda v: A @ v - b, "jac": lambda v: A}],
        bounds=[(None, None)] * n_free + [(0, None)] * (size - n_free) + [(0, None)] * n,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-13},
    )
    theta = problem.model.project(found.x[:size])
    return problem.ridge(theta) + slow_risk(problem, theta), theta
