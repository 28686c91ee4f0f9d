"""Every decoder with every table it accepts, and the truth about their objectives."""

from functools import cache

import numpy as np
import pytest

import instances
import oracles
from colabel.decoders import DECODERS, BaseDecoder, CardinalityThreshold
from colabel.scores import Mixture, Modular, Pairwise, Support

MAKERS = {
    Modular: instances.modular,
    Pairwise: instances.pairwise,
    Mixture: instances.mixture,
    Support: instances.support,
}
VARIANTS = [cls() for cls in DECODERS.values()] + [
    CardinalityThreshold(penalty=0.3),
    CardinalityThreshold(penalty=1.0),
]
CASES = [(decoder, table) for decoder in VARIANTS for table in decoder.accepts]
every_case = pytest.mark.parametrize(
    ("decoder", "table"), CASES, ids=[f"{d}-{t.__name__}" for d, t in CASES]
)
EXACT = [(decoder, table) for decoder, table in CASES if decoder.exact]
exact_case = pytest.mark.parametrize(
    ("decoder", "table"), EXACT, ids=[f"{d}-{t.__name__}" for d, t in EXACT]
)
SIZES = [(n_labels, seed) for n_labels in range(1, 6) for seed in range(22)]


def draw(decoder, table, seed, n_labels):
    """A table of the kind that the decoder asks for."""
    wishes = {}
    if table is Pairwise:
        wishes["attractive"] = decoder.needs_attractive
    if table is Modular:
        wishes["log_odds"] = decoder.needs_distribution
    return MAKERS[table](seed, n_labels=n_labels, **wishes)


def quick(decoder, table):
    """Whether the objective is the score of a table that scores many labelings at once."""
    return type(decoder)._objective is BaseDecoder._objective and table in (Modular, Pairwise)


def all_values(decoder, scores, nonempty=False):
    """Objective of all labelings, and these: (n_samples, n_labelings), (n_labelings, n_labels)."""
    Z = oracles.all_labelings(scores.n_labels)[int(nonempty) :]
    if quick(decoder, type(scores)):
        return scores.value_all(Z), Z
    rows = scores.take(np.repeat(np.arange(scores.n_samples), len(Z)))
    values = decoder.objective(rows, np.tile(Z, (scores.n_samples, 1)))
    return values.reshape(scores.n_samples, len(Z)), Z


def close(a, b):
    np.testing.assert_array_equal(np.isneginf(a), np.isneginf(b))
    a, b = a[np.isfinite(a)], b[np.isfinite(b)]
    scale = np.maximum(1.0, np.abs(b))
    np.testing.assert_allclose(a / scale, b / scale, atol=1e-10)


def augmented_values(decoder, scores, loss, Y):
    values, Z = all_values(decoder, scores)
    added = loss.value(np.repeat(Y, len(Z), axis=0), np.tile(Z, (len(Y), 1)))
    return values + added.reshape(values.shape)


@cache
def drawn(decoder, table, seed, n_labels):
    """A table that is drawn once for all losses, and the objective of all of its labelings."""
    scores = draw(decoder, table, seed, n_labels)
    return scores, all_values(decoder, scores)[0]


@cache
def drawn_losses(loss, seed, n_labels):
    """True labels, and the loss of all labelings: (n_samples, n_labelings)."""
    Y = instances.labels(seed, n_labels=n_labels, density=(seed % 5) / 4)
    Z = oracles.all_labelings(n_labels)
    found = loss.value(np.repeat(Y, len(Z), axis=0), np.tile(Z, (len(Y), 1)))
    return Y, found.reshape(len(Y), len(Z))
