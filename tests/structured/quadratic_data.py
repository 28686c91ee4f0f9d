"""Data with a prior, and the objective of a machine that learned it, from scratch."""

import numpy as np

from colabel.losses import make_loss
from colabel.oracles.base import relaxed_augmented
from colabel.structured import QuadraticPriorSVC

SIGNS = ["any", "attractive", "repulsive"]


def make(seed=0, n=40, d=3, V=4):
    """Return data in which two labels go together and two exclude one another."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X @ rng.normal(size=(d, V)) + 0.7 * rng.normal(size=(n, V)) > 0.3
    Y[:, 1] |= Y[:, 0] & (rng.random(n) < 0.7)
    Y[:, -1] &= ~Y[:, -2]
    return X, Y.astype(int)


def fitted(X, Y, alpha=0.05, **options):
    usual = {"random_state": 0, "learner": "optimal", "coupling_alpha": 1.0}
    return QuadraticPriorSVC(alpha, **{**usual, **options}).fit(X, Y)


def every_labeling(V):
    return (np.arange(2**V)[:, None] >> np.arange(V)) & 1


def ridge(model, X):
    """Compute ``alpha m2 / 2 |(W, b)|^2 + coupling_alpha / 2 |A|^2`` from what a model shows."""
    m2 = np.mean(np.sum(X**2, axis=1))
    square = np.sum(model.coef_**2)
    if model.fit_intercept:
        square += np.sum(model.intercept_**2) / (model.intercept_scaling**2 * m2)
    return 0.5 * (model.alpha * m2 * square + model.coupling_alpha * np.sum(model.prior_**2))


def objective(model, X, Y):
    """Compute the exact objective of a fitted model from scratch, by listing all labelings."""
    loss = make_loss(model.loss)
    every, table = every_labeling(Y.shape[1]), model.predict_joint(X)
    costs = np.stack([loss.value(np.tile(y, (len(every), 1)), every) for y in Y])
    risk = np.mean(np.max(table.value_all(every) + costs, axis=1) - table.value(Y))
    return ridge(model, X) + risk


def relaxed_objective(model, X, Y, decoder):
    """Compute the relaxed objective of a fitted model from scratch: (value, proved bound)."""
    loss, table, Y = make_loss(model.loss), model.predict_joint(X), Y.astype(np.int8)
    found = relaxed_augmented(decoder, loss, table, Y, True)
    terms = (np.mean(v - table.value(Y)) for v in (found.value, found.upper_bound))
    return tuple(ridge(model, X) + term for term in terms)
